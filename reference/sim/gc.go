package sim

import "github.com/gmpscope/gmpscope/reference"

// gc is a cycle of the garbage collector, as the load that it is: so much
// P-time of marking between two stop-the-worlds. Who marks when is the
// runtime's rule (gcController, Go 1.22 to 1.27); assists are part of the
// goroutines' own run times.
type gc struct {
	on        bool
	marking   bool  // gcBlackenEnabled
	left      int64 // ns of marking that no worker has begun
	idleLeft  int64 // of those, the most that idle workers begin
	active    int   // workers that mark
	dedicated int   // workers that are still to run all the time (dedicatedMarkWorkersNeeded)
	planned   int   // of those, given to a P at the start of the world
	idleMax   int   // workers that may run on idle Ps besides
	idle      int
	goal      float64 // share of each P for fractional workers
	began     int64
	ns        int64 // of the stop-the-world at its end
	tail      int64 // as Arrival.Tail and Wakes
	wakes     []Wake
	credited  waitq // assists that a worker will wake
}

// workerMode is how a goroutine marks (gcMarkWorkerMode).
type workerMode uint8

const (
	notWorker  workerMode = iota
	dedicated             // all the time
	fractional            // up to its share
	idleWorker            // until there is something else to do
)

// reason returns the mode as the trace tells it.
func (w workerMode) reason() reference.Reason {
	switch w {
	case dedicated:
		return reference.ReasonDedicated
	case fractional:
		return reference.ReasonFractional
	case idleWorker:
		return reference.ReasonIdle
	}
	return reference.ReasonNone
}

// firstWorker is the ID of P 0's mark worker; the others follow.
const firstWorker = int64(1) << 48

// markPiece is how much a worker marks before it looks whether it should stop, in ns. The
// runtime counts work (mgcmark.go: gcDrain). A fractional worker looks whether it has had its share
// after each root, and then every 100,000 units: one that has had it runs for 24 µs in traces.
const (
	markPiece       = 100_000
	fractionalPiece = 25_000
)

// beginMark sets up a mark phase (mgcpacer.go: startCycle).
func (s *machine) beginMark(req stopRequest) {
	c := gc{on: true, marking: true, left: req.mark, began: s.now, ns: req.ns, tail: req.tail, wakes: req.wakes}
	c.dedicated, c.goal = s.r.MarkWorkers(len(s.ps))
	c.idleMax, c.idleLeft = len(s.ps)-c.dedicated, req.mark
	if req.marking.Known {
		c.idleLeft = req.marking.Idle
	}
	s.gc = c
	for i := range s.ps {
		s.ps[i].fraction = 0
	}
	s.sayWorld(reference.KindGCBegin)
}

// startWorker has m run its P's mark worker, if the P's share of marking is
// still open (mgcpacer.go: findRunnableGCWorker).
func (s *machine) startWorker(m int32) bool {
	c := &s.gc
	if c.left <= 0 {
		return false
	}
	mode := dedicated
	switch p := &s.ps[s.ms[m].p]; {
	case c.dedicated > 0:
		c.dedicated--
		c.planned = max(0, c.planned-1)
	case c.goal == 0:
		return false
	case s.now > c.began && float64(p.fraction)/float64(s.now-c.began) > c.goal:
		return false
	default:
		mode = fractional
	}
	s.runWorker(m, mode, true)
	return true
}

// startIdleWorker has m, which has found nothing else, run its P's mark worker. The bound
// of Marking does not hold if nobody marks else: all might wait for the end of the cycle.
func (s *machine) startIdleWorker(m int32) bool {
	if s.gc.left <= 0 || s.gc.idleLeft <= 0 && s.gc.active > 0 || s.gc.idle >= s.gc.idleMax {
		return false
	}
	s.gc.idle++
	s.runWorker(m, idleWorker, false)
	return true
}

func (s *machine) runWorker(m int32, mode workerMode, wakes bool) {
	p := s.ms[m].p
	g := s.ps[p].worker
	if g == noG {
		g = s.newG(firstWorker+int64(p), 0, reference.FlagGC|reference.FlagSystem, nil)
		s.live--
		s.res.Goroutines--
		s.class(0).Goroutines--
		s.ps[p].worker = g
	}
	s.gs[g].worker = mode
	s.gc.active++
	s.sayReady(g, p, m, noG, reference.QueueDirect, reference.WhySystem)
	s.start(m, g, take{src: reference.SrcGCWorker, wakes: wakes})
}

// mark has m's worker do the next piece.
func (s *machine) mark(m int32) {
	t := s.ms[m]
	piece := int64(markPiece)
	if s.gs[t.g].worker == fractional {
		piece = fractionalPiece
	}
	d := min(piece, s.gc.left)
	if s.gs[t.g].worker == idleWorker && s.gc.idleLeft > 0 {
		d = min(d, s.gc.idleLeft)
		s.gc.idleLeft -= d
	}
	t.segment = s.now
	s.gc.left -= d
	s.after(m, d, stWorker)
	s.flushCredit(m)
}

// credit has a worker wake an assist that it has marked enough for: one that marks, or the
// next that does (mgcmark.go: gcFlushBgCredit).
func (s *machine) credit(g int32) {
	s.enqueue(&s.gc.credited, g)
	s.search(len(s.ps))
	for i := range s.ps {
		if m := s.ps[i].m; m != none && s.ms[m].next == stWorker {
			s.flushCredit(m)
			return
		}
	}
}

func (s *machine) flushCredit(m int32) {
	for g := s.dequeue(&s.gc.credited); g != noG; g = s.dequeue(&s.gc.credited) {
		s.wakeUp(g, m, s.ms[m].g, false, whySystem)
	}
}

// marked ends a piece. A worker goes on unless it is asked to yield or has done
// its share; a dedicated one that is asked after a time slice gives its P's
// queue away and goes on (mgc.go: gcBgMarkWorker; mgcmark.go: gcDrain).
func (s *machine) marked(m int32) {
	t := s.ms[m]
	x := &s.gs[t.g]
	p := &s.ps[t.p]
	c := &s.gc
	asked := x.preempt != 0 && x.preempt <= s.now
	stops := c.left <= 0 || s.stw.waiting
	switch x.worker {
	case dedicated:
		if asked && !stops {
			s.drain(t.p)
			x.preempt = 0
		}
	case fractional:
		p.fraction += s.now - t.segment
		stops = stops || asked || float64(p.fraction)/float64(s.now-c.began) > 1.2*c.goal
	case idleWorker:
		stops = stops || asked || c.idleLeft <= 0 && c.active > 1 || s.q.Len(t.p) > 0 || s.q.GlobalLen() > 0 || s.nready > 0 && s.poller == none
	}
	if !stops {
		s.mark(m)
		return
	}
	switch x.worker {
	case dedicated:
		c.dedicated++
	case idleWorker:
		c.idle--
	}
	c.active--
	last := c.left <= 0 && c.active == 0
	if last && c.tail > 0 && !s.stw.waiting {
		s.endMark(x.id) // it keeps its P
		return
	}
	s.leave(m, reference.WhyBlock)
	if last {
		s.endMark(0)
	}
	s.schedule(m)
}

// wakeAfterMark has m's worker, which has ended the marking, wake the sweeper, say, and
// end the cycle.
func (s *machine) wakeAfterMark(m int32) {
	p := s.ms[m].p
	for _, w := range s.gc.wakes {
		if g, _ := s.transfer(noG, w.Chan, true); g != noG {
			s.put(p, g, m, s.ms[m].g, !w.Tail, whySystem)
		}
	}
	s.gc.wakes = nil
	s.after(m, s.gc.tail, stTail)
}

// endMark ends the mark phase; the cycle ends with a stop-the-world (gcMarkDone,
// gcMarkTermination), which a worker that keeps its P asks for, or 0.
func (s *machine) endMark(by int64) {
	s.gc.marking = false
	for g := s.dequeue(&s.gc.credited); g != noG; g = s.dequeue(&s.gc.credited) {
		s.inject(s.batchOf(g), none, none, whySystem)
	}
	if by == 0 { // no worker is left to do it
		s.deliver(s.gc.wakes)
		s.gc.wakes = nil
	}
	s.sayWorld(reference.KindGCEnd)
	s.stop(stopRequest{by: by, ns: s.gc.ns, ends: true})
}

// deliver makes the sends of a cycle that nobody else makes.
func (s *machine) deliver(wakes []Wake) {
	for _, w := range wakes {
		switch g, _ := s.transfer(noG, w.Chan, true); {
		case g == noG:
		case s.fluid != nil:
			s.fluidRun(g)
		case !s.resume(g, noG, whySystem):
			s.inject(s.batchOf(g), none, none, whySystem)
		}
	}
}

// drain moves p's whole queue to the global one, runnext first (runqdrain).
func (s *machine) drain(p int32) {
	if s.q.Len(p) > 0 {
		s.res.Locks++
	}
	s.q.Drain(p, 0, func(g int32) { s.sayMove(g, none, p, reference.QueueGlobal, reference.WhyGC) })
}
