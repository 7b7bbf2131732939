package waits

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// window is what a part of the stream, [from, to), needs beside what all of it does.
//
// The accumulator takes the whole stream. At either edge it notes what each wait has
// come to by then. When the segment ends in which the wait was, what it came to by an
// edge is what it came to then, but that waking, which only the end tells, may go back
// beyond the edge. So a wait is divided into the parts before, in and after the window,
// which sum to it, and so do those of neighbouring windows, for which an edge means the
// same.
type window struct {
	from, to int64
	edges    [2]map[int32]*atEdge // by wait: of those open at from, and at to
	cells    []cell               // at to; nil before
	long     []pooled             // of the totals and the classes, at to
}

// atEdge is what a wait has come to by an edge of the window.
type atEdge struct {
	causes  [numCauses]int64
	segment *[numCauses]int64 // the part of that in the segment that is not over
}

func (a *Accumulator) setWindow() {
	a.edge = math.MaxInt64
	if a.opt.From <= 0 && a.opt.To <= 0 && a.opt.Only == nil {
		return
	}
	a.focus = &window{from: max(0, a.opt.From), to: math.MaxInt64}
	for i := range a.focus.edges {
		a.focus.edges[i] = map[int32]*atEdge{}
	}
	if a.opt.To > 0 {
		a.focus.to = a.opt.To
		a.edge = a.focus.to
	}
	if a.focus.from > 0 {
		a.edge = a.focus.from
	}
}

// cross lets time pass over the edges of the window up to t.
func (a *Accumulator) cross(t int64) {
	for w := a.focus; t >= a.edge; {
		at := a.edge
		if a.edge = math.MaxInt64; at < w.to {
			a.edge = w.to
		}
		a.advance(at)
		a.bookHolds()
		if at == w.from {
			a.enterWindow()
		}
		if at == w.to {
			a.leaveWindow()
		}
	}
}

// enterWindow has all that is counted begin now.
func (a *Accumulator) enterWindow() {
	a.eachWait(func(g *goroutine, w *wait) { a.focus.edges[0][g.wait] = a.soFar(g, w) })
	clear(a.cells)
	a.eachLong(func(_ int, x *pooled) { *x = pooled{} })
}

// eachLong calls f with the time under long runs of each total and then of each class.
func (a *accounts) eachLong(f func(i int, x *pooled)) {
	for k := range a.totals {
		f(k, &a.totals[k].long)
	}
	for i := range a.classes {
		f(len(a.totals)+i, &a.classes[i].long)
	}
}

// leaveWindow ends what is counted without waiting for its end.
func (a *Accumulator) leaveWindow() {
	a.eachWait(func(g *goroutine, w *wait) {
		e := a.soFar(g, w)
		a.focus.edges[1][g.wait] = e
		segment := *e.segment
		if begin := a.focus.edges[0][g.wait]; begin != nil && begin.segment != nil {
			segment = after(&segment, begin.segment)
		}
		if w.queue < queueDirect {
			p := a.procs[taker(w.queue)]
			a.chargeHold(g.class, p.unavail, segment[iUnavailable], false, p.stack)
		}
		a.chargeHold(g.class, a.longestIdle(), segment[iIdlePAvailable], false, 0)
	})
	a.foldPool()
	a.focus.cells = append([]cell{}, a.cells...)
	a.eachLong(func(_ int, x *pooled) { a.focus.long = append(a.focus.long, *x) })
}

// restore reverts what was charged after the window.
func (a *Accumulator) restore() {
	w := a.focus
	if w.cells == nil {
		return
	}
	clear(a.cells)
	copy(a.cells, w.cells)
	a.eachLong(func(i int, x *pooled) {
		if *x = (pooled{}); i < len(w.long) {
			*x = w.long[i]
		}
	})
}

func (a *Accumulator) eachWait(f func(g *goroutine, w *wait)) {
	for slot := int32(1); slot < a.slots; slot++ {
		if g := a.gors.At(slot); g.slot != 0 && g.wait != 0 {
			f(g, a.waits.At(g.wait))
		}
	}
}

// soFar returns what w, the wait of g, has come to.
func (a *Accumulator) soFar(g *goroutine, w *wait) *atEdge {
	var over int64
	var p *proc
	switch {
	case w.queue >= 0:
		p = a.procs[w.queue]
		over = p.q.order.value(a.nodes, g.wait) + a.clk.inProgress(p, g.seq) - w.over
	case w.queue == queuePool:
		over = a.pool.q.order.value(a.nodes, g.wait) + a.overtakenNow(g.seq) - w.over
	}
	e := &atEdge{segment: new([numCauses]int64)}
	if w.from < a.now {
		a.segmentCauses(w, p, nil, over, g.seq, e.segment)
	}
	e.causes = *e.segment
	if w.more != 0 {
		addCauses(&e.causes, &a.mores.At(w.more).causes)
	}
	return e
}

// closeInWindow is segmentCauses at the end of a segment. It returns how much of it was
// missed, and how much not available, since the window began.
func (a *Accumulator) closeInWindow(wi int32, w *wait, p, f *proc, over, seq int64, c *[numCauses]int64) (missed, unavail int64) {
	var segment [numCauses]int64
	a.segmentCauses(w, p, f, over, seq, &segment)
	addCauses(c, &segment)
	rest := segment
	for i, edge := range a.focus.edges {
		e := edge[wi]
		if e == nil || e.segment == nil {
			continue
		}
		left := after(&segment, e.segment)
		for cause := range left {
			e.causes[cause] += segment[cause] - left[cause] - e.segment[cause]
		}
		e.segment = nil
		if i == 0 {
			rest = left
		}
	}
	return rest[iIdlePAvailable], rest[iUnavailable]
}

// bookHolds charges what runs and what is held until now, as if it began anew.
func (m *machine) bookHolds() {
	c := m.clk.service()
	for _, p := range m.procs {
		switch {
		case p.state == pRun:
			for s := p.q.used &^ kindSlots; s != 0; s &= s - 1 {
				i := s.first()
				m.charge(p.q.class[i], p.runClass, p.q.slots[i].at(c), false)
			}
			if long := m.now-p.runFrom > m.opt.SliceNs; long {
				m.longRun(&p.q, &integrals{}, c, false)
				if p.runPos != none && !p.poolAt.pending {
					m.longRun(&m.pool.q, &p.poolAt.at, c, true)
				}
			}
			p.q.begin(c)
		case p.hold != 0:
			m.endHold(p)
			m.beginHold(p)
		}
	}
	if m.mode == modeStopped {
		m.setMode(modeBusy)
		m.setMode(modeStopped)
	}
	m.foldPool()
}

// forget drops what is kept of a wait, which is over.
func (w *window) forget(wait int32) {
	for _, edge := range w.edges {
		delete(edge, wait)
	}
}

// countInWindow is count for the part of a wait that lies in the window.
func (a *Accumulator) countInWindow(c *class, e *ended) {
	in := a.focus
	from, to := max(e.w.ready, in.from), min(a.now, in.to)
	if !a.of(e.g) || e.w.ready >= in.to || to < from {
		return
	}
	causes := *e.causes
	if end := in.edges[1][e.g.wait]; end != nil {
		causes = end.causes
	}
	if begin := in.edges[0][e.g.wait]; begin != nil {
		for i, ns := range begin.causes {
			causes[i] -= ns
		}
		if slices.Min(causes[:]) < -numCauses {
			settle(&causes)
		}
	}
	part := ended{e.w, e.g, e.d, e.p, to - from, &causes}
	if a.begins(e.g, e.w.ready) {
		a.count(c, &part, from)
		return
	}
	own := &c.waits[e.w.kind]
	own.total += part.ns
	addCauses(&own.causes, &causes)
	c.countWaker(e.g, 0, part.ns)
	a.addToSeries(c, &part, from)
}

// after divides a segment at an edge: it returns what is left of all its causes for the
// time after it, of which past is what they had come to. What one had come to beyond
// what it has at the end, waking took, but for the rounding of shares. As long as causes
// only grow, what is left at a later edge is not more.
func after(all, past *[numCauses]int64) [numCauses]int64 {
	left := *all
	taken := int64(0)
	for i := range left {
		if left[i] -= past[i]; left[i] < 0 {
			taken -= left[i]
			left[i] = 0
		}
	}
	taken = take(taken, left[iPWakingUp:iPWakingUp+1])
	take(taken, left[:])
	return left
}

// take reduces causes by ns in all, from the first on, and returns what they have not.
func take(ns int64, from []int64) int64 {
	for i := range from {
		n := min(ns, from[i])
		from[i] -= n
		ns -= n
	}
	return ns
}

// settle lets no cause have less than nothing. Those of a stay in the global queue do
// not only grow where GOMAXPROCS changes meanwhile; else but for the rounding of shares,
// which is left, so that windows add up.
func settle(c *[numCauses]int64) {
	short := int64(0)
	for i := range c {
		if c[i] < 0 {
			short -= c[i]
			c[i] = 0
		}
	}
	take(short, c[:])
}

func (a *Accumulator) of(g *goroutine) bool {
	return a.opt.Has(g.id, a.classes[g.class].id)
}

// begins reports whether what g began at a time counts: in the window, if there is one.
func (a *Accumulator) begins(g *goroutine, at int64) bool {
	return a.focus == nil || at >= a.focus.from && at < a.focus.to && a.of(g)
}

// clip is how much of [from, to) of g counts.
func (a *Accumulator) clip(g *goroutine, from, to int64) int64 {
	if a.focus == nil {
		return to - from
	}
	if !a.of(g) {
		return 0
	}
	return max(0, min(to, a.focus.to)-max(from, a.focus.from))
}

// ran adds to the running of the class of g, which ran from a time until now.
func (a *Accumulator) ran(g *goroutine, since int64) {
	since = min(since, reference.MaxTime)
	if a.focus == nil {
		a.classes[g.class].running += a.now - since
		return
	}
	a.classes[g.class].running += a.clip(g, since, a.now)
}

// countGoroutine counts g in its class, if it is there in the window, as one that was
// counted in another class is.
func (a *Accumulator) countGoroutine(g *goroutine, was bool) {
	if a.focus == nil || (was || a.now < a.focus.to) && a.of(g) {
		g.counted = true
		a.classes[g.class].goroutines++
	}
}

// uncountGoroutine reverts that.
func (a *accounts) uncountGoroutine(g *goroutine) {
	if g.counted {
		g.counted = false
		a.classes[g.class].goroutines--
	}
}
