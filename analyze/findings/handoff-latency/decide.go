package handofflatency

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	still := float64(w.sum) / float64(max(1, f.PT()))
	switch {
	case w.late < w.t.MinCount || still < w.t.Still:
		s = findings.Note
	case s == findings.Critical && still < w.t.Grade.CriticalShare:
		s = findings.Warning
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Certain,
		Actors: append(w.victims.Actors(f, findings.Victim, 3), w.givers.Actors(f, findings.Cause, 2)...),
	}
	w.phrase(f, &x, still)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
