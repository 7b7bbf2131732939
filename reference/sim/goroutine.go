package sim

import (
	"fmt"

	"github.com/gmpscope/gmpscope/reference"
)

// maxSteps is how many steps in a row a goroutine may do without using time.
const maxSteps = 1 << 20

// run has thread m go on with its goroutine, up to the next step that takes
// time, or that ends the run interval.
func run(s *scheduler, m int32) {
	t := s.ms[m]
	g := t.g
	for n := 0; n < maxSteps; n++ {
		if s.ended() {
			return
		}
		x := &s.gs[g]
		if x.left > 0 || x.preempt != 0 && x.preempt <= s.now {
			compute(s, m)
			return
		}
		op := x.script.Next(s.now)
		switch op.Kind {
		case OpRun:
			x.left = op.Ns
		case OpGo:
			c := s.newG(op.G, op.Class, op.Flags, op.Script)
			d := ready(s, c, m, g, true, reference.WhyCreate) + s.c.Create
			if s.pol.ThreadPerG {
				d += s.c.ThreadStart
			}
			s.gs[g].left += d
		case OpSend, OpRecv:
			if op.Kind == OpSend && op.Chan.network {
				s.transmit(op.Chan, op.Ns, s.on)
				break
			}
			w, blocks := s.transfer(g, op.Chan, op.Kind == OpSend)
			switch {
			case w == noG:
			case op.Sysmon && !s.sysmon.deep:
				s.enqueue(&s.sysmon.wakes, w)
			case op.Sysmon:
				injectglist(s, s.batchOf(w), none, none, reference.WhySystem)
			default:
				s.gs[g].left += ready(s, w, m, g, !op.Tail, reference.WhyUnblock) + s.c.Ready
			}
			if blocks {
				gopark(s, m, op.reason())
				return
			}
		case OpSleep:
			if !s.pol.HoldP {
				addTimer(s, g, t.p, op.Ns)
				gopark(s, m, reference.ReasonSleep)
				return
			}
			fallthrough // its P looks after no timers
		case OpPoll:
			s.netWaiters++
			s.push(s.now+op.Ns, evNetwork, g, 0)
			gopark(s, m, reference.ReasonNetwork)
			return
		case OpSyscall, OpSyscallBlock:
			entersyscall(s, m, op.Ns, op.Kind == OpSyscallBlock)
			return
		case OpGosched:
			endRun(s, m, reference.WhyGosched)
			goschedImpl(s, m, g, reference.WhyGosched, s.pol.RequeueLocal)
			return
		case OpGoyield:
			endRun(s, m, reference.WhyGoyield)
			goschedImpl(s, m, g, reference.WhyGoyield, true)
			return
		case OpPreempt:
			gopreempt(s, m, op.Why)
			return
		case OpLockThread:
			x.lockedM, t.lockedG = m, g
		case OpUnlockThread:
			x.lockedM, t.lockedG = none, noG
		case OpStop:
			t.next, t.segment = stRun, s.now
			stop := *op.Stop
			stop.G = x.id
			s.stw.request(s, stop)
			if s.stw.waiting && s.stw.stopper == m {
				return // it goes on when the world does
			}
		case OpExit:
			goexit(s, m)
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
func compute(s *scheduler, m int32) {
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
	after(s, m, d, stRun)
}

// computed ends a piece of computing.
func computed(s *scheduler, m int32) {
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
		gopreempt(s, m, why)
		return
	case s.pol.Preempt == PreemptExact && p.slice+s.r.Slice <= s.now:
		if s.q.Len(t.p) > 0 || s.q.GlobalLen() > 0 {
			gopreempt(s, m, reference.WhySlice)
			return
		}
		p.slice = s.now
	}
	run(s, m)
}

// preemptone asks the goroutine that runs on p to yield; the asker has sent that many
// signals before. It returns the number of signals sent (preemptone).
func preemptone(s *scheduler, p int32, before int64) int64 {
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
		after(s, m, d, stRun)
	}
	return before + 1
}

// gopreempt has a goroutine yield that was asked to, or whose slice is over
// (gopreempt_m, goschedImpl).
func gopreempt(s *scheduler, m int32, why reference.Why) {
	g := s.ms[m].g
	s.res.Preemptions++
	s.emitG(reference.KindPreempt, g, s.ms[m].p, m, why, reference.ReasonNone)
	endRun(s, m, why)
	if why == reference.WhySTW && s.r.STWKeepsRunnext {
		x := &s.gs[g]
		x.readyAt = s.now
		runqput(s, s.ms[m].p, g, m, noG, true, why)
		schedule(s, m)
		return
	}
	goschedImpl(s, m, g, why, s.pol.RequeueLocal)
}

// goschedImpl puts a goroutine that yielded at the tail of the global queue, or of
// its P's ring, and goes on (goschedImpl, goyield_m: the latter wakes no goroutine).
func goschedImpl(s *scheduler, m, g int32, why reference.Why, local bool) {
	var d int64
	if local {
		d = runqput(s, s.ms[m].p, g, m, noG, false, why)
	} else {
		d = globrunqput(s, g, m, why)
	}
	if why != reference.WhyGoyield {
		wakep(s)
	}
	if d > 0 && s.ms[m].lockedG == noG {
		if why == reference.WhyGosched {
			d = s.c.yielding(s.now, d)
		} else {
			d += s.c.switching(s.now)
		}
		after(s, m, d, stFind)
		return
	}
	schedule(s, m)
}

// endRun ends the run interval of m's goroutine.
func endRun(s *scheduler, m int32, why reference.Why) { endRunFor(s, m, why, reference.ReasonNone) }

// endRunFor is endRun, with what a goroutine that blocks waits for.
func endRunFor(s *scheduler, m int32, why reference.Why, reason reference.Reason) {
	t := s.ms[m]
	bookRun(s, t.g)
	s.emitG(reference.KindStop, t.g, t.p, m, why, reason)
	s.gs[t.g].preempt = 0
	t.g = noG
}

// bookRun books what a goroutine has run.
func bookRun(s *scheduler, g int32) {
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

// gopark blocks m's goroutine, which the caller has put into a wait queue (gopark).
func gopark(s *scheduler, m int32, reason reference.Reason) {
	g := s.ms[m].g
	endRunFor(s, m, reference.WhyBlock, reason)
	if s.pol.HoldP {
		s.gs[g].m = m
		t := s.ms[m]
		t.gen++
		t.next = stHold
		return
	}
	schedule(s, m)
}

// goexit ends m's goroutine, and its thread if it is locked to it (goexit0).
func goexit(s *scheduler, m int32) {
	t := s.ms[m]
	g := t.g
	endRun(s, m, reference.WhyExit)
	if t.lockedG != noG {
		t.lockedG = noG
		t.gen++
		t.next = stDead
		p := releasep(s, m, reference.WhyLocked)
		s.ps[p].released = reference.WhyLocked
		handoffp(s, p)
	} else {
		schedule(s, m)
	}
	s.endG(g)
}
