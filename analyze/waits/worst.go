package waits

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

const (
	inlineSteps = 3  // kept with each waiting goroutine
	maxSteps    = 16 // of a story; further ones are only counted
	maxAhead    = 8
	maxRuns     = 32 // run intervals of a story, the longest
	maxHeld     = 8
	maxFrames   = 8

	maxHeldOfClass = 32
)

// step is one station of a waiting goroutine.
type step struct {
	at    int64
	p     int32
	queue reference.Queue
	why   reference.Why
}

// step notes that d put the goroutine of w somewhere.
func (a *Accumulator) step(w *wait, d *reference.Decision) {
	s := step{at: a.now, p: reference.NoP, queue: d.To, why: d.Why}
	if d.To == reference.QueueRunnext || d.To == reference.QueueLocal {
		s.p = d.P
	}
	i := int(w.nsteps)
	w.nsteps++
	if i < inlineSteps {
		w.steps[i] = s
		return
	}
	if i >= maxSteps {
		return
	}
	if w.spill == 0 {
		if n := len(a.freeSpil); n > 0 {
			w.spill = a.freeSpil[n-1]
			a.freeSpil = a.freeSpil[:n-1]
		} else {
			w.spill = int32(len(a.spills))
			a.spills = append(a.spills, [maxSteps - inlineSteps]step{})
		}
	}
	a.spills[w.spill][i-inlineSteps] = s
}

// story is one of the longest waits.
type story struct {
	ns, from, to int64
	g            int64
	class        int32
	p            int32 // id of the P that ran it
	victim       int32
	batch        int32
	src          reference.Source
	after        reference.Why // why the P was free; WhyUnknown: it just got a thread
	basis        reference.Basis
	seq          int64
	nsteps       int32
	causes       [numCauses]int64
	steps        [maxSteps]step

	// Who ran ahead of it: on P aheadP (index, or none), before stint aheadEnd.
	// It is looked up when that P's past is about to be lost, or at the end,
	// since most stories are soon displaced by longer ones.
	aheadP    int32
	aheadEnd  int64
	aheadFrom int64
	ahead     [maxAhead]run
	nahead    int8
	intervals []interval
	moreRuns  int
	holds     []hold
	told      bool
}

// classWorst holds the longest waits of a class.
type classWorst struct {
	class   int32
	max     int64
	stories []story
}

// consider takes wait w, of length ns, among the longest if it is.
func (a *Accumulator) consider(w *wait, d *reference.Decision, pi, ci int32, ns int64) {
	if len(a.worst) < a.opt.Worst {
		a.worst = append(a.worst, a.tell(w, d, pi, ci, ns))
	} else if a.opt.Worst == 0 || ns <= a.worstMin {
		a.considerInClass(w, d, pi, ci, ns)
		return
	} else {
		i := shortest(a.worst)
		a.worst[i] = a.tell(w, d, pi, ci, ns)
	}
	if len(a.worst) == a.opt.Worst {
		a.worstMin = a.worst[shortest(a.worst)].ns
	}
	a.considerInClass(w, d, pi, ci, ns)
	if a.opt.OnWorst != nil {
		a.opt.OnWorst(w.ready, a.now, a.gors.At(w.gor).id)
	}
}

func (a *Accumulator) considerInClass(w *wait, d *reference.Decision, pi, ci int32, ns int64) {
	if a.opt.WorstPerClass == 0 || a.opt.WorstClasses == 0 {
		return
	}
	at := a.classes[ci].worst
	if at == none {
		if len(a.classWorst) < a.opt.WorstClasses {
			at = int32(len(a.classWorst))
			a.classWorst = append(a.classWorst, classWorst{stories: make([]story, 0, a.opt.WorstPerClass)})
		} else {
			least := 0
			for i := range a.classWorst {
				if a.classWorst[i].max < a.classWorst[least].max {
					least = i
				}
			}
			if ns <= a.classWorst[least].max {
				return
			}
			at = int32(least)
			a.classes[a.classWorst[at].class].worst = none
		}
		c := &a.classWorst[at]
		c.class, c.max, c.stories = ci, 0, c.stories[:0]
		a.classes[ci].worst = at
	}
	c := &a.classWorst[at]
	if len(c.stories) < a.opt.WorstPerClass {
		c.stories = append(c.stories, a.tell(w, d, pi, ci, ns))
	} else if i := shortest(c.stories); ns > c.stories[i].ns {
		c.stories[i] = a.tell(w, d, pi, ci, ns)
	} else {
		return
	}
	c.max = max(c.max, ns)
}

func shortest(s []story) int {
	least := 0
	for i := range s {
		if s[i].ns < s[least].ns {
			least = i
		}
	}
	return least
}

// tell makes a story of wait w, which d ends on P pi.
func (a *Accumulator) tell(w *wait, d *reference.Decision, pi, ci int32, ns int64) story {
	s := story{
		ns: ns, from: w.ready, to: a.now, g: a.gors.At(w.gor).id, class: ci, p: d.P,
		victim: reference.NoP, batch: d.Batch, src: d.Src, basis: d.Basis, seq: a.gors.At(w.gor).seq, nsteps: w.nsteps, causes: w.causes, aheadP: pi, aheadFrom: a.now,
	}
	if d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
		s.victim = d.Victim
	}
	if pi >= 0 && !a.procs[pi].fresh {
		s.after = a.procs[pi].past.lastWhy()
	}
	if ns := w.causes[iMissed]; ns > 0 {
		s.holds = append(s.holds, hold{by: w.idle, ns: ns})
	}
	copy(s.steps[:], w.steps[:])
	if w.spill != 0 {
		copy(s.steps[inlineSteps:], a.spills[w.spill][:])
	}
	if w.queue >= 0 {
		s.aheadP = w.queue
	}
	if s.aheadP >= 0 {
		s.aheadEnd = a.procs[s.aheadP].past.next - 1
	}
	return s
}

// tellAhead looks up who ran ahead in all stories that need the past of P pi
// before stint end. The later it does so, the more of them have been displaced.
func (a *Accumulator) tellAhead(pi int32, end int64) {
	a.tellOf(a.worst, pi, end)
	for i := range a.classWorst {
		a.tellOf(a.classWorst[i].stories, pi, end)
	}
}

func (a *Accumulator) tellOf(stories []story, pi int32, end int64) {
	for i := range stories {
		if s := &stories[i]; !s.told && s.aheadP == pi && s.aheadEnd < end {
			a.lookAhead(s)
		}
	}
}

func (a *Accumulator) lookAhead(s *story) {
	s.told = true
	if s.aheadP < 0 {
		return
	}
	s.aheadFrom = a.ahead(a.procs[s.aheadP], s.aheadEnd, s.from, s.to, s.g, s.seq)
	slices.SortStableFunc(a.runs, func(x, y run) int { return cmp.Compare(y.ns, x.ns) })
	s.nahead = int8(copy(s.ahead[:], a.runs))
	if s.moreRuns = len(a.intervals) - maxRuns; s.moreRuns > 0 {
		a.intervals = longest(a.intervals)
	}
	s.intervals = slices.Clone(a.intervals)
	slices.Reverse(s.intervals) // they were found latest first
	s.holds = append(s.holds, a.holds...)
}

// longest keeps the maxRuns longest of more intervals, of equally long ones the
// first, in their order.
func longest(in []interval) []interval {
	out := in[:maxRuns]
	least := shortestInterval(out)
	for _, v := range in[maxRuns:] {
		if v.to-v.from > out[least].to-out[least].from {
			copy(out[least:], out[least+1:])
			out[maxRuns-1] = v
			least = shortestInterval(out)
		}
	}
	return out
}

// shortestInterval is the index of the shortest interval, the last among equals.
func shortestInterval(in []interval) int {
	least := 0
	for i := range in {
		if in[i].to-in[i].from <= in[least].to-in[least].from {
			least = i
		}
	}
	return least
}

// stories returns stories as results, longest first.
func (a *Accumulator) stories(in []story, name func(ci int32) (int32, string, string)) []Story {
	for i := range in {
		if !in[i].told {
			a.lookAhead(&in[i])
		}
	}
	slices.SortStableFunc(in, func(x, y story) int {
		return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(x.from, y.from), cmp.Compare(x.g, y.g))
	})
	out := make([]Story, 0, len(in))
	for i := range in {
		s := &in[i]
		t := Story{
			G: s.g, FromNs: s.from, ToNs: s.to, WaitNs: s.ns, P: s.p,
			Source: s.src.String(), Basis: s.basis.String(), Causes: causeTimes(&s.causes),
			AheadFromNs: s.aheadFrom, MoreSteps: max(0, int(s.nsteps)-maxSteps), Ahead: []Ahead{},
			Victim: s.victim, Batch: s.batch, After: "p-start",
			Runs: []Run{}, MoreRuns: max(0, s.moreRuns), Held: []Held{},
		}
		if s.after != reference.WhyUnknown {
			t.After = s.after.String()
		}
		t.Class, t.Name, t.Creator = name(s.class)
		for _, x := range s.steps[:min(s.nsteps, maxSteps)] {
			t.Path = append(t.Path, Step{AtNs: x.at, Queue: x.queue.String(), P: x.p, Why: x.why.String()})
		}
		for _, r := range s.ahead[:s.nahead] {
			id, n, _ := name(r.class)
			t.Ahead = append(t.Ahead, Ahead{Class: id, Name: n, Ns: r.ns, Runs: r.n})
		}
		for _, v := range s.intervals {
			r := Run{G: v.g, FromNs: v.from, ToNs: v.to, Later: v.later}
			r.Class, r.Name, _ = name(v.class)
			if v.why != reference.WhyUnknown {
				r.End = v.why.String()
			}
			t.Runs = append(t.Runs, r)
		}
		slices.SortStableFunc(s.holds, func(x, y hold) int { return cmp.Compare(y.ns, x.ns) })
		for _, h := range s.holds[:min(len(s.holds), maxHeld)] {
			t.Held = append(t.Held, a.held(h.by, h.ns, h.stack, name))
		}
		out = append(out, t)
	}
	return out
}
