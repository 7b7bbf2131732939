package waits

import "github.com/gmpscope/gmpscope/reference"

// goroutine is one that the trace has shown and that has not ended.
type goroutine struct {
	id      int64
	seq     int64 // when it last became runnable; 0: never
	runFrom int64 // -1: does not run
	class   int32 // index
	classID int32 // of that class
	wait    int32 // 0: does not wait
	p       int32 // P on which it last ran, or none
	flags   reference.Flags
}

// lookup returns goroutine id and its index, which is 0 if there is none.
func (a *Accumulator) lookup(id int64) (*goroutine, int32) {
	gi := a.gors.Find(id)
	return a.gors.At(gi), gi
}

// onP is lookup for a decision about a goroutine that mostly is the last that ran on
// d's P.
func (a *Accumulator) onP(d *reference.Decision) (*goroutine, int32) {
	if uint32(d.P) < uint32(len(a.procOf)) {
		if i := a.procOf[d.P]; i > 0 {
			gi := a.procs[i-1].last
			if g := a.gors.At(gi); g.id == d.G && gi != 0 {
				return g, gi
			}
		}
	}
	return a.lookup(d.G)
}

// goroutine returns d's goroutine and its index, and takes over what d says of it.
func (a *Accumulator) goroutine(d *reference.Decision) (*goroutine, int32) {
	g, gi := a.lookup(d.G)
	if gi == 0 {
		g, gi = a.newGoroutine(d)
	}
	a.learn(g, d)
	return g, gi
}

func (a *Accumulator) newGoroutine(d *reference.Decision) (*goroutine, int32) {
	gi := a.gors.Add(d.G)
	g := a.gors.At(gi)
	ci := a.class(d.Class)
	*g = goroutine{id: d.G, runFrom: -1, class: ci, classID: a.classes[ci].id, p: none}
	a.classes[ci].goroutines++
	return g, gi
}

// kept are the flags of a decision that say what its goroutine is.
const kept = reference.FlagSystem | reference.FlagTracer | reference.FlagGC

// learn takes over class and flags of g, where d says more than what is known
// already.
func (a *Accumulator) learn(g *goroutine, d *reference.Decision) {
	if d.Class != g.classID || d.Flags&kept != g.flags {
		a.learnMore(g, d)
	}
}

func (a *Accumulator) learnMore(g *goroutine, d *reference.Decision) {
	if d.Class != 0 && g.classID != d.Class {
		if ci := a.class(d.Class); ci != g.class {
			a.classes[g.class].goroutines--
			c := &a.classes[ci]
			c.goroutines++
			g.class, g.classID = ci, c.id
		}
	}
	g.flags |= d.Flags & kept
	if g.flags != 0 {
		a.classes[g.class].system = true
	}
}

// exit forgets goroutine gi.
func (a *Accumulator) exit(g *goroutine, gi int32) {
	if g.wait != 0 {
		a.forget(g)
	}
	a.gors.Remove(g.id, gi)
	g.id = reference.NoG // for onP
}

// queueFor is the queue that a decision puts its goroutine into.
func (a *Accumulator) queueFor(to reference.Queue, p int32) int32 {
	switch to {
	case reference.QueueDirect:
		return queueDirect
	case reference.QueueRunnext, reference.QueueLocal:
		if pi := a.proc(p); pi >= 0 {
			return pi
		}
	}
	return queuePool
}

func (a *Accumulator) ready(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	g, gi := a.goroutine(d)
	qi := a.queueFor(d.To, d.P)
	if g.wait != 0 { // its start was not seen
		a.forget(g)
	}
	a.endRunning(g, gi) // nor its stop
	a.seq++
	g.seq = a.seq
	wi := a.newWait()
	g.wait = wi
	w := a.waits.At(wi)
	w.gor, w.ready, w.moved, w.more = gi, a.now, false, 0
	w.to, w.why, w.p, w.nsteps = d.To, d.Why, d.P, 1
	switch {
	case g.flags != 0:
		w.kind = kindSystem
	case d.Why == reference.WhyGosched:
		w.kind = kindSelf
	default:
		w.kind = kindUser
	}
	a.enqueue(wi, w, g, qi)
}

func (a *Accumulator) move(d *reference.Decision) {
	g, gi := a.lookup(d.G)
	if gi == 0 || g.wait == 0 {
		return
	}
	w := a.waits.At(g.wait)
	a.step(w, d)
	w.target = a.queueFor(d.To, d.P)
	if w.target == queueDirect {
		if pi := a.proc(d.P); pi >= 0 {
			w.target = takenBy(pi)
		}
	}
	if !w.moved && w.target != w.queue {
		w.moved = true
		a.moved = append(a.moved, g.wait)
	}
}

func (a *Accumulator) start(d *reference.Decision) {
	pi := a.proc(d.P)
	if d.G >= 0 {
		g, gi := a.goroutine(d)
		a.endRunning(g, gi)
		a.classes[g.class].starts++
		if g.wait != 0 && d.Wait < 0 {
			a.forget(g)
		} else if g.wait != 0 {
			a.finishWait(g, d, pi)
		}
		a.run(g, gi, pi)
	}
}

// run lets goroutine g run on P pi, which may be none.
func (a *Accumulator) run(g *goroutine, gi, pi int32) {
	g.p, g.runFrom = pi, a.now
	if pi >= 0 {
		a.procs[pi].fresh = false
		a.enter(pi, runState(g.flags), gi, g)
	}
}

// endRunning adds the run interval of goroutine g to its class and, where its
// P still runs it, lets the P go on to its scheduler.
func (a *Accumulator) endRunning(g *goroutine, gi int32) {
	if g.runFrom >= 0 {
		a.leaveFor(g, gi, pSched)
	}
}

func (a *Accumulator) leaveFor(g *goroutine, gi int32, st pstate) {
	a.classes[g.class].running += a.now - g.runFrom
	g.runFrom = -1
	if g.p >= 0 && (a.procs[g.p].runner == gi || a.stopper == g.p && a.stopperG == gi) {
		a.enter(g.p, st, 0, nil)
	}
}

func (a *Accumulator) stop(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	g, gi := a.onP(d)
	if gi == 0 {
		return
	}
	a.learn(g, d)
	if g.p >= 0 {
		a.procs[g.p].ended(gi, d.Why)
	}
	a.endRunning(g, gi)
	if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
		a.exit(g, gi)
	}
}

func (a *Accumulator) syscall(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	g, gi := a.onP(d)
	if gi == 0 {
		g, gi = a.newGoroutine(d)
	}
	a.learn(g, d)
	pi := g.p
	if g.runFrom < 0 {
		pi = a.proc(d.P)
	}
	if pi >= 0 {
		p := a.procs[pi]
		p.ended(gi, reference.WhySyscall)
		p.unavail, p.unavailStack = culpritSyscall|culprit(g.class), d.Stack
	}
	if g.runFrom >= 0 {
		a.leaveFor(g, gi, pUnavail)
	} else if pi >= 0 {
		a.enter(pi, pUnavail, 0, nil)
	}
}

func (a *Accumulator) syscallExit(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	g, gi := a.onP(d)
	if gi == 0 {
		g, gi = a.newGoroutine(d)
	}
	a.learn(g, d)
	if pi := a.proc(d.P); pi >= 0 && g.wait == 0 {
		a.endRunning(g, gi)
		a.run(g, gi, pi)
	}
}

// briefCalls is AddCalls for goroutine g. It reports false, and does nothing, if
// somebody waits in the global queue or is about to be moved, or g is not known to
// run on the P.
func (a *Accumulator) briefCalls(g *goroutine, gi int32, calls []reference.Decision) bool {
	if len(a.moved) > 0 || g.runFrom < 0 || g.p < 0 || g.wait != 0 || g.flags != 0 || g.classID != calls[0].Class {
		return false
	}
	pi := g.p
	p := a.procs[pi]
	if p.id != calls[0].P || p.state != pRun || p.runner != gi || !p.usable || !p.poolAt.pending || p.runPos != none || a.stopper == pi {
		return false
	}
	waited := !p.ownAt.pending
	for ; len(calls) >= 2; calls = calls[2:] {
		enter, exit := &calls[0], &calls[1]
		if enter.Time > a.now {
			a.advance(enter.Time)
		}
		a.sharesNow(p)
		p.ended(gi, reference.WhySyscall)
		a.classes[g.class].running += a.now - g.runFrom
		began, beganNs := a.clk.service(), a.now
		if waited {
			a.endRun(p, began)
		}
		p.unavail, p.unavailStack = culpritSyscall|culprit(g.class), enter.Stack
		p.state, p.hold = pUnavail, p.unavail
		a.record(pi, p)
		if exit.Time > a.now {
			a.advance(exit.Time)
		}
		a.sharesNow(p)
		c := a.clk.service()
		if waited {
			q := &p.q
			for i := range q.named {
				a.chargeHold(q.class[i], p.hold, q.slots[i].n*(a.now-beganNs), false, p.unavailStack)
			}
			p.ownAt.read(q, c)
		}
		a.pool.base[pRun] -= c - began
		a.pool.base[pUnavail] += c - began
		p.state, p.hold, p.fresh = pRun, 0, false
		p.began, p.servesFrom = c, c
		p.runFrom, g.runFrom = a.now, a.now
		a.record(pi, p)
	}
	return true
}

func (a *Accumulator) newWait() int32 {
	if n := len(a.freeWait); n > 0 {
		wi := a.freeWait[n-1]
		a.freeWait = a.freeWait[:n-1]
		return wi
	}
	wi := int32(len(a.nodes))
	a.waits.Make(wi)
	a.nodes = append(a.nodes, node{})
	return wi
}

// forget drops the wait of g, which is not to be counted.
func (a *Accumulator) forget(g *goroutine) {
	w := a.waits.At(g.wait)
	a.dequeue(g.wait, w)
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
	a.freeWait = append(a.freeWait, g.wait)
	g.wait = 0
}

// finishWait accounts for the wait of g, which is started by d on P pi.
func (a *Accumulator) finishWait(g *goroutine, d *reference.Decision, pi int32) {
	var f *proc
	if pi >= 0 {
		f = a.procs[pi]
	}
	w := a.waits.At(g.wait)
	causes := &a.causes
	if w.more != 0 {
		causes = &a.mores.At(w.more).causes
	} else {
		*causes = [numCauses]int64{}
	}
	a.closeSegment(g.wait, w, g, f, causes)
	ns := a.now - w.ready
	c := &a.classes[g.class]
	c.waits[w.kind].add(ns, causes)
	if c.coarse == nil {
		c.coarse = &coarse{}
	}
	c.coarse.add(min(ns, longestNs))
	a.totals[w.kind].record(ns)
	if a.opt.OnWait != nil {
		a.opt.OnWait(g.id, w.ready, a.now, causes[:])
	}
	if w.kind == kindUser {
		a.overTime.add(w.ready, a.now, causes)
		if ns > a.worstMin || ns > c.worstMin || len(a.worst) < a.opt.Worst {
			a.consider(&ended{w, g, d, pi, ns, causes})
		}
	}
	a.release(g, w)
}
