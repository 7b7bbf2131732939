package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// A thread looks at the global queue before its P's own at each 61st tick, and dequeues one
// (findRunnable, globrunqget with max 1); otherwise only when the P's own queue is empty, and then a
// batch: its share of the queue by the number of Ps, and no more than half a ring. No event shows the
// size, nor which of both it was: the P's own queue does, and what comes next.

// dequeueGlobal dequeues the head of the global queue: alone at the 61st tick, else with a batch.
func (r *dequeuer) dequeueGlobal(g, p int32) dequeue {
	if r.stoodInRing(g, p) {
		return r.dequeueLocal(g, p)
	}
	basis := r.clearAhead(g, p)
	if r.queues.Place(g).Queue != reference.QueueGlobal {
		return r.dequeueByPlace(g, p)
	}
	shown := r.clearOwn(p)
	if r.queues.Place(g).Queue != reference.QueueGlobal {
		return r.dequeueByPlace(g, p) // a thread that had stolen from p's ring first stole g, too
	}
	behind := r.correct.continuesGlobal(g, p)
	if r.queues.Len(p) > 0 && !behind {
		return r.dequeuePastOwn(g, p, basis, shown)
	}
	r.orderEnqueues(g, p)
	size, tick := r.sizes.dequeuedSize(g, p, basis)
	if size == sizeAtTick {
		return r.dequeueAtTick(g, tick)
	}
	at := r.ps.pStates[p].tick.Candidate()
	src, open, basis := r.batchSource(p, size, basis)
	size = r.makeRoom(p, size)
	size = r.dequeueBatch(g, p, size, behind, basis)
	if behind {
		basis = byRepair
	}
	deq := dequeueFrom(src, nobody, int32(size), basis)
	deq.pending, deq.candidate = open, at
	return deq
}

// stoodInRing reports whether g, the head of the global queue, was in p's ring in place of its head,
// which others start, and exchanges the two.
func (r *dequeuer) stoodInRing(g, p int32) bool {
	own := r.queues.Head(p)
	return g == r.queues.GlobalHead() && own != reference.None && r.ahead.startsOn(own) >= 0 && r.ahead.startsOn(own) != p &&
		r.queues.Runnext(p) == reference.None && !r.ps.pStates[p].tick.Is() && r.exchangeEnqueues(own, p)
}

// clearOwn moves what others start out of p's own queue, unless p starts some of it itself: p dequeues
// globally, so its own queue is empty. If too much is there for that, p is at its 61st tick, which
// shown reports.
func (r *dequeuer) clearOwn(p int32) (shown bool) {
	if r.model.hasOwn(p) {
		return false
	}
	r.clearGone(p)
	tick := &r.ps.pStates[p].tick
	shown = r.queues.RingLen(p) >= longBatch && !tick.Known()
	if !tick.May() && !shown {
		r.correct.purgeOwn(p)
	}
	return shown
}

// dequeuePastOwn is dequeueGlobal for a P that has something in its own queue, which it passes over
// only at the 61st tick; shown reports whether this was seen.
func (r *dequeuer) dequeuePastOwn(g, p int32, basis reference.Basis, shown bool) dequeue {
	pp := &r.ps.pStates[p]
	if basis == byRule && r.ahead.startsOn(r.model.oldest(p)) != p {
		basis = ambiguous
	}
	if !pp.tick.May() && basis == byRule {
		r.ticks.learnTick(pp, tickUnlikely)
	}
	switch {
	case pp.tick.May(), shown:
		return r.dequeueAtTick(g, basis)
	case r.ahead.yieldedHere(g, p):
		r.correct.vacate(p)
		return r.dequeueGlobal(g, p)
	case r.exchangeForOwn(g, p): // it is not the tick: the model had it in the wrong queue
		return r.dequeueLocal(g, p)
	}
	r.correct.rehome(g, p, nobody)
	return dequeueFrom(reference.SrcLocal, nobody, 0, reference.Known(reference.Ambiguous, reference.RuleSchedtick))
}

// dequeueAtTick dequeues g alone, at the 61st tick.
func (r *dequeuer) dequeueAtTick(g int32, basis reference.Basis) dequeue {
	r.queues.Remove(g)
	return dequeueFrom(reference.SrcGlobalTick, nobody, 1, basis)
}

// orderEnqueues does the deferred enqueues that come before p dequeues g, and defers those that come
// after it.
func (r *dequeuer) orderEnqueues(g, p int32) {
	r.enqueuer.findDeferred(g, p)
	if r.queues.GlobalLen() <= r.ahead.rules.GlobalBatchMax {
		r.enqueuer.catchUp() // the batch may reach them
	}
	r.enqueuer.reorderInBatch(g, p, r.ahead.rules.GlobalBatch(r.queues.GlobalLen(), r.ps.gomaxprocs))
}

// batchSource returns how a global dequeue of size by p, whose own queue is empty, is known: one may
// have been picked at the 61st tick, and then it may be open whether it was.
func (r *dequeuer) batchSource(p int32, size int, basis reference.Basis) (src reference.Source, open bool, by reference.Basis) {
	pp := &r.ps.pStates[p]
	chance := pp.tick.Now()
	maybe := chance > schedtick.Never && chance < schedtick.Certain
	switch {
	case size == 1:
		src, by = tickSource(chance)
		if basis != byRule && (basis.Level() < reference.Inferred || !maybe) {
			by = basis
		}
		return src, maybe, by
	case chance > schedtick.Never:
		pp.taint.missed = true
		if basis.Level() >= reference.Inferred {
			basis = byTick
		}
	}
	return reference.SrcGlobal, false, basis
}

// makeRoom makes room in p's ring for a batch of size, and returns its size: what has to leave the ring
// was in the global queue before.
func (r *dequeuer) makeRoom(p int32, size int) int {
	if size > 1 && size == r.ahead.rules.GlobalBatch(r.queues.GlobalLen(), r.ps.gomaxprocs) {
		r.correct.trim(p, r.ahead.rules.RingSize-size+1)
		size = r.ahead.rules.GlobalBatch(r.queues.GlobalLen(), r.ps.gomaxprocs)
	}
	r.correct.trim(p, r.ahead.rules.RingSize-size+1)
	return size
}

// dequeueBatch dequeues a batch of size that g begins. behind reports whether what the model has in p's
// own queue came there later, if at all. It returns how many of the batch decisions know.
func (r *dequeuer) dequeueBatch(g, p int32, size int, behind bool, basis reference.Basis) (known int) {
	q, ahead := r.queues, r.ahead
	known = size
	if q.ShownGlobalLen() < q.GlobalLen() {
		known = r.model.known(g, size)
	}
	if known > 1 {
		r.out.emitBatch(reference.KindGlobalBatch, g, p, nobody, known, r.model.lower(basis, g))
	}
	since := ahead.freeSince(g)
	r.model.wider = r.sizes.widerThan(g, size)
	r.model.lastBatchP, r.model.fedSinceBatch, r.model.returned = p, false, r.model.returned[:0]
	last := q.Tail(p)
	if behind {
		last = reference.None
	}
	q.TakeBatch(p, g, size, last, func(other int32) {
		last = other
		gp := ahead.gStates.At(other)
		gp.fromGlobal, gp.ringSince = p, since
		r.out.move(other, p, nobody, reference.QueueLocal, reference.WhyGlobalBatch)
	})
	if behind && last != reference.None {
		for other := q.Next(last); other != reference.None; other = q.Next(other) {
			r.out.corrected(other, p)
		}
	}
	return known
}
