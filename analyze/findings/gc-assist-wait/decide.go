package gcassistwait

import (
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says besides the tallies.
type evidence struct {
	cost  int64
	share float64 // of the program's running time
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.lost += w.rate * (f.EndNs - w.at)
	for _, g := range slices.Sorted(maps.Keys(w.open)) {
		a := w.open[g]
		if a.block >= 0 {
			w.unblock(g, a, f.EndNs, false)
		}
		w.over(g, a, f.EndNs)
	}
	var ran int64
	w.view.Classes(func(c *findings.Class) { ran += c.RunNs })
	total, long := w.assists.Total, w.blocks.Total
	n := evidence{cost: total.Ns + w.lost}
	n.share = float64(n.cost) / float64(max(1, ran))
	if long.N == 0 && n.share < w.t.Share {
		return nil
	}
	s, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	if long.N < w.t.MinCount && long.Worst < w.t.AloneNs && n.share < w.t.WarningShare {
		s = findings.Note
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: n.cost, FromNs: total.From, ToNs: total.To, Basis: findings.Certain,
		Actors: w.assists.Actors(f, findings.Victim, 3),
	}
	if long.N > 0 {
		x.FromNs, x.ToNs = long.From, long.To
		x.Actors = w.blocks.Actors(f, findings.Victim, 3)
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
