package waits

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

const (
	maxSteps  = 16 // of a wait; further ones are only counted
	maxAhead  = 8
	maxRuns   = 32 // run intervals of a wait, the longest
	maxHeld   = 8
	maxFrames = 8

	maxHeldOfClass = 32
)

// step is one station of a waiting goroutine.
type step struct {
	at    int64
	p     int32
	queue reference.Queue
	why   reference.Why
}

func newStep(at int64, p int32, to reference.Queue, why reference.Why) step {
	if to != reference.QueueRunnext && to != reference.QueueLocal {
		p = reference.NoP
	}
	return step{at: at, p: p, queue: to, why: why}
}

// step notes that d moved the goroutine of w somewhere.
func (a *Accumulator) step(w *wait, d *reference.Decision) {
	if i := int(w.nsteps) - 1; i < moreSteps {
		a.more(w).steps[i] = newStep(a.now, d.P, d.To, d.Why)
	} else if i < maxSteps-1 {
		*a.spilled(a.more(w), i-moreSteps) = newStep(a.now, d.P, d.To, d.Why)
	}
	w.nsteps++
}

const moreSteps = 3

// more is what is kept of a waiting goroutine that was moved. It is two cache lines
// long.
type more struct {
	causes [numCauses]int64 // of the segments that are over
	steps  [moreSteps]step  // the first is in wait
	spill  int32            // those that do not fit, index in Accumulator.spills; 0: none
}

// spill is the rest of the steps.
type spill [maxSteps - 1 - moreSteps]step

func (t *waitRecords) spilled(m *more, i int) *step {
	if m.spill == 0 {
		if n := len(t.freeSpil); n > 0 {
			m.spill, t.freeSpil = t.freeSpil[n-1], t.freeSpil[:n-1]
		} else {
			m.spill = int32(len(t.spills))
			t.spills = append(t.spills, spill{})
		}
	}
	return &t.spills[m.spill][i]
}

func (t *waitRecords) more(w *wait) *more {
	if w.more != 0 {
		return t.mores.At(w.more)
	}
	if n := len(t.freeMore); n > 0 {
		w.more, t.freeMore = t.freeMore[n-1], t.freeMore[:n-1]
	} else {
		t.lastMore++
		w.more = t.lastMore
	}
	m := t.mores.Make(w.more)
	m.causes, m.spill = [numCauses]int64{}, 0
	return m
}

// ended is a wait that has just ended, by decision d on p.
type ended struct {
	w      *wait
	g      *goroutine
	d      *reference.Decision
	p      *proc // may be nil
	ns     int64 // its length
	causes *[numCauses]int64
}

// waitDetail is one of the longest waits.
type waitDetail struct {
	ns, from, to int64
	who          goroutine // as it was when it ended
	p            int32     // id of the P that ran it
	victim       int32
	batch        int32
	src          reference.Source
	after        reference.Why // why the P was free; WhyUnknown: it just got a thread
	basis        reference.Basis
	nsteps       int32
	causes       [numCauses]int64
	steps        [maxSteps]step

	// Who ran ahead of it: on P aheadP (index, or none), before interval aheadEnd.
	// It is looked up when that P's past is about to be lost, or at the end,
	// since most waits are soon displaced by longer ones.
	aheadP    int32
	aheadEnd  int64
	aheadFrom int64
	ahead     [maxAhead]run
	nahead    int8
	intervals []interval
	moreRuns  int
	holds     []hold
	lookedUp  bool
}

// worstWaits are the longest waits, of all and of each class.
type worstWaits struct {
	most, perClass, ofClasses int // how many are kept
	all                       []waitDetail
	least                     int64 // what is longer is among all; -1 as long as every wait is
	classes                   []classWorst
	ahead                     // scratch
}

// classWorst holds the longest waits of a class.
type classWorst struct {
	class   int32
	max     int64
	details []waitDetail
}

// ahead is what Ps did while one goroutine waited.
type ahead struct {
	runs      []run
	intervals []interval
	holds     []hold
}

func newWorstWaits(o *Options) worstWaits {
	t := worstWaits{most: o.Worst, perClass: o.WorstPerClass, ofClasses: o.WorstClasses, least: -1}
	if t.most == 0 {
		t.least = math.MaxInt64
	}
	return t
}

// consider keeps a wait if it is one of the longest, and reports whether it is of all.
func (t *worstWaits) consider(m *machine, e *ended) bool {
	t.considerInClass(m, e)
	if len(t.all) < t.most {
		t.all = append(t.all, m.detailOf(e))
	} else if e.ns > t.least {
		t.all[shortest(t.all)] = m.detailOf(e)
	} else {
		return false
	}
	if len(t.all) == t.most {
		t.least = t.all[shortest(t.all)].ns
	}
	return true
}

func (t *worstWaits) considerInClass(m *machine, e *ended) {
	ci, ns := e.g.class, e.ns
	if ns <= m.classes[ci].worstMin || t.perClass == 0 || t.ofClasses == 0 {
		return
	}
	at := m.classes[ci].worst
	if at == none {
		if len(t.classes) < t.ofClasses {
			at = int32(len(t.classes))
			t.classes = append(t.classes, classWorst{details: make([]waitDetail, 0, t.perClass)})
		} else {
			least := 0
			for i := range t.classes {
				if t.classes[i].max < t.classes[least].max {
					least = i
				}
			}
			if ns <= t.classes[least].max {
				return
			}
			at = int32(least)
			former := &m.classes[t.classes[at].class]
			former.worst, former.worstMin = none, -1
		}
		c := &t.classes[at]
		c.class, c.max, c.details = ci, 0, c.details[:0]
		m.classes[ci].worst = at
	}
	c := &t.classes[at]
	if len(c.details) < t.perClass {
		c.details = append(c.details, m.detailOf(e))
	} else {
		c.details[shortest(c.details)] = m.detailOf(e)
	}
	c.max = max(c.max, ns)
	if len(c.details) == t.perClass {
		m.classes[ci].worstMin = c.details[shortest(c.details)].ns
	}
}

func shortest(s []waitDetail) int {
	least := 0
	for i := range s {
		if s[i].ns < s[least].ns {
			least = i
		}
	}
	return least
}

// detailOf returns the detail of a wait.
func (m *machine) detailOf(e *ended) waitDetail {
	w, d := e.w, e.d
	s := waitDetail{
		ns: e.ns, from: w.ready, to: m.now, who: *e.g, p: d.P,
		victim: reference.NoP, batch: d.Batch, src: d.Src, basis: d.Basis, nsteps: w.nsteps, causes: *e.causes, aheadP: none, aheadFrom: m.now,
	}
	if d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
		s.victim = d.Victim
	}
	if p := e.p; p != nil {
		s.aheadP = p.index
		if !p.fresh {
			s.after = p.past.lastWhy()
		}
	}
	if ns := e.causes[iIdlePAvailable]; ns > 0 {
		s.holds = append(s.holds, hold{by: w.idle, ns: ns})
	}
	s.steps[0] = newStep(w.ready, w.p, w.to, w.why)
	if w.more != 0 {
		x := m.mores.At(w.more)
		copy(s.steps[1:], x.steps[:])
		copy(s.steps[1+moreSteps:], m.spills[x.spill][:])
	}
	if w.queue >= 0 {
		s.aheadP = w.queue
	}
	if s.aheadP >= 0 {
		s.aheadEnd = m.procs[s.aheadP].past.next() - 1
	}
	return s
}

// lookUp looks up who ran ahead in all waits that need the past of P pi before
// interval end. The later it does so, the more of them have been displaced.
func (t *worstWaits) lookUp(procs []*proc, pi int32, end int64) {
	t.lookUpIn(t.all, procs, pi, end)
	for i := range t.classes {
		t.lookUpIn(t.classes[i].details, procs, pi, end)
	}
}

func (t *worstWaits) lookUpIn(details []waitDetail, procs []*proc, pi int32, end int64) {
	for i := range details {
		if s := &details[i]; !s.lookedUp && s.aheadP == pi && s.aheadEnd < end {
			t.lookAhead(s, procs)
		}
	}
}

func (t *worstWaits) lookAhead(s *waitDetail, procs []*proc) {
	s.lookedUp = true
	if s.aheadP < 0 {
		return
	}
	s.aheadFrom = t.sumAhead(procs[s.aheadP], s.aheadEnd, s.from, s.to, s.who.id, s.who.seq)
	slices.SortStableFunc(t.runs, func(x, y run) int { return cmp.Compare(y.ns, x.ns) })
	s.nahead = int8(copy(s.ahead[:], t.runs))
	if s.moreRuns = len(t.intervals) - maxRuns; s.moreRuns > 0 {
		t.intervals = longest(t.intervals)
	}
	s.intervals = slices.Clone(t.intervals)
	slices.Reverse(s.intervals) // they were found latest first
	s.holds = append(s.holds, t.holds...)
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

// by is who made g runnable; nil if it was no other.
func (m *machine) by(g *goroutine, name func(ci int32) (int32, string, string)) *By {
	if g.by < 0 || g.by == 0 && g.wakerIs == none {
		return nil
	}
	b := &By{G: g.by, Stack: []string{}}
	if g.wakerIs != none {
		b.Class, b.Name, _ = name(g.wakerIs)
	}
	if m.opt.Frames != nil && g.wakerAt != 0 {
		lines := m.opt.Frames(g.wakerAt)
		b.Stack = append(b.Stack, lines[:min(len(lines), maxFrames)]...)
	}
	return b
}

// waitDetails returns waits as results, longest first.
func (m *machine) waitDetails(in []waitDetail, name func(ci int32) (int32, string, string)) []WaitDetail {
	for i := range in {
		if !in[i].lookedUp {
			m.worst.lookAhead(&in[i], m.procs)
		}
	}
	slices.SortStableFunc(in, func(x, y waitDetail) int {
		return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(x.from, y.from), cmp.Compare(x.who.id, y.who.id))
	})
	out := make([]WaitDetail, 0, len(in))
	for i := range in {
		s := &in[i]
		t := WaitDetail{
			G: s.who.id, FromNs: s.from, ToNs: s.to, WaitNs: s.ns, P: s.p,
			Source: s.src.String(), Basis: s.basis.String(), Causes: causeTimes(&s.causes),
			AheadFromNs: s.aheadFrom, MoreSteps: max(0, int(s.nsteps)-maxSteps), Ahead: []RanAhead{},
			Victim: s.victim, Batch: s.batch, After: "p-start",
			Runs: []Run{}, MoreRuns: max(0, s.moreRuns), Held: []PHold{},
		}
		if s.after != reference.WhyUnknown {
			t.After = s.after.String()
		}
		t.Class, t.Name, t.Creator = name(s.who.class)
		t.By = m.by(&s.who, name)
		if t.BlockedOn = blockedOn(s.who.how.reason); s.who.blockedNs > 0 {
			t.BlockedNs = s.who.blockedNs
		}
		for _, x := range s.steps[:min(s.nsteps, maxSteps)] {
			t.Path = append(t.Path, Step{AtNs: x.at, Queue: x.queue.String(), P: x.p, Why: x.why.String()})
		}
		for _, r := range s.ahead[:s.nahead] {
			id, n, _ := name(r.class)
			t.Ahead = append(t.Ahead, RanAhead{Class: id, Name: n, Ns: r.ns, Runs: r.n})
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
			t.Held = append(t.Held, m.held(h.by, h.ns, h.stack, name))
		}
		out = append(out, t)
	}
	return out
}
