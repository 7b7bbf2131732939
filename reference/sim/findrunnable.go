package sim

import "github.com/gmpscope/gmpscope/reference"

// take is how a thread got the goroutine that it is to run.
type take struct {
	src      reference.Source
	victim   int32 // of a steal
	batch    int32
	inherits bool // the running time slice
	wakes    bool // another thread is woken, since there may be more (findRunnable: tryWakeP)
	flags    reference.Flags
}

// from reports whose queue was taken from by p's thread, and in what operation.
func (t take) from(p int32) (int32, reference.Why) {
	switch t.src {
	case reference.SrcRunnext, reference.SrcLocal:
		return p, reference.WhyUnknown
	case reference.SrcSteal, reference.SrcStealRunnext:
		return t.victim, reference.WhySteal
	case reference.SrcGlobal, reference.SrcGlobalTick:
		return none, reference.WhyGlobalBatch
	}
	return none, reference.WhyUnknown
}

// schedule has a thread look for the next goroutine when it is through with one
// (schedule).
func schedule(s *scheduler, m int32) {
	if s.ms[m].lockedG != noG {
		stoplockedm(s, m)
		return
	}
	after(s, m, s.c.switching(s.now), stFind)
}

// findRunnable is the search for work, up to the P's own queue. Times between its parts
// are spent waiting for sched.lock, and in stealing (findRunnable, Go 1.22 to
// 1.27, in the order of its steps).
func findRunnable(s *scheduler, m int32) {
	p := s.ms[m].p
	if s.stw.waiting {
		gcstopm(s, m)
		return
	}
	if n := checkTimers(s, p, m); n > 0 && len(s.c.Timers) > 0 {
		after(s, m, n*s.c.draw(s.now, s.c.Timers, 0), stFind)
		return
	}
	if g := s.reader; g != noG { // traceReader
		s.reader = noG
		s.emitReady(g, p, m, noG, reference.QueueDirect, reference.WhySystem)
		execute(s, m, g, take{src: reference.SrcTraceReader, wakes: true})
		return
	}
	if s.gc.marking && s.gc.findRunnableWorker(s, m) {
		return
	}
	if n := uint32(s.r.GlobalPoll); n > 0 && s.ps[p].tick%n == 0 && s.q.GlobalLen() > 0 {
		afterLock(s, m, stTick)
		return
	}
	findLocal(s, m)
}

// afterLock goes on with the search when the thread has sched.lock.
func afterLock(s *scheduler, m int32, next step) {
	if d := lockSched(s); d > 0 {
		after(s, m, d, next)
		return
	}
	if next == stTick {
		findTick(s, m)
	} else {
		findGlobal(s, m)
	}
}

// findTick dequeues one goroutine from the global queue, so that those who wait there are
// not starved by a local queue that never gets empty.
func findTick(s *scheduler, m int32) {
	if g := s.q.GlobalHead(); g != reference.None {
		s.q.Remove(g)
		execute(s, m, g, take{src: reference.SrcGlobalTick, batch: 1})
		return
	}
	findLocal(s, m)
}

// findLocal dequeues from the P's own queue: runnext first (runqget).
func findLocal(s *scheduler, m int32) {
	p := s.ms[m].p
	if g := s.q.Runnext(p); g != reference.None {
		s.q.Remove(g)
		execute(s, m, g, take{src: reference.SrcRunnext, inherits: !s.pol.FreshSlice})
		return
	}
	if g := s.q.Head(p); g != reference.None {
		s.q.Remove(g)
		execute(s, m, g, take{src: reference.SrcLocal})
		return
	}
	if s.q.GlobalLen() > 0 {
		afterLock(s, m, stGlobal)
		return
	}
	findElsewhere(s, m)
}

// findGlobal dequeues a batch from the global queue, runs the first and keeps the
// others (globrunqget up to Go 1.24, globrunqgetbatch from 1.25).
func findGlobal(s *scheduler, m int32) {
	g := s.q.GlobalHead()
	if g == reference.None {
		findElsewhere(s, m)
		return
	}
	p := s.ms[m].p
	n := s.r.GlobalBatch(s.q.GlobalLen(), len(s.ps))
	if n > 1 {
		s.res.GlobalBatches++
		s.emitBatch(reference.KindGlobalBatch, g, p, none, n)
	}
	s.q.TakeBatch(p, g, n, s.q.Tail(p), func(x int32) { s.emitMove(x, p, none, reference.QueueLocal, reference.WhyGlobalBatch) })
	execute(s, m, g, take{src: reference.SrcGlobal, batch: int32(n)})
}

// findElsewhere polls the network (netpoll(0)), and then begins to steal, unless half of the
// busy Ps do already.
func findElsewhere(s *scheduler, m int32) {
	if len(s.c.Polls) > 0 && s.netWaiters+s.net.nready > 0 && s.net.poller == none {
		after(s, m, max(0, s.c.draw(s.now, s.c.Polls, 0)-s.c.Switch), stLook)
		return
	}
	afterPoll(s, m)
}

// afterPoll is what comes of a poll that does not wait, and what comes after it.
func afterPoll(s *scheduler, m int32) {
	t := s.ms[m]
	if s.net.nready > 0 && s.net.poller == none {
		s.net.lastPoll = s.now
		runPolled(s, m, s.net.poll(s))
		return
	}
	t.looked = false
	if s.pol.NoSpinning || t.spinning || 2*s.spinners < len(s.ps)-len(s.idleP) {
		if !t.spinning && !s.pol.NoSpinning {
			becomeSpinning(s, m)
		}
		t.pass = 0
		if s.pol.NoSpinning || s.pol.Steal == StealNone {
			t.pass = int8(s.r.StealTries - 1)
		}
		if s.pol.Steal == StealNone { // there are only timers to look for
			t.order = newOrder(s)
			stealWork(s, m)
			return
		}
		beginPass(s, m)
		return
	}
	stopSearch(s, m)
}

// execute has a thread run a goroutine that is in no queue any more (schedule,
// execute).
func execute(s *scheduler, m, g int32, tk take) {
	t := s.ms[m]
	if t.spinning {
		stopSpinning(s, m)
		wakep(s)
	}
	if tk.wakes {
		wakep(s)
	}
	x := &s.gs[g]
	if x.lockedM != none && x.lockedM != m {
		startlockedm(s, m, g, tk)
		return
	}
	p := &s.ps[t.p]
	t.g = g
	if !tk.inherits {
		p.tick++
		p.slice = s.now
	}
	wait := s.now - x.readyAt
	s.res.Starts[tk.src]++
	if x.worker == notWorker {
		c := s.class(x.class)
		c.Waits++
		c.WaitNs += wait
		c.MaxWaitNs = max(c.MaxWaitNs, wait)
	}
	x.began, x.p, x.m = s.now, t.p, none
	if tk.src != reference.SrcSyscallExit {
		x.preempt = 0 // only execute forgets a request to yield
	}
	if s.stw.waiting {
		x.preempt = s.now + s.c.Preempt // preemptall is repeated
	}
	if s.o.Emit != nil {
		d := reference.Decision{Kind: reference.KindStart, G: x.id, Class: x.class, P: t.p, M: s.mid(m), Src: tk.src, Victim: reference.NoP,
			Batch: tk.batch, Wait: wait, Flags: tk.flags | x.flags}
		if tk.src == reference.SrcSteal || tk.src == reference.SrcStealRunnext {
			d.Victim = tk.victim
		}
		d.Reason = x.worker.reason()
		if tk.inherits {
			d.Flags |= reference.FlagInherits
		}
		s.emit(d)
	}
	if x.worker != notWorker {
		s.gc.mark(s, m)
		return
	}
	run(s, m)
}

// stopSearch gives up the search: the P goes idle, and the thread looks after the
// network or parks.
func stopSearch(s *scheduler, m int32) {
	t := s.ms[m]
	if s.gc.marking && s.gc.findIdleWorker(s, m) {
		return
	}
	s.res.Locks++
	switch {
	case s.stw.waiting:
		findRunnable(s, m)
		return
	case s.q.GlobalLen() > 0:
		findGlobal(s, m)
		return
	case !t.spinning && s.needSpin && !s.pol.NoSpinning:
		becomeSpinning(s, m)
		findRunnable(s, m)
		return
	case (t.spinning || s.pol.NoSpinning) && checkRunqsNoP(s):
		// The last spinning thread checks all queues again when it has given up
		// its P, and takes an idle one, which is the same (checkRunqsNoP).
		findRunnable(s, m)
		return
	}
	p := releasep(s, m, reference.WhyIdle)
	pidleput(s, p)
	t.wasSpin = t.spinning
	until := s.ps[p].timers.first()
	if t.spinning {
		stopSpinning(s, m)
		t.looked = true // checkTimersNoP
	}
	if t.looked {
		until = firstTimer(s)
	}
	s.net.block(s, m, until)
}

// checkRunqsNoP reports whether some P has something queued that a thief could take.
func checkRunqsNoP(s *scheduler) bool {
	if s.pol.Steal == StealNone {
		return false
	}
	s.search(len(s.ps))
	for p := range s.ps {
		if s.ps[p].status != pIdle && s.q.Len(int32(p)) > 0 {
			return true
		}
	}
	return false
}
