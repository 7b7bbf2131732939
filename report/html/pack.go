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

// maxNote bounds the name of a task or region, in characters.
const maxNote = 120

// packAnnotations adds the tasks and regions of a window, by goroutine and time. Times are
// relative to the window's start; the depth of a task is -1.
func packAnnotations(b *block, pre string, w timeline.Window) {
	if len(w.Annotations) == 0 {
		return
	}
	b.ints(pre+"note.g", column(w.Annotations, func(x *timeline.Annotation) int64 { return x.G }))
	b.ints(pre+"note.from", column(w.Annotations, func(x *timeline.Annotation) int64 { return x.From - w.FromNs }))
	b.ints(pre+"note.len", column(w.Annotations, func(x *timeline.Annotation) int64 { return x.To - x.From }))
	b.ints(pre+"note.name", column(w.Annotations, func(x *timeline.Annotation) int64 { return int64(x.Name) }))
	b.ints(pre+"note.of", column(w.Annotations, func(x *timeline.Annotation) int64 { return int64(x.Of) }))
	b.ints(pre+"note.depth", column(w.Annotations, func(x *timeline.Annotation) int64 {
		if x.Task {
			return -1
		}
		return int64(x.Depth)
	}))
}

// maxProcessName bounds the name of a process, in characters.
const maxProcessName = 60

// packedCPUs is who had the CPUs. Processes are as in [timeline.CPUs].
type packedCPUs struct {
	BinNs     int64    `json:"bin"`
	CPUs      []int32  `json:"ids"`
	Off       []int32  `json:"off"` // Ps that have a row of the time off the CPUs
	Processes []string `json:"names"`
	Lacks     []string `json:"lacks"` // why a thread was on no CPU, by number
}

// packCPUs adds the shares of the CPUs; nil if there are no records of the kernel's.
func packCPUs(b *block, c *timeline.CPUs, cells int) *packedCPUs {
	if c == nil {
		return nil
	}
	f := max(1, ((3*len(c.Lanes)+len(c.Off))*c.Bins+cells-1)/cells) // bins to merge into one
	p := &packedCPUs{BinNs: c.BinNs * int64(f), CPUs: []int32{}, Off: []int32{}}
	for i, l := range c.Lanes {
		p.CPUs = append(p.CPUs, l.CPU)
		b.u8(fmt.Sprintf("cpu%d.program", i), meanBytes(l.Program, f))
		b.u8(fmt.Sprintf("cpu%d.others", i), meanBytes(l.Others, f))
		b.u8(fmt.Sprintf("cpu%d.gap", i), meanBytes(l.Unknown, f))
	}
	for i, x := range c.Off {
		p.Off = append(p.Off, x.P)
		b.u8(fmt.Sprintf("off%d", i), meanBytes(x.Off, f))
	}
	for _, l := range lacks {
		p.Lacks = append(p.Lacks, l.words)
	}
	p.Processes = words.All(c.Processes, maxProcessName)
	return p
}

// packOccupants adds who was on the CPUs in a window, by CPU and time, and who was off them, by
// P and time. Times are relative to the window's start.
func packOccupants(b *block, pre string, w timeline.Window) {
	if len(w.OnCPU)+len(w.OffCPU) == 0 {
		return
	}
	b.ints(pre+"on.cpu", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return int64(x.CPU) }))
	b.ints(pre+"on.from", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return x.From - w.FromNs }))
	b.ints(pre+"on.len", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return x.To - x.From }))
	b.ints(pre+"on.m", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return x.M }))
	b.ints(pre+"on.process", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return int64(x.Process) }))
	b.ints(pre+"off.p", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return int64(x.P) }))
	b.ints(pre+"off.from", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return x.From - w.FromNs }))
	b.ints(pre+"off.len", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return x.To - x.From }))
	b.ints(pre+"off.cpu", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return int64(x.CPU) }))
	b.ints(pre+"off.why", column(w.OffCPU, func(x *timeline.OffCPU) int64 {
		return int64(max(0, slices.IndexFunc(lacks, func(l lack) bool { return l.why == x.Why })))
	}))
}

// lacks say why a thread was on no CPU, by [timeline.OffCPU].
var lacks = []lack{
	{"", "it is not known why"},
	{"turn", "its CPU ran another thread"},
	{"idle", "its CPU was idle, which a quota does"},
	{"stopped", "it was stopped by a signal or a debugger"},
	{"blocked", "it slept in the kernel"},
}

type lack struct{ why, words string }

// column is a value of each row.
func column[T, V any](rows []T, value func(*T) V) []V {
	out := make([]V, len(rows))
	for i := range rows {
		out[i] = value(&rows[i])
	}
	return out
}

// packedHeap reports that there are rows of the heap. Sizes are in KiB; less than 0: not told.
type packedHeap struct {
	BinNs int64 `json:"bin"`
}

// packHeap adds the size of the heap; nil if the trace does not show it.
func packHeap(b *block, h *timeline.Heap) *packedHeap {
	if h == nil {
		return nil
	}
	kib := func(n *int64) int64 { return *n >> 10 }
	b.ints("heap.alloc", column(h.Alloc, kib))
	b.ints("heap.goal", column(h.Goal, kib))
	b.f32("heap.sweep", h.Sweep)
	return &packedHeap{BinNs: h.BinNs}
}
