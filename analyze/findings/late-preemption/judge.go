package latepreemption

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var out []findings.Finding
	for i := range w.cells {
		if x, ok := w.finding(f, &w.cells[i]); ok {
			out = append(out, x)
		}
	}
	return out
}

// finding is about one class.
func (w *watcher) finding(f *findings.Facts, c *cell) (findings.Finding, bool) {
	cost := c.victims.Total.Ns
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		if c.n < w.t.NoteCount && c.longest.ns < w.t.NoteNs {
			return findings.Finding{}, false
		}
		s = findings.Note
	}
	if c.n == 0 || c.n == 1 && c.longest.ns < w.t.LostNs {
		return findings.Finding{}, false
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: cost, FromNs: c.longest.from, ToNs: c.longest.to, Basis: findings.Inferred,
		Actors: c.victims.Actors(f, findings.Victim, 3),
	}
	a := f.Class(findings.Cause, c.class)
	a.G, a.P, a.Stack = c.longest.g, findings.OnP(c.longest.p), f.Frames(c.longest.stack)
	x.Actors = append(x.Actors, a)
	records := f.Records() != nil // then time off the CPUs is left out
	if !records && (c.n == 1 || float64(c.by[0]) < w.t.Share*float64(c.asked)) {
		x.Basis = findings.Suspected
		x.Severity = x.Severity.Lower()
	}
	w.phrase(f, &x, c)
	if records {
		f.Short(&x)
		return x, true
	}
	f.Doubt(&x)
	return x, true
}
