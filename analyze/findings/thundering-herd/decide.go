package thunderingherd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for i := range w.herds {
		w.settle(&w.herds[i])
	}
	var out []findings.Finding
	for _, c := range w.cells {
		if x, ok := w.finding(f, c); ok {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y findings.Finding) int {
		return cmp.Or(cmp.Compare(y.CostNs, x.CostNs), cmp.Compare(x.Title, y.Title))
	})
	return out[:min(maxFindings, len(out))]
}

// maxFindings is how many places are reported, the costliest ones.
const maxFindings = 2

// how the members of a herd were woken.
type how uint8

const (
	other how = iota // each got something
	broadcast
	closing
	unknown
)

// call reports from the waker's stack how it woke those who waited for a Cond or for
// a channel. The leaf is the function of the runtime or of package sync that was
// called first (Go 1.22 to 1.27).
func call(frames []string) how {
	if len(frames) == 0 {
		return unknown
	}
	for _, fr := range frames {
		switch fn, _, _ := strings.Cut(fr, " "); fn {
		case "sync.(*Cond).Broadcast":
			return broadcast
		}
	}
	// Sends show the runtime's function, and package sync its own; a close shows
	// none of them.
	for _, p := range [...]string{"runtime.", "reflect.", "sync.", "internal/"} {
		if strings.HasPrefix(frames[0], p) {
			return other
		}
	}
	return closing
}

// evidence is what a finding says besides the cell.
type evidence struct {
	mean  float64 // goroutines in a herd
	usual float64 // that timers wake in as long a time, on average
	how   how
}

func (w *watcher) finding(f *findings.Facts, c *cell) (findings.Finding, bool) {
	cost := c.wait
	if !c.timer {
		cost += c.ran + c.waking
	}
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok || float64(c.vain) < w.t.Vain*float64(c.n) {
		return findings.Finding{}, false
	}
	if c.herds < w.t.MinHerds {
		s = findings.Note
	}
	switch {
	case c.timer && c.wait < w.t.MinWaitNs*c.n:
		s = findings.Note
	case c.timer && s == findings.Critical:
		s = findings.Warning // each waits for a moment, and then they are through
	}
	n := evidence{mean: float64(c.n) / float64(c.herds)}
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: c.worst.from, ToNs: c.worst.to, Basis: findings.Certain,
		Actors: c.victims.Actors(f, findings.Victim, 1),
	}
	x.Actors[0].Stack = f.Frames(c.worst.stack)
	if c.timer {
		n.usual = float64(w.ticks) * float64(w.t.WindowNs) / float64(max(1, f.RecordedNs()))
		if n.mean < w.t.Peak*n.usual {
			return findings.Finding{}, false
		}
		w.phrase(f, &x, c, &n)
		return x, true
	}
	a := f.Class(findings.Cause, c.class)
	a.Stack = f.Frames(c.stack)
	a.G = c.worst.by
	x.Actors = append(x.Actors, a)
	n.how = call(a.Stack)
	switch {
	case n.how == other, n.how == closing && c.reason == reference.ReasonCond, n.how == unknown && c.reason != reference.ReasonCond:
		return findings.Finding{}, false
	case n.how == unknown:
		x.Basis = findings.Suspected
	}
	w.phrase(f, &x, c, &n)
	return x, true
}
