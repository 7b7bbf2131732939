package yieldspinning

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var alive []*spinner
	for i := int32(1); i < w.gs.Len(); i++ {
		if s := w.gs.At(i); s.g >= 0 {
			alive = append(alive, s)
		}
	}
	slices.SortFunc(alive, func(x, y *spinner) int { return cmp.Compare(x.slot, y.slot) })
	for _, s := range alive {
		if g := w.view.ByID(s.g); g != nil {
			s.stops = g.Stops
		}
		w.fold(s)
	}
	var out []findings.Finding
	for _, c := range w.byFunction(f) {
		if x, ok := w.finding(f, c); ok {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y findings.Finding) int {
		return cmp.Or(cmp.Compare(y.CostNs, x.CostNs), cmp.Compare(x.Title, y.Title))
	})
	out = out[:min(maxFindings, len(out))]
	for _, c := range w.polite {
		if x, ok := w.maybe(f, c); ok && len(out) < maxFindings {
			out = append(out, x)
		}
	}
	return out
}

// byFunction sums up the cells of those that yield in one function, however they came there.
func (w *watcher) byFunction(f *findings.Facts) (out []*cell) {
	at := map[string]*cell{}
	for _, x := range w.cells {
		frames := f.Frames(x.stack)
		if !own(frames) {
			continue
		}
		function := caller(frames)
		c := at[function]
		if function == "" || c == nil {
			at[function] = x
			out = append(out, x)
			continue
		}
		c.add(x)
	}
	return out
}

// major is the share of all running, and majorNs the time, from which on it is worth a note
// that it ends in yields after longer runs: the trace does not tell a courtesy from a poll.
const (
	major   = 0.5
	majorNs = 50_000_000
)

// maybe is a note about goroutines that yield after longer runs.
func (w *watcher) maybe(f *findings.Facts, c *cell) (findings.Finding, bool) {
	frames := f.Frames(c.stack)
	if c.own < majorNs || c.n < w.t.MinYields || float64(c.own) < major*float64(f.RanNs()) || !own(frames) {
		return findings.Finding{}, false
	}
	a := f.Class(findings.Cause, c.class)
	a.G, a.Stack = c.worst.g, frames
	x := findings.Finding{
		Severity: findings.Note, CostNs: c.own, ToNs: f.EndNs, Basis: findings.Suspected,
		Actors: []findings.Actor{a},
	}
	w.phraseMaybe(&x, c, caller(frames))
	return x, true
}

// maxFindings is how many places are reported, the costliest ones.
const maxFindings = 2

// maxTaken is the share of all running below which goroutines that are starved do not keep
// others from the Ps.
const maxTaken = 0.3

func (w *watcher) finding(f *findings.Facts, c *cell) (findings.Finding, bool) {
	frames := f.Frames(c.stack)
	cost := c.own + c.sched + c.held
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	if s == findings.Critical {
		// What nobody else wanted is wasted, but it stops nobody.
		if h, ok := w.t.Grade.Severity(c.held, f.RecordedNs()); !ok || h == findings.Note {
			s = findings.Warning
		}
	}
	if float64(c.line) >= w.t.Starved*float64(c.own) && float64(c.own) < maxTaken*float64(f.RanNs()) {
		s = findings.Note
	}
	if s == findings.Note && float64(c.n)*1e9 >= w.t.Often*float64(f.RecordedNs()) {
		s = findings.Warning
	}
	a := f.Class(findings.Cause, c.class)
	a.G, a.Stack = c.worst.g, frames
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: c.worst.longFrom, ToNs: c.worst.longTo, Basis: findings.Inferred,
		Actors: []findings.Actor{a},
	}
	w.phrase(&x, c, caller(frames))
	return x, true
}
