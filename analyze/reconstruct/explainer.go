package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// explainer finds out how goroutines came from one queue to the next: by the rules of the
// run queues here and in dequeue_global.go and steal.go, and by the hypotheses where these
// leave it open.
type explainer struct {
	lookahead
	model
	output
	corrections
	requests

	whole   *judge // of which this is a part
	without Set    // hypotheses that it does without
	engine  engine

	beginning beginning
	targets   targets
	locks     locks

	// What the hypotheses keep between two events.
	sizes    batchSizes
	steals   unseenSteals
	waking   wakingThieves
	deferred deferredPuts
	workers  workerDrains
}

// link tells the parts of an explainer where the rest of it is.
func (r *explainer) link() {
	r.model.lookahead, r.requests.lookahead = &r.lookahead, &r.lookahead
	r.output.model, r.corrections.output = &r.model, &r.output
	r.beginning.explainer, r.targets.explainer, r.locks.explainer = r, r, r
	r.engine.explainer, r.sizes.explainer, r.steals.explainer, r.waking.explainer = r, r, r, r
	r.deferred.explainer, r.workers.explainer = r, r
}

// maxDepth bounds how many takes may ask for one another: in a damaged trace
// they may do so in a circle. Half or twice: nothing.
const maxDepth = 64

// dequeue removes a goroutine from where it is, as p's thread did, and says what of that is
// uncertain.
func (r *explainer) dequeue(g, p int32) dequeue {
	if p < 0 {
		return r.dequeueByPlace(g, p)
	}
	if r.queues.Runnext(p) == g { // often
		return r.dequeueRunnext(p)
	}
	gp := r.gStates.At(g)
	place, d := r.queues.Place(g), &r.pStates[p].taint
	in, moved := r.taintedAt(gp, place), gp.moved
	n, less := r.queues.GlobalLen(), false
	if place.Queue == reference.QueueGlobal {
		less = r.rules.GlobalBatch(n-r.sizes.unsure(g), r.procs) < r.rules.GlobalBatch(n, r.procs)
	}
	deq := r.dequeueByPlace(g, p)
	d.fits++
	missed := d.missed && r.mayHaveMissedTick(p)
	switch deq.src {
	case reference.SrcLocal:
		in = in && moved && (r.driftingP == p || d.fits <= fitting)
		deq.missedTick = missed
	case reference.SrcSteal:
		in = in || n > 0 || min(d.fits, r.pStates[deq.victim].taint.fits) <= fittingSteal
	case reference.SrcGlobal:
		deq.missedTick = missed
		r.taintAfterBatch(p, deq.batch, less)
	}
	if in {
		deq.taint = reference.RuleTaint
	}
	if rule := deq.basis.Rule(); deq.basis.Level() < reference.Inferred && (rule == reference.RuleSchedtick || rule == reference.RuleRepair || rule == reference.RuleReorder) {
		r.taint(p)
		if place.Queue != reference.QueueUnknown {
			r.taint(place.P)
		}
	}
	return deq
}

// dequeueRunnext is dequeue for what is in p's runnext: nothing is uncertain.
func (r *model) dequeueRunnext(p int32) dequeue {
	r.queues.TakeRunnext(p)
	d := &r.pStates[p].taint
	if d.fits++; d.missed {
		r.mayHaveMissedTick(p)
	}
	return taken(reference.SrcRunnext, nobody, 0, byRule)
}

// dequeueByPlace removes a goroutine from where it is, as its P's thread did, with all
// that the take moves. g is then in no queue.
func (r *explainer) dequeueByPlace(g, p int32) dequeue {
	if r.gStates.At(g).deferred {
		r.deferred.putDeferred(g)
	}
	place := r.queues.Place(g)
	if p < 0 {
		r.queues.Remove(g)
		return taken(reference.SrcUnknown, nobody, 0, 0)
	}
	switch {
	case place.Queue == reference.QueueUnknown:
		return taken(reference.SrcUnknown, nobody, 0, reference.Known(reference.Unknown, reference.RuleInitial))
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

// dequeueLocal takes from the own ring. Those in front have been stolen by
// threads that have not started them yet.
func (r *explainer) dequeueLocal(g, p int32) dequeue {
	// A P that passes over what it then runs itself is at the 61st tick: what
	// it took had not been in the last batch from the global queue.
	if r.gStates.At(g).fromGlobal == p && r.pStates[p].tick.May() {
		for other := r.queues.Prev(g); other != reference.None; other = r.queues.Prev(other) {
			if r.startsOn(other) == p {
				r.undoBatchEnd(g, p)
				return r.dequeueGlobal(g, p)
			}
		}
	}
	if r.pStates[p].tick.Now() > schedtick.Certain && r.exchangeEnqueues(g, p) {
		return r.dequeueGlobal(g, p)
	}
	basis := r.clearAhead(g, p)
	if r.queues.Place(g) != (reference.Place{Queue: reference.QueueLocal, P: p}) {
		return r.dequeueByPlace(g, p)
	}
	if other := r.queues.Runnext(p); other != reference.None {
		if r.inFlight(other) && r.startsOn(other) != p {
			r.settle(other)
		} else {
			basis = byRepair
		}
	}
	r.queues.Remove(g)
	r.pStates[p].headAt = max(r.pStates[p].headAt, r.freeSince(g))
	return taken(reference.SrcLocal, nobody, 0, basis)
}

// settle makes the take of a goroutine happen now whose start comes later.
func (r *explainer) settle(g int32) {
	p := r.startsOn(g)
	r.depth++
	deq := r.dequeue(g, p)
	r.depth--
	if deq.basis.Rule() == reference.RuleQueue {
		deq.basis = reference.Known(deq.basis.Level(), reference.RulePassed)
	}
	r.emitDequeued(g, p, deq)
}

// clearAhead settles what stands in front of g in its queue, and moves g to
// the front of what cannot be settled. taker is the P that takes g.
func (r *explainer) clearAhead(g, taker int32) reference.Basis {
	basis := byRule
	place := r.queues.Place(g)
	for n := 0; r.queues.Prev(g) != reference.None; n++ {
		if r.queues.Place(g) != place {
			return basis // what was settled took g along
		}
		other := reference.None
		if place.Queue == reference.QueueGlobal {
			other = r.firstInFlight(g, taker) // the first to have been taken
		} else {
			other = r.steals.firstStolen(place.P, g, taker)
		}
		if other == reference.None || n > nearEnough {
			return r.passOver(g, taker)
		}
		r.settle(other)
		basis = byPassed
	}
	return basis
}

// settleThieves settles what others have stolen from victim before P p took g, as firstStolen
// finds it. It reports whether there was something.
func (r *explainer) settleThieves(victim, g, p int32) bool {
	for n := range nearEnough {
		other := r.steals.firstStolen(victim, g, p)
		if other == reference.None {
			return n > 0
		}
		r.settle(other)
	}
	return true
}

// clearGone settles what the model still has in p's own queue although p took
// from elsewhere: others have it in hand.
func (r *explainer) clearGone(p int32) {
	r.settleThieves(p, reference.None, p)
	if g := r.queues.Runnext(p); g != reference.None && r.queues.RingLen(p) == 0 && r.inFlight(g) && r.startsOn(g) != p {
		r.settle(g)
	}
}

// passOver takes g to the front of its queue although others stand there
// that nobody seems to have in hand.
func (r *explainer) passOver(g, taker int32) reference.Basis {
	r.summary.Corrections++
	switch place := r.queues.Place(g); place.Queue {
	case reference.QueueGlobal:
		r.clearGlobal(g, taker)
	case reference.QueueLocal:
		r.clearRing(g, place.P)
	}
	front := r.queues.Prev(g)
	if front == reference.None {
		return byRepair
	}
	r.queues.Promote(g)
	if r.nearlyConcurrent(front, g) {
		return reference.Known(reference.Ambiguous, reference.RuleReorder)
	}
	return byRepair
}

// clearGlobal finds out why nobody took what stands in front of g in the global queue: it was put
// there later than its event, or in another order, or it has been in the ring of whoever
// took the last batch, which was larger than the model thought.
func (r *explainer) clearGlobal(g, taker int32) {
	// Whose thread has lost its CPU at the put has not come yet.
	for other := r.queues.Prev(g); other != reference.None && r.enqueuerStalls(other) && r.deferred.deferEnqueue(other); other = r.queues.Prev(g) {
	}
	if r.queues.Prev(g) != reference.None && r.misordered(g, taker) {
		r.reorder(g)
	}
	for n := 0; n < 2 && r.queues.Prev(g) != reference.None; n++ {
		other := r.queues.Prev(g)
		if !r.deferred.reorderEnqueue(other, g) && !r.deferred.deferEnqueue(other) && !r.widenBatch(other, g, taker) {
			return
		}
	}
}

// widenBatch moves other, which g was taken past in the global queue, to the ring of the P that took
// the last batch, or to where it runs. It reports whether it may have been there.
func (r *explainer) widenBatch(other, g, taker int32) bool {
	to, gp := r.lastTaker, r.gStates.At(other)
	if gp.passedOver < 2 {
		gp.passedOver++
		if to < 0 || r.startsOn(other) != to || r.nearlyConcurrent(other, g) && !r.wider {
			return false
		}
	} else if to = r.startsOn(other); to < 0 || to == taker {
		return false // passed over again and again: only where it runs can tell
	}
	if !r.fitsRing(to, other) {
		return false
	}
	r.trim(to, r.rules.RingSize-1)
	r.queues.Remove(other)
	r.insert(to, other)
	r.wider = false
	r.corrected(other, nobody)
	return true
}

// clearRing moves what stands in front of g in p's ring, and runs elsewhere, to where it runs.
func (r *explainer) clearRing(g, p int32) {
	for other := r.queues.Prev(g); other != reference.None; {
		front := r.queues.Prev(other)
		if to := r.startsOn(other); to >= 0 && to != p && !r.mayHaveSwapped(other, g) {
			r.relocate(other, p)
		}
		other = front
	}
}
