package sim

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// popIdle removes the P that went idle last, or none (pidleget).
func (s *machine) popIdle() int32 {
	n := len(s.idleP)
	if n == 0 {
		return none
	}
	p := s.idleP[n-1]
	s.idleP = s.idleP[:n-1]
	s.idleEnds(p)
	return p
}

// popIdleForWork is popIdle for somebody who has seen work. If no P is idle, one
// that is about to be will look for that work again (pidlegetSpinning).
func (s *machine) popIdleForWork() int32 {
	p := s.popIdle()
	s.needSpin = s.needSpin || p == none
	return p
}

// takeIdle removes a certain idle P.
func (s *machine) takeIdle(p int32) {
	s.search(len(s.idleP))
	for i, x := range s.idleP {
		if x == p {
			s.idleP = append(s.idleP[:i], s.idleP[i+1:]...)
			break
		}
	}
	s.idleEnds(p)
}

func (s *machine) idleEnds(p int32) {
	s.res.IdleNs += s.now - s.ps[p].since
	s.ps[p].status = pWaking
	s.ps[p].since = s.now
}

// pushIdle puts a P without a thread into the idle list (pidleput).
func (s *machine) pushIdle(p int32) {
	s.ps[p].status = pIdle
	s.ps[p].since = s.now
	s.ps[p].m = none
	s.idleP = append(s.idleP, p)
	s.res.Locks++
}

// acquire gives thread m a P (acquirep).
func (s *machine) acquire(m, p int32) {
	x := &s.ps[p]
	if x.released != reference.WhyUnknown && x.oldM != m && s.o.Emit != nil {
		s.say(reference.Decision{Kind: reference.KindHandoff, P: p, M: s.mid(m), G: reference.NoG, Why: x.released, Victim: reference.NoP})
	}
	if x.released != reference.WhyUnknown && x.oldM != m {
		s.res.Handoffs++
	}
	x.released = reference.WhyUnknown
	x.status, x.m, x.oldM = pRunning, m, m
	s.ms[m].p = p
	if s.o.Emit != nil {
		s.say(reference.Decision{Kind: reference.KindPStart, P: p, M: s.mid(m), G: reference.NoG, Victim: reference.NoP})
	}
}

// release removes thread m's P (releasep).
func (s *machine) release(m int32, why reference.Why) int32 {
	t := s.ms[m]
	p := t.p
	t.p = none
	s.ps[p].m = none
	if s.o.Emit != nil {
		s.say(reference.Decision{Kind: reference.KindPStop, P: p, M: s.mid(m), G: reference.NoG, Why: why, Victim: reference.NoP})
	}
	return p
}

// park puts a thread without a P into the idle list (stopm, mput).
func (s *machine) park(m int32) {
	t := s.ms[m]
	t.gen++
	t.next = stParked
	s.sleeps(m)
	s.idleM = append(s.idleM, m)
}

// newThread makes a thread (newm).
func (s *machine) newThread() int32 {
	m := int32(len(s.ms))
	s.ms = append(s.ms, &thread{p: none, oldP: none, victim: none, waker: none})
	s.res.Threads++
	return m
}

// startThread gives an idle P to the thread that was parked last, or to a new
// one (startm). A spinning one has been counted already.
func (s *machine) startThread(p int32, spinning bool) {
	d := s.threadWake()
	var m int32
	if n := len(s.idleM); n > 0 {
		m = s.idleM[n-1]
		s.idleM = s.idleM[:n-1]
	} else {
		m = s.newThread()
		if !s.pol.ThreadPerG {
			d = max(d, s.c.ThreadStart)
			s.ms[m].born = s.now + s.c.ThreadStart
		}
	}
	s.wakeThread(m, p, spinning, d)
}

// threadWake returns how long the wake-up of a thread takes.
func (s *machine) threadWake() int64 { return s.draw(s.c.ThreadWakes, s.c.ThreadWake) }

// switching returns how long a P takes to look for the next goroutine.
func (s *machine) switching() int64 { return s.draw(s.c.Switches, s.c.Switch) }

// yielding returns how long a P takes from a goroutine that has yielded, and was put into
// the global queue at the cost of ns, to its look at the queues.
func (s *machine) yielding(ns int64) int64 {
	if len(s.c.Yields) == 0 {
		return ns + s.switching()
	}
	return max(ns, s.draw(s.c.Yields, 0)-s.c.Lock)
}

// draw returns one of the measurements made next to now, or what holds if there
// are none.
func (s *machine) draw(of []Sample, usual int64) int64 {
	if len(of) == 0 {
		return usual
	}
	after, _ := slices.BinarySearchFunc(of, s.now, func(x Sample, now int64) int { return cmp.Compare(x.At, now) })
	from := max(0, min(after-nearAt/2, len(of)-nearAt))
	n := min(nearAt, len(of)-from)
	return of[from+int(s.rnd.Uint64()%uint64(n))].Ns
}

func (s *machine) wakeThread(m, p int32, spinning bool, d int64) {
	s.res.ThreadWakes++
	s.ps[p].status = pWaking
	t := s.ms[m]
	t.oldP, t.spinning, t.waker = p, spinning, s.on
	s.after(m, d, stWake)
}

// sleeps notes that a thread sleeps. The kernel puts who is woken on the core of the waker,
// if it thinks that this one will sleep soon (wake_affine, select_task_rq_fair); what is late
// to wake up waits there, and goes on when it does.
func (s *machine) sleeps(m int32) {
	s.search(len(s.ms))
	for w, t := range s.ms {
		if t.waker == m {
			s.hurry(int32(w))
		}
	}
}

// hurry has a thread that is waking up find a core: it takes no longer than usual from now on.
func (s *machine) hurry(m int32) {
	t := s.ms[m]
	if d := max(s.c.ThreadWake, t.born-s.now); t.due > s.now+d {
		s.after(m, d, t.next)
	}
}

// woken has a thread take up the P that it was given (stopm, mstart1).
func (s *machine) woken(m int32) {
	t := s.ms[m]
	s.acquire(m, t.oldP)
	if g := t.startNext; g != noG {
		t.startNext = noG
		tk := t.take
		tk.flags |= reference.FlagLocked | reference.FlagTaken
		tk.inherits = false
		s.start(m, g, tk)
		return
	}
	s.find(m)
}

// wakeP wakes a thread for work that has come, unless one is spinning already
// and will find it (wakep, Go 1.22 to 1.27).
func (s *machine) wakeP() {
	if s.pol.NoSpinning {
		if p := s.popIdle(); p != none {
			s.startThread(p, false)
		}
		return
	}
	if s.spinners != 0 {
		return
	}
	p := s.popIdleForWork()
	if p == none {
		return
	}
	s.res.Locks++
	s.spinners++
	s.startThread(p, true)
}

// spin makes a thread a spinning one (becomeSpinning).
func (s *machine) spin(m int32) {
	s.ms[m].spinning = true
	s.spinners++
	s.needSpin = false
}

// unspin ends that. Whoever stops because it has found work calls wakeP, since
// there may be more (resetspinning).
func (s *machine) unspin(m int32) {
	s.ms[m].spinning = false
	s.spinners--
}

// handoff gives a P that has lost its thread to another one, if there is
// anything to do, or to look for (handoffp, Go 1.22 to 1.27).
func (s *machine) handoff(p int32) {
	x := &s.ps[p]
	switch {
	case s.stw.waiting:
		s.stopP(p)
		return
	case s.q.Len(p) > 0 || s.q.GlobalLen() > 0,
		s.reader != noG,
		s.gc.marking && s.gc.left > 0:
		s.startThread(p, false)
		return
	case !s.pol.NoSpinning && s.spinners+len(s.idleP) == 0:
		s.spinners++
		s.needSpin = false
		s.startThread(p, true)
		return
	case len(s.idleP) == len(s.ps)-1 && s.poller == none:
		s.startThread(p, false) // to poll the network
		return
	}
	s.pushIdle(p)
	if when := x.timers.first(); when != 0 {
		s.wakePoller(when)
	}
}

// stopLocked has a thread wait for the goroutine that is locked to it, and
// gives its P to others (stoplockedm).
func (s *machine) stopLocked(m int32) {
	t := s.ms[m]
	t.gen++
	t.next = stLocked
	defer s.sleeps(m)
	if t.p == none {
		return
	}
	p := s.release(m, reference.WhyLocked)
	s.ps[p].released = reference.WhyLocked
	s.handoff(p)
}

// startLocked hands m's P to the thread to which g is locked, and parks
// (startlockedm).
func (s *machine) startLocked(m, g int32, tk take) {
	x := &s.gs[g]
	from, why := tk.from(s.ms[m].p)
	s.sayMove(g, s.ms[m].p, from, reference.QueueDirect, why)
	p := s.release(m, reference.WhyLocked)
	s.ps[p].since = s.now
	lm := s.ms[x.lockedM]
	lm.startNext, lm.take = g, tk
	s.wakeThread(x.lockedM, p, false, s.threadWake())
	s.park(m)
}
