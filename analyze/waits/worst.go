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

// waitDetail is one of the longest waits. Its names are not known yet: Class is the index of a class
// in Ahead and Runs.
type waitDetail struct {
	WaitDetail
	who    goroutine // as it was when it ended
	basis  reference.Basis
	nsteps int32
	causes [numCauses]int64
	steps  [maxSteps]step

	// Who ran ahead of it: on P aheadP (index, or none), before interval aheadEnd.
	// It is looked up when that P's past is about to be lost, or at the end,
	// since most waits are soon displaced by longer ones.
	aheadP   int32
	aheadEnd int64
	holds    []hold
	lookedUp bool
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
	byClass []RanAhead // Class is an index
	runs    []Run      // likewise; the latest first
	holds   []hold
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
		t.least = t.all[shortest(t.all)].WaitNs
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
		m.classes[ci].worstMin = c.details[shortest(c.details)].WaitNs
	}
}

func shortest(s []waitDetail) (least int) {
	for i := range s {
		if s[i].WaitNs < s[least].WaitNs {
			least = i
		}
	}
	return least
}

func (m *machine) detailOf(e *ended) waitDetail {
	w, d := e.w, e.d
	s := waitDetail{
		WaitDetail: WaitDetail{
			G: e.g.id, FromNs: w.ready, ToNs: m.now, WaitNs: e.ns, P: d.P, Source: d.Src.String(), MoreSteps: max(0, int(w.nsteps)-maxSteps),
			AheadFromNs: m.now, Ahead: []RanAhead{}, Runs: []Run{}, Victim: reference.NoP, Batch: d.Batch, After: "p-start",
		},
		who: *e.g, basis: d.Basis, nsteps: w.nsteps, causes: *e.causes, aheadP: none,
	}
	if d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
		s.Victim = d.Victim
	}
	if p := e.p; p != nil {
		s.aheadP = p.index
		if why := p.past.lastWhy(); !p.fresh && why != reference.WhyUnknown {
			s.After = why.String()
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
	s.AheadFromNs = t.sumAhead(procs[s.aheadP], s.aheadEnd, &s.WaitDetail, s.who.seq)
	slices.SortStableFunc(t.byClass, func(x, y RanAhead) int { return cmp.Compare(y.Ns, x.Ns) })
	s.Ahead = append(s.Ahead, t.byClass[:min(len(t.byClass), maxAhead)]...)
	s.MoreRuns = max(0, len(t.runs)-maxRuns)
	s.Runs = append(s.Runs, longest(t.runs)...)
	slices.Reverse(s.Runs)
	s.holds = append(s.holds, t.holds...)
}

// longest keeps the maxRuns longest, of equally long ones the first, in their order.
func longest(in []Run) []Run {
	out := in[:min(len(in), maxRuns)]
	least := shortestRun(out)
	for _, v := range in[len(out):] {
		if v.ns() > out[least].ns() {
			copy(out[least:], out[least+1:])
			out[maxRuns-1] = v
			least = shortestRun(out)
		}
	}
	return out
}

// shortestRun is the index of the shortest run, the last among equals.
func shortestRun(in []Run) (least int) {
	for i := range in {
		if in[i].ns() <= in[least].ns() {
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
	b := &By{G: g.by, Stack: m.frames(g.wakerAt)}
	if g.wakerIs != none {
		b.Class, b.Name, _ = name(g.wakerIs)
	}
	return b
}

// frames returns the innermost frames of a stack.
func (m *machine) frames(stack int32) []string {
	if m.opt.Frames == nil || stack == 0 {
		return []string{}
	}
	lines := m.opt.Frames(stack)
	return slices.Clone(lines[:min(len(lines), maxFrames)])
}

// waitDetails returns waits as results, longest first.
func (m *machine) waitDetails(in []waitDetail, name func(ci int32) (int32, string, string)) []WaitDetail {
	for i := range in {
		if !in[i].lookedUp {
			m.worst.lookAhead(&in[i], m.procs)
		}
	}
	slices.SortStableFunc(in, func(x, y waitDetail) int {
		return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(x.FromNs, y.FromNs), cmp.Compare(x.G, y.G))
	})
	out := make([]WaitDetail, 0, len(in))
	for i := range in {
		s := &in[i]
		t := s.WaitDetail
		t.Basis, t.Causes, t.Held = s.basis.String(), causeTimes(&s.causes), []PHold{}
		t.Class, t.Name, t.Creator = name(s.who.class)
		t.By = m.by(&s.who, name)
		if t.BlockedOn = blockedOn(s.who.how.reason); s.who.blockedNs > 0 {
			t.BlockedNs = s.who.blockedNs
		}
		for _, x := range s.steps[:min(s.nsteps, maxSteps)] {
			t.Path = append(t.Path, Step{AtNs: x.at, Queue: x.queue.String(), P: x.p, Why: x.why.String()})
		}
		for j := range t.Ahead {
			x := &t.Ahead[j]
			x.Class, x.Name, _ = name(x.Class)
		}
		for j := range t.Runs {
			x := &t.Runs[j]
			x.Class, x.Name, _ = name(x.Class)
		}
		slices.SortStableFunc(s.holds, func(x, y hold) int { return cmp.Compare(y.ns, x.ns) })
		for _, h := range s.holds[:min(len(s.holds), maxHeld)] {
			t.Held = append(t.Held, m.held(h.by, h.ns, h.stack, name))
		}
		out = append(out, t)
	}
	return out
}
