package waits

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

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
func (m *machine) reason(handle int32) int32 {
	i := slices.Index(m.reasons[1:], handle) + 1
	if i == 0 && len(m.reasons) <= maxReasons {
		i, m.reasons = len(m.reasons), append(m.reasons, handle)
	}
	return int32(i)
}

// holdOf is what keeps p from running anyone, 0 for nothing that is shown.
func (m *machine) holdOf(p *proc) culprit {
	switch {
	case p.state == pUnavail:
		return p.unavail
	case p.state == pGC:
		return culpritGC | culprit(p.runClass)
	case p.state == pIdle && m.stw:
		return culpritSTW | culprit(m.stwReason)
	}
	return 0
}

// beginHold begins what keeps p from running anyone. Those in its queue wait for
// it by the time, those in the global queue by the service clock and p's share.
func (m *machine) beginHold(p *proc) {
	if p.hold = m.holdOf(p); p.hold == 0 {
		return
	}
	p.q.begin(m.now)
	if p.usable && !p.poolAt.pending {
		m.readPool(p, m.clk.service())
	}
}

func (m *machine) endHold(p *proc) {
	if p.hold == 0 {
		return
	}
	for s := p.q.used &^ kindSlots; s != 0; s &= s - 1 {
		i := s.first()
		m.chargeHold(p.q.class[i], p.hold, p.q.slots[i].at(m.now), false, p.stack)
	}
	if p.usable && !p.poolAt.pending {
		m.creditPoolHold(p)
	}
	p.hold = 0
}

// creditPoolHold charges it to all who waited in the global queue. The reading of that
// must not be pending.
func (m *machine) creditPoolHold(p *proc) {
	q, c := &m.pool.q, m.clk.service()
	for i := range q.named {
		m.chargeHold(q.class[i], p.hold, q.slots[i].at(c)-p.poolAt.at[i], true, p.stack)
	}
}

// holdAgain looks anew at what keeps the idle Ps, as a stop-the-world has begun
// or ended.
func (m *machine) holdAgain() {
	for _, p := range m.procs {
		if p.state == pIdle {
			m.endHold(p)
			m.beginHold(p)
			m.record(p)
		}
	}
}

// setMode follows a change of the mode. While the world is stopped, those in
// the global queue wait for that alone.
func (m *machine) setMode(to mode) {
	if to == m.mode {
		return
	}
	if to == modeStopped || m.mode == modeStopped {
		q := &m.pool.q
		if to == modeStopped {
			for i := range q.named {
				m.pool.stopped[i] = -q.slots[i].n * m.now
			}
		} else {
			for i := range q.named {
				m.chargeHold(q.class[i], culpritSTW|culprit(m.stwReason), m.pool.stopped[i]+q.slots[i].n*m.now, false, 0)
			}
		}
	}
	m.mode = to
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

func (m *machine) joinIdle(p *proc) {
	if p.state != pIdle || !p.usable {
		return
	}
	p.idle, p.idleNext, p.idlePrev = true, none, m.idleTail
	if m.idleTail != none {
		m.procs[m.idleTail].idleNext = p.index
	} else {
		m.idleHead = p.index
	}
	m.idleTail = p.index
}

func (m *machine) leaveIdle(p *proc) {
	if !p.idle {
		return
	}
	p.idle = false
	if p.idlePrev != none {
		m.procs[p.idlePrev].idleNext = p.idleNext
	} else {
		m.idleHead, m.idleLast = p.idleNext, p.index
	}
	if p.idleNext != none {
		m.procs[p.idleNext].idlePrev = p.idlePrev
	} else {
		m.idleTail = p.idlePrev
	}
}

// longestIdle is the P that has been idle longest; if none is idle now, the last
// that was that.
func (m *machine) longestIdle() culprit {
	switch {
	case m.seen < m.usable:
		return culpritIdle
	case m.idleHead != none:
		return culpritIdle | culprit(m.idleHead+1)
	}
	return culpritIdle | culprit(m.idleLast+1)
}

// held is a culprit with its time as a result.
func (m *machine) held(by culprit, ns int64, stack int32, name func(ci int32) (int32, string, string)) PHold {
	h := PHold{Ns: ns, P: reference.NoP, Stack: []string{}}
	switch by.kind() {
	case culpritSyscall:
		h.Cause, h.Reason = CauseUnavailable, "system call"
		h.Class, h.Name, h.Creator = name(by.of())
		h.Stack = m.frames(stack)
	case culpritLocked:
		h.Cause, h.Reason = CauseUnavailable, "locked"
	case culpritGC:
		h.Cause, h.Reason = CauseGC, "mark worker"
		h.Class, h.Name, h.Creator = name(by.of())
	case culpritSTW:
		h.Cause = CauseSTW
		if i := by.of(); i > 0 && m.opt.Text != nil {
			h.Reason = m.opt.Text(m.reasons[i])
		}
	case culpritIdle:
		h.Cause = CauseIdlePAvailable
		if i := by.of(); i > 0 {
			h.P = m.procs[i-1].id
		}
	}
	return h
}
