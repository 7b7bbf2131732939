package netpolldelay

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says besides the tallies.
type evidence struct {
	wakes int64   // by the network
	share float64 // of them, that came late
	busy  bool    // long runs kept the Ps from polling
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.view.Everyone(func(g *findings.Goroutine) {
		if _, ok := w.pending[g.ID]; ok {
			w.waited(g, f.EndNs-g.ReadyAt, f.EndNs, g.P)
		}
	})
	total, wakes := w.victims.Total, w.view.Totals().NetworkWakes
	if total.N < w.t.MinCount || float64(w.late) < w.t.Share*float64(wakes) || float64(total.N) < w.t.TailShare*float64(w.late) {
		return nil
	}
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	n := evidence{
		wakes: wakes, share: float64(w.late) / float64(wakes),
		busy: len(w.causes.Cells) > 0 && 2*w.causes.Total.Ns > total.To-total.From,
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 3),
	}
	if n.busy {
		x.Actors = append(x.Actors, w.causes.Actors(f, findings.Cause, 2)...)
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
