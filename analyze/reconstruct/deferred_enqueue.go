package reconstruct

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// deferEnqueue defers the enqueue of g, which others have passed over in the global queue, until its
// thread goes on. It reports whether that explains g.
func (r *enqueuer) deferEnqueue(g int32) bool {
	gp := r.ahead.gStates.At(g)
	if r.ahead.without.has(hypDeferredEnqueue) || gp.enqueuedBy <= r.ahead.now || gp.deferred || gp.wasDeferred || len(r.list) == farEnough {
		return false
	}
	r.queues.Remove(g)
	r.out.corrected(g, nobody)
	gp.deferred = true
	r.list = append(r.list, deferredEnqueue{g: g, p: nobody, before: gp.enqueuedBy})
	r.ahead.settleSoon()
	return true
}

// testDeferEnqueue tests whether a global enqueue comes later than its event rec, if its thread seems
// to have lost its CPU.
func (r *enqueuer) testDeferEnqueue(rec *record, gp *goroutine) bool {
	next := r.ahead.win.at(gp.enqueuedBy)
	if next == nil || next.p != rec.p || next.Time-r.ahead.time < stalled || gp.enqueuedBy-r.ahead.now < meanwhile {
		return false
	}
	return r.engine.holds(hypDeferredEnqueue, question{g: rec.of, p: rec.p})
}

// proposeDeferredEnqueue proposes that the global enqueue of q.g, which the model has done, comes with
// its event, or later.
func proposeDeferredEnqueue(r *stepper, q question) []choice {
	return []choice{
		{is: no, says: "the enqueue comes with its event", then: thenFinish},
		{is: yes, says: "the enqueue comes later", then: thenFinish, apply: func(fork *stepper) { fork.enqueuer.deferEnqueue(q.g) }},
	}
}

// enqueuerStalls reports whether the thread that enqueued g, alone, has lost its CPU for long before
// that.
func (r *lookahead) enqueuerStalls(g int32) bool {
	gp := r.gStates.At(g)
	if gp.overflowID > 0 || gp.enqueuedBy <= r.now {
		return false
	}
	next := r.win.at(gp.enqueuedBy)
	return next != nil && next.Time-gp.readyAt > stalled
}

// reorderEnqueue moves other, which g was dequeued past in the global queue, to where the order of the
// starts puts it: behind g if its P starts it next, else behind what its P starts before it, or the
// tail. It reports whether that explains other.
func (r *enqueuer) reorderEnqueue(other, g int32) bool {
	if r.ahead.without.has(hypEnqueueOrder) {
		return false
	}
	gp := r.ahead.gStates.At(other)
	if gp.enqueuedBy < 0 {
		gp.enqueuedBy = gp.start
	}
	by := gp.enqueuedBy
	if by < 0 {
		by = math.MaxInt64
	}
	if by <= r.ahead.gStates.At(g).queued {
		return false // g was put when other had been
	}
	if r.ahead.startsBetween(g, other) == 0 && r.ahead.rules.GlobalBatch(r.queues.GlobalLen()-1, r.ps.gomaxprocs) > 1 {
		r.correct.requeue(other, g) // they came with one batch
		return true
	}
	p, before, after := r.ahead.startsOn(other), false, reference.None
	z := r.queues.Next(other)
	for n := 0; z != reference.None && n < farEnough; n++ {
		y := r.ahead.gStates.At(z)
		if y.queued >= by || y.start < 0 {
			break // whose start is not in sight yet runs after all others
		}
		if p >= 0 && r.ahead.startsOn(z) == p {
			if y.start > gp.start {
				break
			}
			before = true
		}
		after = z
		z = r.queues.Next(z)
	}
	switch {
	case z == reference.None && gp.enqueuedBy > r.ahead.now:
		return r.deferEnqueue(other)
	case after == reference.None, by <= r.ahead.now && !before:
		return false
	}
	r.correct.requeue(other, after)
	return true
}

// reorderInBatch moves back what p would get with a batch of size, which g begins, if it may have been
// enqueued later and p starts what stands behind it but not itself: a ring is FIFO.
func (r *enqueuer) reorderInBatch(g, p int32, size int) {
	prev, other := g, r.queues.Next(g)
	for i := 1; i < size && other != reference.None; i++ {
		next := r.queues.Next(other)
		if next == reference.None {
			return
		}
		if gp, from, to := r.ahead.gStates.At(other), r.ahead.startOf(prev), r.ahead.startOf(next); (gp.enqueuedBy < 0 || gp.enqueuedBy > r.ahead.gStates.At(next).queued) &&
			r.ahead.startsOn(prev) == p && r.ahead.startsOn(next) == p && from < to && (r.ahead.startsOn(other) != p || gp.start > to) && r.reorderEnqueue(other, next) {
			other = next
			i--
			continue
		}
		prev, other = other, next
	}
}

// noteEnqueue notes a global enqueue whose thread has not gone on yet.
func (r *enqueuer) noteEnqueue(g int32, next int64) {
	r.model.fedSinceBatch = true
	if n := len(r.open); n >= 256 && n == cap(r.open) { // findDeferred may not be called for long
		r.open = slices.DeleteFunc(r.open, func(late openEnqueue) bool { return late.before <= r.ahead.now })
	}
	if next > r.ahead.now {
		r.open = append(r.open, openEnqueue{g, next})
	}
}

// findDeferred defers enqueues that have not happened when p dequeues g from the global queue, although
// their events have: those behind start first. That of g itself has happened.
func (r *enqueuer) findDeferred(g, p int32) {
	ahead := r.ahead
	if ahead.without.has(hypDeferredEnqueue) {
		return
	}
	keep := r.open[:0]
	for _, late := range r.open {
		if late.before <= ahead.now || late.g == g || r.queues.Place(late.g).Queue != reference.QueueGlobal {
			continue
		}
		behind := r.queues.Next(late.g)
		x, y := ahead.gStates.At(late.g), ahead.startOf(behind)
		if (y > ahead.now && ahead.gStates.At(behind).ready < ahead.now && (x.start < 0 || y < x.start) && !ahead.inFlight(late.g) && ahead.startsOn(behind) != ahead.startsOn(late.g) && !r.endsBatch(late.g, g, p) ||
			ahead.startsOn(late.g) != p && ahead.yieldedHere(late.g, ahead.startsOn(late.g)) || ahead.yieldsBefore(g, p, x.start)) && r.deferEnqueue(late.g) {
			continue
		}
		keep = append(keep, late)
	}
	r.open = keep
}

// endsBatch reports whether other is the last of the batch of p that g begins: what stands behind other
// was left to others.
func (r *enqueuer) endsBatch(other, g, p int32) bool {
	if r.ahead.startsOn(other) != p {
		return false
	}
	size := r.ahead.rules.GlobalBatch(r.queues.GlobalLen(), r.ps.gomaxprocs)
	y := g
	for n := 1; n < size && y != reference.None; n++ {
		y = r.queues.Next(y)
	}
	return other == y
}

// yieldsBefore reports whether p, which starts g next, goes on through the global queue at least twice
// before event start: its own queue is then empty, and nothing was in the global one that it had to
// start first.
func (r *lookahead) yieldsBefore(g, p int32, start int64) bool {
	again := 0
	for _, rec := range r.win.thread(r.startOf(g), 24) {
		switch {
		case rec.Kind != events.Go:
			return false
		case rec.From == events.Running && rec.To == events.Runnable:
			next := r.win.at(rec.link)
			if next == nil || next.p != p || rec.link != rec.nextM || start >= 0 && rec.link > start {
				return false
			}
			if again++; again == 2 {
				return true
			}
		}
	}
	return false
}
