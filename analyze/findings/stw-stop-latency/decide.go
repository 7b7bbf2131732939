package stwstoplatency

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says: sums over the classes that were late.
type evidence struct {
	cells        []cell // costliest first
	worst        *cell
	cost         int64
	late, lateNs int64 // stops
	severe       int64 // of late
	seen         int64 // CPU samples of those who were late
	seldom       bool  // the first of cells mostly stopped when asked
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	n := w.sums()
	if len(n.cells) == 0 || n.severe < w.t.MinCount && n.worst.worst < w.t.AloneNs {
		return nil
	}
	s, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: n.cost, FromNs: n.worst.from, ToNs: n.worst.from + n.worst.worst, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 2),
	}
	for _, c := range n.cells[:min(2, len(n.cells))] {
		a := f.Class(findings.Cause, c.class)
		a.G, a.P, a.Stack = c.g, findings.OnP(c.p), f.Frames(c.stack)
		x.Actors = append(x.Actors, a)
	}
	if n.seldom {
		x.Severity, x.Basis = x.Severity.Lower(), findings.Suspected
	}
	slices.SortStableFunc(w.labels, func(x, y labelled) int { return cmp.Compare(y.n, x.n) })
	w.phrase(f, &x, &n)
	if n.seen == 0 { // samples prove that it ran
		x.Feigned = findings.ByStall
	}
	return []findings.Finding{x}
}

// sums adds up the classes that were late.
func (w *watcher) sums() evidence {
	n := evidence{cells: slices.DeleteFunc(w.cells, func(c cell) bool { return c.n == 0 })}
	if len(n.cells) == 0 {
		return n
	}
	slices.SortFunc(n.cells, func(x, y cell) int {
		return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(y.lateNs, x.lateNs), cmp.Compare(x.class, y.class))
	})
	top := &n.cells[0]
	n.worst = top
	for i := range n.cells {
		c := &n.cells[i]
		n.cost += c.cost
		n.late += c.n
		n.lateNs += c.lateNs
		n.severe += c.severe
		n.seen += c.seen
		if c.worst > n.worst.worst {
			n.worst = c
		}
	}
	n.seldom = n.seen == 0 && float64(top.slow) < w.t.Share*float64(top.requests)
	return n
}
