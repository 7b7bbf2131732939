package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// A thief has nothing to run, and has found nothing in the global queue (findRunnable,
// stealWork). What it takes shows itself by what it runs first, the newest of the half that
// it moves; the rest, which it runs from its own ring, stood in front of that.

// steal takes from another P's ring: the older half, of which the newest runs
// (runqgrab, runqsteal).
func (r *explainer) steal(g, p, victim int32) dequeue {
	own := r.hasOwn(p)
	if (!own || r.pStates[p].tick.May()) && (r.exchangeEnqueues(g, victim) || r.stayedGlobal(g, p, victim)) {
		return r.dequeueGlobal(g, p)
	}
	if own {
		// A thief has nothing of its own: the model had g in the wrong ring.
		r.summary.Corrections++
		r.rehome(g, p, victim)
		return taken(reference.SrcLocal, nobody, 0, byRepair)
	}
	basis := byRule
	r.clearGone(p)
	if r.settleThieves(victim, g, p) { // others were first
		basis = byPassed
	}
	if r.queues.Place(g) != (reference.Place{Queue: reference.QueueLocal, P: victim}) {
		return r.dequeueByPlace(g, p) // it went along with what was settled
	}
	size := r.upTo(g)
	if r.deferred.holdOverflow(victim, size) {
		size -= r.rules.RingSize / 2
	}
	if other := r.steals.stolenBehind(victim, g, size, p); other != reference.None {
		r.settle(other)
		return r.dequeueByPlace(g, p)
	}
	switch {
	case r.queues.Len(p) > 0 || size > r.rules.StealBatch(r.queues.RingLen(victim)):
		basis = byRepair
	case size < r.rules.StealBatch(r.stayed(victim, r.freeSince(g))): // it may be another thief's, or another P's
		basis = ambiguous
	}
	if r.engine.on && size < r.rules.StealBatch(r.stayed(victim, r.win.at(r.now).prevM)) {
		r.engine.odd++
	}
	if r.queues.ShownLen(victim) < r.queues.Len(victim) {
		size = r.known(r.queues.Head(victim), size)
	}
	r.emitBatch(reference.KindSteal, g, p, victim, size, r.lower(basis, g))
	since := r.freeSince(g)
	r.pStates[victim].headAt = max(r.pStates[victim].headAt, since)
	r.queues.Steal(p, victim, g, func(other int32) {
		r.gStates.At(other).ringSince = since
		r.move(other, p, victim, reference.QueueLocal, reference.WhySteal)
	})
	return taken(reference.SrcSteal, victim, int32(size), basis)
}

// stayedGlobal reports whether g, which the model has in victim's ring after a take from
// the global queue, had stayed there: those in front of it run on victim itself, so
// no thief took them along. It then puts g and what came with it back.
func (r *explainer) stayedGlobal(g, p, victim int32) bool {
	if r.gStates.At(g).fromGlobal != victim || r.inThiefsOrder(g, p, victim) {
		return false
	}
	front := r.queues.Prev(g)
	head := r.queues.GlobalHead() // nobody steals while there is something in the global queue
	if (front == reference.None || r.startsOn(front) != victim) && (head == reference.None || r.noGlobal >= r.freeSince(g) || r.inFlight(head)) {
		return false
	}
	size := r.upTo(g)
	if size > 1 && (r.noGlobal >= r.freeSince(g) && size == r.rules.StealBatch(r.queues.RingLen(victim)) || r.steals.stealCost(victim, r.queues.Head(victim), g, size, p) < costSize) {
		return false // just what a thief would have taken
	}
	r.undoBatchEnd(g, victim)
	return true
}

// stealRunnext takes another P's runnext, whose ring is empty.
func (r *explainer) stealRunnext(g, p, victim int32) dequeue {
	basis := byRule
	r.clearGone(p)
	for range nearEnough {
		other := r.queues.Head(victim)
		for other != reference.None && (!r.inFlight(other) || r.startsOn(other) == victim) {
			other = r.queues.Next(other)
		}
		if other == reference.None {
			break
		}
		r.settle(other)
	}
	if r.queues.RingLen(victim) > 0 {
		basis = byRepair
		if r.stayed(victim, r.win.at(r.now).prevM) > 0 {
			r.engine.odd++
		}
	}
	r.emitBatch(reference.KindSteal, g, p, victim, 1, r.lower(basis, g))
	r.queues.Remove(g)
	return taken(reference.SrcStealRunnext, victim, 1, basis)
}
