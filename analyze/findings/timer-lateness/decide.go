package timerlateness

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says.
type evidence struct {
	cells []cell // of the classes with late timers, worst first
	sum   cell
	bad   int64 // lost where it matters
	storm bool  // storms cost more than timers that fired at the end of a long run
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	n := w.sums()
	cost := n.sum.latenessNs()
	s, ok := w.t.Grade.Severity(n.bad, f.RecordedNs())
	if !ok {
		if _, ok = w.t.Grade.Severity(cost, f.RecordedNs()); !ok {
			return nil
		}
		s = findings.Note
	}
	x := findings.Finding{ID: ID, Severity: s, CostNs: cost, FromNs: n.sum.from, ToNs: n.sum.to, Basis: findings.Inferred}
	if n.storm {
		x.FromNs, x.ToNs = w.stormy.Total.From, w.stormy.Total.To
	}
	for _, c := range n.cells[:min(maxVictims, len(n.cells))] {
		a := f.Class(findings.Victim, c.class)
		if c.late > 0 {
			a.G, a.P, a.Stack = c.g, findings.OnP(c.p), f.Frames(c.stack)
		}
		x.Actors = append(x.Actors, a)
	}
	if n.sum.late > 0 {
		causes := w.causes.Actors(f, findings.Cause, 2)
		if doing := w.view.Doing(f, w.causes.Top(1)[0].Class); doing != nil {
			causes[0].Stack = doing
		}
		x.Actors = append(x.Actors, causes...)
	}
	w.phrase(f, &x, &n)
	f.SoftenIfStrained(&x)
	return []findings.Finding{x}
}

// maxVictims is how many classes are named.
const maxVictims = 3

// sums adds up the classes with late timers.
func (w *watcher) sums() (n evidence) {
	sum := &n.sum
	for _, c := range w.cells {
		if c.late+c.waits < w.t.MinCount || float64(c.late+c.waits) < w.t.Often*float64(c.n) || c.ratio() < w.t.Least {
			continue
		}
		n.cells = append(n.cells, c)
		if c.ratio() >= w.t.Ratio {
			n.bad += c.latenessNs()
		}
		sum.n += c.n
		sum.slept += c.slept
		sum.late += c.late
		sum.held += c.held
		sum.waits += c.waits
		sum.waitNs += c.waitNs
		if c.worst > sum.worst {
			sum.worst, sum.from, sum.to = c.worst, c.from, c.to
		}
	}
	n.storm = sum.waits > 0 && (sum.late == 0 || sum.waitNs > sum.held/2)
	slices.SortFunc(n.cells, func(x, y cell) int {
		return cmp.Or(cmp.Compare(y.latenessNs(), x.latenessNs()), cmp.Compare(x.class, y.class))
	})
	return n
}
