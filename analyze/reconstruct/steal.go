package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// steal takes from another P's ring: the older half, of which the newest runs
// (runqgrab, runqsteal).
func (r *explainer) steal(ix, p, v int32) taken {
	if r.spilled(ix, v) {
		return r.take(ix, p)
	}
	own := r.hasOwn(p)
	if (!own || r.ps[p].phase.maybeTick()) && (r.swap(ix, v) || r.neverMoved(ix, p, v)) {
		return r.takeGlobal(ix, p)
	}
	if own {
		// A thief has nothing of its own: the model had ix in the wrong ring.
		r.sum.Corrections++
		r.rehome(ix, p, v)
		return taken{src: reference.SrcLocal, victim: nobody, basis: reference.Known(reference.Ambiguous, reference.RuleRepair)}
	}
	basis := byRule
	r.clearGone(p)
	// Other thieves may have been first.
	for n := 0; n < 64; n++ {
		x := r.firstTaken(v, ix, p)
		if x == reference.None {
			break
		}
		r.settle(x)
		basis = reference.Known(reference.Inferred, reference.RulePassed)
	}
	if r.q.Place(ix) != (reference.Place{Queue: reference.QueueLocal, P: v}) {
		return r.take(ix, p) // it went along with what was settled
	}
	k := 1
	for x := r.q.Prev(ix); x != reference.None; x = r.q.Prev(x) {
		k++
	}
	if r.holdSpill(v, k) {
		k -= r.rules.RingSize / 2
	}
	if x := r.robbed(v, ix, k, p); x != reference.None {
		r.settle(x)
		return r.take(ix, p)
	}
	if r.q.Len(p) > 0 || k > r.rules.StealBatch(r.q.RingLen(v)) {
		basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	if r.forks.on && k < r.rules.StealBatch(r.stayed(v)) {
		r.forks.odd++
	}
	r.say(&reference.Decision{Kind: reference.KindSteal, G: r.gs.At(ix).id, P: r.ps[p].id, M: r.mid(r.ps[p].m), Victim: r.ps[v].id, Batch: int32(k), Basis: basis})
	since := r.freeSince(ix)
	r.ps[v].headAt = max(r.ps[v].headAt, since)
	r.q.Steal(p, v, ix, func(g int32) {
		r.gs.At(g).putAt = since
		r.move(g, p, v, reference.QueueLocal, reference.WhySteal)
	})
	return taken{src: reference.SrcSteal, victim: v, batch: int32(k), basis: basis}
}

// neverMoved says that ix, which the model has in v's ring after a take from
// the global queue, had stayed there: those in front of it run on v itself, so
// no thief took them along. It then puts ix and what came with it back.
func (r *model) neverMoved(ix, p, v int32) bool {
	if r.gs.At(ix).fromGlobal != v || r.thiefsOrder(ix, p, v) {
		return false
	}
	front := r.q.Prev(ix)
	head := r.q.GlobalHead() // nobody steals while there is something in the global queue
	if (front == reference.None || r.startP(front) != v) && (head == reference.None || r.noGlobal >= r.freeSince(ix) || r.inFlight(head)) {
		return false
	}
	k := 1
	for x := front; x != reference.None; x = r.q.Prev(x) {
		k++
	}
	if k > 1 && (r.noGlobal >= r.freeSince(ix) && k == r.rules.StealBatch(r.q.RingLen(v)) || r.batchCost(v, r.q.Head(v), ix, k, p) < costSize) {
		return false // just what a thief would have taken
	}
	r.putBack(ix, v)
	return true
}

// thiefsOrder says that p runs the head of v's ring after ix and before what
// stands behind ix: that is a thief's order, and no queue's.
func (r *model) thiefsOrder(ix, p, v int32) bool {
	first, start := r.q.Head(v), r.startOf(ix)
	if first == ix || first == reference.None || r.startP(first) != p || r.startOf(first) <= start {
		return false
	}
	next := r.startOf(r.q.Next(ix))
	return next < 0 || next > r.startOf(first)
}

// stealRunnext takes another P's runnext, whose ring is empty.
func (r *explainer) stealRunnext(ix, p, v int32) taken {
	basis := byRule
	r.clearGone(p)
	if r.q.RingLen(v) > 0 {
		for n := 0; n < 64 && r.q.RingLen(v) > 0; n++ {
			x := r.q.Head(v)
			for x != reference.None && !(r.inFlight(x) && r.startP(x) != v) {
				x = r.q.Next(x)
			}
			if x == reference.None {
				break
			}
			r.settle(x)
		}
		if r.q.RingLen(v) > 0 {
			basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
			if r.stayed(v) > 0 {
				r.forks.odd++
			}
		}
	}
	r.say(&reference.Decision{Kind: reference.KindSteal, G: r.gs.At(ix).id, P: r.ps[p].id, M: r.mid(r.ps[p].m), Victim: r.ps[v].id, Batch: 1, Basis: basis})
	r.q.Remove(ix)
	return taken{src: reference.SrcStealRunnext, victim: v, batch: 1, basis: basis}
}
