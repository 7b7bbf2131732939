package wakeupcost

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// group is the sites whose wakers and woken are of the same classes: a pair that
// answers one another is one.
type group struct {
	sites           []*site
	short, shortNs  int64
	switchNs, n, ns int64
	share           float64 // of the P-time that was not idle
	perSecond       float64
}

// classes are those of wakers and woken, whichever way round.
type classes struct {
	a, b  int32
	timer bool
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var groups []*group
	byClasses := map[classes]*group{}
	for i := range w.sites {
		s := &w.sites[i]
		if float64(s.short) < w.t.ShortShare*float64(s.n) || s.short == 0 {
			continue
		}
		woken := s.woken.Top(1)[0].Class
		k := classes{min(s.class, woken), max(s.class, woken), s.timer}
		x := byClasses[k]
		if x == nil {
			x = &group{}
			byClasses[k] = x
			groups = append(groups, x)
		}
		x.add(s)
	}
	busy := f.PT()
	for i := range f.Procs.Ps {
		busy -= f.Procs.Ps[i].IdleNs
	}
	for _, x := range groups {
		x.share = float64(x.shortNs+x.switchNs) / float64(max(1, busy))
		x.perSecond = float64(x.short) / (float64(max(1, f.RecordedNs())) / 1e9)
		slices.SortStableFunc(x.sites, func(a, b *site) int {
			return cmp.Or(cmp.Compare(b.short, a.short), cmp.Compare(a.stack, b.stack))
		})
	}
	slices.SortStableFunc(groups, func(x, y *group) int { return cmp.Compare(y.cost(), x.cost()) })
	var out []findings.Finding
	for _, x := range groups[:min(maxGroups, len(groups))] {
		if s, ok := w.severity(x); ok {
			out = append(out, w.finding(f, x, s))
		}
	}
	return out
}

// maxGroups is how many are reported, the costliest ones.
const maxGroups = 2

func (x *group) add(s *site) {
	x.sites = append(x.sites, s)
	x.short += s.short
	x.shortNs += s.shortNs
	x.switchNs += s.switchNs
	x.n += s.n
	x.ns += s.ns
}

// cost is the time of Ps that the wake-ups took, and what little came after them.
func (x *group) cost() int64 { return x.shortNs + x.switchNs }

func (w *watcher) severity(x *group) (s findings.Severity, ok bool) {
	switch {
	case x.perSecond < w.t.PerSecond || x.cost() < w.t.MinNs || x.share < w.t.NoteShare:
		return "", false
	case x.share >= w.t.CriticalShare:
		return findings.Critical, true
	case x.share >= w.t.WarningShare:
		return findings.Warning, true
	}
	return findings.Note, true
}

func (w *watcher) finding(f *findings.Facts, x *group, s findings.Severity) findings.Finding {
	top := x.sites[0]
	y := findings.Finding{
		ID: ID, Severity: s, CostNs: x.cost(), FromNs: top.from, ToNs: top.to, Basis: findings.Certain,
	}
	for _, s := range x.sites[:min(2, len(x.sites))] {
		a := f.Class(findings.Cause, s.class)
		a.G, a.Stack = s.g, f.Frames(s.stack)
		y.Actors = append(y.Actors, a)
	}
	if top.timer {
		w.phraseTimer(f, &y, x)
	} else {
		y.Actors = append(y.Actors, top.woken.Actors(f, findings.Victim, 2)...)
		w.phrase(f, &y, x)
	}
	f.SoftenIfBrief(&y)
	return y
}
