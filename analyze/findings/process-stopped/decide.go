package processstopped

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says.
type evidence struct {
	stops         []findings.Silence
	ns, longest   int64
	cost          int64 // goroutine-time
	overdue, runs int64 // timers, and goroutines that ran
	worst         findings.Silence
	share         float64 // of the duration
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if m := f.Records(); m != nil {
		return w.byKernel(f, m)
	}
	if q := f.Quota; q != nil && q.Counted().Throttled > 0 {
		return nil // cpu-throttling reports it
	}
	n := evidence{stops: Stops(w.view, w.silences, w.t)}
	b := w.silences.Beat(w.quota.PeriodNs)
	if b.IsPeriodic(w.quota.PeriodNs, w.quota.MinCount, w.quota.Chance, w.quota.Within) && 2*len(n.stops) >= len(b.Silences) {
		return nil
	}
	for _, s := range n.stops {
		n.ns += s.Ns()
		n.longest = max(n.longest, s.Ns())
		n.cost += s.Ns() * max(1, s.Running+s.Waiting)
		n.overdue += s.Overdue
		n.runs += s.Running
		if s.Ns() > n.worst.Ns() {
			n.worst = s
		}
	}
	// Where most of what stood still are threads one by one, they lacked CPUs.
	if 2*n.ns < w.silences.Ns+w.view.Stalls().Ns {
		return nil
	}
	if len(n.stops) < w.t.MinCount && (n.longest < w.t.AloneNs || n.worst.StallSigns() < 2) {
		return nil
	}
	severity, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	if n.share = f.Share(n.ns); n.share < w.t.WarningShare {
		severity = findings.Note
	}
	x := findings.Finding{
		ID: ID, Severity: severity, CostNs: n.cost, FromNs: n.worst.From, ToNs: n.worst.To, Basis: findings.Inferred,
	}
	if i := slices.IndexFunc(n.stops, func(s findings.Silence) bool { return s.Running > 0 }); i >= 0 {
		s := n.stops[i]
		a := f.Class(findings.Victim, s.Class)
		a.G, a.P = s.G, findings.OnP(s.P)
		x.Actors = append(x.Actors, a)
	}
	w.phrase(f, &x, &n)
	f.SoftenIfBrief(&x)
	return []findings.Finding{x}
}
