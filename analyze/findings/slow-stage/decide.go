package slowstage

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says.
type evidence struct {
	*stage
	busy     float64 // share of its time in which it did not wait for others
	line     float64 // goroutines that wait for it, on average, directly or not
	directly float64
	ns       int64 // line in goroutine-time
	idle     float64
	siblings float64 // goroutines of its class that wait for those that wait for it, on average
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	recorded := f.RecordedNs()
	idle := w.idle(f)
	if recorded <= 0 || idle < w.t.IdleShare {
		return nil
	}
	busy := map[int64]float64{}
	count := map[int32]int{} // busy ones by class
	for i := range w.stages {
		s := &w.stages[i]
		b := w.busy(f, s)
		busy[s.g] = b
		if b >= w.t.BusyShare && s.n >= w.t.MinWakes {
			count[s.class]++
		}
	}
	var found []evidence
	for i := range w.stages {
		s := &w.stages[i]
		if s.n < w.t.MinWakes || busy[s.g] < w.t.BusyShare || count[s.class] >= max(2, f.GOMAXPROCS) {
			continue
		}
		n := evidence{stage: s, busy: busy[s.g], idle: idle}
		n.ns = s.sends + s.others
		n.directly = float64(n.ns) / float64(recorded)
		n.ns += w.behind(s, recorded)
		n.line = float64(n.ns) / float64(recorded)
		if n.line < w.t.NoteLine {
			continue
		}
		n.siblings = float64(w.siblings(s)) / float64(recorded)
		found = append(found, n)
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(x, y evidence) int { return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(x.g, y.g)) })
	return []findings.Finding{w.finding(f, &found[0])}
}

// idle is the share of P-time in which Ps had no work.
func (w *watcher) idle(f *findings.Facts) float64 {
	var ns int64
	for i := range f.Procs.Ps {
		ns += f.Procs.Ps[i].IdleNs
	}
	return float64(ns) / float64(max(1, f.PT()))
}

// busy is the share of its time in which a stage was not blocked; 0 if it is known for
// too short a time.
func (w *watcher) busy(f *findings.Facts, s *stage) float64 {
	life := f.EndNs - s.since - (w.lost - s.lost)
	own := s.own
	// Who waits to send to one that sleeps, or waits for the network, waits for that; where
	// all only wait for something from it, they may as well have nothing to do.
	if 4*s.sends < s.others {
		own += s.away
	}
	if w.view.ByID(s.g) == nil {
		life = s.to - s.since
	} else if s.blockedAt >= 0 {
		own += f.EndNs - max(s.blockedAt, s.since)
	}
	if life <= 0 || float64(life) < w.t.LifeShare*float64(f.RecordedNs()) {
		return 0
	}
	return 1 - float64(own)/float64(life)
}

// behind is how long goroutines waited for those that waited for s, in proportion to
// how long these did.
func (w *watcher) behind(s *stage, recorded int64) (ns int64) {
	for i := range w.stages {
		if v := &w.stages[i]; v.by == s.g && v != s {
			ns += int64(float64(v.sends+v.others) * min(1, float64(v.byNs)/float64(recorded)))
		}
	}
	return ns
}

// siblings is how long goroutines of the class of s waited for those that waited for s.
func (w *watcher) siblings(s *stage) (ns int64) {
	for i := range w.stages {
		if v := &w.stages[i]; v.by == s.g && v != s {
			for _, c := range v.victims {
				if c.class == s.class {
					ns += c.ns
				}
			}
		}
	}
	return ns
}

// outside returns for what share of its time a stage was asleep or waited for the network,
// and reports whether that is most of it while others wait to send to it.
func (n *evidence) outside() (away float64, is bool) {
	away = float64(n.away) / float64(max(1, n.to-n.since))
	return away, away >= 0.5 && 4*n.sends >= n.others
}

func (w *watcher) finding(f *findings.Facts, n *evidence) findings.Finding {
	severity := findings.Note
	switch {
	case n.line >= w.t.CriticalLine:
		severity = findings.Critical
	case n.line >= w.t.WarningLine:
		severity = findings.Warning
		if _, is := n.outside(); is {
			severity = findings.Note // a device that is kept busy looks the same
		}
	}
	cause := f.Class(findings.Cause, n.class)
	cause.G, cause.Stack = n.g, f.Frames(n.stack)
	if _, is := n.outside(); is {
		cause.Stack = f.Frames(n.awayAt)
	}
	x := findings.Finding{
		Severity: severity, CostNs: min(n.ns, f.BlockedNs), FromNs: n.from, ToNs: n.to, Basis: findings.Inferred,
		Actors: []findings.Actor{cause},
	}
	slices.SortFunc(n.victims[:], func(x, y victim) int { return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(x.class, y.class)) })
	for _, v := range n.victims {
		if v.ns > 0 {
			a := f.Class(findings.Victim, v.class)
			a.G, a.Stack = v.g, f.Frames(v.stack)
			x.Actors = append(x.Actors, a)
		}
	}
	w.phrase(f, &x, n)
	return x
}
