package waits

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// goroutine is one that the trace has shown and that has not ended. It is one line of
// the CPU's cache.
type goroutine struct {
	id    int64
	seq   int64 // when it last became runnable; 0: never
	class int32 // index
	wait  int32 // 0: does not wait
	p     int32 // P on which it last ran, or none
	slot  int32 // 0: none, or has ended
	flags reference.Flags
	// counted reports whether it is among the goroutines of its class.
	counted bool

	// How it last became runnable.
	how       how
	wakerIs   int32 // index of the class of by
	wakerAt   int32 // stack of by
	by        int64 // goroutine that made it so, or NoG
	blockedNs int64 // for how long it was blocked before; -1 if it was not, or that is not known
}

// goroutine returns d's goroutine, and takes over what is known of it.
func (a *Accumulator) goroutine(d *reference.Decision, n *ledger.Note) *goroutine {
	g := a.gors.At(n.G)
	switch {
	// OPT: first, as nothing needs to be read of a record that is not in the cache.
	case n.Was == ledger.Unseen, g.slot == 0:
		a.meet(g, d, n)
	case n.Changed&ledger.Learned != 0:
		a.learn(g, n)
	}
	return g
}

func (a *Accumulator) meet(g *goroutine, d *reference.Decision, n *ledger.Note) {
	ci := a.class(n.Class)
	*g = goroutine{id: d.G, class: ci, p: none, slot: n.G}
	a.countGoroutine(g, false)
	a.setFlags(g, n.Flags)
}

// learn copies what was not known of g.
func (a *Accumulator) learn(g *goroutine, n *ledger.Note) {
	if ci := a.class(n.Class); ci != g.class {
		was := g.counted
		a.uncountGoroutine(g)
		g.class = ci
		a.countGoroutine(g, was)
	}
	a.setFlags(g, n.Flags)
}

func (a *accounts) setFlags(g *goroutine, f reference.Flags) {
	g.flags = f
	if f != 0 {
		a.classes[g.class].system = true
	}
}

func (a *Accumulator) exit(g *goroutine) {
	if g.wait != 0 {
		a.forget(g)
	}
	if a.focus != nil && a.now < a.focus.from {
		a.uncountGoroutine(g)
	}
	g.slot = 0
}

// queueFor is the queue that a decision puts its goroutine into.
func (m *machine) queueFor(d *reference.Decision) int32 {
	switch d.To {
	case reference.QueueDirect:
		return queueDirect
	case reference.QueueRunnext, reference.QueueLocal:
		if p := m.proc(d.P); p != nil {
			return p.index
		}
	}
	return queuePool
}

func (a *Accumulator) ready(d *reference.Decision, n *ledger.Note, by int32, before *ledger.Blocked) {
	if n.G == 0 {
		return
	}
	g := a.goroutine(d, n)
	qi := a.queueFor(d)
	if g.wait != 0 { // its start was not seen
		a.forget(g)
	}
	if n.Was == ledger.Running { // nor its stop
		a.endRunning(g, n)
	}
	a.woke(g, d, by, before)
	a.seq++
	g.seq = a.seq
	wi, w := a.newWait()
	g.wait = wi
	w.gor, w.ready = g.slot, a.now
	w.to, w.why, w.p, w.nsteps = d.To, d.Why, d.P, 1
	switch {
	case g.flags != 0:
		w.kind = KindSystem
	case d.Why == reference.WhyGosched:
		w.kind = KindSelf
	default:
		w.kind = KindUser
	}
	a.enqueue(wi, w, g, qi)
}

func (a *Accumulator) move(d *reference.Decision, n *ledger.Note) {
	g := a.gors.At(n.G)
	if g.slot == 0 || g.wait == 0 {
		return
	}
	w := a.waits.At(g.wait)
	a.step(w, d)
	w.target = a.queueFor(d)
	if w.target == queueDirect {
		if p := a.proc(d.P); p != nil {
			w.target = takenBy(p.index)
		}
	}
	if !w.moved && w.target != w.queue {
		w.moved = true
		a.moved = append(a.moved, g.wait)
	}
}

func (a *Accumulator) start(d *reference.Decision, n *ledger.Note) {
	p := a.proc(d.P)
	if n.G == 0 {
		return
	}
	g := a.goroutine(d, n)
	if n.Was == ledger.Running {
		a.endRunning(g, n)
	}
	c := &a.classes[g.class]
	if a.begins(g, a.now) {
		c.starts++
	}
	switch {
	case g.wait == 0:
	case d.Wait < 0:
		a.forget(g)
	default:
		a.finishWait(g, c, d, p)
	}
	a.run(g, p)
}

// run lets goroutine g run on p, which may be nil.
func (m *machine) run(g *goroutine, p *proc) {
	g.p = none
	if p != nil {
		g.p, p.fresh = p.index, false
		if st := runState(g.flags); st == pRun && (p.state == pSched || p.state == pUnavail) {
			m.takeUp(p, g)
		} else {
			m.enter(p, st, g)
		}
	}
}

// endRunning adds the run interval of goroutine g, which runs, to its class and, where
// its P still runs it, lets the P go on to its scheduler.
func (a *Accumulator) endRunning(g *goroutine, n *ledger.Note) {
	a.leaveFor(g, n, a.ranOn(g), pSched)
}

// ranOn is the P on which g ran last, or nil.
func (m *machine) ranOn(g *goroutine) *proc {
	if g.p < 0 {
		return nil
	}
	return m.procs[g.p]
}

// leaveFor ends the run interval of g; p, on which it ran, goes on to its scheduler, or
// is unavailable.
func (a *Accumulator) leaveFor(g *goroutine, n *ledger.Note, p *proc, st pstate) {
	a.ran(g, n.Since)
	if p == nil {
		return
	}
	if p.state == pRun && p.last == g.slot {
		a.putDown(p, st)
	} else if p.runner() == g.slot || a.stopper == p && a.stopperG == g.slot {
		a.enter(p, st, nil)
	}
}

func (a *Accumulator) stop(d *reference.Decision, n *ledger.Note) {
	g := a.gors.At(n.G)
	if g.slot == 0 {
		return
	}
	if n.Changed&ledger.Learned != 0 {
		a.learn(g, n)
	}
	p := a.ranOn(g)
	if p != nil && p.runner() == g.slot {
		p.past.ended(d.Why)
	}
	if n.Was == ledger.Running {
		a.leaveFor(g, n, p, pSched)
	}
	if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
		a.exit(g)
	}
}

func (a *Accumulator) syscall(d *reference.Decision, n *ledger.Note) {
	if n.G == 0 {
		return
	}
	g := a.goroutine(d, n)
	p := a.ranOn(g)
	if n.Was != ledger.Running {
		p = a.proc(d.P)
	}
	if p != nil {
		if p.runner() == g.slot {
			p.past.ended(reference.WhySyscall)
		}
		p.unavail, p.stack = culpritSyscall|culprit(g.class), d.Stack
	}
	if n.Was == ledger.Running {
		a.leaveFor(g, n, p, pUnavail)
	} else if p != nil {
		a.enter(p, pUnavail, nil)
	}
}

func (a *Accumulator) syscallExit(d *reference.Decision, n *ledger.Note) {
	if n.G == 0 {
		return
	}
	g := a.goroutine(d, n)
	if n.Was == ledger.Running {
		a.endRunning(g, n)
	}
	if p := a.proc(d.P); p != nil && g.wait == 0 {
		a.run(g, p)
	}
}

// briefCalls processes brief system calls, of which n is the first note. It reports false,
// and does nothing, if a goroutine waits in the global queue or is about to be moved, or
// the P is not known to run the goroutine.
func (a *Accumulator) briefCalls(calls []reference.Decision, n *ledger.Note) bool {
	g := a.gors.At(n.G)
	p := a.ranOn(g)
	if len(a.moved) > 0 || g.slot == 0 || g.wait != 0 || p == nil || p.id != calls[0].P || p.state != pRun ||
		p.last != g.slot || !p.usable || !p.poolAt.pending || p.runPos != none || calls[len(calls)-1].Time >= a.edge {
		return false
	}
	// The mode stays as it is meanwhile: what each of its ns means, in a call and else.
	inRun, inCall := &p.base[shareOf[pRun][a.mode&3]&7], &p.base[shareOf[pUnavail][a.mode&3]&7]
	by, q := culpritSyscall|culprit(g.class), &p.q
	var inCalls int64
	for i := 1; i < len(calls); i += 2 {
		enter, exit := &calls[i-1], &calls[i]
		if enter.Time > a.now {
			a.advance(enter.Time)
		}
		p.past.ended(reference.WhySyscall)
		if q.used != 0 {
			a.notifyQueue(p, a.clk.service())
		}
		p.unavail, p.stack = by, enter.Stack
		p.state, p.hold = pUnavail, by
		a.record(p)
		began := a.now
		if exit.Time > a.now {
			a.advance(exit.Time)
		}
		c := a.clk.service()
		for s := q.used &^ kindSlots; s != 0; s &= s - 1 {
			i := s.first()
			a.chargeHold(q.class[i], by, q.slots[i].n*(a.now-began), false, enter.Stack)
		}
		q.begin(c)
		inCalls += a.now - began
		p.state, p.hold, p.fresh = pRun, 0, false
		p.began, p.servesFrom = c, c
		p.runFrom = a.now
		a.record(p)
	}
	*inRun -= inCalls
	*inCall += inCalls
	if a.mode == modeBusy || a.mode == modeStopping { // the service clock went on
		a.pool.in[pRun].base -= inCalls
		a.pool.in[pUnavail].base += inCalls
	}
	a.ran(g, n.Since)
	if a.begins(g, a.now) { // none of the calls reaches over an edge
		a.classes[g.class].running -= inCalls
	}
	return true
}

// newWait returns a wait that was not moved.
func (t *waitRecords) newWait() (int32, *wait) {
	if wi := t.freeWait; wi != 0 {
		w := t.waits.At(wi)
		t.freeWait = w.nextFree
		return wi, w
	}
	wi := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{})
	return wi, t.waits.Make(wi)
}

// forget drops the wait of g, which is not to be counted.
func (a *Accumulator) forget(g *goroutine) {
	w := a.waits.At(g.wait)
	ns := a.clip(g, w.ready, a.now)
	a.totals[w.kind].cutNs += ns
	a.classes[g.class].cutNs += ns
	a.dequeue(g.wait, w, g.seq)
	a.release(g, w)
}

func (a *Accumulator) release(g *goroutine, w *wait) {
	w.moved = false
	if w.more != 0 {
		if m := a.mores.At(w.more); m.spill != 0 {
			a.freeSpil = append(a.freeSpil, m.spill)
		}
		a.freeMore = append(a.freeMore, w.more)
		w.more = 0
	}
	if a.focus != nil {
		a.focus.forget(g.wait)
	}
	w.nextFree, a.freeWait = a.freeWait, g.wait
	g.wait = 0
}

// finishWait accounts for the wait of g of class c, which is started by d on p, which
// may be nil.
func (a *Accumulator) finishWait(g *goroutine, c *class, d *reference.Decision, p *proc) {
	w := a.waits.At(g.wait)
	causes := &a.causes
	if w.more != 0 {
		causes = &a.mores.At(w.more).causes
	} else {
		*causes = [numCauses]int64{}
	}
	a.closeSegment(g.wait, w, g, p, causes)
	// OPT: one by one, as a literal is made apart and then copied.
	var e ended
	e.w, e.g, e.d, e.p, e.ns, e.causes = w, g, d, p, a.now-w.ready, causes
	if a.focus == nil {
		a.count(c, &e, w.ready)
	} else {
		a.countInWindow(c, &e)
	}
	a.release(g, w)
}

// count adds a wait of class c, which counts from a time on.
func (a *Accumulator) count(c *class, e *ended, from int64) {
	kind := e.w.kind
	c.waits[kind].add(e.ns, e.causes)
	if c.coarse == nil {
		c.coarse = &coarse{}
	}
	c.coarse.add(min(e.ns, longestNs))
	a.totals[kind].record(e.ns)
	c.countWaker(e.g, 1, e.ns)
	a.addToSeries(c, e, from)
	if kind == KindUser && e.ns > min(a.worst.least, c.worstMin) && a.worst.consider(&a.machine, e) {
		a.Longest = append(a.Longest, LongWait{G: e.g.id, From: e.w.ready, To: a.now, At: a.at})
	}
}

// hand writes a wait, from a time on, as others see it.
//
// OPT: piece by piece where it belongs, as most of it was written just before, and
// likewise: see record.
func (a *Accumulator) hand(out *EndedWait, e *ended, from int64) {
	w, g := e.w, e.g
	out.From, out.To = from, from+e.ns
	copyCauses(&out.Causes, e.causes)
	out.By, out.Why, out.Waker, out.Woken = g.by, g.how.why, 0, 0
	if g.wakerIs != none {
		out.Waker = a.classes[g.wakerIs].id
	}
	if g.by >= 0 {
		out.Woken = g.wakerAt
	}
	out.At, out.Kind = int32(a.at), w.kind
	out.Begins = a.begins(g, w.ready)
}

// addToSeries adds the time of a wait, from a time on, to the series over time.
func (a *Accumulator) addToSeries(c *class, e *ended, from int64) {
	if a.opt.Ended {
		a.Ended = append(a.Ended, EndedWait{})
		a.hand(&a.Ended[len(a.Ended)-1], e, from)
	}
	if e.w.kind == KindUser {
		if a.focus != nil {
			settle(e.causes)
		}
		from -= a.opt.From
		if c.series == nil {
			c.series = &series{}
		}
		c.series.add(max(from+e.ns, 0), e.ns)
		a.overTime.add(from, from+e.ns, e.causes)
	}
}
