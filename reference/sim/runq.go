package sim

import "github.com/gmpscope/gmpscope/reference"

// lockSched acquires sched.lock for one operation and returns how long that takes,
// waiting included.
func lockSched(s *scheduler) int64 {
	s.res.Locks++
	if s.c.Lock == 0 {
		return 0
	}
	wait := max(0, s.lockFree-s.now)
	s.lockFree = s.now + wait + s.c.Lock
	s.res.LockWaitNs += wait
	return wait + s.c.Lock
}

// ready makes a blocked or new goroutine runnable on behalf of thread m, which
// runs goroutine by (noG: the scheduler), and returns what that costs it
// (ready, newproc, Go 1.22 to 1.27). It goes into runnext, if next says so, or to the
// tail.
func ready(s *scheduler, g, m, by int32, next bool, why reference.Why) int64 {
	if resumeHeld(s, g, by, why) {
		return 0
	}
	x := &s.gs[g]
	p := s.ms[m].p
	if s.pol.HomeQueue && x.p != none {
		p = x.p
	}
	d := runqput(s, p, g, m, by, next, why)
	wakeFor(s, p)
	return d
}

// resumeHeld has a goroutine go on that holds its P while it is blocked
// (Policy.HoldP), and reports whether it does.
func resumeHeld(s *scheduler, g, by int32, why reference.Why) bool {
	m := s.gs[g].m
	if m == none {
		return false
	}
	s.gs[g].m = none
	s.emitReady(g, s.ms[m].p, m, by, reference.QueueDirect, why)
	s.ms[m].prey = g
	after(s, m, s.c.switching(s.now), stHeld)
	return true
}

// runqput puts a runnable goroutine into p's runnext, or at the tail of its ring
// (runqput, Go 1.22 to 1.27). It returns the time that its thread spends on a
// lock.
func runqput(s *scheduler, p, g, m, by int32, next bool, why reference.Why) int64 {
	switch {
	case s.pol.SharedQueue:
		s.q.PutGlobal(g)
		s.emitReady(g, none, m, by, reference.QueueGlobal, why)
		return lockSched(s)
	case s.r.Local(next) == reference.QueueRunnext:
		out := s.q.PutRunnext(p, g)
		s.emitReady(g, p, m, by, reference.QueueRunnext, why)
		if out == reference.None {
			return 0
		}
		if s.q.Full(p) {
			return runqputslow(s, p, out, none, none, reference.WhyOverflow)
		}
		s.q.PutTail(p, out)
		s.emitMove(out, p, p, reference.QueueLocal, reference.WhyDisplaced)
		return 0
	case s.q.Full(p):
		return runqputslow(s, p, g, m, by, why)
	}
	s.q.PutTail(p, g)
	s.emitReady(g, p, m, by, reference.QueueLocal, why)
	return 0
}

// runqputslow moves half of p's full ring and then g to the global queue
// (runqputslow, Go 1.22 to 1.27). g is new there if a thread puts it, and else
// was displaced from runnext.
func runqputslow(s *scheduler, p, g, m, by int32, why reference.Why) int64 {
	n := s.r.Overflow()
	s.res.Overflows++
	s.emitBatch(reference.KindOverflow, g, p, none, n)
	s.q.Overflow(p, g, func(x int32) { s.emitMove(x, none, p, reference.QueueGlobal, reference.WhyOverflow) })
	if m != none {
		s.emitReady(g, none, m, by, reference.QueueGlobal, why)
	} else {
		s.emitMove(g, none, p, reference.QueueGlobal, reference.WhyOverflow)
	}
	return lockSched(s)
}

// globrunqput puts a goroutine at the tail of the global queue (globrunqput).
func globrunqput(s *scheduler, g, m int32, why reference.Why) int64 {
	s.q.PutGlobal(g)
	s.emitReady(g, none, m, noG, reference.QueueGlobal, why)
	return lockSched(s)
}

// putHome puts a goroutine into the queue of the P on which it ran last, and a
// new one into the shortest (Policy.HomeQueue).
func putHome(s *scheduler, g, m int32, why reference.Why) {
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
	runqput(s, p, g, m, noG, false, why)
	wakeFor(s, p)
}

// wakeFor wakes a thread for what was put into p's queue.
func wakeFor(s *scheduler, p int32) {
	if s.pol.HomeQueue && s.ps[p].status == pIdle {
		takeIdle(s, p)
		startm(s, p, false)
		return
	}
	wakep(s)
}

// batch is a list of goroutines through gor.next, in order.
type batch struct {
	waitq
	n int
}

func (w *workload) batchOf(g int32) batch {
	w.gs[g].next = noG
	return batch{waitq{g, g}, 1}
}

// injectglist makes a list of goroutines runnable, on behalf of thread m, which has
// P p or none: the first ones into the global queue, one for each idle P, which
// are woken for them; the others into the ring (injectglist, Go 1.22 to 1.27).
func injectglist(s *scheduler, b batch, p, m int32, why reference.Why) {
	if b.n == 0 {
		return
	}
	if p == none && s.pol.HomeQueue {
		for g := s.dequeue(&b.waitq); g != noG; g = s.dequeue(&b.waitq) {
			putHome(s, g, m, why)
		}
		return
	}
	k := b.n
	if p != none && !s.pol.SharedQueue {
		k = min(k, len(s.idleP))
	}
	for range k {
		globrunqput(s, s.dequeue(&b.waitq), m, why)
	}
	for range k {
		idle := pidlegetSpinning(s)
		if idle == none {
			break
		}
		startm(s, idle, false)
	}
	if p == none {
		return
	}
	for g := s.dequeue(&b.waitq); g != noG; g = s.dequeue(&b.waitq) {
		if s.q.Full(p) { // what has no room goes to the global queue (runqputbatch)
			globrunqput(s, g, m, why)
		} else {
			runqput(s, p, g, m, noG, false, why)
		}
	}
	if s.r.InjectWakes {
		wakep(s)
	}
}
