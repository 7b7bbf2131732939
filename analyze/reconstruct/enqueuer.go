package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

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

// overflows reports whether an enqueue of newcomer at the tail of p's ring finds it full. A thief whose
// steal shows itself later may have emptied half of it: its goroutine is among the first and in flight.
// A deferred overflow or drain may have done so, too. now reports whether the present event ends with
// the enqueue.
func (r *enqueuer) overflows(p, newcomer int32, now bool) bool {
	if r.queues.Full(p) {
		r.catchUp()
	}
	for r.queues.Full(p) {
		thief := r.steals.thiefOfFullRing(p)
		if !now || thief == reference.None || !r.engine.holds(hypEarlyThief, question{g: newcomer, p: p, other: thief}) {
			return true
		}
		r.dequeuer.settle(thief)
	}
	return false
}

// overflow moves half of p's ring and then the newcomer to the global queue (runqputslow). ready emits
// the newcomer's Ready decision; it is nil if it was displaced from runnext: of P from, or nobody's if
// that was before.
func (r *enqueuer) overflow(p, newcomer, from int32, ready func()) {
	basis := byRule
	if r.ps.pStates[p].taint.fits <= fitting {
		basis = r.model.lower(basis, r.queues.Head(p))
	}
	r.out.emitBatch(reference.KindOverflow, newcomer, p, nobody, r.ahead.rules.Overflow(), basis)
	r.ps.pStates[p].headAt = r.ahead.now
	r.enqueueBefore(r.queues.Head(p))
	r.model.lastOverflow++
	r.ahead.gStates.At(newcomer).overflowID = r.model.lastOverflow
	r.queues.Overflow(p, newcomer, func(g int32) {
		r.model.noteReturn(g, p)
		r.out.move(g, nobody, p, reference.QueueGlobal, reference.WhyOverflow)
	})
	if ready != nil {
		ready()
		return
	}
	r.out.move(newcomer, nobody, from, reference.QueueGlobal, reference.WhyOverflow)
}

// catchUp does the deferred enqueues and drains that continue what is at the tail of the global queue,
// before anything else comes there. No sooner: a thread that has lost its CPU goes on at once after its
// enqueue.
func (r *enqueuer) catchUp() {
	for r.catchUpOne() {
	}
}

// catchUpOne does the first deferred overflow, or drain of a mark worker, that continues what is at the
// tail of the global queue. It reports whether there was one.
func (r *enqueuer) catchUpOne() bool {
	if len(r.list)+len(r.workers.list) == 0 {
		return false
	}
	if i := r.nextOverflow(); i >= 0 {
		r.enqueueNow(i)
		return true
	}
	tail := r.queues.GlobalTail()
	for i, worker := range r.workers.list {
		if r.ahead.time > worker.due-drainLag && r.ahead.follows(tail, r.model.oldest(worker.p)) && !r.model.stealsFromMiddle(tail, worker.p) {
			begun, _, _ := r.ahead.putsAround(worker.m)
			r.workers.finish(i, begun)
			return true
		}
	}
	return false
}

// An enqueue follows its event. The thread may lose its CPU in between, for milliseconds; what others
// dequeue meanwhile shows that the goroutine was not in the queue yet. The enqueue then comes before
// the thread's next event.

// deferredEnqueue is an enqueue that comes later than its event: to the global queue
// (deferred_enqueue.go), or at the tail of a full ring, which then overflows (deferred_overflow.go).
type deferredEnqueue struct {
	g      int32   // in no queue until then
	p      int32   // whose ring overflows, nobody if g goes to the global queue
	before int64   // event of its thread
	held   []int32 // half of the ring, if that has left it already; never changed
}

// openEnqueue is one to the global queue that may come later: its thread has not gone on yet.
type openEnqueue struct {
	g      int32
	before int64 // event of its thread
}

// deferredEnqueues are the enqueues that come later than their events, or may do so.
type deferredEnqueues struct {
	list []deferredEnqueue
	open []openEnqueue
}

// enqueuesDue does the deferred enqueues that come before event i.
func (r *enqueuer) enqueuesDue(i int64) {
	for j := 0; j < len(r.list); {
		if r.list[j].before > i {
			j++
			continue
		}
		r.enqueueNow(j)
		j = 0 // an overflow does others
	}
}

// enqueueDeferred does the deferred enqueue of g, and if g is held by an overflow, all of that.
func (r *enqueuer) enqueueDeferred(g int32) {
	for j, late := range r.list {
		if late.g == g || slices.Contains(late.held, g) {
			r.enqueueNow(j)
			return
		}
	}
}

// enqueueNow does deferred enqueue j. If it is an overflow, its ring may have room by now.
func (r *enqueuer) enqueueNow(j int) {
	late := r.list[j]
	r.list = slices.Delete(r.list, j, j+1)
	for _, g := range slices.Backward(late.held) {
		if gp := r.ahead.gStates.At(g); gp.deferred {
			gp.deferred = false
			r.queues.InsertAfter(late.p, reference.None, g)
		}
	}
	gp := r.ahead.gStates.At(late.g)
	if !gp.deferred {
		return // lost in a damaged generation
	}
	gp.deferred = false
	switch n := len(late.held); {
	case late.p < 0:
		gp.wasDeferred = true
		r.model.putGlobal(late.g)
		r.out.corrected(late.g, nobody)
	case n > 0 && r.queues.RingLen(late.p) >= n || r.overflows(late.p, late.g, false):
		r.overflow(late.p, late.g, nobody, nil)
	default:
		r.model.putTail(late.p, late.g)
		r.out.move(late.g, late.p, nobody, reference.QueueLocal, reference.WhyDisplaced)
	}
}

// afar is how far ahead the start of a goroutine is, in ns, if the order of the starts shows that of
// the enqueues better than its thread's next event does: a time slice, for a thread that has lost its
// CPU to another one. Half or twice: nothing.
const afar = 10_000_000

// enqueueBefore does the deferred enqueues of what starts before g, which is enqueued now, if nothing
// else bounds them: their threads have no event until after the start.
func (r *enqueuer) enqueueBefore(g int32) {
	start := r.ahead.startOf(g)
	for i := 0; i < len(r.list); {
		late := r.list[i]
		first := r.ahead.win.at(r.ahead.startOf(late.g))
		if late.p >= 0 || !r.ahead.gStates.At(late.g).deferred || late.g == g || first == nil || r.ahead.startOf(late.g) >= min(start, late.before) || first.Time-r.ahead.time <= afar {
			i++
			continue
		}
		r.enqueueNow(i)
	}
}
