package globalqueueneglect

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says besides the tally.
type evidence struct {
	local, inherited int64    // starts out of local queues, and of them those that inherited the time slice
	fed              []feeder // the classes started most from there
}

// feeder is the starts of a class out of local queues.
type feeder struct {
	class int32
	n     int64
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if total.N < w.t.MinCount && s != findings.Note {
		s = s.Lower()
	}
	if s == findings.Critical && float64(total.Ns) < w.t.Share*float64(f.Waits.User.TotalNs) {
		s = findings.Warning
	}
	var n evidence
	totals := w.view.Totals()
	n.local, n.inherited = totals.LocalStarts, totals.Inherited
	w.view.Classes(func(c *findings.Class) {
		if c.Local > 0 {
			n.fed = append(n.fed, feeder{c.ID, c.Local})
		}
	})
	slices.SortFunc(n.fed, func(x, y feeder) int {
		return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.class, y.class))
	})
	n.fed = n.fed[:min(2, len(n.fed))]
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 3),
	}
	for _, c := range n.fed {
		x.Actors = append(x.Actors, f.Class(findings.Cause, c.class))
	}
	w.phrase(f, &x, &n)
	f.SoftenIfBrief(&x)
	return []findings.Finding{x}
}
