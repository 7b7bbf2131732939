package waits

import "github.com/gmpscope/gmpscope/reference"

// A culprit is who or what had a P while goroutines waited: a kind, and what
// that kind tells apart.
type culprit int32

const (
	culpritRun     culprit = iota << culpritBits // a goroutine ran: index of its class
	culpritSyscall                               // the system call of a goroutine: index of its class
	culpritLocked                                // a hand-over to a locked thread: 0
	culpritGC                                    // a mark worker: index of its class
	culpritSTW                                   // a stop-the-world: index of its reason, 0 for further ones
	culpritIdle                                  // none, it was idle: index of the P + 1, 0 for one that never had a thread
)

const culpritBits = 24

func (c culprit) kind() culprit { return c &^ (1<<culpritBits - 1) }
func (c culprit) of() int32     { return int32(c & (1<<culpritBits - 1)) }

// maxReasons bounds the reasons of stop-the-worlds that are told apart.
const maxReasons = 32

// reason returns the index of a reason.
func (a *Accumulator) reason(handle int32) int32 {
	for i, h := range a.reasons {
		if i > 0 && h == handle {
			return int32(i)
		}
	}
	if len(a.reasons) > maxReasons {
		return 0
	}
	a.reasons = append(a.reasons, handle)
	return int32(len(a.reasons) - 1)
}

// holdOf is what keeps p from running anyone, 0 for nothing that is shown.
func (a *Accumulator) holdOf(p *proc) culprit {
	switch {
	case p.state == pUnavail:
		return p.unavail
	case p.state == pGC:
		return culpritGC | culprit(p.runClass)
	case p.state == pIdle && a.stw:
		return culpritSTW | culprit(a.stwReason)
	}
	return 0
}

// beginHold begins what keeps p from running anyone. Those in its queue wait for
// it by the time, those in the global queue by the service clock and p's share.
func (a *Accumulator) beginHold(p *proc) {
	if p.hold = a.holdOf(p); p.hold == 0 {
		return
	}
	p.q.begin(a.now)
	if p.usable && !p.poolAt.pending {
		a.readPool(p, a.clk.service())
	}
}

// endHold charges it.
func (a *Accumulator) endHold(p *proc) {
	if p.hold == 0 {
		return
	}
	for s := p.q.used &^ kindSlots; s != 0; s &= s - 1 {
		i := s.first()
		a.chargeHold(p.q.class[i], p.hold, p.q.slots[i].at(a.now), false, p.stack)
	}
	if p.usable && !p.poolAt.pending {
		a.creditPoolHold(p)
	}
	p.hold = 0
}

// creditPoolHold charges it to all who waited in the global queue. The reading of that
// must not be pending.
func (a *Accumulator) creditPoolHold(p *proc) {
	q, c := &a.pool.q, a.clk.service()
	for i := range q.named {
		a.chargeHold(q.class[i], p.hold, q.slots[i].at(c)-p.poolAt.at[i], true, p.stack)
	}
}

// holdAgain looks anew at what keeps the idle Ps, as a stop-the-world has begun
// or ended.
func (a *Accumulator) holdAgain() {
	for _, p := range a.procs {
		if p.state == pIdle {
			a.endHold(p)
			a.beginHold(p)
			a.record(p)
		}
	}
}

// setMode follows a change of the mode. While the world is stopped, those in
// the global queue wait for that alone.
func (a *Accumulator) setMode(m mode) {
	if m == a.mode {
		return
	}
	if m == modeStopped || a.mode == modeStopped {
		q := &a.pool.q
		if m == modeStopped {
			for i := range q.named {
				a.pool.stopped[i] = -q.slots[i].n * a.now
			}
		} else {
			for i := range q.named {
				a.chargeHold(q.class[i], culpritSTW|culprit(a.stwReason), a.pool.stopped[i]+q.slots[i].n*a.now, false, 0)
			}
		}
	}
	a.mode = m
}

// chargeHold books waiting time of a class under what held a P.
func (a *accounts) chargeHold(waiting int32, by culprit, ns int64, shared bool, stack int32) {
	if ns == 0 {
		return
	}
	x := a.cellOfRecent(waiting, by)
	x.add(ns, shared)
	if ns > x.most {
		x.most, x.stack = ns, stack
	}
}

// The idle Ps are linked in the order in which they became so.

func (a *Accumulator) joinIdle(p *proc) {
	if p.state != pIdle || !p.usable {
		return
	}
	p.idle, p.idleNext, p.idlePrev = true, none, a.idleTail
	if a.idleTail != none {
		a.procs[a.idleTail].idleNext = p.index
	} else {
		a.idleHead = p.index
	}
	a.idleTail = p.index
}

func (a *Accumulator) leaveIdle(p *proc) {
	if !p.idle {
		return
	}
	p.idle = false
	if p.idlePrev != none {
		a.procs[p.idlePrev].idleNext = p.idleNext
	} else {
		a.idleHead, a.idleLast = p.idleNext, p.index
	}
	if p.idleNext != none {
		a.procs[p.idleNext].idlePrev = p.idlePrev
	} else {
		a.idleTail = p.idlePrev
	}
}

// longestIdle is the P that has been idle longest; if none is idle now, the last
// that was that.
func (a *Accumulator) longestIdle() culprit {
	switch {
	case a.seen < a.usable:
		return culpritIdle
	case a.idleHead != none:
		return culpritIdle | culprit(a.idleHead+1)
	}
	return culpritIdle | culprit(a.idleLast+1)
}

// held is a culprit with its time as a result.
func (a *Accumulator) held(by culprit, ns int64, stack int32, name func(ci int32) (int32, string, string)) PHold {
	h := PHold{Ns: ns, P: reference.NoP, Stack: []string{}}
	switch by.kind() {
	case culpritSyscall:
		h.Cause, h.Reason = CauseUnavailable, "system call"
		h.Class, h.Name, h.Creator = name(by.of())
		if a.opt.Frames != nil && stack != 0 {
			lines := a.opt.Frames(stack)
			h.Stack = append(h.Stack, lines[:min(len(lines), maxFrames)]...)
		}
	case culpritLocked:
		h.Cause, h.Reason = CauseUnavailable, "locked"
	case culpritGC:
		h.Cause, h.Reason = CauseGC, "mark worker"
		h.Class, h.Name, h.Creator = name(by.of())
	case culpritSTW:
		h.Cause = CauseSTW
		if i := by.of(); i > 0 && a.opt.Text != nil {
			h.Reason = a.opt.Text(a.reasons[i])
		}
	case culpritIdle:
		h.Cause = CauseIdlePMissed
		if i := by.of(); i > 0 {
			h.P = a.procs[i-1].id
		}
	}
	return h
}
