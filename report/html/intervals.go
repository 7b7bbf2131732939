package html

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// wordList numbers words that many run intervals share. Number 0 is none.
type wordList struct {
	list    []string
	keys    map[uint8]string // colours of those for which goroutines are blocked
	numbers map[wordKey]uint8
}

type wordKey struct {
	kind vocabulary.Kind
	name string
}

func newWordList() *wordList {
	return &wordList{list: []string{""}, keys: map[uint8]string{}, numbers: map[wordKey]uint8{}}
}

// number returns that of what the vocabulary says in a sentence; 0 if name is empty.
func (l *wordList) number(kind vocabulary.Kind, name string) uint8 {
	k := wordKey{kind, name}
	n, ok := l.numbers[k]
	if !ok && name != "" && len(l.list) < 256 {
		n = uint8(len(l.list))
		say := words.Phrase
		switch kind {
		case vocabulary.Cause:
			say = words.Title
		case vocabulary.Blocked:
			l.keys[n] = report.BlockedKey(name)
		}
		l.list = append(l.list, say(kind, name))
		l.numbers[k] = n
	}
	return n
}

// packWindow adds the run intervals and queue lengths of one window, as columns.
// Times are relative to the window's start.
func packWindow(b *block, i int, w timeline.Window, title string, begin int64, said *wordList) packedWindow {
	o := packedWindow{Title: title, From: w.FromNs - begin, To: w.ToNs - begin, N: len(w.Intervals), Arrows: []packedArrow{}}
	pre := fmt.Sprintf("w%d.", i)
	packIntervals(b, pre, w, said)
	packDepths(b, pre, w)
	packAnnotations(b, pre, w)
	o.Left = w.MoreAnnotations
	packOccupants(b, pre, w)
	if len(w.OnCPU) > 0 {
		o.CPUs = w.CPUsFromNs - begin
	}
	for j, a := range w.Arrows {
		if j == 20_000 {
			break
		}
		o.Arrows = append(o.Arrows, packedArrow{words.Visible(a.Kind), a.At - begin, a.From, a.To, a.N})
	}
	return o
}

// packIntervals adds the run intervals of a window, by P and time: the script searches them.
func packIntervals(b *block, pre string, w timeline.Window, said *wordList) {
	intervals := slices.Clone(w.Intervals)
	slices.SortStableFunc(intervals, func(a, b timeline.PInterval) int { return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(a.From, b.From)) })
	ints := func(name string, value func(s *timeline.PInterval) int64) { b.ints(pre+name, column(intervals, value)) }
	bytes := func(name string, value func(s *timeline.PInterval) uint8) { b.u8(pre+name, column(intervals, value)) }
	ints("p", func(s *timeline.PInterval) int64 { return int64(s.P) })
	ints("from", func(s *timeline.PInterval) int64 { return s.From - w.FromNs })
	ints("len", func(s *timeline.PInterval) int64 { return s.To - s.From })
	ints("g", func(s *timeline.PInterval) int64 { return s.G })
	ints("m", func(s *timeline.PInterval) int64 { return s.M })
	ints("wait", func(s *timeline.PInterval) int64 { return s.Wait })
	ints("class", func(s *timeline.PInterval) int64 { return int64(s.Class) })
	ints("stack", func(s *timeline.PInterval) int64 { return int64(s.Stack) })
	ints("by", func(s *timeline.PInterval) int64 { return s.By })
	ints("byStack", func(s *timeline.PInterval) int64 { return int64(s.ByStack) })
	bytes("state", func(s *timeline.PInterval) uint8 { return packedState(s.State) })
	bytes("src", func(s *timeline.PInterval) uint8 { return s.Src })
	bytes("stop", func(s *timeline.PInterval) uint8 { return said.number(vocabulary.End, s.Stop) })
	bytes("blocked", func(s *timeline.PInterval) uint8 { return said.number(vocabulary.Blocked, s.BlockedOn) })
	bytes("cause", func(s *timeline.PInterval) uint8 { return said.number(vocabulary.Cause, string(s.Cause)) })
	bytes("woken", func(s *timeline.PInterval) uint8 { return said.number(vocabulary.Why, s.Woken) })
}

// packDepths adds the queue lengths of a window, by queue and time.
func packDepths(b *block, pre string, w timeline.Window) {
	depths := slices.Clone(w.Depths)
	slices.SortStableFunc(depths, func(a, b timeline.Depth) int { return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(a.At, b.At)) })
	b.i32(pre+"dp", column(depths, func(d *timeline.Depth) int32 { return d.P }))
	b.ints(pre+"dat", column(depths, func(d *timeline.Depth) int64 { return d.At - w.FromNs }))
	b.i32(pre+"dlen", column(depths, func(d *timeline.Depth) int32 { return d.Len }))
}

// packedFrame is a function, its file and line, and whose it is, as words.Owner.
type packedFrame [3]any

func packFrames(frames []stacks.Frame, names *words.Names) []packedFrame {
	out := make([]packedFrame, 0, len(frames))
	for _, f := range frames {
		out = append(out, packedFrame{words.Cut(names.Function(f.Function), flameName), words.Cut(words.Line(f), flameName), int(words.OwnerOf(f.Function))})
	}
	return out
}

// packStacks cuts stacks to what a person reads; a last frame of -1 stands for the rest.
func packStacks(all [][]int32) [][]int32 {
	out := make([][]int32, 0, len(all))
	for _, s := range all {
		if len(s) > report.MaxFrames {
			s = append(slices.Clone(s[:report.MaxFrames]), -1)
		}
		out = append(out, append([]int32{}, s...))
	}
	return out
}
