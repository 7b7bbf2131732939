package localityloss

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// hit is a class whose moves matter.
type hit struct {
	*class
	ns int64 // lost
}

// evidence is what a finding says.
type evidence struct {
	hits []hit // worst first
	all  class // their moves, summed
	cost int64
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	n := w.count(f)
	if len(n.hits) == 0 {
		return nil
	}
	s, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	switch {
	case !ok:
		// Next to nothing is lost: it is about the one that moves most.
		slices.SortStableFunc(n.hits, func(x, y hit) int { return cmp.Compare(y.moves(), x.moves()) })
		if float64(n.hits[0].moves()) < w.t.NoteRate*float64(f.RecordedNs())/1e9 {
			return nil
		}
		s = findings.Note
	case s == findings.Critical:
		s = findings.Warning // it is slower work, not a standstill
	}
	top := &n.hits[0]
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: n.cost, FromNs: top.worst.From, ToNs: top.worst.To, Basis: findings.Suspected,
	}
	for _, h := range n.hits[:min(3, len(n.hits))] {
		a := f.Class(findings.Victim, h.id)
		a.G, a.P, a.Stack = h.worst.G, findings.OnP(h.worst.P), f.Frames(h.worst.Stack)
		x.Actors = append(x.Actors, a)
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}

// count gathers the classes whose moves matter, the costliest first.
func (w *watcher) count(f *findings.Facts) (n evidence) {
	for i := range w.classes {
		c := &w.classes[i]
		known := w.view.ClassStat(c.id)
		c.stayed, c.starts = known.Kept(), c.moves()+known.Again
		c.runNs += known.AgainNs
		if !w.often(c, f) {
			continue
		}
		ns := w.extraNs(c)
		if ns == 0 && float64(c.moves()) < w.t.NoteRate*float64(f.RecordedNs())/1e9 {
			continue
		}
		n.hits = append(n.hits, hit{c, ns})
		n.cost += ns
		n.all.starts += c.starts
		n.all.marking += c.marking
		for k, m := range c.how {
			n.all.how[k] += m
		}
	}
	slices.SortStableFunc(n.hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(y.moves(), x.moves()))
	})
	return n
}
