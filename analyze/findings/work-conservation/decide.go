package workconservation

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says besides the tally.
type evidence struct {
	share  float64 // of the P-time
	limit  float64 // of share
	meanNs int64   // of the intervals
	late   bool    // threads were late to wake up
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if dt := f.EndNs - w.last; dt > 0 {
		w.cost += w.lost * dt
		w.last += dt
	}
	if w.start >= 0 && w.last-w.start >= w.t.IntervalNs {
		w.over(nil)
	}
	total := w.victims.Total
	pt := f.PT()
	if total.N < w.t.MinCount || pt == 0 {
		return nil
	}
	n := evidence{share: float64(total.Ns) / float64(pt), limit: w.t.NoteShare, meanNs: w.length / total.N}
	var s findings.Severity
	switch {
	case n.share >= w.t.CriticalShare && total.Ns >= w.t.CriticalNs:
		s, n.limit = findings.Critical, w.t.CriticalShare
	case n.share >= w.t.WarningShare && total.Ns >= w.t.WarningNs:
		s, n.limit = findings.Warning, w.t.WarningShare
	case n.share >= w.t.NoteShare && total.Ns >= w.t.NoteNs:
		s = findings.Note
	default:
		return nil
	}
	n.late = n.meanNs >= w.t.LateNs
	if !n.late && n.share < w.t.ManyShare || total.N < w.t.WarningCount && total.Ns < w.t.CriticalNs {
		s = findings.Note
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 3),
	}
	if w.worstP >= 0 {
		x.Actors = append(x.Actors, findings.Actor{Role: findings.Cause, P: findings.OnP(w.worstP)})
	}
	w.phrase(f, &x, &n)
	if x.Kind == findings.KindMachine {
		if !f.StoodStill() {
			x.Basis, x.Guessed = findings.Suspected, true
		}
		f.SoftenIfBrief(&x) // a lack of CPUs is what it says
	} else {
		f.SoftenIfStrained(&x)
	}
	return []findings.Finding{x}
}
