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

// lookup returns the index of goroutine id, 0 if there is none.
func (a *Accumulator) lookup(id int64) int32 { return a.gors.Find(id) }

// goroutine returns the index of d's goroutine and takes over what d says of it.
func (a *Accumulator) goroutine(d *reference.Decision) int32 {
	gi := a.lookup(d.G)
	if gi == 0 {
		gi = a.gors.Add(d.G)
		ci := a.class(d.Class)
		*a.gors.At(gi) = goroutine{id: d.G, runFrom: -1, class: ci, classID: a.classes[ci].id, p: none}
		a.classes[ci].goroutines++
	}
	a.learn(gi, d)
	return gi
}

// learn takes over class and flags of goroutine gi, where d says more than what
// is known already.
func (a *Accumulator) learn(gi int32, d *reference.Decision) {
	const kept = reference.FlagSystem | reference.FlagTracer | reference.FlagGC
	g := a.gors.At(gi)
	if (d.Class == 0 || d.Class == g.classID) && d.Flags&kept&^g.flags == 0 {
		return
	}
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
func (a *Accumulator) exit(gi int32) {
	g := a.gors.At(gi)
	if g.wait != 0 {
		a.forget(g.wait)
	}
	a.gors.Remove(g.id, gi)
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
	gi := a.goroutine(d)
	qi := a.queueFor(d.To, d.P)
	g := a.gors.At(gi)
	if g.wait != 0 { // its start was not seen
		a.forget(g.wait)
	}
	a.endRunning(gi) // nor its stop
	a.seq++
	g.seq = a.seq
	wi := a.newWait()
	g.wait = wi
	w := a.wait(wi)
	w.gor, w.ready, w.moved, w.nsteps, w.spill = gi, a.now, false, 0, 0
	w.causes = [numCauses]int64{}
	switch {
	case g.flags != 0:
		w.kind = kindSystem
	case d.Why == reference.WhyGosched:
		w.kind = kindSelf
	default:
		w.kind = kindUser
	}
	a.step(w, d)
	a.enqueue(wi, qi)
}

func (a *Accumulator) move(d *reference.Decision) {
	gi := a.lookup(d.G)
	if gi == 0 || a.gors.At(gi).wait == 0 {
		return
	}
	wi := a.gors.At(gi).wait
	w := a.wait(wi)
	a.step(w, d)
	w.target = a.queueFor(d.To, d.P)
	if w.target == queueDirect {
		if pi := a.proc(d.P); pi >= 0 {
			w.target = takenBy(pi)
		}
	}
	if !w.moved && w.target != w.queue {
		w.moved = true
		a.moved = append(a.moved, wi)
	}
}

func (a *Accumulator) start(d *reference.Decision) {
	pi := a.proc(d.P)
	if d.G >= 0 {
		gi := a.goroutine(d)
		a.endRunning(gi)
		g := a.gors.At(gi)
		a.classes[g.class].starts++
		if wi := g.wait; wi != 0 && d.Wait < 0 {
			a.forget(wi)
		} else if wi != 0 {
			a.finishWait(wi, d, pi)
		}
		a.run(gi, pi)
	}
}

// run lets goroutine gi run on P pi, which may be none.
func (a *Accumulator) run(gi, pi int32) {
	g := a.gors.At(gi)
	g.p, g.runFrom = pi, a.now
	if pi >= 0 {
		a.procs[pi].fresh = false
		a.enter(pi, runState(g.flags), gi)
	}
}

// endRunning adds the run interval of goroutine gi to its class and, where its
// P still runs it, lets the P go on to its scheduler.
func (a *Accumulator) endRunning(gi int32) { a.leaveFor(gi, pSched) }

func (a *Accumulator) leaveFor(gi int32, st pstate) {
	g := a.gors.At(gi)
	if g.runFrom < 0 {
		return
	}
	a.classes[g.class].running += a.now - g.runFrom
	g.runFrom = -1
	if g.p >= 0 && (a.procs[g.p].runner == gi || a.stopper == g.p && a.stopperG == gi) {
		a.enter(g.p, st, 0)
	}
}

func (a *Accumulator) stop(d *reference.Decision) {
	gi := a.lookup(d.G)
	if gi == 0 {
		return
	}
	a.learn(gi, d)
	if pi := a.gors.At(gi).p; pi >= 0 {
		a.procs[pi].ended(gi, d.Why)
	}
	a.endRunning(gi)
	if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
		a.exit(gi)
	}
}

func (a *Accumulator) syscall(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	gi := a.goroutine(d)
	g := a.gors.At(gi)
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
		a.leaveFor(gi, pUnavail)
	} else if pi >= 0 {
		a.enter(pi, pUnavail, 0)
	}
}

func (a *Accumulator) syscallExit(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	gi := a.goroutine(d)
	if pi := a.proc(d.P); pi >= 0 && a.gors.At(gi).wait == 0 {
		a.endRunning(gi)
		a.run(gi, pi)
	}
}

const waitChunk = 256

func (a *Accumulator) wait(wi int32) *wait {
	return &a.waits[uint32(wi)/waitChunk][uint32(wi)%waitChunk]
}

func (a *Accumulator) newWait() int32 {
	if n := len(a.freeWait); n > 0 {
		wi := a.freeWait[n-1]
		a.freeWait = a.freeWait[:n-1]
		return wi
	}
	wi := int32(len(a.nodes))
	if wi/waitChunk == int32(len(a.waits)) {
		a.waits = append(a.waits, make([]wait, waitChunk))
	}
	a.nodes = append(a.nodes, node{})
	return wi
}

// forget drops a wait that is not to be counted.
func (a *Accumulator) forget(wi int32) {
	a.dequeue(wi)
	a.release(wi)
}

func (a *Accumulator) release(wi int32) {
	w := a.wait(wi)
	w.moved = false
	a.gors.At(w.gor).wait = 0
	if w.spill != 0 {
		a.freeSpil = append(a.freeSpil, w.spill)
		w.spill = 0
	}
	a.freeWait = append(a.freeWait, wi)
}

// finishWait accounts for wait wi, whose goroutine is started by d on P pi.
func (a *Accumulator) finishWait(wi int32, d *reference.Decision, pi int32) {
	var f *proc
	if pi >= 0 {
		f = a.procs[pi]
	}
	a.closeSegment(wi, f)
	w := a.wait(wi)
	ns := a.now - w.ready
	ci := a.gors.At(w.gor).class
	c := &a.classes[ci]
	c.waits[w.kind].add(ns, &w.causes)
	if c.coarse == nil {
		c.coarse = &coarse{}
	}
	c.coarse.add(min(ns, longestNs))
	a.totals[w.kind].record(ns)
	if a.opt.OnWait != nil {
		a.opt.OnWait(a.gors.At(w.gor).id, w.ready, a.now, w.causes[:])
	}
	if w.kind == kindUser {
		a.overTime.add(w.ready, a.now, &w.causes)
		a.consider(w, d, pi, ci, ns)
	}
	a.release(wi)
}
