package sim

import "github.com/gmpscope/gmpscope/reference"

// entersyscall has m's goroutine go into a system call. It keeps its P, in a
// state in which others may take it (reentersyscall; entersyscallblock gives it
// up).
func entersyscall(s *scheduler, m int32, ns int64, gives bool) {
	t := s.ms[m]
	p := t.p
	bookRun(s, t.g)
	s.emitG(reference.KindSyscall, t.g, p, m, reference.WhySyscall, reference.ReasonNone)
	t.oldP = p
	s.ps[p].status = pSyscall
	s.ps[p].since = s.now
	after(s, m, ns, stSyscall)
	switch {
	case s.stw.waiting: // entersyscall_gcwait, from 1.26 entersyscallHandleGCWait
		endSyscall(s, p)
		releasep(s, m, reference.WhySTW)
		s.stw.stopP(s, p)
	case gives || s.pol.Handoff == HandoffAtOnce:
		endSyscall(s, p)
		releasep(s, m, reference.WhySyscall)
		s.ps[p].released = reference.WhySyscall
		handoffp(s, p)
	}
	s.sysmon.kick(s)
}

// endSyscall books the time that a P was in a system call.
func endSyscall(s *scheduler, p int32) {
	s.res.SyscallNs += s.now - s.ps[p].since
	s.ps[p].since = s.now
	s.ps[p].calls++
}

// retakeP removes a P from the thread whose goroutine is in a system
// call on it.
func retakeP(s *scheduler, p int32, why reference.Why) {
	m := s.ps[p].m
	t := s.ms[m]
	endSyscall(s, p)
	t.p = none
	s.ps[p].m = none
	s.ps[p].status = pWaking
	if why != reference.WhySTW {
		s.res.Retakes++
	}
	s.emitG(reference.KindRetake, t.g, p, m, why, reference.ReasonNone)
}

// exitsyscall has m's goroutine come back: it keeps its P if that was not retaken;
// else it takes it out of another system call, or an idle one; else it goes to
// the global queue (exitsyscall; exitsyscallfast and exitsyscall0 up to Go 1.25,
// exitsyscallTryGetP and exitsyscallNoP from 1.26).
func exitsyscall(s *scheduler, m int32) {
	t := s.ms[m]
	g := t.g
	x := &s.gs[g]
	x.began = s.now
	if p := t.p; p != none {
		endSyscall(s, p)
		s.ps[p].status = pRunning
		s.emitG(reference.KindSyscallExit, g, p, m, reference.WhyUnknown, reference.ReasonNone)
		run(s, m)
		return
	}
	p := t.oldP
	if int(p) < len(s.ps) && s.ps[p].status == pSyscall {
		retakeP(s, p, reference.WhyRetakeReturn)
	} else {
		p = pidleget(s)
		s.res.Locks++
	}
	t.g = noG
	x.left += s.c.Syscall
	if p != none {
		s.sysmon.kick(s)
		s.ps[p].released = reference.WhyUnknown
		acquirep(s, m, p)
		s.emitG(reference.KindSyscallExit, g, none, m, reference.WhyUnknown, reference.ReasonNone)
		s.emitReady(g, p, m, noG, reference.QueueDirect, reference.WhySyscallExit)
		execute(s, m, g, take{src: reference.SrcSyscallExit, inherits: true})
		return
	}
	s.emitG(reference.KindSyscallExit, g, none, m, reference.WhyUnknown, reference.ReasonNone)
	if s.pol.HomeQueue {
		putHome(s, g, m, reference.WhySyscallExit)
	} else {
		globrunqput(s, g, m, reference.WhySyscallExit)
	}
	if t.lockedG != noG {
		stoplockedm(s, m)
		return
	}
	stopm(s, m)
}
