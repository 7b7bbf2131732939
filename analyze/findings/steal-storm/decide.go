package stealstorm

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// evidence is what a finding says besides the account.
type evidence struct {
	share    float64 // of the starts
	medianNs int64   // run interval of the stolen
	// Of all steals, those from the P that most were from.
	steals, most int64
	from         int32
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.close(w.view.Totals().Runs)
	t := &w.total
	s, ok := w.t.Grade.Severity(t.idle, f.RecordedNs())
	if !ok {
		return nil
	}
	n := evidence{share: float64(t.stolen) / float64(t.starts), medianNs: t.lengths.Median(), from: reference.NoP}
	for p, steals := range w.pairs {
		n.steals += steals
		if steals > n.most {
			n.most, n.from = steals, int32(p)
		}
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: t.idle, FromNs: w.worstAt, ToNs: min(f.EndNs, w.worstAt+w.t.WindowNs), Basis: findings.Inferred,
		Actors: append(w.taken.Actors(f, findings.Victim, 2), w.wakers.Actors(f, findings.Cause, 2)...),
	}
	if n.steals > 0 && len(w.wakers.Cells) == 0 {
		x.Actors = append(x.Actors, findings.Actor{Role: findings.Cause, P: findings.OnP(n.from)})
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}
