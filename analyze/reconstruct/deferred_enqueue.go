package reconstruct

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A put follows its event. The thread may lose its CPU in between, for
// milliseconds; what others take meanwhile shows that the goroutine was not in
// the queue yet. Its put then comes before the thread's next event.

// deferredEnqueue is a put to the global queue that is known to come later.
type deferredEnqueue struct {
	g      int32
	before int64 // event of the putting thread
}

// maxUnseen bounds the late puts of which no end is in sight.
const maxUnseen = 64

// deferredEnqueues are the enqueues to the global queue that come later than their events.
type deferredEnqueues struct {
	*explainer
	known []deferredEnqueue // that surely do
	open  []deferredEnqueue // that may: their threads have not gone on yet
}

// deferEnqueue takes x, put in the model but passed over by others, out of the
// global queue until its thread goes on. It says whether that explains x.
func (r *deferredEnqueues) deferEnqueue(x int32) bool {
	if r.without.has(hypDeferredEnqueue) {
		return false
	}
	gp := r.gStates.At(x)
	if gp.enqueuedBy < 0 && gp.start < 0 && len(r.known) < maxUnseen {
		gp.enqueuedBy = math.MaxInt64 // neither its thread nor its start is in sight
	}
	if gp.enqueuedBy <= r.now || gp.deferred || gp.wasDeferred || len(r.known) == farEnough {
		return false
	}
	from := r.queues.Place(x)
	r.queues.Remove(x)
	if from.Queue == reference.QueueGlobal {
		from.P = nobody
	}
	r.move(x, nobody, from.P, reference.QueueUnknown, reference.WhyCorrected)
	gp.deferred = true
	r.known = append(r.known, deferredEnqueue{x, gp.enqueuedBy})
	r.settleSoon()
	return true
}

// testDeferEnqueue tries whether the put of it's goroutine to the global queue comes later,
// if its thread seems to have lost its CPU at that.
func (r *deferredEnqueues) testDeferEnqueue(rec *record, gp *goroutine) bool {
	if r.without.has(hypDeferredEnqueue) {
		return false
	}
	next := r.win.at(gp.enqueuedBy)
	if next == nil || next.p != rec.p || next.Time-r.time < stalled || gp.enqueuedBy-r.now < meanwhile {
		return false
	}
	return r.engine.says(hypDeferredEnqueue, question{g: rec.of, p: rec.p})
}

// deferredEnqueueChoices: the put of q.g to the global queue, which the model has done, comes with its
// event, or later.
func proposeDeferredEnqueue(r *explainer, q question) []choice {
	return []choice{
		{is: no, then: thenFinish},
		{is: yes, then: thenFinish, apply: func(c *judge) { c.enqueues.deferEnqueue(q.g) }},
	}
}

// enqueuerStalls reports whether the thread that put x, alone, has lost its CPU for long at that. It
// goes on when it has done the put.
func (r *lookahead) enqueuerStalls(x int32) bool {
	gp := r.gStates.At(x)
	if gp.overflowID > 0 || gp.enqueuedBy <= r.now {
		return false
	}
	next := r.win.at(gp.enqueuedBy)
	return next != nil && next.Time-gp.readyAt > stalled
}

// reorderEnqueue moves x, which stands in the global queue and was passed over by g from
// behind it, to where the order of the starts says that its put came: behind
// g if its P runs it next, else behind what its P runs before it, or all. It
// says whether that explains x.
func (r *deferredEnqueues) reorderEnqueue(x, g int32) bool {
	if r.without.has(hypEnqueueOrder) {
		return false
	}
	gp := r.gStates.At(x)
	if gp.enqueuedBy < 0 {
		gp.enqueuedBy = gp.start
	}
	by := gp.enqueuedBy
	if by < 0 {
		by = math.MaxInt64
	}
	if by <= r.gStates.At(g).queued {
		return false // g was put when x had been
	}
	if r.startsBetween(g, x) == 0 && r.rules.GlobalBatch(r.queues.GlobalLen()-1, r.procs) > 1 {
		r.requeue(x, g) // they came with one batch
		return true
	}
	p, before, after := r.startsOn(x), false, reference.None
	z := r.queues.Next(x)
	for n := 0; z != reference.None && n < farEnough; n++ {
		y := r.gStates.At(z)
		if y.queued >= by || y.start < 0 {
			break // whose start is not in sight yet runs after all others
		}
		if p >= 0 && r.startsOn(z) == p {
			if y.start > gp.start {
				break
			}
			before = true
		}
		after = z
		z = r.queues.Next(z)
	}
	switch {
	case z == reference.None && gp.enqueuedBy > r.now:
		return r.deferEnqueue(x)
	case after == reference.None, by <= r.now && !before:
		return false
	}
	r.requeue(x, after)
	return true
}

// reorderInBatch delays what the model would give p with a batch of k of which g is the
// first, although its put may have come later and p runs what stands behind it
// but not itself: a ring gives out its goroutines in order.
func (r *deferredEnqueues) reorderInBatch(g, p int32, k int) {
	if r.without.has(hypEnqueueOrder) {
		return
	}
	prev, y := g, r.queues.Next(g)
	for i := 1; i < k && y != reference.None; i++ {
		next := r.queues.Next(y)
		if next == reference.None {
			return
		}
		if gp, from, to := r.gStates.At(y), r.startOf(prev), r.startOf(next); (gp.enqueuedBy < 0 || gp.enqueuedBy > r.gStates.At(next).queued) &&
			r.startsOn(prev) == p && r.startsOn(next) == p && from < to && (r.startsOn(y) != p || gp.start > to) && r.reorderEnqueue(y, next) {
			y = next
			i--
			continue
		}
		prev, y = y, next
	}
}

// noteEnqueue notes a put to the global queue whose thread has not gone on yet.
func (r *deferredEnqueues) noteEnqueue(g int32, next int64) {
	r.fedSinceBatch = true
	if n := len(r.open); n >= 256 && n == cap(r.open) { // findDeferred may not be called for long
		r.open = slices.DeleteFunc(r.open, func(l deferredEnqueue) bool { return l.before <= r.now })
	}
	if next > r.now {
		r.open = append(r.open, deferredEnqueue{g, next})
	}
}

// findDeferred looks for puts that have not happened although their events have:
// those behind run first.
func (r *deferredEnqueues) findDeferred(g, p int32) {
	if r.without.has(hypDeferredEnqueue) {
		return
	}
	keep := r.open[:0]
	for _, l := range r.open {
		if l.before <= r.now || r.queues.Place(l.g).Queue != reference.QueueGlobal {
			continue
		}
		behind := r.queues.Next(l.g)
		x, y := r.gStates.At(l.g), r.startOf(behind)
		if (y > r.now && r.gStates.At(behind).ready < r.now && (x.start < 0 || y < x.start) && !r.inFlight(l.g) && r.startsOn(behind) != r.startsOn(l.g) && !r.endsBatch(l.g, g, p) ||
			l.g != g && r.startsOn(l.g) != p && r.yieldedHere(l.g, r.startsOn(l.g)) || r.yieldsBefore(g, p, x.start)) && r.deferEnqueue(l.g) {
			continue
		}
		keep = append(keep, l)
	}
	r.open = keep
}

// endsBatch reports whether p takes x with the batch that g begins, as the last of it:
// what stands behind x was left to others.
func (r *deferredEnqueues) endsBatch(x, g, p int32) bool {
	if r.startsOn(x) != p {
		return false
	}
	k := r.rules.GlobalBatch(r.queues.GlobalLen(), r.procs)
	y := g
	for n := 1; n < k && y != reference.None; n++ {
		y = r.queues.Next(y)
	}
	return x == y && x != g
}

// yieldsBefore reports whether p, which runs g next, goes on through the global queue
// at least twice before event start: it then has nothing in its own queue, and
// nothing was in the global one that it had to run first.
func (r *lookahead) yieldsBefore(g, p int32, start int64) bool {
	s := r.win.at(r.startOf(g))
	for n, again := 0, 0; s != nil && n < 24; n++ {
		if e := &s.event; e.Kind != events.Go {
			return false
		} else if e.From == events.Running && e.To == events.Runnable {
			if s.link == none || s.link != s.nextM || start >= 0 && s.link > start {
				return false
			}
			if next := r.win.at(s.link); next == nil || next.p != p {
				return false
			}
			if again++; again == 2 {
				return true
			}
		}
		s = r.win.at(s.nextM)
	}
	return false
}

// enqueuesDue does the puts that come before event i.
func (r *deferredEnqueues) enqueuesDue(i int64) {
	for j := 0; j < len(r.known); {
		l := r.known[j]
		late := r.gStates.At(l.g).deferred
		if late && l.before > i {
			j++
			continue
		}
		r.known = slices.Delete(r.known, j, j+1)
		if late {
			r.enqueueNow(l.g) // which may do others
		}
	}
}

// afar is how far ahead the start of a goroutine is, in ns, if the order of the starts
// tells that of the puts better than its thread's next event does.
const afar = 10_000_000

// enqueueBefore does the late puts of what runs before x, which is put now, if nothing else
// bounds them: its thread has no event until after the start.
func (r *deferredEnqueues) enqueueBefore(x int32) {
	start := r.startOf(x)
	for i := 0; i < len(r.known); {
		l := r.known[i]
		s := r.win.at(r.startOf(l.g))
		if !r.gStates.At(l.g).deferred || l.g == x || s == nil || r.startOf(l.g) >= min(start, l.before) || s.Time-r.time <= afar {
			i++
			continue
		}
		r.known = slices.Delete(r.known, i, i+1)
		r.enqueueNow(l.g) // which may do others
	}
}

func (r *deferredEnqueues) enqueueNow(g int32) {
	if i := slices.IndexFunc(r.overflowing.list, func(s deferredOverflow) bool { return s.newcomer == g || slices.Contains(s.held, g) }); i >= 0 {
		r.overflowing.overflowNow(i)
		return
	}
	gp := r.gStates.At(g)
	gp.deferred = false
	gp.wasDeferred = true
	r.putGlobal(g)
	r.move(g, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
}
