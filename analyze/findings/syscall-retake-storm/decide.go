package syscallretakestorm

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says.
type evidence struct {
	cells []cell // of the classes whose calls matter, costliest first
	sum   cell
	calls int64 // all of these classes
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	n := w.sums(f)
	s, ok := w.t.Grade.Severity(n.sum.waits.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	top := &n.cells[0]
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: n.sum.waits.Ns, FromNs: top.waits.From, ToNs: top.waits.To, Basis: findings.Inferred,
	}
	for _, c := range n.cells[:min(3, len(n.cells))] {
		a := f.Class(findings.Victim, c.class)
		a.G, a.P, a.Stack = c.waits.G, findings.OnP(c.waits.P), f.Frames(c.waits.Stack)
		x.Actors = append(x.Actors, a)
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}

// sums adds up the classes whose calls matter.
func (w *watcher) sums(f *findings.Facts) (n evidence) {
	for _, c := range w.cells {
		calls := w.view.ClassStat(c.class).Calls
		often := float64(c.short) >= w.t.Share*float64(calls) || float64(c.short)*1e9 >= w.t.Rate*float64(f.RecordedNs())
		// A wait shorter than the call is a fair price for what others did meanwhile.
		if c.short < w.t.MinCount || !often || c.waits.Ns < c.shortNs {
			continue
		}
		n.cells = append(n.cells, c)
		n.calls += calls
		n.sum.taken += c.taken
		n.sum.short += c.short
		n.sum.shortNs += c.shortNs
		n.sum.waits.N += c.waits.N
		n.sum.waits.Ns += c.waits.Ns
	}
	slices.SortFunc(n.cells, func(x, y cell) int {
		return cmp.Or(cmp.Compare(y.waits.Ns, x.waits.Ns), cmp.Compare(x.class, y.class))
	})
	return n
}
