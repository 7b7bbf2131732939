package analyze

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Focused is the part of the trace that a result is about. The description of the trace and
// the reconstruction are of all of it.
type Focused struct {
	FromNs     int64 `json:"from_ns"`     // beginning of the window
	ToNs       int64 `json:"to_ns"`       // end of the window, exclusive; the time of the last event if the trace ends earlier
	RecordedNs int64 `json:"recorded_ns"` // recorded part of the window: the base of rates and shares of time
	// Classes are the names that --class asks for. Waits, accounts by class, and findings are
	// of these; Ps, fairness and the timeline are of all goroutines.
	Classes    []string `json:"classes,omitempty"`
	Goroutines []int64  `json:"goroutines,omitempty"` // IDs that --goroutine asks for; likewise
}

// focusOn has the steps measure what Options.Focus says.
func (a *analysis) focusOn() {
	f := &a.Focus
	w := &a.limits.waits
	w.From, w.To = f.From, f.To
	a.limits.timeline.From = f.From
	if f.Window() {
		a.clipper = focus.NewClipper(f.From, f.To)
	}
	if f.Selects() {
		all := *w
		all.Ended = false
		a.allWaits = waits.New(all)
		a.chosen = a.selection()
		w.Only = a.chosen.Has
	}
}

// part is what a step counts. Steps run beside each other, so that each has a selection of its own.
func (a *analysis) part() ledger.Part {
	p := ledger.Part{From: a.Focus.From, To: a.Focus.To}
	if a.Focus.Selects() {
		p.Only = a.selection().Has
	}
	return p
}

// selection returns one that has met nobody.
func (a *analysis) selection() *focus.Selection {
	return focus.NewSelection(a.Focus, func(class int32) string { return a.className(class).own })
}

// clip finds what of a block lies in the window.
func (a *analysis) clip(b *block) {
	b.inside, b.shift = &b.Block, 0
	if a.clipper == nil {
		return
	}
	synthetic, next := a.clipper.Clip(&b.Block, &b.part)
	b.inside = &b.part
	b.shift = synthetic - next
	for i := range b.marked {
		b.marked[i].At += b.shift
	}
}

// close has the steps measure what is open at the end of the trace, or of the window.
func (a *analysis) close(traceEnd int64) {
	var b block
	b.inside = &b.Block
	a.ledger.Close(&b.Block, traceEnd)
	if a.Observer != nil {
		a.observe(&b)
	}
	if a.clipper != nil {
		b.inside = &b.part
		a.clipper.Finish(b.inside, a.windowEnd(traceEnd))
		a.fairness.Add(b.inside)
		a.addToTimeline(&b)
		a.found.Add(b.inside)
	}
	a.procs.Add(b.inside)
}

// windowEnd is the end of the window, if the trace ends at end.
func (a *analysis) windowEnd(end int64) int64 {
	if a.Focus.To > 0 {
		return min(end, a.Focus.To)
	}
	return end
}

// focusMissing is an error if the trace has nothing of what was asked for.
func (a *analysis) focusMissing(res *Result) error {
	if a.Focus.From > 0 && a.Focus.From >= res.Trace.DurationNs {
		return fmt.Errorf("the trace ends after %s: nothing comes after %s", quantity.Duration(res.Trace.DurationNs), quantity.Instant(a.Focus.From))
	}
	if a.chosen == nil {
		return nil
	}
	var names []string
	for id := range a.rec.Classes() {
		a.chosen.Named((*Pseudonyms)(nil).class(a.rec.Class(id))) // though it may have done nothing in the window
		if name, _ := a.class(id); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return a.chosen.Missing(names)
}

// focused records what a result is about, and leaves out of it what is about others.
func (a *analysis) focused(res *Result, facts *findings.Facts) {
	f := &a.Focus
	if f.Whole() || a.DecisionsOnly {
		return
	}
	res.Focus = &Focused{FromNs: f.From, ToNs: facts.EndNs, RecordedNs: max(0, facts.RecordedNs()), Goroutines: f.Goroutines}
	for i := range res.Findings {
		x := &res.Findings[i]
		x.FromNs = max(x.FromNs, min(f.From, x.ToNs))
	}
	if !f.Selects() {
		return
	}
	for i := range res.Waits.Classes {
		if name := res.Waits.Classes[i].Name; len(f.Classes) > 0 && !slices.Contains(res.Focus.Classes, name) {
			res.Focus.Classes = append(res.Focus.Classes, name)
		}
	}
	if len(f.Goroutines) > 0 { // who had the P is known of a class only
		for i := range res.Waits.Classes {
			res.Waits.Classes[i].Antagonists, res.Waits.Classes[i].Held = []waits.Antagonist{}, []waits.PHold{}
		}
	}
	about := func(x *findings.Actor) bool {
		if len(f.Goroutines) > 0 && x.G != 0 {
			return slices.Contains(f.Goroutines, x.G)
		}
		return slices.ContainsFunc(res.Waits.Classes, func(c waits.Class) bool { return c.Name == x.Class })
	}
	res.Findings = slices.DeleteFunc(res.Findings, func(x findings.Finding) bool {
		named := func(y findings.Actor) bool { return y.Class != "" }
		return slices.ContainsFunc(x.Actors, named) && !slices.ContainsFunc(x.Actors, func(y findings.Actor) bool { return about(&y) })
	})
}
