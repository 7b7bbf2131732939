package slowrestart

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.open {
		w.integrate(f.EndNs)
		w.over()
	}
	total := w.slow.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || total.N < w.t.MinCount || float64(total.N) < w.t.MinShare*float64(w.restarts) {
		return nil
	}
	doubt := ""
	switch {
	case f.Records() != nil && !f.Strained: // threads had their CPUs
	case float64(total.N) < w.t.Share*float64(w.restarts):
		doubt = quick
	case 2*w.prompt > total.N:
		doubt = prompt(f)
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: w.worst.from, ToNs: w.worst.from + w.worst.ns, Basis: findings.Inferred,
		Actors: w.slow.Actors(f, findings.Victim, 3),
	}
	if doubt != "" {
		x.Severity, x.Basis = x.Severity.Lower(), findings.Suspected
	}
	slices.SortStableFunc(w.labels, func(x, y labelled) int { return cmp.Compare(y.n, x.n) })
	w.phrase(f, &x, doubt)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
