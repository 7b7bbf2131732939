package sim

import "github.com/gmpscope/gmpscope/reference"

// Why a goroutine becomes runnable.
const (
	whyCreate  = reference.WhyCreate
	whyUnblock = reference.WhyUnblock
	whySystem  = reference.WhySystem
)

// lock acquires sched.lock for one operation and returns how long that takes,
// waiting included.
func (s *machine) lock() int64 {
	s.res.Locks++
	if s.c.Lock == 0 {
		return 0
	}
	wait := max(0, s.lockFree-s.now)
	s.lockFree = s.now + wait + s.c.Lock
	s.res.LockWaitNs += wait
	return wait + s.c.Lock
}

// wakeUp makes a blocked or new goroutine runnable on behalf of thread m, which
// runs goroutine by (noG: the scheduler), and returns what that costs it
// (ready, newproc, Go 1.22 to 1.27). It goes into runnext, if next says so, or to the
// tail.
func (s *machine) wakeUp(g, m, by int32, next bool, why reference.Why) int64 {
	if s.resume(g, by, why) {
		return 0
	}
	x := &s.gs[g]
	p := s.ms[m].p
	if s.pol.HomeQueue && x.p != none {
		p = x.p
	}
	d := s.put(p, g, m, by, next, why)
	s.wakeFor(p)
	return d
}

// resume has a goroutine go on that holds its P while it is blocked
// (Policy.HoldP), and says whether it is one.
func (s *machine) resume(g, by int32, why reference.Why) bool {
	m := s.gs[g].m
	if m == none {
		return false
	}
	s.gs[g].m = none
	s.sayReady(g, s.ms[m].p, m, by, reference.QueueDirect, why)
	s.ms[m].prey = g
	s.after(m, s.switching(), stHeld)
	return true
}

// put puts a runnable goroutine into p's runnext, or at the tail of its ring
// (runqput, Go 1.22 to 1.27). It returns the time that its thread spends on a
// lock.
func (s *machine) put(p, g, m, by int32, next bool, why reference.Why) int64 {
	switch {
	case s.pol.SharedQueue:
		s.q.PutGlobal(g)
		s.sayReady(g, none, m, by, reference.QueueGlobal, why)
		return s.lock()
	case s.r.Local(next) == reference.QueueRunnext:
		out := s.q.PutRunnext(p, g)
		s.sayReady(g, p, m, by, reference.QueueRunnext, why)
		if out == reference.None {
			return 0
		}
		if s.q.Full(p) {
			return s.overflow(p, out, none, none, reference.WhyOverflow)
		}
		s.q.PutTail(p, out)
		s.sayMove(out, p, p, reference.QueueLocal, reference.WhyDisplaced)
		return 0
	case s.q.Full(p):
		return s.overflow(p, g, m, by, why)
	}
	s.q.PutTail(p, g)
	s.sayReady(g, p, m, by, reference.QueueLocal, why)
	return 0
}

// overflow moves half of p's full ring and then g to the global queue
// (runqputslow, Go 1.22 to 1.27). g is new there if a thread puts it, and else
// was displaced from runnext.
func (s *machine) overflow(p, g, m, by int32, why reference.Why) int64 {
	n := s.r.Overflow()
	s.res.Overflows++
	if s.o.Emit != nil {
		s.say(reference.Decision{Kind: reference.KindOverflow, G: s.gs[g].id, P: p, M: s.mid(s.ps[p].m), Victim: reference.NoP, Batch: int32(n)})
	}
	s.q.Overflow(p, g, func(x int32) { s.sayMove(x, none, p, reference.QueueGlobal, reference.WhyOverflow) })
	if m != none {
		s.sayReady(g, none, m, by, reference.QueueGlobal, why)
	} else {
		s.sayMove(g, none, p, reference.QueueGlobal, reference.WhyOverflow)
	}
	return s.lock()
}

// putGlobal puts a goroutine at the tail of the global queue (globrunqput).
func (s *machine) putGlobal(g, m int32, why reference.Why) int64 {
	s.q.PutGlobal(g)
	s.sayReady(g, none, m, noG, reference.QueueGlobal, why)
	return s.lock()
}

// putHome puts a goroutine into the queue of the P on which it ran last, and a
// new one into the shortest (Policy.HomeQueue).
func (s *machine) putHome(g, m int32, why reference.Why) {
	p := s.gs[g].p
	if p == none {
		p = 0
		s.search(len(s.ps))
		for q := range s.ps {
			if s.q.Len(int32(q)) < s.q.Len(p) || s.q.Len(int32(q)) == s.q.Len(p) && s.ps[q].status == pIdle && s.ps[p].status != pIdle {
				p = int32(q)
			}
		}
	}
	s.put(p, g, m, noG, false, why)
	s.wakeFor(p)
}

// wakeFor wakes a thread for what was put into p's queue.
func (s *machine) wakeFor(p int32) {
	if s.pol.HomeQueue && s.ps[p].status == pIdle {
		s.takeIdle(p)
		s.startThread(p, false)
		return
	}
	s.wakeP()
}

// batch is a list of goroutines through gor.next, in order.
type batch struct {
	waitq
	n int
}

func (s *machine) batchOf(g int32) batch {
	s.gs[g].next = noG
	return batch{waitq{g, g}, 1}
}

// inject makes a list of goroutines runnable, on behalf of thread m, which has
// P p or none: the first ones into the global queue, one for each idle P, which
// are woken for them; the others into the ring (injectglist, Go 1.22 to 1.27).
func (s *machine) inject(b batch, p, m int32, why reference.Why) {
	if b.n == 0 {
		return
	}
	if p == none && s.pol.HomeQueue {
		for g := s.dequeue(&b.waitq); g != noG; g = s.dequeue(&b.waitq) {
			s.putHome(g, m, why)
		}
		return
	}
	k := len(s.idleP)
	if p == none || s.pol.SharedQueue {
		k = b.n
	}
	k = min(k, b.n)
	for i := 0; i < k; i++ {
		s.putGlobal(s.dequeue(&b.waitq), m, why)
	}
	for i := 0; i < k; i++ {
		idle := s.popIdleForWork()
		if idle == none {
			break
		}
		s.startThread(idle, false)
	}
	if p == none {
		return
	}
	for g := s.dequeue(&b.waitq); g != noG; g = s.dequeue(&b.waitq) {
		if s.q.Full(p) { // what has no room goes to the global queue (runqputbatch)
			s.putGlobal(g, m, why)
		} else {
			s.put(p, g, m, noG, false, why)
		}
	}
	if s.r.InjectWakes {
		s.wakeP()
	}
}
