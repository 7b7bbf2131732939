package retakestall

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if w.calls.Total.N < w.t.MinCount || f.Strained { // sysmon itself may have had no CPU
		s = findings.Note
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: append(w.victims.Actors(f, findings.Victim, 3), w.calls.Actors(f, findings.Cause, 2)...),
	}
	w.phrase(f, &x)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
