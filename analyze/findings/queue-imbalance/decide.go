package queueimbalance

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says besides the tallies.
type evidence struct {
	gini  float64 // unevenness of queued time over the Ps
	share float64 // of the time
	limit float64 // of share
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.long >= 0 {
		w.pass(f.EndNs)
		w.end()
	}
	n := evidence{gini: w.gini(f.GOMAXPROCS), share: f.Share(w.sumNs), limit: w.t.NoteShare}
	var s findings.Severity
	switch {
	case n.gini < w.t.Gini && w.intervals < w.t.MinCount:
		return nil
	case n.share >= w.t.WarningShare && w.sumNs >= w.t.WarningNs:
		s, n.limit = findings.Warning, w.t.WarningShare
	case n.share >= w.t.NoteShare && w.sumNs >= w.t.NoteNs && n.gini >= w.t.Gini:
		s = findings.Note
	default:
		return nil
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: w.sumCost, FromNs: w.worst.From, ToNs: w.worst.To, Basis: findings.Inferred,
		Actors: slices.Concat(w.victims.Actors(f, findings.Victim, 2), w.feeders.Actors(f, findings.Cause, 1), w.hogs.Actors(f, findings.Cause, 1)),
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
