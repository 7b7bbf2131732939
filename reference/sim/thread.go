package sim

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// pidleget removes the P that went idle last, or none (pidleget).
func pidleget(s *scheduler) int32 {
	n := len(s.idleP)
	if n == 0 {
		return none
	}
	p := s.idleP[n-1]
	s.idleP = s.idleP[:n-1]
	endIdle(s, p)
	return p
}

// pidlegetSpinning is pidleget for a caller that has seen work. If no P is idle, one
// that is about to be will look for that work again (pidlegetSpinning).
func pidlegetSpinning(s *scheduler) int32 {
	p := pidleget(s)
	s.needSpin = s.needSpin || p == none
	return p
}

// takeIdle removes a certain idle P.
func takeIdle(s *scheduler, p int32) {
	s.search(len(s.idleP))
	s.idleP = slices.DeleteFunc(s.idleP, func(x int32) bool { return x == p })
	endIdle(s, p)
}

func endIdle(s *scheduler, p int32) {
	s.res.IdleNs += s.now - s.ps[p].since
	s.ps[p].status = pWaking
	s.ps[p].since = s.now
}

// pidleput puts a P without a thread into the idle list (pidleput).
func pidleput(s *scheduler, p int32) {
	s.ps[p].status = pIdle
	s.ps[p].since = s.now
	s.ps[p].m = none
	s.idleP = append(s.idleP, p)
	s.res.Locks++
}

// acquirep gives thread m a P (acquirep).
func acquirep(s *scheduler, m, p int32) {
	x := &s.ps[p]
	if x.released != reference.WhyUnknown && x.oldM != m {
		s.emitP(reference.KindHandoff, p, m, x.released)
		s.res.Handoffs++
	}
	x.released = reference.WhyUnknown
	x.status, x.m, x.oldM = pRunning, m, m
	s.ms[m].p = p
	s.emitP(reference.KindPStart, p, m, reference.WhyUnknown)
}

// releasep removes thread m's P (releasep).
func releasep(s *scheduler, m int32, why reference.Why) int32 {
	t := s.ms[m]
	p := t.p
	t.p = none
	s.ps[p].m = none
	s.emitP(reference.KindPStop, p, m, why)
	return p
}

// stopm puts a thread without a P into the idle list (stopm, mput).
func stopm(s *scheduler, m int32) {
	t := s.ms[m]
	t.gen++
	t.next = stParked
	notesleep(s, m)
	s.idleM = append(s.idleM, m)
}

// newm makes a thread (newm).
func newm(s *scheduler) int32 {
	m := int32(len(s.ms))
	s.ms = append(s.ms, &thread{p: none, oldP: none, victim: none, waker: none})
	s.res.Threads++
	return m
}

// startm gives an idle P to the thread that was parked last, or to a new
// one (startm). A spinning one has been counted already.
func startm(s *scheduler, p int32, spinning bool) {
	d := s.c.threadWake(s.now)
	var m int32
	if n := len(s.idleM); n > 0 {
		m = s.idleM[n-1]
		s.idleM = s.idleM[:n-1]
	} else {
		m = newm(s)
		if !s.pol.ThreadPerG {
			d = max(d, s.c.ThreadStart)
			s.ms[m].born = s.now + s.c.ThreadStart
		}
	}
	notewakeup(s, m, p, spinning, d)
}

func notewakeup(s *scheduler, m, p int32, spinning bool, d int64) {
	s.res.ThreadWakes++
	s.ps[p].status = pWaking
	t := s.ms[m]
	t.oldP, t.spinning, t.waker = p, spinning, s.on
	after(s, m, d, stWake)
}

// notesleep notes that a thread sleeps. The kernel puts who is woken on the core of the waker,
// if it thinks that this one will sleep soon (wake_affine, select_task_rq_fair); what is late
// to wake up waits there, and goes on when it does.
func notesleep(s *scheduler, m int32) {
	s.search(len(s.ms))
	for w, t := range s.ms {
		if t.waker == m {
			hurry(s, int32(w))
		}
	}
}

// hurry has a thread that is waking up find a core: it takes no longer than usual from now on.
func hurry(s *scheduler, m int32) {
	t := s.ms[m]
	if d := max(s.c.ThreadWake, t.born-s.now); t.due > s.now+d {
		after(s, m, d, t.next)
	}
}

// woken has a thread take up the P that it was given (stopm, mstart1).
func woken(s *scheduler, m int32) {
	t := s.ms[m]
	acquirep(s, m, t.oldP)
	if g := t.startNext; g != noG {
		t.startNext = noG
		tk := t.take
		tk.flags |= reference.FlagLocked | reference.FlagTaken
		tk.inherits = false
		execute(s, m, g, tk)
		return
	}
	findRunnable(s, m)
}

// wakep wakes a thread for work that has come, unless one is spinning already
// and will find it (wakep, Go 1.22 to 1.27).
func wakep(s *scheduler) {
	if s.pol.NoSpinning {
		if p := pidleget(s); p != none {
			startm(s, p, false)
		}
		return
	}
	if s.spinners != 0 {
		return
	}
	p := pidlegetSpinning(s)
	if p == none {
		return
	}
	s.res.Locks++
	s.spinners++
	startm(s, p, true)
}

// becomeSpinning makes a thread a spinning one (becomeSpinning).
func becomeSpinning(s *scheduler, m int32) {
	s.ms[m].spinning = true
	s.spinners++
	s.needSpin = false
}

// stopSpinning ends that. A thread that stops because it has found work calls wakep,
// since there may be more (resetspinning).
func stopSpinning(s *scheduler, m int32) {
	s.ms[m].spinning = false
	s.spinners--
}

// handoffp gives a P that has lost its thread to another one, if there is
// anything to do, or to look for (handoffp, Go 1.22 to 1.27).
func handoffp(s *scheduler, p int32) {
	x := &s.ps[p]
	switch {
	case s.stw.waiting:
		s.stw.stopP(s, p)
		return
	case s.q.Len(p) > 0 || s.q.GlobalLen() > 0,
		s.reader != noG,
		s.gc.marking && s.gc.left > 0:
		startm(s, p, false)
		return
	case !s.pol.NoSpinning && s.spinners+len(s.idleP) == 0:
		s.spinners++
		s.needSpin = false
		startm(s, p, true)
		return
	case len(s.idleP) == len(s.ps)-1 && s.net.poller == none:
		startm(s, p, false) // to poll the network
		return
	}
	pidleput(s, p)
	if when := x.timers.first(); when != 0 {
		s.net.wakeBy(s, when)
	}
}

// stoplockedm has a thread wait for the goroutine that is locked to it, and
// gives its P to others (stoplockedm).
func stoplockedm(s *scheduler, m int32) {
	t := s.ms[m]
	t.gen++
	t.next = stLocked
	defer notesleep(s, m)
	if t.p == none {
		return
	}
	p := releasep(s, m, reference.WhyLocked)
	s.ps[p].released = reference.WhyLocked
	handoffp(s, p)
}

// startlockedm hands m's P to the thread to which g is locked, and parks
// (startlockedm).
func startlockedm(s *scheduler, m, g int32, tk take) {
	x := &s.gs[g]
	from, why := tk.from(s.ms[m].p)
	s.emitMove(g, s.ms[m].p, from, reference.QueueDirect, why)
	p := releasep(s, m, reference.WhyLocked)
	s.ps[p].since = s.now
	lm := s.ms[x.lockedM]
	lm.startNext, lm.take = g, tk
	notewakeup(s, x.lockedM, p, false, s.c.threadWake(s.now))
	stopm(s, m)
}
