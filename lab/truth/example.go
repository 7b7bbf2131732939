package truth

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// An Example is the first start of a recording of which a hypothesis found the truth: what is
// said about it with the hypothesis is what the runtime says, and without it something else.
type Example struct {
	Hypothesis reconstruct.Hypothesis
	Recording  string
	aspect     aspect
	start      int // line of the truth
	truth      []Line
	with       *reconstruction
	without    *reconstruction
}

// aspect is what of a start is wrong without a hypothesis, the most telling last.
type aspect int

const (
	nothing aspect = iota
	globalLength
	localLength
	source
)

// reconstruction is what was said about a recording.
type reconstruction struct {
	dump    []Line
	partner map[int]int // from lines of the truth to those of the dump that tell of the same start
	truth   map[int]int // and back
	answers []reconstruct.Answer
}

func reconstructFor(ctx context.Context, trace string, truth []Line, without reconstruct.Set) (*reconstruction, error) {
	r := &reconstruction{partner: map[int]int{}, truth: map[int]int{}}
	var err error
	r.dump, _, err = Reconstruct(ctx, trace, analyze.Options{Without: without, Answered: func(a reconstruct.Answer) { r.answers = append(r.answers, a) }})
	if err != nil {
		return nil, err
	}
	for _, m := range byGoroutine(truth, r.dump, "start") {
		if m.Dump >= 0 {
			r.partner[m.Truth], r.truth[m.Dump] = m.Dump, m.Truth
		}
	}
	return r, nil
}

// of returns what is said about a start of the truth, nil if nothing.
func (r *reconstruction) of(start int) *Line {
	i, ok := r.partner[start]
	if !ok {
		return nil
	}
	return &r.dump[i]
}

func findExample(ctx context.Context, h reconstruct.Hypothesis, stem, trace string, truth []Line, with *reconstruction) (*Example, error) {
	set, err := reconstruct.Without(h.Name)
	if err != nil {
		return nil, err
	}
	without, err := reconstructFor(ctx, trace, truth, set)
	if err != nil {
		return nil, err
	}
	x := &Example{Hypothesis: h, Recording: filepath.Base(stem), truth: truth, with: with, without: without}
	for i := range truth {
		right, wrong := with.of(i), without.of(i)
		if right == nil || wrong == nil {
			continue
		}
		if a := found(&truth[i], right, wrong); a > x.aspect {
			x.aspect, x.start = a, i
		}
	}
	if x.aspect == nothing {
		return nil, nil
	}
	return x, nil
}

// found returns the most telling of what is wrong in one line, if all is right in another.
func found(truth, right, wrong *Line) aspect {
	switch {
	case truth.Src != right.Src || truth.LL != right.LL || truth.GL != right.GL:
		return nothing
	case wrong.Src != right.Src:
		return source
	case wrong.LL != right.LL:
		return localLength
	case wrong.GL != right.GL:
		return globalLength
	}
	return nothing
}

// Examples returns the most telling example of each hypothesis that the recordings of some
// folders have, in the order of the hypotheses; nil where they have none.
func Examples(ctx context.Context, dirs ...string) ([]*Example, error) {
	var stems []string
	for _, dir := range dirs {
		list, err := Recordings(dir)
		if err != nil {
			return nil, err
		}
		stems = append(stems, list...)
	}
	list := reconstruct.Hypotheses()
	best := make([]*Example, len(list))
	for _, stem := range stems {
		trace, truth, err := ReadRecording(stem)
		if err != nil {
			return nil, err
		}
		with, err := reconstructFor(ctx, trace, truth, 0)
		if err != nil {
			return nil, err
		}
		for i, h := range list {
			if best[i] != nil && best[i].aspect == source {
				continue
			}
			x, err := findExample(ctx, h, stem, trace, truth, with)
			if err != nil {
				return nil, err
			}
			if x != nil && (best[i] == nil || x.aspect > best[i].aspect) {
				best[i] = x
			}
		}
	}
	return best, nil
}

const (
	eventsBefore = 2 // events that an example tells before its start
	eventsAfter  = 1 // and after it
)

// String describes the example event by event, as Markdown.
func (x *Example) String() string {
	var b strings.Builder
	start := x.with.of(x.start)
	fmt.Fprintf(&b, "In `%s`, goroutine %d starts on P %d at %s µs:\n\n", x.Recording, start.G, start.P, quantity.Count(start.T/1000))
	b.WriteString("```\n")
	fmt.Fprintf(&b, "%10s  %-3s %-8s %-42s %s\n", "µs", "P", "G", "", "without the hypothesis")
	for _, i := range x.around() {
		x.writeLine(&b, i)
	}
	b.WriteString("```\n")
	x.writeAnswer(&b)
	return b.String()
}

// startWords reports where a start took its goroutine from, and how long the queues were then.
func startWords(l *Line) string {
	s := l.Src
	if l.Victim != none {
		s += fmt.Sprintf(" from P %d", l.Victim)
	}
	if l.Batch != none && l.Batch > 1 {
		s += fmt.Sprintf(", %d at once", l.Batch)
	}
	return s + fmt.Sprintf("; ll %d, gl %d", l.LL, l.GL)
}

// around returns the lines of the dump that the example tells: what happened to the goroutine,
// on the P of its start, and on the one that it was stolen from.
func (x *Example) around() []int {
	at := x.with.partner[x.start]
	start := &x.with.dump[at]
	concerns := func(l *Line) bool {
		switch l.K {
		case "start", "ready", "overflow", "preempt", "p-start":
			return l.P == start.P || l.G == start.G || start.Victim != none && l.P == start.Victim
		}
		return false
	}
	var lines []int
	for i := at - 1; i >= 0 && len(lines) < eventsBefore; i-- {
		if concerns(&x.with.dump[i]) {
			lines = append(lines, i)
		}
	}
	slices.Reverse(lines)
	lines = append(lines, at)
	for i, n := at+1, 0; i < len(x.with.dump) && n < eventsAfter; i++ {
		if concerns(&x.with.dump[i]) {
			lines = append(lines, i)
			n++
		}
	}
	return lines
}

// writeLine writes line i of the dump.
func (x *Example) writeLine(b *strings.Builder, i int) {
	l, start := &x.with.dump[i], x.with.of(x.start)
	mark, p, g, says, without := ' ', "", "", "", ""
	if l == start {
		mark = '>'
	}
	if l.P != none {
		p = fmt.Sprint(l.P)
	}
	if l.G != none {
		g = fmt.Sprintf("G%d", l.G)
	}
	switch l.K {
	case "start":
		says = "starts: " + startWords(l)
		if t, ok := x.with.truth[i]; ok {
			if o := x.without.of(t); o != nil && startWords(o) != startWords(l) {
				without = startWords(o)
			}
			if truth := &x.truth[t]; truth.Src != l.Src || truth.LL != l.LL || truth.GL != l.GL {
				says += " (wrong)"
			}
		}
	case "ready":
		says = "becomes runnable: " + l.To
	case "overflow":
		says = fmt.Sprintf("the ring overflows: %d go to the global queue", l.Batch)
	case "preempt":
		says = "is preempted: " + l.Why
	case "p-start":
		says = "a thread comes for the P"
	}
	line := fmt.Sprintf("%c%+9.1f  %-3s %-8s %-42s %s", mark, float64(l.T-start.T)/1000, p, g, says, without)
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// writeAnswer writes what the hypothesis answered last before the start.
func (x *Example) writeAnswer(b *strings.Builder) {
	at := x.with.of(x.start).T
	var last *reconstruct.Answer
	for i := range x.with.answers {
		if a := &x.with.answers[i]; a.Hypothesis == x.Hypothesis.Name && a.Time <= at {
			last = a
		}
	}
	if last == nil {
		return
	}
	fmt.Fprintf(b, "\nForks decided this %.1f µs before:\n\n", float64(at-last.Time)/1000)
	for i, c := range last.Choices {
		fmt.Fprintf(b, "* %s", c.Says)
		switch {
		case i > 0 && c.Lead != 0:
			fmt.Fprintf(b, ": %+.0f nats", float64(c.Lead))
		case i > 0:
			b.WriteString(": no difference")
		}
		if i == last.Chosen {
			b.WriteString(" (**chosen**)")
		}
		b.WriteString("\n")
	}
}
