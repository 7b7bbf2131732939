package goroutinechurn

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says besides the accounts.
type evidence struct {
	medianNs  int64 // running time in the life of a goroutine
	perSecond int64 // creations, in the worst window
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.close()
	t := &w.total
	s, ok := w.t.Grade.Severity(t.idle, f.RecordedNs())
	// What creating and ending them cost the trace does not show: their number
	// decides. It is a waste, and nobody's delay, so that it is never critical.
	if t.created > 0 && float64(t.created) >= w.t.Rate*float64(f.RecordedNs())/1e9 {
		s, ok = findings.Warning, true
	}
	if !ok {
		return nil
	}
	if s == findings.Critical {
		s = findings.Warning
	}
	end := min(f.EndNs, w.worstAt+w.t.WindowNs)
	n := evidence{
		medianNs:  t.ended.Median(),
		perSecond: int64(float64(w.worst) / float64(max(1, end-w.worstAt)) * 1e9),
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: t.idle, FromNs: w.worstAt, ToNs: end, Basis: findings.Inferred,
		Actors: append(w.short.Actors(f, findings.Victim, 2), w.creators.Actors(f, findings.Cause, 2)...),
	}
	if len(x.Actors) > 0 && x.Actors[0].Internal() { // nobody of the program can change that
		x.Severity = findings.Note
	}
	w.phrase(&x, &n)
	f.SoftenIfBrief(&x)
	return []findings.Finding{x}
}
