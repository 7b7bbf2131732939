package reconstruct

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// sizeAtTick is the size of a dequeue of one goroutine at the 61st tick; that of a batch is 1 and more.
const sizeAtTick = 0

// batchSizes finds out how many goroutines a P dequeued from the global queue: a batch, whose size
// follows from the length of the queue at a moment that no event shows (globrunqget until Go 1.24,
// globrunqgetbatch), or one at the 61st tick.
type batchSizes struct {
	view
	ticks    *ticks
	engine   *engine
	deferred *deferredEnqueues
}

// dequeuedSize finds out how many goroutines p, whose own queue is empty, dequeued from the global
// queue, g first: a batch of size, or one at the 61st tick, and then how that is known.
func (r *batchSizes) dequeuedSize(g, p int32, basis reference.Basis) (size int, atTick reference.Basis) {
	pp := &r.ps.pStates[p]
	tick := &pp.tick
	size = r.ahead.rules.GlobalBatch(r.queues.GlobalLen(), r.ps.gomaxprocs)
	shown, chance := 0, tick.Now()
	if size > 1 && basis.Level() >= reference.Inferred && chance > schedtick.Open && chance < 1-schedtick.Open {
		shown = r.testBatchSize(g, 1, size)
	}
	// While the tick is uncertain, the look-ahead decides, unless no other P can interfere.
	if shown == 0 && size > 1 && (chance > schedtick.Certain || chance > schedtick.Likely && r.ps.gomaxprocs == 1) {
		_, by := tickSource(chance)
		return sizeAtTick, by
	}
	if size > 1 && r.ps.gomaxprocs > 1 { // on one P nobody comes in between
		if shown == 0 {
			shown = r.sizeUnsure(g, size)
		}
		switch {
		case shown == 1 && tick.May():
			r.ticks.learnTick(pp, tickShown)
			return sizeAtTick, byAhead
		case shown > 1:
			size = shown
			if shown > 2 {
				r.ticks.learnTick(pp, tickNotBatch)
			}
		case tick.Now() > 0.5: // most likely it has never run anything
			return sizeAtTick, byTick
		}
	}
	if shown == 0 && r.hadOneMore(g, p, size) {
		size++
	}
	return size, 0
}

// sizeUnsure tests the size of a batch that g begins, if its thread may not have seen the last
// goroutines of the model's queue. It returns 0 if nothing decides.
func (r *batchSizes) sizeUnsure(g int32, size int) int {
	least := r.ahead.rules.GlobalBatch(r.queues.GlobalLen()-r.unsure(g), r.ps.gomaxprocs)
	if !r.model.fedSinceBatch || least <= 1 || least >= size {
		return 0
	}
	return r.testBatchSize(g, least, size)
}

// hadOneMore reports whether p's batch, which g begins, had one more than size: others enqueued some
// while its thread was between two events, and another P dequeues what is behind that one before p
// starts it.
func (r *batchSizes) hadOneMore(g, p int32, size int) bool {
	if !r.widerThan(g, size) {
		return false
	}
	other := g
	for range size {
		if other = r.queues.Next(other); other == reference.None {
			return false
		}
	}
	next := r.queues.Next(other)
	return next != reference.None && r.ahead.startsOn(other) == p && r.ahead.startsOn(next) >= 0 && r.ahead.startsOn(next) != p && r.ahead.gStates.At(next).start < r.ahead.gStates.At(other).start
}

// widerThan reports whether the batch that g begins may have been larger than size: other threads
// enqueued some globally before the start that shows it.
func (r *batchSizes) widerThan(g int32, size int) bool {
	ahead := r.ahead
	n := r.queues.GlobalLen()
	to := min(ahead.gStates.At(g).start, ahead.win.head, ahead.now+putsSeen)
	if most := n + int(max(0, to-ahead.now-1)); ahead.rules.GlobalBatch(most, r.ps.gomaxprocs) <= size {
		return false // even if all of them put one there
	}
	for i := ahead.now + 1; i < to; i++ {
		if rec := ahead.win.at(i); rec.Kind == events.Go && rec.To == events.Runnable && rec.From == events.Running {
			n++
		}
	}
	return ahead.rules.GlobalBatch(n, r.ps.gomaxprocs) > size
}

// putsSeen is how many events are looked at for that, a bound. Half or twice: nothing.
const putsSeen = 64

// testBatchSize tests which of the sizes the dequeue of g had, where 1 is a pick at the 61st tick. It
// returns 0 if nothing decides.
func (r *batchSizes) testBatchSize(g int32, sizes ...int) int {
	if size, lead := r.engine.decide(hypBatchSize, question{g: g, sizes: sizes}); lead > 0 {
		return size
	}
	return 0
}

// proposeBatchSize proposes that the dequeue of q.g had one of q.sizes. The present event is its start,
// or it is dequeued early.
func proposeBatchSize(r *stepper, q question) (choices []choice) {
	then := thenFinish
	if r.ahead.startOf(q.g) == r.ahead.now {
		then = thenRepeat
	}
	for _, size := range q.sizes {
		says := fmt.Sprintf("a batch of %d", size)
		if size == 1 {
			says = "one goroutine, at the 61st tick"
		}
		choices = append(choices, choice{is: size, says: says, then: then})
	}
	return choices
}

// unsure is the number of goroutines at the tail of the global queue that the dequeue of g may have
// missed: other threads enqueued them while its thread was between two events.
func (r *batchSizes) unsure(g int32) int {
	ahead := r.ahead
	start := ahead.win.at(ahead.gStates.At(g).start)
	if start == nil {
		return 0
	}
	n := 0
	for other, steps := r.queues.GlobalTail(), 0; other != reference.None && other != g && steps < farEnough; other, steps = r.queues.Prev(other), steps+1 {
		gp := ahead.gStates.At(other)
		if gp.ready < start.prevM {
			break
		}
		if gp.readyM != start.m {
			n++
		}
	}
	for _, late := range r.deferred.open {
		if gp := ahead.gStates.At(late.g); late.before > start.prevM && gp.ready < start.prevM && gp.readyM != start.m && late.g != g && r.queues.Place(late.g).Queue == reference.QueueGlobal {
			n++
		}
	}
	return n
}
