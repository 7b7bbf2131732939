package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// Taint is what a correction leaves behind. A model that had to be corrected may be wrong in more than
// what showed it: the goroutines that were in the queues concerned are tainted until they start,
// wherever they go. What is put there later is not. A dequeue of what is tainted is ambiguous, unless
// the P has run so much as the model foresaw since that its ring must be right.

const (
	// fitting is the number of starts in a row on a P, since its ring was corrected, by which the ring
	// is right again: about a quarter of a ring. A thief's is right again by fittingSteal. They change
	// nothing but what is uncertain: half of fitting 0.13 points less, twice 0.08 more (fittingSteal:
	// 0.1 of workerpool), with as many that are certain and wrong.
	fitting      = 64
	fittingSteal = 16
)

// taint is what is uncertain of a P.
type taint struct {
	since  int64 // event by which what is in its ring is tainted
	fits   int   // starts on it since
	missed bool  // it may have been at the 61st tick when it dequeued a batch
}

// taintAfterBatch taints what p may have got with another batch than the one of size k that it is
// thought to have dequeued globally: more may have been there, or less. If no other P dequeues what
// follows, that looks the same, and so do the batches after it.
func (r *model) taintAfterBatch(p, k int32, less bool) {
	was := r.driftingP == p
	r.driftingP = nobody // another P finds another one at the head
	next := r.queues.GlobalHead()
	if next == reference.None || r.ahead.startsOn(next) != p || !r.wider && (k == 1 || !less && !was) {
		return
	}
	r.driftingP = p
	r.ahead.gStates.At(next).tainted = true
	if last := r.queues.Tail(p); last != reference.None {
		r.ahead.gStates.At(last).tainted = true
	}
}

// mayHaveMissedTick reports whether p, whose last batch may have been a tick pick, still may be off:
// what the model has in its ring may then be in the global queue, and what the P goes on with looks the
// same for ever, until both are empty, or it is known when the tick comes.
func (r *model) mayHaveMissedTick(p int32) bool {
	pp := &r.ahead.ps.pStates[p]
	if pp.tick.Known() || r.queues.Len(p)+r.queues.GlobalLen() == 0 {
		pp.taint.missed = false
	}
	return pp.taint.missed
}

// tainted reports whether the model may have g in the wrong queue, or at the wrong place in it.
func (r *model) tainted(g int32) bool { return r.taintedAt(r.ahead.gStates.At(g), r.queues.Place(g)) }

// taintedAt is tainted for a goroutine that the model has at a place.
func (r *model) taintedAt(gp *goroutine, place reference.Place) bool {
	switch place.Queue {
	case reference.QueueGlobal:
		return gp.tainted || gp.queued < r.globalTaint
	case reference.QueueLocal:
		return gp.tainted || gp.queued < r.ahead.ps.pStates[place.P].taint.since
	}
	return gp.tainted
}

// taint taints what is in p's ring, or for nobody in the global queue.
func (r *model) taint(p int32) {
	if p < 0 {
		r.globalTaint = r.ahead.now
		return
	}
	d := &r.ahead.ps.pStates[p].taint
	d.since, d.fits = r.ahead.now, 0
}

// carryTaint keeps the taint of a goroutine that changes queues, and returns the basis of the move.
func (r *model) carryTaint(g, to, from int32, why reference.Why) reference.Basis {
	gp := r.ahead.gStates.At(g)
	switch {
	case why == reference.WhyDisplaced:
		gp.queued = r.ahead.now
		return byRule
	case why == reference.WhyCorrected && from < 0 && to < 0: // a deferred enqueue
	case why == reference.WhyCorrected:
		r.taint(from)
		r.taint(to)
		gp.tainted = true
	case from >= 0:
		gp.tainted = gp.tainted || gp.queued < r.ahead.ps.pStates[from].taint.since
	default:
		gp.tainted = gp.tainted || gp.queued < r.globalTaint
	}
	gp.queued, gp.moved = r.ahead.now, true
	if gp.tainted {
		return byTaint
	}
	return byRule
}

// lower lowers a basis that depends on g's queue if g is tainted.
func (r *model) lower(basis reference.Basis, g int32) reference.Basis {
	if basis.Level() >= reference.Inferred && r.tainted(g) {
		return byTaint
	}
	return basis
}
