package runnableburst

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// evidence is what a finding says besides the tallies.
type evidence struct {
	ns      int64 // with more than limit for each P
	limit   int64
	forEach float64 // P, at most
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.from >= 0 {
		w.pass(max(w.last, f.EndNs))
		w.over(w.last)
	}
	var s findings.Severity
	n := evidence{ns: w.ns, limit: w.t.Queue, forEach: float64(w.biggest.peak) / float64(w.biggest.procs)}
	switch enough := func(ns int64, share float64) bool { return ns >= w.t.MinBurstNs && f.Share(ns) >= share }; {
	case enough(w.severeNs, w.t.WarningShare):
		s, n.limit, n.ns = findings.Warning, w.t.SevereQueue, w.severeNs
		if w.severeNs >= w.t.CriticalNs && f.Share(w.severeNs) >= w.t.CriticalShare {
			s = findings.Critical
		}
	case enough(w.ns, w.t.Share):
		s = findings.Note
	default:
		return nil
	}
	victims, causes := &w.victims, &w.wakers
	if causes.Total.N == 0 {
		causes = &w.creators
	}
	if whys := w.why(); len(whys) > 0 {
		switch {
		case whys[0].why == reference.WhyTimer && w.timed.Total.N > 0:
			victims = &w.timed // whose stacks tell where they slept
		case whys[0].why == reference.WhyCreate:
			causes = &w.creators
		}
	}
	x := findings.Finding{
		Severity: s, CostNs: w.cost, FromNs: w.biggest.from, ToNs: w.biggest.to, Basis: findings.Certain,
		Actors: append(victims.Actors(f, findings.Victim, 2), causes.Actors(f, findings.Cause, 2)...),
	}
	if i := slices.IndexFunc(x.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause }); i >= 0 && marks(&x.Actors[i]) {
		x.Severity = findings.Note // gc-assist-wait names who allocates
	}
	w.phrase(f, &x, &n)
	return []findings.Finding{x}
}

type entry struct {
	why reference.Why
	n   int64
}

// why lists how the goroutines became runnable, the commonest way first.
func (w *watcher) why() []entry {
	var out []entry
	for i, n := range w.total {
		if n > 0 {
			out = append(out, entry{reference.Why(i), n})
		}
	}
	slices.SortStableFunc(out, func(x, y entry) int { return cmp.Compare(y.n, x.n) })
	return out
}
