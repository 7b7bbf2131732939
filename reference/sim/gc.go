package sim

import "github.com/gmpscope/gmpscope/reference"

// gcController is a cycle of the garbage collector, as the load that it is: so much
// P-time of marking between two stop-the-worlds. Who marks when is the
// runtime's rule (gcController, Go 1.22 to 1.27); assists are part of the
// goroutines' own run times.
type gcController struct {
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

// reason returns the mode as a reason for a start.
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

// startCycle sets up a mark phase (mgcpacer.go: startCycle).
func (c *gcController) startCycle(s *scheduler, req *Arrival) {
	*c = gcController{on: true, marking: true, left: req.Mark, began: s.now, ns: req.Ns, tail: req.Tail, wakes: req.Wakes}
	c.dedicated, c.goal = s.r.MarkWorkers(len(s.ps))
	c.idleMax, c.idleLeft = len(s.ps)-c.dedicated, req.Mark
	if req.Marking.Known {
		c.idleLeft = req.Marking.Idle
	}
	for i := range s.ps {
		s.ps[i].fraction = 0
	}
	s.emitP(reference.KindGCBegin, none, none, reference.WhyUnknown)
}

// findRunnableWorker has m run its P's mark worker, if the P's share of marking is
// still open (mgcpacer.go: findRunnableGCWorker).
func (c *gcController) findRunnableWorker(s *scheduler, m int32) bool {
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
	c.runWorker(s, m, mode, true)
	return true
}

// findIdleWorker has m, which has found nothing else, run its P's mark worker. The bound
// of Marking does not hold if no other worker marks: all might wait for the end of the cycle.
func (c *gcController) findIdleWorker(s *scheduler, m int32) bool {
	if c.left <= 0 || c.idleLeft <= 0 && c.active > 0 || c.idle >= c.idleMax {
		return false
	}
	c.idle++
	c.runWorker(s, m, idleWorker, false)
	return true
}

func (c *gcController) runWorker(s *scheduler, m int32, mode workerMode, wakes bool) {
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
	c.active++
	s.emitReady(g, p, m, noG, reference.QueueDirect, reference.WhySystem)
	execute(s, m, g, take{src: reference.SrcGCWorker, wakes: wakes})
}

// mark has m's worker do the next piece.
func (c *gcController) mark(s *scheduler, m int32) {
	t := s.ms[m]
	piece := int64(markPiece)
	if s.gs[t.g].worker == fractional {
		piece = fractionalPiece
	}
	d := min(piece, c.left)
	if s.gs[t.g].worker == idleWorker && c.idleLeft > 0 {
		d = min(d, c.idleLeft)
		c.idleLeft -= d
	}
	t.segment = s.now
	c.left -= d
	after(s, m, d, stWorker)
	c.flushCredit(s, m)
}

// credit has a worker wake an assist that it has marked enough for: one that marks, or the
// next that does (mgcmark.go: gcFlushBgCredit).
func (c *gcController) credit(s *scheduler, g int32) {
	s.enqueue(&c.credited, g)
	s.search(len(s.ps))
	for i := range s.ps {
		if m := s.ps[i].m; m != none && s.ms[m].next == stWorker {
			c.flushCredit(s, m)
			return
		}
	}
}

func (c *gcController) flushCredit(s *scheduler, m int32) {
	for g := s.dequeue(&c.credited); g != noG; g = s.dequeue(&c.credited) {
		ready(s, g, m, s.ms[m].g, false, reference.WhySystem)
	}
}

// marked ends a piece. A worker goes on unless it is asked to yield or has done
// its share; a dedicated one that is asked after a time slice gives its P's
// queue away and goes on (mgc.go: gcBgMarkWorker; mgcmark.go: gcDrain).
func (c *gcController) marked(s *scheduler, m int32) {
	t := s.ms[m]
	x := &s.gs[t.g]
	p := &s.ps[t.p]
	asked := x.preempt != 0 && x.preempt <= s.now
	stops := c.left <= 0 || s.stw.waiting
	switch x.worker {
	case dedicated:
		if asked && !stops {
			runqdrain(s, t.p)
			x.preempt = 0
		}
	case fractional:
		p.fraction += s.now - t.segment
		stops = stops || asked || float64(p.fraction)/float64(s.now-c.began) > 1.2*c.goal
	case idleWorker:
		stops = stops || asked || c.idleLeft <= 0 && c.active > 1 || s.q.Len(t.p) > 0 || s.q.GlobalLen() > 0 || s.net.nready > 0 && s.net.poller == none
	}
	if !stops {
		c.mark(s, m)
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
		c.markDone(s, x.id) // it keeps its P
		return
	}
	endRun(s, m, reference.WhyBlock)
	if last {
		c.markDone(s, 0)
	}
	schedule(s, m)
}

// endCycle has m's worker, which has ended the marking, wake the sweeper, say, and
// end the cycle.
func (c *gcController) endCycle(s *scheduler, m int32) {
	p := s.ms[m].p
	for _, w := range c.wakes {
		if g, _ := s.transfer(noG, w.Chan, true); g != noG {
			runqput(s, p, g, m, s.ms[m].g, !w.Tail, reference.WhySystem)
		}
	}
	c.wakes = nil
	after(s, m, c.tail, stTail)
}

// markDone ends the mark phase; the cycle ends with a stop-the-world (gcMarkDone,
// gcMarkTermination), which a worker that keeps its P asks for, or 0.
func (c *gcController) markDone(s *scheduler, by int64) {
	c.marking = false
	for g := s.dequeue(&c.credited); g != noG; g = s.dequeue(&c.credited) {
		injectglist(s, s.batchOf(g), none, none, reference.WhySystem)
	}
	if by == 0 { // no worker is left to do it
		deliver(s, c.wakes)
		c.wakes = nil
	}
	s.emitP(reference.KindGCEnd, none, none, reference.WhyUnknown)
	s.stw.request(s, Arrival{Kind: endGC, G: by, Ns: c.ns})
}

// deliver makes the sends of a cycle that has no worker left to make them.
func deliver(s *scheduler, wakes []Wake) {
	for _, w := range wakes {
		switch g, _ := s.transfer(noG, w.Chan, true); {
		case g == noG:
		case !resumeHeld(s, g, noG, reference.WhySystem):
			injectglist(s, s.batchOf(g), none, none, reference.WhySystem)
		}
	}
}

// runqdrain moves p's whole queue to the global one, runnext first (runqdrain).
func runqdrain(s *scheduler, p int32) {
	if s.q.Len(p) > 0 {
		s.res.Locks++
	}
	s.q.Drain(p, 0, func(g int32) { s.emitMove(g, none, p, reference.QueueGlobal, reference.WhyGC) })
}
