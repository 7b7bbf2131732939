package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// This file brings the model in line with a dequeue that it did not foresee.

// nearby is how far apart two enqueues on different threads may be whose order differs from that of
// their events, in ns. Half or twice: nothing.
const nearby = 20_000

// mayHaveSwapped reports whether other and g, of one batch from the global queue, may have been put
// there in the other order: each by itself, and by another thread. An overflow since has kept that
// order.
func (r *lookahead) mayHaveSwapped(other, g int32) bool {
	a, b := r.gStates.At(other), r.gStates.At(g)
	return a.fromGlobal == b.fromGlobal && a.fromGlobal != nobody && a.readyM != b.readyM && (a.overflowID == 0 || r.enqueuedAlone(a) && r.enqueuedAlone(b))
}

// enqueuedAlone reports whether g went to the global queue by itself when it became runnable: it
// yielded, or was preempted.
func (r *lookahead) enqueuedAlone(gp *goroutine) bool {
	put := r.win.at(gp.ready)
	return put != nil && put.isStop()
}

// exchangeEnqueues exchanges g, of a batch that p dequeued from the global queue, for the head of that
// queue, which p will start: two threads enqueued them, and in another order than their events. It
// reports whether this may be so.
func (r *dequeuer) exchangeEnqueues(g, p int32) bool {
	head, gp := r.queues.GlobalHead(), r.ahead.gStates.At(g)
	if r.ahead.without.has(hypExchangedEnqueues) || head == reference.None || gp.fromGlobal != p || r.ahead.startsOn(head) != p || r.ahead.gStates.At(head).readyM == gp.readyM {
		return false
	}
	front, next, start := r.queues.Prev(g), r.queues.Next(g), r.ahead.startOf(head)
	if front != reference.None && r.ahead.startsOn(front) == p && r.ahead.startOf(front) > start || next != reference.None && r.ahead.startsOn(next) == p && r.ahead.startOf(next) < start {
		return false // p runs its ring in order
	}
	r.out.summary.Corrections++
	r.correct.exchange(g, head, 0)
	return true
}

// exchangeForOwn reports whether p, which starts g and is not at its tick, had it in its ring in place
// of one of the same batch that others start: different threads enqueued the two globally. It exchanges
// them.
func (r *dequeuer) exchangeForOwn(g, p int32) bool {
	if r.ahead.without.has(hypExchangedEnqueues) {
		return false
	}
	for other := r.queues.Head(p); other != reference.None; other = r.queues.Next(other) {
		if gp := r.ahead.gStates.At(other); gp.fromGlobal == p && r.ahead.startsOn(other) >= 0 && r.ahead.startsOn(other) != p {
			if gp.readyM == r.ahead.gStates.At(g).readyM {
				return false
			}
			r.out.summary.Corrections++
			r.correct.exchange(other, g, 0)
			return true
		}
	}
	return false
}

// nearlyConcurrent reports whether two enqueues may have come in another order than their events: two
// threads did them, at nearly the same time.
func (r *lookahead) nearlyConcurrent(a, b int32) bool {
	if r.gStates.At(a).readyM == r.gStates.At(b).readyM {
		return false
	}
	d := r.gStates.At(a).readyAt - r.gStates.At(b).readyAt
	return d < nearby && d > -nearby
}
