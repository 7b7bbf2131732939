package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// enqueuer does the enqueues that may be deferred, or may show what has left a queue before.
type enqueuer struct {
	*deferredEnqueues
	view
	out      *output
	correct  *corrections
	engine   *engine
	steals   *unseenSteals
	workers  *workerDrains
	dequeuer *dequeuer
}

// displace puts the old runnext at the tail of its P's ring.
func (r *enqueuer) displace(p, g int32) {
	if r.overflows(p, g, true) {
		later := r.overflowsLater(p, g)
		if r.mayHaveLostCPU() && !r.ahead.gStates.At(g).deferred {
			q := question{g: g, p: p}
			if later {
				q.likely = yes
			}
			later = r.engine.holds(hypDeferredOverflow, q)
		}
		if later {
			r.deferOverflow(p, g)
		} else {
			r.overflow(p, g, p, nil)
		}
		return
	}
	r.model.putTail(p, g)
	r.out.move(g, p, p, reference.QueueLocal, reference.WhyDisplaced)
}

// overflows reports whether an enqueue of newcomer at the tail of p's ring finds it full. A thief
// whose steal shows itself later may have emptied half of it: its goroutine is among the first and
// in flight. A deferred overflow or drain may have done so, too. now reports whether the present
// event ends with the enqueue.
func (r *enqueuer) overflows(p, newcomer int32, now bool) bool {
	if r.model.queues.Full(p) {
		r.catchUp()
	}
	for r.model.queues.Full(p) {
		thief := r.steals.thiefOfFullRing(p)
		if !now || thief == reference.None || !r.engine.holds(hypEarlyThief, question{g: newcomer, p: p, other: thief}) {
			return true
		}
		r.dequeuer.settle(thief)
	}
	return false
}

// overflow moves half of p's ring and then the newcomer to the global queue (runqputslow). ready
// emits the newcomer's Ready decision; it is nil if it was displaced from runnext: of P from, or
// nobody's if that was before.
func (r *enqueuer) overflow(p, newcomer, from int32, ready func()) {
	basis := byRule
	if r.ps.pStates[p].taint.fits <= fitting {
		basis = r.model.lower(basis, r.model.queues.Head(p))
	}
	r.out.emitBatch(reference.KindOverflow, newcomer, p, nobody, r.ahead.rules.Overflow(), basis)
	r.ps.pStates[p].headAt = r.ahead.now
	r.enqueueBefore(r.model.queues.Head(p))
	r.model.lastOverflow++
	r.ahead.gStates.At(newcomer).overflowID = r.model.lastOverflow
	r.model.queues.Overflow(p, newcomer, func(g int32) {
		r.model.noteReturn(g, p)
		r.out.move(g, nobody, p, reference.QueueGlobal, reference.WhyOverflow)
	})
	if ready != nil {
		ready()
		return
	}
	r.out.move(newcomer, nobody, from, reference.QueueGlobal, reference.WhyOverflow)
}

// catchUp does the deferred enqueues and drains that continue what is at the tail of the global
// queue, before anything else comes there. No sooner: a thread that has lost its CPU goes on at
// once after its enqueue.
func (r *enqueuer) catchUp() {
	for r.catchUpOne() {
	}
}

// catchUpOne does the first deferred overflow, or drain of a mark worker, that continues what is at
// the tail of the global queue. It reports whether there was one.
func (r *enqueuer) catchUpOne() bool {
	if len(r.list)+len(r.workers.list) == 0 {
		return false
	}
	if i := r.nextOverflow(); i >= 0 {
		r.enqueueNow(i)
		return true
	}
	tail := r.model.queues.GlobalTail()
	for i, worker := range r.workers.list {
		if r.ahead.time > worker.due-drainLag && r.ahead.follows(tail, r.model.oldest(worker.p)) && !r.model.stealsFromMiddle(tail, worker.p) {
			begun, _, _ := r.ahead.putsAround(worker.m)
			r.workers.finish(i, begun)
			return true
		}
	}
	return false
}
