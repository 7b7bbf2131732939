package lockedthreadpenalty

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total, n := w.victims.Total, w.handovers()
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || n < w.t.MinCount || w.sum/n < w.t.MeanNs {
		return nil
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: append(w.victims.Actors(f, findings.Victim, 2), w.causes.Actors(f, findings.Cause, 2)...),
	}
	w.phrase(f, &x)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}

// handovers counts those to and from wired threads.
func (w *watcher) handovers() int64 { return w.to + w.from }
