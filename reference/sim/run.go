package sim

import (
	"fmt"

	"github.com/gmpscope/gmpscope/reference"
)

// maxSteps is how many steps in a row a goroutine may do without using time.
const maxSteps = 1 << 20

// run has thread m go on with its goroutine, up to the next step that takes
// time, or that ends the run interval.
func (s *machine) run(m int32) {
	t := s.ms[m]
	g := t.g
	for n := 0; n < maxSteps; n++ {
		if s.ended() {
			return
		}
		x := &s.gs[g]
		if x.left > 0 || x.preempt != 0 && x.preempt <= s.now {
			s.compute(m)
			return
		}
		op := x.script.Next(s.now)
		switch op.Kind {
		case OpRun:
			x.left = op.Ns
		case OpGo:
			c := s.newG(op.G, op.Class, op.Flags, op.Script)
			d := s.wakeUp(c, m, g, true, whyCreate) + s.c.Create
			if s.pol.ThreadPerG {
				d += s.c.ThreadStart
			}
			s.gs[g].left += d
		case OpSend, OpRecv:
			if op.Kind == OpSend && op.Chan.network {
				s.transmit(op.Chan, op.Ns)
				break
			}
			w, blocks := s.transfer(g, op.Chan, op.Kind == OpSend)
			switch {
			case w == noG:
			case op.Sysmon && !s.sysmon.deep:
				s.enqueue(&s.sysmon.wakes, w)
			case op.Sysmon:
				s.inject(s.batchOf(w), none, none, whySystem)
			default:
				s.gs[g].left += s.wakeUp(w, m, g, !op.Tail, whyUnblock) + s.c.Ready
			}
			if blocks {
				s.block(m, op.reason())
				return
			}
		case OpSleep:
			if !s.pol.HoldP {
				s.sleep(g, t.p, op.Ns)
				s.block(m, reference.ReasonSleep)
				return
			}
			fallthrough // its P looks after no timers
		case OpPoll:
			s.netWaiters++
			s.push(s.now+op.Ns, evNetwork, g, 0)
			s.block(m, reference.ReasonNetwork)
			return
		case OpSyscall, OpSyscallBlock:
			s.enterSyscall(m, op.Ns, op.Kind == OpSyscallBlock)
			return
		case OpGosched:
			s.leave(m, reference.WhyGosched)
			s.requeue(m, g, reference.WhyGosched, s.pol.RequeueLocal)
			return
		case OpGoyield:
			s.leave(m, reference.WhyGoyield)
			s.requeue(m, g, reference.WhyGoyield, true)
			return
		case OpPreempt:
			s.preempted(m, op.Why)
			return
		case OpLockThread:
			x.lockedM, t.lockedG = m, g
		case OpUnlockThread:
			x.lockedM, t.lockedG = none, noG
		case OpStop:
			t.next, t.segment = stRun, s.now
			s.stop(op.Stop.stop(x.id))
			if s.stw.waiting && s.stw.stopper == m {
				return // it goes on when the world does
			}
		case OpExit:
			s.exit(m)
			return
		default:
			s.err = fmt.Errorf("goroutine %d does step %d, which there is not", x.id, op.Kind)
			return
		}
		t = s.ms[m]
	}
	s.err = errStuck
}

// compute has m's goroutine compute until it is done, or must yield.
func (s *machine) compute(m int32) {
	t := s.ms[m]
	x := &s.gs[t.g]
	d := x.left
	if x.preempt != 0 {
		d = min(d, max(0, x.preempt-s.now))
	}
	if s.pol.Preempt == PreemptExact {
		d = min(d, max(0, s.ps[t.p].slice+s.r.Slice-s.now))
	}
	t.segment = s.now
	s.after(m, d, stRun)
}

// computed ends a piece of computing.
func (s *machine) computed(m int32) {
	t := s.ms[m]
	x := &s.gs[t.g]
	p := &s.ps[t.p]
	x.left -= s.now - t.segment
	switch {
	case x.preempt != 0 && x.preempt <= s.now:
		why := reference.WhySlice
		if s.stw.waiting {
			why = reference.WhySTW
		}
		s.preempted(m, why)
		return
	case s.pol.Preempt == PreemptExact && p.slice+s.r.Slice <= s.now:
		if s.q.Len(t.p) > 0 || s.q.GlobalLen() > 0 {
			s.preempted(m, reference.WhySlice)
			return
		}
		p.slice = s.now
	}
	s.run(m)
}

// ask asks the goroutine that runs on p to yield; the asker has sent that many
// signals before. It returns the number of signals sent (preemptone).
func (s *machine) ask(p int32, before int64) int64 {
	m := s.ps[p].m
	if m == none || s.ms[m].g == noG {
		return before
	}
	x := &s.gs[s.ms[m].g]
	if s.ps[p].status == pSyscall {
		if s.r.PreemptsSyscall {
			x.preempt = s.now
		}
		return before
	}
	if x.preempt != 0 {
		return before
	}
	d := s.c.Preempt + before*s.c.Signal
	x.preempt = s.now + d
	if t := s.ms[m]; t.next == stRun && t.due > x.preempt {
		s.after(m, d, stRun)
	}
	return before + 1
}

// preempted has a goroutine yield that was asked to, or whose slice is over
// (gopreempt_m, goschedImpl).
func (s *machine) preempted(m int32, why reference.Why) {
	g := s.ms[m].g
	s.res.Preemptions++
	if s.o.Emit != nil {
		x := &s.gs[g]
		s.say(reference.Decision{Kind: reference.KindPreempt, G: x.id, Class: x.class, P: s.ms[m].p, M: s.mid(m), Why: why, Victim: reference.NoP, Flags: x.flags})
	}
	s.leave(m, why)
	if why == reference.WhySTW && s.r.STWKeepsRunnext {
		x := &s.gs[g]
		x.readyAt = s.now
		s.put(s.ms[m].p, g, m, noG, true, why)
		s.schedule(m)
		return
	}
	s.requeue(m, g, why, s.pol.RequeueLocal)
}

// requeue puts a goroutine that yielded at the tail of the global queue, or of
// its P's ring, and goes on (goschedImpl, goyield_m: the latter wakes nobody).
func (s *machine) requeue(m, g int32, why reference.Why, local bool) {
	var d int64
	if local {
		d = s.put(s.ms[m].p, g, m, noG, false, why)
	} else {
		d = s.putGlobal(g, m, why)
	}
	if why != reference.WhyGoyield {
		s.wakeP()
	}
	if d > 0 && s.ms[m].lockedG == noG {
		if why == reference.WhyGosched {
			d = s.yielding(d)
		} else {
			d += s.switching()
		}
		s.after(m, d, stFind)
		return
	}
	s.schedule(m)
}

// leave ends the run interval of m's goroutine.
func (s *machine) leave(m int32, why reference.Why) { s.leaveFor(m, why, reference.ReasonNone) }

// leaveFor is leave, with what a goroutine that blocks waits for.
func (s *machine) leaveFor(m int32, why reference.Why, reason reference.Reason) {
	t := s.ms[m]
	x := &s.gs[t.g]
	s.ran(t.g)
	if s.o.Emit != nil {
		s.say(reference.Decision{Kind: reference.KindStop, G: x.id, Class: x.class, P: t.p, M: s.mid(m), Why: why, Reason: reason, Victim: reference.NoP, Flags: x.flags})
	}
	x.preempt = 0
	t.g = noG
}

// ran books what a goroutine has run.
func (s *machine) ran(g int32) {
	x := &s.gs[g]
	d := s.now - x.began
	x.began = s.now
	if x.worker != notWorker {
		s.res.GCNs += d
		return
	}
	s.res.BusyNs += d
	s.class(x.class).RunningNs += d
}

// block has m's goroutine wait; somebody else has it in a list.
func (s *machine) block(m int32, reason reference.Reason) {
	g := s.ms[m].g
	s.leaveFor(m, reference.WhyBlock, reason)
	if s.pol.HoldP {
		s.gs[g].m = m
		t := s.ms[m]
		t.gen++
		t.next = stHold
		return
	}
	s.schedule(m)
}

// exit ends m's goroutine, and its thread if it is locked to it (goexit0).
func (s *machine) exit(m int32) {
	t := s.ms[m]
	g := t.g
	s.leave(m, reference.WhyExit)
	if t.lockedG != noG {
		t.lockedG = noG
		t.gen++
		t.next = stDead
		p := s.release(m, reference.WhyLocked)
		s.ps[p].released = reference.WhyLocked
		s.handoff(p)
	} else {
		s.schedule(m)
	}
	s.endG(g)
}
