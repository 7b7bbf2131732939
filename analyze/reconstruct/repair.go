package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// This file holds what brings the model in line with a take that it did not
// foresee.

// nearby is how far apart two puts on different threads may be whose order in
// the queue differs from that of their events, in ns.
const nearby = 20_000

// mayHaveSwapped reports whether x and g, of one batch from the global queue, may have been put there
// in the other order: each by itself, and by another thread. An overflow since has kept
// that order.
func (r *lookahead) mayHaveSwapped(x, g int32) bool {
	a, b := r.gStates.At(x), r.gStates.At(g)
	return a.fromGlobal == b.fromGlobal && a.fromGlobal != nobody && a.readyM != b.readyM && (a.overflowID == 0 || r.enqueuedAlone(a) && r.enqueuedAlone(b))
}

// enqueuedAlone reports whether g went to the global queue by itself when it became runnable: it
// yielded, or was made to.
func (r *lookahead) enqueuedAlone(gp *goroutine) bool {
	put := r.win.at(gp.ready)
	return put != nil && put.ev.Kind == events.Go && put.ev.From == events.Running
}

// slack is by how many goroutines the model's ring may differ from what is seen.
const slack = 4

// fitsRing reports whether p runs x before it has run more than it has in its ring, so
// that x may be there, too.
func (r *model) fitsRing(p, x int32) bool {
	start := r.startOf(x)
	s := r.win.at(start)
	if s == nil || s.p != p || r.pStates[p].m < 0 {
		return true // nothing speaks against it
	}
	left := r.queues.Len(p) + slack
	for i, n := r.mStates[r.pStates[p].m].next, 0; i != start && n < farEnough; n++ {
		rec := r.win.at(i)
		if rec == nil || rec.ev.Kind == events.Proc {
			return true
		}
		if e := &rec.ev; e.Kind == events.Go && e.From == events.Runnable && r.gStates.At(rec.of).start == i && r.gStates.At(rec.of).ready < r.now {
			if left--; left < 0 {
				return false
			}
		}
		i = rec.nextM
	}
	return true
}

// exchangeEnqueues exchanges g, of a batch that p took from the global queue, for the head of that
// queue, which p will run: the two were put there by different threads, and in another
// order than their events. It says whether this may be so.
func (r *explainer) exchangeEnqueues(g, p int32) bool {
	if r.without.has(hypExchangedEnqueues) {
		return false
	}
	head := r.queues.GlobalHead()
	gp := r.gStates.At(g)
	if head == reference.None || gp.fromGlobal != p || r.startsOn(head) != p || r.gStates.At(head).readyM == gp.readyM {
		return false
	}
	front, next, start := r.queues.Prev(g), r.queues.Next(g), r.startOf(head)
	if front != reference.None && r.startsOn(front) == p && r.startOf(front) > start || next != reference.None && r.startsOn(next) == p && r.startOf(next) < start {
		return false // p runs its ring in order
	}
	r.exchangeWithGlobal(g, head, p)
	return true
}

// exchangeForOwn reports whether p, which starts g and is not at its tick, had it in its ring
// instead of one of the same batch that others run: different threads put the two into
// the global queue. It exchanges them.
func (r *explainer) exchangeForOwn(g, p int32) bool {
	if r.without.has(hypExchangedEnqueues) {
		return false
	}
	for x := r.queues.Head(p); x != reference.None; x = r.queues.Next(x) {
		if gp := r.gStates.At(x); gp.fromGlobal == p && r.startsOn(x) >= 0 && r.startsOn(x) != p {
			if gp.readyM == r.gStates.At(g).readyM {
				return false
			}
			r.exchangeWithGlobal(x, g, p)
			return true
		}
	}
	return false
}

// nearlyConcurrent reports whether two puts may have come in another order than their events:
// two threads did them, at nearly the same time.
func (r *lookahead) nearlyConcurrent(a, b int32) bool {
	if r.gStates.At(a).readyM == r.gStates.At(b).readyM {
		return false
	}
	d := r.gStates.At(a).readyAt - r.gStates.At(b).readyAt
	return d < nearby && d > -nearby
}

// purgeOwn takes what will run elsewhere out of p's own queue: p took from the
// global queue without being at the 61st tick, so its own was empty.
func (r *model) purgeOwn(p int32) {
	if x := r.queues.Runnext(p); x != reference.None {
		if to := r.startsOn(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
	}
	for x := r.queues.Head(p); x != reference.None; {
		next := r.queues.Next(x)
		if to := r.startsOn(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
		x = next
	}
}

// continuesGlobal reports whether p goes on with the goroutine behind g, the head of the
// global queue, before it runs what the model has in its own queue: that cannot
// have been there, for a P with an own queue takes only one, at the 61st tick.
func (r *model) continuesGlobal(g, p int32) bool {
	own := r.queues.Runnext(p)
	if own == reference.None {
		own = r.queues.Head(p)
	}
	succ := r.queues.Next(g)
	if own == reference.None || succ == reference.None || r.startsOn(succ) != p || r.pStates[p].tick.Is() {
		return false
	}
	// An overflow in between would take its own queue away.
	for i, n := r.startOf(g), 0; i != r.startOf(succ); n++ {
		rec := r.win.at(i)
		if rec == nil || n > 64 {
			return false
		}
		i = rec.nextM
	}
	for x := own; x != reference.None; {
		if r.startsOn(x) == p && r.startOf(x) < r.startOf(succ) {
			return false
		}
		if r.queues.Place(x).Queue == reference.QueueRunnext {
			x = r.queues.Head(p)
		} else {
			x = r.queues.Next(x)
		}
	}
	r.summary.Corrections++
	if x := r.queues.Runnext(p); x != reference.None {
		r.trim(p, r.rules.RingSize-1)
		r.queues.Remove(x)
		r.queues.PutTail(p, x)
		r.move(x, p, p, reference.QueueLocal, reference.WhyCorrected)
	}
	return true
}
