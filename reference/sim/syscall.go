package sim

import "github.com/gmpscope/gmpscope/reference"

// enterSyscall has m's goroutine go into a system call. It keeps its P, in a
// state in which others may take it (reentersyscall; entersyscallblock gives it
// up).
func (s *machine) enterSyscall(m int32, ns int64, gives bool) {
	t := s.ms[m]
	p := t.p
	x := &s.gs[t.g]
	s.ran(t.g)
	if s.o.Emit != nil {
		s.say(reference.Decision{Kind: reference.KindSyscall, G: x.id, Class: x.class, P: p, M: s.mid(m), Why: reference.WhySyscall, Victim: reference.NoP, Flags: x.flags})
	}
	t.oldP = p
	s.ps[p].status = pSyscall
	s.ps[p].since = s.now
	s.after(m, ns, stSyscall)
	switch {
	case s.stw.waiting: // entersyscall_gcwait, from 1.26 entersyscallHandleGCWait
		s.callEnds(p)
		s.release(m, reference.WhySTW)
		s.stopP(p)
	case gives || s.pol.Handoff == HandoffAtOnce:
		s.callEnds(p)
		s.release(m, reference.WhySyscall)
		s.ps[p].released = reference.WhySyscall
		s.handoff(p)
	}
	s.sysmonKick()
}

// callEnds books the time that a P was in a system call.
func (s *machine) callEnds(p int32) {
	s.res.SyscallNs += s.now - s.ps[p].since
	s.ps[p].since = s.now
	s.ps[p].calls++
}

// takeFromCall removes a P from the thread whose goroutine is in a system
// call on it.
func (s *machine) takeFromCall(p int32, why reference.Why) {
	m := s.ps[p].m
	t := s.ms[m]
	s.callEnds(p)
	t.p = none
	s.ps[p].m = none
	s.ps[p].status = pWaking
	if why != reference.WhySTW {
		s.res.Retakes++
	}
	if s.o.Emit != nil {
		x := &s.gs[t.g]
		s.say(reference.Decision{Kind: reference.KindRetake, P: p, M: s.mid(m), G: x.id, Class: x.class, Why: why, Victim: reference.NoP, Flags: x.flags})
	}
}

// exitSyscall has m's goroutine come back: it keeps its P if nobody took it;
// else it takes it out of another system call, or an idle one; else it goes to
// the global queue (exitsyscall; exitsyscallfast and exitsyscall0 up to Go 1.25,
// exitsyscallTryGetP and exitsyscallNoP from 1.26).
func (s *machine) exitSyscall(m int32) {
	t := s.ms[m]
	g := t.g
	x := &s.gs[g]
	x.began = s.now
	if p := t.p; p != none {
		s.callEnds(p)
		s.ps[p].status = pRunning
		s.sayExit(g, p, m)
		s.run(m)
		return
	}
	p := t.oldP
	if int(p) < len(s.ps) && s.ps[p].status == pSyscall {
		s.takeFromCall(p, reference.WhyRetakeReturn)
	} else {
		p = s.popIdle()
		s.res.Locks++
	}
	t.g = noG
	x.left += s.c.Syscall
	if p != none {
		s.sysmonKick()
		s.ps[p].released = reference.WhyUnknown
		s.acquire(m, p)
		s.sayExit(g, none, m)
		s.sayReady(g, p, m, noG, reference.QueueDirect, reference.WhySyscallExit)
		s.start(m, g, take{src: reference.SrcSyscallExit, inherits: true})
		return
	}
	s.sayExit(g, none, m)
	if s.pol.HomeQueue {
		s.putHome(g, m, reference.WhySyscallExit)
	} else {
		s.putGlobal(g, m, reference.WhySyscallExit)
	}
	if t.lockedG != noG {
		s.stopLocked(m)
		return
	}
	s.park(m)
}
