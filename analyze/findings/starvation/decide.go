package starvation

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.view.Everyone(func(g *findings.Goroutine) {
		if wait := f.EndNs - g.ReadyAt; wait >= w.t.LongNs && !g.Self {
			need := w.view.ClassStat(g.Class).Mean()
			if need == 0 {
				need = w.view.MeanRun()
			}
			n := w.starved.Total.N
			w.compare(wait, need, w.view.LoadOf(g), findings.Cell{Class: g.Class, From: g.ReadyAt, To: f.EndNs, G: g.ID, P: g.P, Stack: g.Stack})
			w.open += w.starved.Total.N - n
		}
	})
	if x, ok := w.findStarved(f); ok {
		return []findings.Finding{x}
	}
	if x, ok := w.findQueued(f); ok {
		return []findings.Finding{x}
	}
	return nil
}

// findStarved judges the waits that equal sharing does not explain.
func (w *watcher) findStarved(f *findings.Facts) (findings.Finding, bool) {
	total := w.starved.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || w.severe == 0 && s == findings.Note {
		return findings.Finding{}, false
	}
	if w.severe == 0 {
		if s == findings.Critical {
			s = findings.Warning
		}
		if total.N < w.t.ManyCount {
			s = findings.Note
		}
	}
	if total.N < w.t.MinCount && w.longest < w.t.AloneNs || w.plain(f) || w.inside(total.Ns) {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Certain, Feigned: findings.ByStall,
		Actors: w.starved.Actors(f, findings.Victim, 4),
	}
	ahead := aheadOf(f, total)
	x.Actors = append(x.Actors, w.causes(f, ahead)...)
	w.phraseStarved(f, &x, ahead)
	return x, true
}

// causes returns who is to blame, if what the class that waited longest mostly waited for
// was somebody's doing: those who ran ahead of it, or made the system calls that held Ps.
func (w *watcher) causes(f *findings.Facts, ahead []waits.RanAhead) (out []findings.Actor) {
	c := w.class(f)
	if c == nil {
		return nil
	}
	var queued, held int64
	for _, x := range c.Waits.Causes {
		switch x.Cause {
		case waits.CauseBehind, waits.CauseOvertaken:
			queued += x.Ns
		case waits.CauseUnavailable:
			held += x.Ns
		}
	}
	switch {
	case 2*queued >= c.Waits.TotalNs:
		for _, a := range ahead {
			out = append(out, f.Named(findings.Cause, a.Class, a.Name))
		}
	case 2*held >= c.Waits.TotalNs:
		for _, h := range c.Held {
			if h.Cause == waits.CauseUnavailable && h.Name != "" && len(out) < maxHolders {
				a := f.Named(findings.Cause, h.Class, h.Name)
				a.Stack = h.Stack
				out = append(out, a)
			}
		}
	}
	return out
}

// maxHolders is of how many it is said that their system calls held Ps.
const maxHolders = 2

// class is the account of the class that waited longest, nil if it has none.
func (w *watcher) class(f *findings.Facts) *waits.Class {
	if len(w.starved.Cells) == 0 {
		return nil
	}
	name := f.Name(w.starved.Top(1)[0].Class)
	for i := range f.Waits.Classes {
		if c := &f.Waits.Classes[i]; c.Name == name {
			return c
		}
	}
	return nil
}

// plain reports whether nearly all of those that waited longest stood in line behind others
// of their own class: then there was more work than Ps, and they are equals.
func (w *watcher) plain(f *findings.Facts) bool {
	if len(w.starved.Cells) == 0 {
		return false
	}
	name := f.Name(w.starved.Top(1)[0].Class)
	var equals, behind, all int64
	for i := range f.Waits.Classes {
		c := &f.Waits.Classes[i]
		if c.Name != name {
			continue
		}
		for _, x := range c.Waits.Causes {
			all += x.Ns
			if x.Cause == waits.CauseBehind {
				behind += x.Ns
			}
		}
		for _, a := range c.Antagonists {
			if a.Name == name {
				equals += a.Ns
			}
		}
	}
	return all > 0 && float64(min(equals, behind)) >= w.t.PlainShare*float64(all)
}

// inside reports whether nearly all that starved are stages of one piece of work, which wait
// behind those whose results they take, or whom they feed: these have the Ps, and nobody else
// waits for what comes out.
func (w *watcher) inside(ns int64) bool {
	var of int64
	for _, c := range w.starved.Cells {
		class := w.view.ClassStat(c.Class)
		if by := w.view.ClassStat(class.Waker); class.Serves(class.Waker) && by.Busy() && 2*by.RunNs >= w.view.AllRunNs() {
			of += c.Ns
		}
	}
	return float64(of) >= w.t.PlainShare*float64(ns)
}

// findQueued judges the long waits that equal sharing does explain.
func (w *watcher) findQueued(f *findings.Facts) (findings.Finding, bool) {
	q := w.queued.Total
	if f.RecordedNs() < w.t.QueueMinNs || f.Pressure.Some < w.t.QueueSome || q.Ns < w.t.QueueNs || float64(q.Ns) < w.t.QueueShare*float64(f.PT()) {
		return findings.Finding{}, false
	}
	x := findings.Finding{
		Severity: findings.Note, CostNs: q.Ns, FromNs: q.From, ToNs: q.To, Basis: findings.Certain,
		Actors: w.queued.Actors(f, findings.Victim, 3),
	}
	w.phraseQueued(f, &x)
	return x, true
}

// aheadOf returns who ran most during the worst wait, if that is known.
func aheadOf(f *findings.Facts, worst findings.Cell) []waits.RanAhead {
	for i := range f.Waits.Worst {
		s := &f.Waits.Worst[i]
		if s.G == worst.G && s.FromNs == worst.From {
			return s.Ahead[:min(3, len(s.Ahead))]
		}
	}
	return nil
}
