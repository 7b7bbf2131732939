package sim

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// world is the state of a stop-the-world. What requests it is outside the model, except
// a goroutine that runs then, which keeps its P.
type world struct {
	waiting bool  // sched.gcwaiting
	left    int   // Ps that have not stopped yet (sched.stopwait)
	stopper int32 // thread of the goroutine that asked for it, or none
	req     Arrival
	pending []Arrival
}

// request stops the world, or queues up for it: worldsema, and for cycles of the
// garbage collector work.startSema too.
func (w *world) request(s *scheduler, req Arrival) {
	if s.pol.HoldP {
		deliver(s, req.Wakes) // no such thing as a stopped world
		return
	}
	w.pending = append(w.pending, req)
	w.stopTheWorld(s)
}

// stopTheWorld begins the next stop-the-world that can begin
// (stopTheWorldWithSema, Go 1.22 to 1.27).
func (w *world) stopTheWorld(s *scheduler) {
	if w.waiting {
		return
	}
	s.search(len(w.pending) + len(s.ms) + len(s.ps))
	i := slices.IndexFunc(w.pending, func(r Arrival) bool { return r.Kind != ArriveGC || !s.gc.on })
	if i < 0 {
		return
	}
	w.req = w.pending[i]
	w.pending = slices.Delete(w.pending, i, i+1)
	w.waiting, w.left, w.stopper = true, len(s.ps), none
	s.res.STWs++
	if w.req.Kind == ArriveGC {
		s.gc.on = true
	}
	s.emitP(reference.KindSTWBegin, none, none, reference.WhySTW)
	signals := int64(0)
	for i := range s.ps {
		switch p := int32(i); s.ps[p].status {
		case pRunning:
			if !w.keep(s, p) {
				signals = preemptone(s, p, signals)
			}
		case pSyscall:
			m := s.ps[p].m
			retakeP(s, p, reference.WhySTW)
			s.emitP(reference.KindPStop, p, m, reference.WhySTW)
			w.stopP(s, p)
		}
	}
	for p := pidleget(s); p != none; p = pidleget(s) {
		w.stopP(s, p)
	}
	for m, t := range s.ms { // it sleeps until they have stopped (notetsleep), as do those that have
		if t.next == stWake {
			hurry(s, int32(m))
		}
	}
}

// keep has the goroutine that runs on p keep it, if it is the one that stops the world
// (stopTheWorldWithSema stops its own P first), and reports whether it is. At most one does,
// though a damaged trace may give several goroutines the same ID.
func (w *world) keep(s *scheduler, p int32) bool {
	m := s.ps[p].m
	if w.req.G == 0 || w.stopper != none || m == none || s.ms[m].g == noG || s.gs[s.ms[m].g].id != w.req.G {
		return false
	}
	t := s.ms[m]
	x := &s.gs[t.g]
	switch {
	case w.req.Procs > 0 && int(p) >= w.req.Procs:
		return false
	case x.worker != notWorker: // it is at the end of a piece
	case t.next == stRun && x.preempt == 0 && x.flags == 0:
		x.left -= s.now - t.segment
	default:
		return false
	}
	t.gen++
	t.next, w.stopper = stStopper, m
	w.stopP(s, p)
	return true
}

// goOn has the goroutine that stopped the world, and kept p for that long, go on.
func (w *world) goOn(s *scheduler, p int32, ns int64) {
	m := w.stopper
	x := &s.gs[s.ms[m].g]
	x.began += ns
	s.ps[p].status = pRunning
	if x.worker != notWorker {
		s.gc.endCycle(s, m)
		return
	}
	s.res.KeptNs += ns
	compute(s, m)
}

// gcstopm has thread m stop its P (gcstopm).
func gcstopm(s *scheduler, m int32) {
	if s.ms[m].spinning {
		stopSpinning(s, m)
	}
	p := releasep(s, m, reference.WhySTW)
	stopm(s, m)
	s.stw.stopP(s, p)
}

// stopP counts a P as stopped; after the last one, the world stands still.
func (w *world) stopP(s *scheduler, p int32) {
	s.ps[p].status = pStopped
	s.ps[p].since = s.now
	s.ps[p].released = reference.WhyUnknown
	if w.left--; w.left == 0 {
		s.push(s.now+w.req.Ns, evWorld, 0, 0)
	}
}

// startTheWorld starts the world again: Ps with work get threads, the others are
// idle (startTheWorldWithSema, procresize, Go 1.22 to 1.27).
func (w *world) startTheWorld(s *scheduler) {
	w.waiting = false
	switch w.req.Kind {
	case ArriveGC:
		s.gc.startCycle(s, &w.req)
	case endGC:
		s.gc.on = false
	case ArriveSTW:
		procresize(s, min(w.req.Procs, MaxProcs))
	}
	s.sysmon.kick(s)
	s.emitP(reference.KindSTWEnd, none, none, reference.WhySTW)
	var idle []int32 // the highest first
	for i := len(s.ps) - 1; i >= 0; i-- {
		p := int32(i)
		stopped := s.now - s.ps[p].since
		s.res.StoppedNs += stopped
		s.ps[p].since = s.now
		switch m := s.ps[p].oldM; {
		case w.stopper != none && s.ps[p].m == w.stopper:
			w.goOn(s, p, stopped)
		case s.q.Len(p) == 0:
			idle = append(idle, p)
		case s.r.STWRestoresThread && m != none && s.ms[m].next == stParked:
			mgetSpecific(s, m)
			notewakeup(s, m, p, false, s.c.threadWake(s.now))
		default:
			startm(s, p, false)
		}
	}
	if s.r.IdleFromHighest {
		slices.Reverse(idle) // the last is taken first
	}
	for _, p := range idle {
		if s.r.STWStartsWorkers && s.gc.marking && s.gc.left > 0 && s.gc.planned < s.gc.dedicated {
			s.gc.planned++
			startm(s, p, false)
			continue
		}
		pidleput(s, p)
	}
	wakep(s)
	if s.gc.marking && s.gc.left <= 0 && s.gc.active == 0 {
		s.gc.markDone(s, 0) // there was nothing to mark
	}
	w.stopTheWorld(s)
}

// procresize changes the number of Ps in a stopped world. Those that go give what
// they have queued to the head of the global queue, in its order, and their
// timers to P 0 (procresize, p.destroy, Go 1.22 to 1.27).
func procresize(s *scheduler, n int) {
	if n <= 0 || n == len(s.ps) {
		return
	}
	s.search(len(s.gs) + len(s.ps) + searched*n) // coprimes
	s.addPTime(len(s.ps), s.now)
	for i := len(s.ps); i < n; i++ {
		s.ps = append(s.ps, proc{m: none, oldM: none, status: pStopped, since: s.now})
	}
	for i := len(s.ps) - 1; i >= n; i-- {
		p := int32(i)
		s.res.StoppedNs += s.now - s.ps[p].since
		s.q.Destroy(p, func(g int32) { s.emitMove(g, none, p, reference.QueueGlobal, reference.WhyProcs) })
		for _, e := range s.ps[p].timers {
			s.ps[0].timers.push(e)
		}
	}
	for g := range s.gs {
		if int(s.gs[g].p) >= n {
			s.gs[g].p = none
		}
	}
	s.ps = s.ps[:n]
	s.q.Grow(0, n)
	s.coprimes = coprimes(uint32(n))
	s.emitProcs(len(s.ps), s.q.GlobalLen())
}

// mgetSpecific removes a certain thread from the idle list (mgetSpecific).
func mgetSpecific(s *scheduler, m int32) {
	s.search(len(s.idleM))
	s.idleM = slices.DeleteFunc(s.idleM, func(x int32) bool { return x == m })
}
