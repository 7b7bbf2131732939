package latepreemption

import (
	"strings"

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
	anywhere := !records && c.anywhere(f)
	if !records && (anywhere || c.n == 1 || float64(c.by[0]) < w.t.Share*float64(c.preempted)) {
		x.Severity, x.Basis = findings.Note, findings.Suspected
	}
	w.phrase(f, &x, c, anywhere)
	if records {
		f.SoftenIfBrief(&x)
		return x, true
	}
	f.SoftenIfStrained(&x)
	return x, true
}

// anywhere reports whether late slices ended at no one place for half of the times: at signals, or at
// calls here and there. Such code can be interrupted, so the request was late, or its thread had no CPU.
func (c *cell) anywhere(f *findings.Facts) bool {
	at := map[string]int64{}
	for stack, n := range c.stacks {
		if frames := f.Frames(stack); !findings.Signalled(frames) {
			at[strings.Join(frames[:min(1, len(frames))], "")] += n
		}
	}
	var most int64
	for _, n := range at {
		most = max(most, n)
	}
	return c.by[0] > 0 && 2*most < c.by[0]
}
