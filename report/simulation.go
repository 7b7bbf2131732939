package report

import (
	"cmp"
	"fmt"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// replaySimulation shows a simulation of the work: the trace's own scheduler first, which says
// how far to trust the rest.
func (t *text) replaySimulation(r *replay.Result) {
	f := r.Simulated
	if f == nil {
		return
	}
	t.head("Simulation of the work")
	w := f.Workload
	t.para(2, fmt.Sprintf("The work of the trace (%s, %s, %s from outside, %s of the garbage collector), scheduled by the model of %s with GOMAXPROCS %d; medians of %s.",
		quantity.Plural(int64(w.Goroutines), "goroutine", "goroutines"), quantity.Plural(int64(w.Steps), "step", "steps"), quantity.Plural(int64(w.Arrivals), "arrival", "arrivals"),
		quantity.Plural(int64(w.GCCycles), "cycle", "cycles"), r.Policy, w.GOMAXPROCS, quantity.Plural(int64(w.Seeds), "run", "runs")))
	if f.Untrusted != "" {
		t.para(2, words.Ended(words.Sentence(f.Untrusted)))
	}
	o, s, e := r.Observed, f.Simulated, f.Error
	lo, hi := f.Spread.Min, f.Spread.Max
	tb := newTable("", "observed", "simulated", "error", "spread")
	row := func(name string, observed, simulated, low, high int64, e *float64, show func(int64) string) {
		tb.add(name, show(observed), show(simulated), signed(e), between(low, high, show))
	}
	row("makespan", o.MakespanNs, s.MakespanNs, lo.MakespanNs, hi.MakespanNs, e.Makespan, quantity.Duration)
	row("busy", o.BusyNs, s.BusyNs, lo.BusyNs, hi.BusyNs, e.Busy, quantity.Duration)
	row("waits", o.Waits.Count, s.Waits.Count, lo.Waits.Count, hi.Waits.Count, e.Waits.Count, quantity.Count)
	row("waited", o.Waits.TotalNs, s.Waits.TotalNs, lo.Waits.TotalNs, hi.Waits.TotalNs, e.Waits.Total, quantity.Duration)
	row("p50", o.Waits.P50, s.Waits.P50, lo.Waits.P50, hi.Waits.P50, e.Waits.P50, quantity.Duration)
	row("p99", o.Waits.P99, s.Waits.P99, lo.Waits.P99, hi.Waits.P99, e.Waits.P99, quantity.Duration)
	row("time-weighted p50", o.Waits.TimeWeighted.P50, s.Waits.TimeWeighted.P50, lo.Waits.TimeWeighted.P50, hi.Waits.TimeWeighted.P50, e.Waits.WeightedP50, quantity.Duration)
	row("steals", *o.Steals, *s.Steals, *lo.Steals, *hi.Steals, e.Steals, quantity.Count)
	row("global dequeues", *o.GlobalTakes, *s.GlobalTakes, *lo.GlobalTakes, *hi.GlobalTakes, e.GlobalTakes, quantity.Count)
	t.table(2, tb)

	t.head("Why they waited")
	tb = newTable("cause", "observed", "simulated")
	for _, c := range f.Causes {
		tb.add(words.Cause(c.Cause), quantity.Duration(c.ObservedNs), quantity.Duration(c.SimulatedNs))
	}
	t.table(2, tb)

	if len(f.Classes) > 0 {
		t.head("Who waited")
		tb = newTable("class", "waits", "observed", "simulated", "error", "p99", "simulated")
		for _, c := range f.Classes[:min(len(f.Classes), textReplayClasses)] {
			name := words.Cut(words.Visible(cmp.Or(c.Name, "(unknown)")), 34)
			tb.add(name, quantity.Count(c.Observed.Count), quantity.Duration(c.Observed.TotalNs), quantity.Duration(c.Simulated.TotalNs), signed(c.Error), quantity.Duration(c.Observed.P99), quantity.Duration(c.Simulated.P99))
		}
		t.table(2, tb)
	}

	t.section(SplitSection(f.Decomposition))
	for _, n := range f.Notes {
		t.hang("  - ", 4, n)
	}
}

// whatIf answers what was asked: what each change would give.
func (t *text) whatIf(f *replay.Simulated) {
	if f == nil || len(f.WhatIf) == 0 {
		return
	}
	s, lo, hi, e := f.Simulated, f.Spread.Min, f.Spread.Max, f.Error
	t.head("What if")
	tb := newTable("", "makespan", "spread", "waited", "p50", "p99")
	add := func(name string, s replay.Run, lo, hi int64) {
		tb.add(name, quantity.Duration(s.MakespanNs), between(lo, hi, quantity.Duration), quantity.Duration(s.Waits.TotalNs), quantity.Duration(s.Waits.P50), quantity.Duration(s.Waits.P99))
	}
	bound := int64(0)
	add("as it was", s, lo.MakespanNs, hi.MakespanNs)
	for _, x := range f.WhatIf {
		bound = max(bound, x.LockBoundNs)
		add(words.Cut(words.Visible(x.Change), 30), x.Simulated, x.Spread.Min.MakespanNs, x.Spread.Max.MakespanNs)
	}
	t.table(2, tb)
	if bound > 0 {
		t.para(2, fmt.Sprintf("With more Ps, a mutex allows no makespan under about %s: see below.", quantity.Duration(bound)))
	}
	for _, x := range f.WhatIf {
		change := words.Cut(words.Visible(x.Change), 30)
		if x.Untrusted != "" && x.Untrusted != f.Untrusted {
			t.para(2, change+": "+words.Ended(x.Untrusted))
		}
		switch s := x.Sensitivity; {
		case x.UntrustedMakespan != "" && x.UntrustedMakespan != x.Untrusted && x.UntrustedMakespan != f.Untrusted:
			t.para(2, change+", makespan: "+words.Ended(x.UntrustedMakespan))
		case x.UntrustedMakespan == "" && x.Untrusted != "" && s != nil:
			t.para(2, fmt.Sprintf("%s: the makespan is not affected by that: %s if the work took %.2g times as long.", change, quantity.Duration(s.WorkNs), s.Work))
		}
	}
	t.para(2, fmt.Sprintf("Compare with “as it was”, not with the trace: the model itself is off: %s.", errorLine(e.Makespan, e.Waits.Total)))
}

// textReplayClasses is how many classes the text shows of a simulation.
const textReplayClasses = 8

// signed is a relative error for people.
func signed(e *float64) string {
	if e == nil {
		return "-"
	}
	return quantity.Change(1 + *e)
}

// between writes the ends of a range: once, where they read the same.
func between(lo, hi int64, show func(int64) string) string {
	a, b := show(lo), show(hi)
	if a == b {
		return a
	}
	return a + " to " + b
}
