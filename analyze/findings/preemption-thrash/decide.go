package preemptionthrash

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.endBucket(f.EndNs)
	total := w.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || w.sustained < w.t.SustainedNs {
		return nil
	}
	waiting := float64(w.waited) / float64(w.sustained) / float64(w.view.Procs())
	switch {
	case waiting < w.t.Waiting || total.N < w.t.MinCount:
		s = findings.Note
	case s == findings.Critical:
		s = findings.Warning // the Ps have work all the time: it is latency that is lost
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: w.best.from, ToNs: w.best.to, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 3),
	}
	// Its victims are its causes, too: each waits for others of its kind.
	for i, a := range w.victims.Actors(f, findings.Cause, 2) {
		a.G, a.P, a.Stack = 0, nil, nil
		if i == 0 {
			a.Stack = w.view.Doing(f, w.victims.Top(1)[0].Class)
		}
		x.Actors = append(x.Actors, a)
	}
	w.phrase(f, &x, waiting)
	f.SoftenIfBrief(&x)
	return []findings.Finding{x}
}
