package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// An overflow puts half of a ring into the global queue at once (runqputslow, globrunqputbatch),
// possibly long after the event that shows it, if its thread loses its CPU. So two of them may come in
// another order than their events, and the model then has other goroutines dequeued in between.

// sameOverflow reports whether a and b came to the global queue by the same overflow.
func (r *lookahead) sameOverflow(a, b int32) bool {
	return r.gStates.At(a).overflowID > 0 && r.gStates.At(a).overflowID == r.gStates.At(b).overflowID
}

// misordered reports whether p dequeues g, which came by an overflow, from the global queue because
// those in front of it came later than the model has it.
func (r *dequeuer) misordered(g, p int32) bool {
	if r.ahead.without.has(hypOverflowOrder) || r.ahead.gStates.At(g).overflowID == 0 || r.queues.Len(p) > 0 && !r.ps.pStates[p].tick.May() {
		return false
	}
	return r.ahead.startOf(g) != r.ahead.now || r.engine.holds(hypOverflowOrder, question{g: g, likely: yes})
}

// proposeOverflowOrder proposes that the overflows came in the order of their events, or in the other
// one. The fork decides which when it handles the present event, the start of q.g, anew.
func proposeOverflowOrder(r *stepper, _ question) []choice {
	return []choice{
		{is: no, says: "the overflows came in the order of their events", then: thenRepeat},
		{is: yes, says: "the overflows came in the other order", then: thenRepeat},
	}
}

// returned is a goroutine that was dequeued from the global queue, and put there again by an overflow.
type returned struct{ g, from, to int32 } // numbers of the overflows that put it there before and now

// noteReturn notes that the present overflow puts g, of p's ring, into the global queue.
func (r *model) noteReturn(g, p int32) {
	x := r.ahead.gStates.At(g)
	if x.fromGlobal == r.lastBatchP && p == r.lastBatchP {
		r.returned = append(r.returned, returned{g, x.overflowID, r.lastOverflow})
	}
	x.overflowID = r.lastOverflow
}

// lastBatch appends to list what the last batch from the global queue dequeued, the last first, as far
// as it did not come together with g: what is in the ring of its P, and what has been put again and
// stands behind g.
func (r *model) lastBatch(list []returned, g int32) []returned {
	if r.lastBatchP < 0 {
		return list
	}
	own := r.ahead.gStates.At(g).overflowID
	for other := r.queues.Tail(r.lastBatchP); other != reference.None; other = r.queues.Prev(other) {
		gp := r.ahead.gStates.At(other)
		if gp.fromGlobal != r.lastBatchP {
			continue
		}
		if gp.overflowID == own {
			return list
		}
		list = append(list, returned{other, gp.overflowID, 0})
	}
	for i := len(r.returned) - 1; i >= 0; i-- {
		a := r.returned[i]
		if a.from == own {
			return list
		}
		if r.ahead.gStates.At(a.g).overflowID == a.to && r.queues.Place(a.g).Queue == reference.QueueGlobal && r.queues.AheadGlobal(g, a.g) {
			list = append(list, a)
		}
	}
	return list
}
