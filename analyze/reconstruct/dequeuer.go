package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// dequeuer finds out how goroutines left their queues: by the rules of the run queues here and in
// dequeue_global.go and steal.go, and by the hypotheses where these leave it open.
type dequeuer struct {
	view
	out      *output
	correct  *corrections
	ticks    *ticks
	engine   *engine
	steals   *unseenSteals
	sizes    *batchSizes
	enqueuer *enqueuer
}

// maxDepth bounds how many dequeues may need one another: in a damaged trace they may do so in a
// circle. Half or twice: nothing.
const maxDepth = 64

// dequeue removes a goroutine from its queue as p's thread did, and marks what is uncertain of that.
func (r *dequeuer) dequeue(g, p int32) dequeue {
	m := r.model
	if p < 0 {
		return r.dequeueByPlace(g, p)
	}
	if r.queues.Runnext(p) == g { // often
		return m.dequeueRunnext(p)
	}
	gp := r.ahead.gStates.At(g)
	place, d := r.queues.Place(g), &r.ps.pStates[p].taint
	in, moved := m.taintedAt(gp, place), gp.moved
	n, less := r.queues.GlobalLen(), false
	if place.Queue == reference.QueueGlobal {
		less = r.ahead.rules.GlobalBatch(n-r.sizes.unsure(g), r.ps.gomaxprocs) < r.ahead.rules.GlobalBatch(n, r.ps.gomaxprocs)
	}
	deq := r.dequeueByPlace(g, p)
	d.fits++
	missed := d.missed && m.mayHaveMissedTick(p)
	switch deq.src {
	case reference.SrcLocal:
		in = in && moved && (m.driftingP == p || d.fits <= fitting)
		deq.missedTick = missed
	case reference.SrcSteal:
		in = in || n > 0 || min(d.fits, r.ps.pStates[deq.victim].taint.fits) <= fittingSteal
	case reference.SrcGlobal:
		deq.missedTick = missed
		m.taintAfterBatch(p, deq.batch, less)
	}
	if in {
		deq.taint = reference.RuleTaint
	}
	if rule := deq.basis.Rule(); deq.basis.Level() < reference.Inferred && (rule == reference.RuleSchedtick || rule == reference.RuleRepair || rule == reference.RuleReorder) {
		m.taint(p)
		if place.Queue != reference.QueueUnknown {
			m.taint(place.P)
		}
	}
	return deq
}

// dequeueRunnext is dequeue for what is in p's runnext: nothing is uncertain.
func (r *model) dequeueRunnext(p int32) dequeue {
	r.queues.TakeRunnext(p)
	d := &r.ahead.ps.pStates[p].taint
	if d.fits++; d.missed {
		r.mayHaveMissedTick(p)
	}
	return dequeueFrom(reference.SrcRunnext, nobody, 0, byRule)
}

// dequeueByPlace removes a goroutine from its queue as p's thread did, with all that moves with it. g
// is then in no queue.
func (r *dequeuer) dequeueByPlace(g, p int32) dequeue {
	if r.ahead.gStates.At(g).deferred {
		r.enqueuer.enqueueDeferred(g)
	}
	place := r.queues.Place(g)
	if p < 0 {
		r.queues.Remove(g)
		return dequeueFrom(reference.SrcUnknown, nobody, 0, 0)
	}
	switch {
	case place.Queue == reference.QueueUnknown:
		return dequeueFrom(reference.SrcUnknown, nobody, 0, reference.Known(reference.Unknown, reference.RuleInitial))
	case place.Queue == reference.QueueLocal && place.P == p:
		return r.dequeueLocal(g, p)
	case place.Queue == reference.QueueGlobal:
		return r.dequeueGlobal(g, p)
	case place.Queue == reference.QueueLocal:
		return r.steal(g, p, place.P)
	default:
		return r.stealRunnext(g, p, place.P)
	}
}

// dequeueLocal dequeues from p's own ring. Threads that have not started them yet have stolen those in
// front.
func (r *dequeuer) dequeueLocal(g, p int32) dequeue {
	// A P that passes over what it then starts itself is at the 61st tick: g was not in its last batch.
	if r.ahead.gStates.At(g).fromGlobal == p && r.ps.pStates[p].tick.May() {
		for other := r.queues.Prev(g); other != reference.None; other = r.queues.Prev(other) {
			if r.ahead.startsOn(other) == p {
				r.correct.undoBatchEnd(g, p)
				return r.dequeueGlobal(g, p)
			}
		}
	}
	if r.ps.pStates[p].tick.Now() > schedtick.Certain && r.exchangeEnqueues(g, p) {
		return r.dequeueGlobal(g, p)
	}
	basis := r.clearAhead(g, p)
	if r.queues.Place(g) != (reference.Place{Queue: reference.QueueLocal, P: p}) {
		return r.dequeueByPlace(g, p)
	}
	if other := r.queues.Runnext(p); other != reference.None {
		if r.ahead.inFlight(other) && r.ahead.startsOn(other) != p {
			r.settle(other)
		} else {
			basis = byRepair
		}
	}
	r.queues.Remove(g)
	r.ps.pStates[p].headAt = max(r.ps.pStates[p].headAt, r.ahead.freeSince(g))
	return dequeueFrom(reference.SrcLocal, nobody, 0, basis)
}

// settle does the dequeue of a goroutine now whose start comes later.
func (r *dequeuer) settle(g int32) {
	p := r.ahead.startsOn(g)
	r.ahead.depth++
	deq := r.dequeue(g, p)
	r.ahead.depth--
	if deq.basis.Rule() == reference.RuleQueue {
		deq.basis = reference.Known(deq.basis.Level(), reference.RulePassed)
	}
	r.out.emitDequeued(g, p, deq)
}

// clearAhead settles what stands in front of g in its queue, and moves g to the front of what cannot be
// settled. p dequeues g.
func (r *dequeuer) clearAhead(g, p int32) reference.Basis {
	basis := byRule
	place := r.queues.Place(g)
	for n := 0; r.queues.Prev(g) != reference.None; n++ {
		if r.queues.Place(g) != place {
			return basis // g went along with what was settled
		}
		other := reference.None
		if place.Queue == reference.QueueGlobal {
			other = r.model.firstInFlight(g, p) // the first to be dequeued
		} else {
			other = r.steals.firstStolen(place.P, g, p)
		}
		if other == reference.None || n > nearEnough {
			return r.passOver(g, p)
		}
		r.settle(other)
		basis = byPassed
	}
	return basis
}

// settleThieves settles what others have stolen from victim before P p dequeued g, as firstStolen finds
// it. It reports whether there was something.
func (r *dequeuer) settleThieves(victim, g, p int32) bool {
	for n := range nearEnough {
		other := r.steals.firstStolen(victim, g, p)
		if other == reference.None {
			return n > 0
		}
		r.settle(other)
	}
	return true
}

// clearGone settles what the model still has in p's own queue and others have in flight, as p dequeued
// from elsewhere.
func (r *dequeuer) clearGone(p int32) {
	r.settleThieves(p, reference.None, p)
	if g := r.queues.Runnext(p); g != reference.None && r.queues.RingLen(p) == 0 && r.ahead.inFlight(g) && r.ahead.startsOn(g) != p {
		r.settle(g)
	}
}

// passOver moves g to the front of its queue although what stands there is not in flight.
func (r *dequeuer) passOver(g, p int32) reference.Basis {
	r.out.summary.Corrections++
	switch place := r.queues.Place(g); place.Queue {
	case reference.QueueGlobal:
		r.clearGlobal(g, p)
	case reference.QueueLocal:
		r.clearRing(g, place.P)
	}
	front := r.queues.Prev(g)
	if front == reference.None {
		return byRepair
	}
	r.queues.Promote(g)
	if r.ahead.nearlyConcurrent(front, g) {
		return reference.Known(reference.Ambiguous, reference.RuleReorder)
	}
	return byRepair
}

// clearGlobal explains what stands in front of g in the global queue: it was enqueued later than its
// event, or in another order, or it is in the ring of the P of the last batch, which was larger than
// the model had it.
func (r *dequeuer) clearGlobal(g, p int32) {
	// A thread that lost its CPU at the enqueue has not done it yet.
	for other := r.queues.Prev(g); other != reference.None && r.ahead.enqueuerStalls(other) && r.enqueuer.deferEnqueue(other); other = r.queues.Prev(g) {
	}
	if r.queues.Prev(g) != reference.None && r.misordered(g, p) {
		r.correct.reorder(g)
	}
	for n := 0; n < 2 && r.queues.Prev(g) != reference.None; n++ {
		other := r.queues.Prev(g)
		if !r.enqueuer.reorderEnqueue(other, g) && !r.enqueuer.deferEnqueue(other) && !r.widenBatch(other, g, p) {
			return
		}
	}
}

// widenBatch moves other, which stands in front of g in the global queue, to the ring of the P of the
// last batch, or to where it starts. It reports whether it may have been there.
func (r *dequeuer) widenBatch(other, g, p int32) bool {
	to, gp := r.model.lastBatchP, r.ahead.gStates.At(other)
	if gp.passedOver < 2 {
		gp.passedOver++
		if to < 0 || r.ahead.startsOn(other) != to || r.ahead.nearlyConcurrent(other, g) && !r.model.wider {
			return false
		}
	} else if to = r.ahead.startsOn(other); to < 0 || to == p {
		return false // passed over again and again: only where it starts can show
	}
	if !r.model.fitsRing(to, other) {
		return false
	}
	r.correct.trim(to, r.ahead.rules.RingSize-1)
	r.queues.Remove(other)
	r.correct.insert(to, other)
	r.model.wider = false
	r.out.corrected(other, nobody)
	return true
}

// clearRing moves what stands in front of g in p's ring, and runs elsewhere, to where it runs.
func (r *dequeuer) clearRing(g, p int32) {
	for other := r.queues.Prev(g); other != reference.None; {
		front := r.queues.Prev(other)
		if to := r.ahead.startsOn(other); to >= 0 && to != p && !r.ahead.mayHaveSwapped(other, g) {
			r.correct.relocate(other, p)
		}
		other = front
	}
}
