package gcdisplacement

import (
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.sums = &sums{}
	for _, stack := range slices.Sorted(maps.Keys(w.requested)) {
		if f.Part(stack) != findings.Harness {
			w.add(w.requested[stack])
		}
	}
	total := w.victims.Total
	share := float64(total.Ns) / float64(max(1, f.Waits.User.TotalNs))
	if share < w.t.MinShare || w.long < w.t.MinCount && w.ignored < w.t.MinCount {
		return nil
	}
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if share < w.t.Share || float64(total.Ns) < w.t.Ran*float64(f.RanNs()) {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred, Feigned: findings.ByStall,
		Actors: w.victims.Actors(f, findings.Victim, 3),
	}
	if w.mostIdle() {
		x.Actors = append(x.Actors, findings.Actor{Role: findings.Cause, G: w.worst.g, P: findings.OnP(w.worst.p)})
	}
	w.phrase(f, &x, share)
	return []findings.Finding{x}
}

// mostIdle reports whether idle workers displaced more than half of it.
func (w *watcher) mostIdle() bool { return 2*w.idleCost > w.cost }
