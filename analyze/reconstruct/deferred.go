package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// An enqueue follows its event. The thread may lose its CPU in between, for milliseconds; what
// others dequeue meanwhile shows that the goroutine was not in the queue yet. The enqueue then
// comes before the thread's next event.

// deferredEnqueue is an enqueue that comes later than its event: to the global queue
// (deferred_enqueue.go), or at the tail of a full ring, which then overflows
// (deferred_overflow.go).
type deferredEnqueue struct {
	g      int32   // in no queue until then
	p      int32   // whose ring overflows, nobody if g goes to the global queue
	before int64   // event of the putting thread
	held   []int32 // half of the ring, if that has left it already; never changed
}

// openPut is one to the global queue that may come later: its thread has not gone on yet.
type openEnqueue struct {
	g      int32
	before int64 // event of the putting thread
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
			r.model.queues.InsertAfter(late.p, reference.None, g)
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
	case n > 0 && r.model.queues.RingLen(late.p) >= n || r.overflows(late.p, late.g, false):
		r.overflow(late.p, late.g, nobody, nil)
	default:
		r.model.putTail(late.p, late.g)
		r.out.move(late.g, late.p, nobody, reference.QueueLocal, reference.WhyDisplaced)
	}
}

// afar is how far ahead the start of a goroutine is, in ns, if the order of the starts shows that
// of the enqueues better than its thread's next event does: a time slice, for a thread that has
// lost its CPU to another one. Half or twice: nothing.
const afar = 10_000_000

// enqueueBefore does the deferred enqueues of what starts before g, which is enqueued now, if
// nothing else bounds them: their threads have no event until after the start.
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
