package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// A thief has nothing to run, and has found nothing in the global queue (findRunnable, stealWork). What
// it steals shows itself by what it starts first, the newest of the half that it moves; the rest, which
// it starts from its own ring, stood in front of that.

// steal dequeues from another P's ring: the older half, of which the newest runs (runqgrab, runqsteal).
func (r *dequeuer) steal(g, p, victim int32) dequeue {
	own := r.model.hasOwn(p)
	if (!own || r.ps.pStates[p].tick.May()) && (r.exchangeEnqueues(g, victim) || r.stayedGlobal(g, p, victim)) {
		return r.dequeueGlobal(g, p)
	}
	if own {
		// A thief has nothing of its own: the model had g in the wrong ring.
		r.out.summary.Corrections++
		r.correct.rehome(g, p, victim)
		return dequeueFrom(reference.SrcLocal, nobody, 0, byRepair)
	}
	basis := byRule
	r.clearGone(p)
	if r.settleThieves(victim, g, p) { // others were first
		basis = byPassed
	}
	if r.queues.Place(g) != (reference.Place{Queue: reference.QueueLocal, P: victim}) {
		return r.dequeueByPlace(g, p) // it went along with what was settled
	}
	size := r.model.upTo(g)
	if r.enqueuer.holdOverflow(victim, size) {
		size -= r.ahead.rules.RingSize / 2
	}
	if other := r.steals.stolenBehind(victim, g, size, p); other != reference.None {
		r.settle(other)
		return r.dequeueByPlace(g, p)
	}
	switch {
	case r.queues.Len(p) > 0 || size > r.ahead.rules.StealBatch(r.queues.RingLen(victim)):
		basis = byRepair
	case size < r.ahead.rules.StealBatch(r.model.stayed(victim, r.ahead.freeSince(g))): // it may be another thief's, or another P's
		basis = ambiguous
	}
	if r.engine.on && size < r.ahead.rules.StealBatch(r.model.stayed(victim, r.ahead.win.at(r.ahead.now).prevM)) {
		r.engine.odd++
	}
	if r.queues.ShownLen(victim) < r.queues.Len(victim) {
		size = r.model.known(r.queues.Head(victim), size)
	}
	r.out.emitBatch(reference.KindSteal, g, p, victim, size, r.model.lower(basis, g))
	since := r.ahead.freeSince(g)
	r.ps.pStates[victim].headAt = max(r.ps.pStates[victim].headAt, since)
	r.queues.Steal(p, victim, g, func(other int32) {
		r.ahead.gStates.At(other).ringSince = since
		r.out.move(other, p, victim, reference.QueueLocal, reference.WhySteal)
	})
	return dequeueFrom(reference.SrcSteal, victim, int32(size), basis)
}

// stayedGlobal reports whether g, which the model has in victim's ring with a batch, had stayed in the
// global queue: those in front of it start on victim itself, so no thief moved them. It then puts g and
// what came with it back.
func (r *dequeuer) stayedGlobal(g, p, victim int32) bool {
	if r.ahead.gStates.At(g).fromGlobal != victim || r.model.inThiefsOrder(g, p, victim) {
		return false
	}
	front := r.queues.Prev(g)
	head := r.queues.GlobalHead() // nobody steals while there is something in the global queue
	if (front == reference.None || r.ahead.startsOn(front) != victim) && (head == reference.None || r.model.noGlobal >= r.ahead.freeSince(g) || r.ahead.inFlight(head)) {
		return false
	}
	size := r.model.upTo(g)
	if size > 1 && (r.model.noGlobal >= r.ahead.freeSince(g) && size == r.ahead.rules.StealBatch(r.queues.RingLen(victim)) || r.steals.stealCost(victim, r.queues.Head(victim), g, size, p) < costSize) {
		return false // just what a thief would have stolen
	}
	r.correct.undoBatchEnd(g, victim)
	return true
}

// stealRunnext dequeues another P's runnext, whose ring is empty.
func (r *dequeuer) stealRunnext(g, p, victim int32) dequeue {
	basis := byRule
	r.clearGone(p)
	for range nearEnough {
		other := r.queues.Head(victim)
		for other != reference.None && (!r.ahead.inFlight(other) || r.ahead.startsOn(other) == victim) {
			other = r.queues.Next(other)
		}
		if other == reference.None {
			break
		}
		r.settle(other)
	}
	if r.queues.RingLen(victim) > 0 {
		basis = byRepair
		if r.model.stayed(victim, r.ahead.win.at(r.ahead.now).prevM) > 0 {
			r.engine.odd++
		}
	}
	r.out.emitBatch(reference.KindSteal, g, p, victim, 1, r.model.lower(basis, g))
	r.queues.Remove(g)
	return dequeueFrom(reference.SrcStealRunnext, victim, 1, basis)
}
