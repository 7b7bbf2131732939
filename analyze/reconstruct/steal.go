package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// steal takes from another P's ring: the older half, of which the newest runs
// (runqgrab, runqsteal).
func (r *explainer) steal(g, p, v int32) dequeue {
	if r.overflowing.overflowedBefore(g, v) {
		return r.dequeueByPlace(g, p)
	}
	own := r.hasOwn(p)
	if (!own || r.pStates[p].tick.May()) && (r.exchangeEnqueues(g, v) || r.stayedGlobal(g, p, v)) {
		return r.dequeueGlobal(g, p)
	}
	if own {
		// A thief has nothing of its own: the model had g in the wrong ring.
		r.summary.Corrections++
		r.rehome(g, p, v)
		return dequeue{src: reference.SrcLocal, victim: nobody, basis: reference.Known(reference.Ambiguous, reference.RuleRepair)}
	}
	basis := byRule
	r.clearGone(p)
	// Other thieves may have been first.
	for n := 0; n < 64; n++ {
		x := r.steals.firstStolen(v, g, p)
		if x == reference.None {
			break
		}
		r.settle(x)
		basis = reference.Known(reference.Inferred, reference.RulePassed)
	}
	if r.queues.Place(g) != (reference.Place{Queue: reference.QueueLocal, P: v}) {
		return r.dequeueByPlace(g, p) // it went along with what was settled
	}
	k := 1
	for x := r.queues.Prev(g); x != reference.None; x = r.queues.Prev(x) {
		k++
	}
	if r.overflowing.holdOverflow(v, k) {
		k -= r.rules.RingSize / 2
	}
	if x := r.steals.stolenBehind(v, g, k, p); x != reference.None {
		r.settle(x)
		return r.dequeueByPlace(g, p)
	}
	if r.queues.Len(p) > 0 || k > r.rules.StealBatch(r.queues.RingLen(v)) {
		basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	if r.engine.on && k < r.rules.StealBatch(r.stayed(v)) {
		r.engine.odd++
	}
	r.emit(&reference.Decision{Kind: reference.KindSteal, G: r.gStates.At(g).id, P: r.pStates[p].id, M: r.threadID(r.pStates[p].m), Victim: r.pStates[v].id, Batch: int32(k), Basis: basis})
	since := r.freeSince(g)
	r.pStates[v].headAt = max(r.pStates[v].headAt, since)
	r.queues.Steal(p, v, g, func(x int32) {
		r.gStates.At(x).ringSince = since
		r.move(x, p, v, reference.QueueLocal, reference.WhySteal)
	})
	return dequeue{src: reference.SrcSteal, victim: v, batch: int32(k), basis: basis}
}

// stayedGlobal reports whether g, which the model has in v's ring after a take from
// the global queue, had stayed there: those in front of it run on v itself, so
// no thief took them along. It then puts g and what came with it back.
func (r *explainer) stayedGlobal(g, p, v int32) bool {
	if r.gStates.At(g).fromGlobal != v || r.inThiefsOrder(g, p, v) {
		return false
	}
	front := r.queues.Prev(g)
	head := r.queues.GlobalHead() // nobody steals while there is something in the global queue
	if (front == reference.None || r.startsOn(front) != v) && (head == reference.None || r.noGlobal >= r.freeSince(g) || r.inFlight(head)) {
		return false
	}
	k := 1
	for x := front; x != reference.None; x = r.queues.Prev(x) {
		k++
	}
	if k > 1 && (r.noGlobal >= r.freeSince(g) && k == r.rules.StealBatch(r.queues.RingLen(v)) || r.steals.stealCost(v, r.queues.Head(v), g, k, p) < costSize) {
		return false // just what a thief would have taken
	}
	r.undoBatchEnd(g, v)
	return true
}

// stealRunnext takes another P's runnext, whose ring is empty.
func (r *explainer) stealRunnext(g, p, v int32) dequeue {
	basis := byRule
	r.clearGone(p)
	if r.queues.RingLen(v) > 0 {
		for n := 0; n < 64 && r.queues.RingLen(v) > 0; n++ {
			x := r.queues.Head(v)
			for x != reference.None && !(r.inFlight(x) && r.startsOn(x) != v) {
				x = r.queues.Next(x)
			}
			if x == reference.None {
				break
			}
			r.settle(x)
		}
		if r.queues.RingLen(v) > 0 {
			basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
			if r.stayed(v) > 0 {
				r.engine.odd++
			}
		}
	}
	r.emit(&reference.Decision{Kind: reference.KindSteal, G: r.gStates.At(g).id, P: r.pStates[p].id, M: r.threadID(r.pStates[p].m), Victim: r.pStates[v].id, Batch: 1, Basis: basis})
	r.queues.Remove(g)
	return dequeue{src: reference.SrcStealRunnext, victim: v, batch: 1, basis: basis}
}
