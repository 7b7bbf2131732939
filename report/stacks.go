package report

import (
	"cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on the stacks that the text shows.
const (
	textStackClasses = 6
	textStacks       = 3  // of a class
	textStackWidth   = 62 // runes
)

// stacksOf makes missing lists empty ones.
func stacksOf(r stacks.Result) stacks.Result {
	r.Frames, r.Rows, r.Woken = orEmpty(r.Frames), orEmpty(r.Rows), orEmpty(r.Woken)
	return r
}

// stacks shows where the goroutines had stopped that waited most.
func (t *text) stacks(r *analyze.Result) {
	if len(r.Stacks.Rows) == 0 {
		return
	}
	tb := newTable("class, and where its goroutines had stopped", "waited", "share", "chief cause").alignLeft(3)
	n := 0
	for i := range r.Waits.Classes {
		if c := &r.Waits.Classes[i]; !c.System && c.Waits.TotalNs > 0 && n < textStackClasses {
			t.stacksOfClass(tb, &r.Stacks, c)
			n++
		}
	}
	if n == 0 {
		return
	}
	t.head("Where they had stopped before they waited")
	t.table(2, tb)
	t.para(2, "A stack is shown by its innermost function that is not of Go's library, and what that had called. The HTML report has the whole stacks, as a flame graph.")
}

// stacksOfClass adds the chief stacks of a class to a table, and who made it runnable.
func (t *text) stacksOfClass(tb *table, s *stacks.Result, c *waits.Class) {
	add := func(where string, ns int64, causes []waits.CauseTime) {
		chief := ""
		if by := words.BySize(causes); len(by) > 0 {
			chief = words.Cause(by[0].Cause)
		}
		tb.add(where, quantity.Duration(ns), quantity.Part(ns, c.Waits.TotalNs), chief)
	}
	add(t.names.Shortened(cmp.Or(c.Name, words.Unknown), textStackWidth), c.Waits.TotalNs, nil)
	var rest int64
	n := 0
	for i := range s.Rows {
		switch row := &s.Rows[i]; {
		case row.Class != c.ID || row.WaitNs == 0:
		case n == textStacks || row.Place == stacks.Others:
			rest += row.WaitNs
		default:
			add("  "+t.names.Cut(t.names.Stack(row.Place, s.Of(row.Stack)), textStackWidth-2), row.WaitNs, row.Causes)
			n++
		}
	}
	if rest > 0 {
		add("  elsewhere", rest, nil)
	}
	for i := range s.Woken {
		if w := &s.Woken[i]; w.Class == c.ID && w.WaitNs > 0 {
			add("  woken at "+t.names.Cut(t.names.Where(s.Of(w.Stack)), textStackWidth-11), w.WaitNs, nil)
			return
		}
	}
}
