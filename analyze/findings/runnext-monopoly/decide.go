package runnextmonopoly

import (
	"slices"

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

// finding is about the slices of the same parties.
func (w *watcher) finding(f *findings.Facts, c *cell) (findings.Finding, bool) {
	total := c.victims.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	severe := c.longest.To-c.longest.From >= w.t.SevereNs || f.Share(c.ns) > w.t.SevereShare
	if s == findings.Critical && (!severe || total.Ns < f.Waits.User.TotalNs/20) { // or it explains little
		s = findings.Warning
	}
	causes := c.causes(f)
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: c.longest.From, ToNs: c.longest.To, Basis: findings.Inferred,
		Actors:    append(c.victims.Actors(f, findings.Victim, 3), causes...),
		OutOfTurn: !w.newestFirst(c),
	}
	w.phrase(f, &x, c, causes)
	return x, true
}

// causes are the parties.
func (c *cell) causes(f *findings.Facts) (actors []findings.Actor) {
	for k, class := range c.classes[:c.n] {
		if k > 0 && class == c.classes[k-1] {
			continue
		}
		a := f.Class(findings.Cause, class)
		for j, id := range c.longest.Classes {
			if id == class && j < int(c.longest.N) {
				a.G, a.Stack = c.longest.Gs[j], f.Frames(c.woke[j])
				break
			}
		}
		a.P = findings.OnP(c.longest.P)
		actors = append(actors, a)
	}
	if len(actors) > 0 { // where the last of the chain stopped
		last := f.Frames(c.longest.Stack)
		i := max(0, slices.IndexFunc(actors, func(a findings.Actor) bool { return a.Runs(last) }))
		if len(actors[i].Stack) == 0 {
			actors[i].Stack = last
		}
	}
	return actors
}

// newestFirst reports whether the goroutines that kept a P are parts of work that one goroutine hands
// out: in which order they run matters to whoever waits for one of them.
func (w *watcher) newestFirst(c *cell) bool {
	return c.relay && float64(c.created) < w.t.Relay*float64(c.hops)
}
