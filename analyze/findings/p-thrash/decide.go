package pthrash

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for p := range w.ps {
		w.close(int32(p))
	}
	t := &w.total
	cost := t.waited + t.awake
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	// What the wake-ups cost the CPUs, most of it in the kernel, the trace does not
	// show: their number decides.
	switch perSecond := float64(t.wakes) / float64(max(1, f.RecordedNs())) * 1e9; {
	case perSecond >= w.t.WarningRate:
		s, ok = findings.Warning, true
	case ok, perSecond >= w.t.Rate:
		s, ok = findings.Note, true
	}
	if !ok {
		return nil
	}
	if c, _ := w.t.Grade.Severity(t.waited, f.RecordedNs()); c == findings.Critical {
		s = c
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: cost, FromNs: w.worstAt, ToNs: min(f.EndNs, w.worstAt+w.t.WindowNs), Basis: findings.Certain,
	}
	if 10*t.waited > cost {
		x.Actors = w.victims.Actors(f, findings.Victim, 2)
	}
	x.Actors = append(x.Actors, w.wakers.Actors(f, findings.Cause, 2)...)
	w.phrase(f, &x)
	if t.waited > t.awake {
		f.SoftenIfStrained(&x)
	} else {
		f.SoftenIfBrief(&x)
	}
	return []findings.Finding{x}
}
