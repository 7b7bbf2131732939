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

// turned says that x and ix, of one batch from the global queue, may have been put there
// in the other order: each by itself, and by another thread. An overflow since has kept
// that order.
func (r *lookahead) turned(x, ix int32) bool {
	a, b := r.gs.At(x), r.gs.At(ix)
	return a.fromGlobal == b.fromGlobal && a.fromGlobal != nobody && a.readyM != b.readyM && (a.putBatch == 0 || r.cameAlone(a) && r.cameAlone(b))
}

// cameAlone says that g went to the global queue by itself when it became runnable: it
// yielded, or was made to.
func (r *lookahead) cameAlone(g *goroutine) bool {
	put := r.win.at(g.ready)
	return put != nil && put.ev.Kind == events.Go && put.ev.From == events.Running
}

// wentWithLast says that x, which came together with ix and stands in front of it, was the
// end of the last batch from the global queue, if trials say so.
func (r *explainer) wentWithLast(x, ix int32) bool {
	return r.together(x, ix) && r.mends(hypLongerBatch, ix, no)
}

// slack is by how many goroutines the model's ring may differ from what is seen.
const slack = 4

// fitsRing says that p runs x before it has run more than it has in its ring, so
// that x may be there, too.
func (r *model) fitsRing(p, x int32) bool {
	start := r.startOf(x)
	s := r.win.at(start)
	if s == nil || s.p != p || r.ps[p].m < 0 {
		return true // nothing speaks against it
	}
	left := r.q.Len(p) + slack
	for i, n := r.ms[r.ps[p].m].next, 0; i != start && n < farEnough; n++ {
		it := r.win.at(i)
		if it == nil || it.ev.Kind == events.Proc {
			return true
		}
		if e := &it.ev; e.Kind == events.Go && e.From == events.Runnable && r.gs.At(it.of).start == i && r.gs.At(it.of).ready < r.now {
			if left--; left < 0 {
				return false
			}
		}
		i = it.nextM
	}
	return true
}

// swap exchanges ix, of a batch that p took from the global queue, for the head of that
// queue, which p will run: the two were put there by different threads, and in another
// order than their events. It says whether this may be so.
func (r *explainer) swap(ix, p int32) bool {
	if r.without.has(hypExchangedPuts) {
		return false
	}
	head := r.q.GlobalHead()
	g := r.gs.At(ix)
	if head == reference.None || g.fromGlobal != p || r.startP(head) != p || r.gs.At(head).readyM == g.readyM {
		return false
	}
	front, next, start := r.q.Prev(ix), r.q.Next(ix), r.startOf(head)
	if front != reference.None && r.startP(front) == p && r.startOf(front) > start || next != reference.None && r.startP(next) == p && r.startOf(next) < start {
		return false // p runs its ring in order
	}
	r.trade(ix, head, p)
	return true
}

// tradeIn says that p, which starts ix and is not at its tick, had it in its ring
// instead of one of the same batch that others run: different threads put the two into
// the global queue. It exchanges them.
func (r *explainer) tradeIn(ix, p int32) bool {
	if r.without.has(hypExchangedPuts) {
		return false
	}
	for x := r.q.Head(p); x != reference.None; x = r.q.Next(x) {
		if g := r.gs.At(x); g.fromGlobal == p && r.startP(x) >= 0 && r.startP(x) != p {
			if g.readyM == r.gs.At(ix).readyM {
				return false
			}
			r.trade(x, ix, p)
			return true
		}
	}
	return false
}

// near says that two puts may have come in another order than their events:
// two threads did them, at nearly the same time.
func (r *lookahead) near(a, b int32) bool {
	if r.gs.At(a).readyM == r.gs.At(b).readyM {
		return false
	}
	d := r.gs.At(a).readyAt - r.gs.At(b).readyAt
	return d < nearby && d > -nearby
}

// purge takes what will run elsewhere out of p's own queue: p took from the
// global queue without being at the 61st tick, so its own was empty.
func (r *model) purge(p int32) {
	if x := r.q.Runnext(p); x != reference.None {
		if to := r.startP(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
	}
	for x := r.q.Head(p); x != reference.None; {
		next := r.q.Next(x)
		if to := r.startP(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
		x = next
	}
}

// goesOn says that p goes on with the goroutine behind ix, the head of the
// global queue, before it runs what the model has in its own queue: that cannot
// have been there, for a P with an own queue takes only one, at the 61st tick.
func (r *model) goesOn(ix, p int32) bool {
	own := r.q.Runnext(p)
	if own == reference.None {
		own = r.q.Head(p)
	}
	succ := r.q.Next(ix)
	if own == reference.None || succ == reference.None || r.startP(succ) != p || r.ps[p].phase.isTick() {
		return false
	}
	// An overflow in between would take its own queue away.
	for i, n := r.startOf(ix), 0; i != r.startOf(succ); n++ {
		it := r.win.at(i)
		if it == nil || n > 64 {
			return false
		}
		i = it.nextM
	}
	for x := own; x != reference.None; {
		if r.startP(x) == p && r.startOf(x) < r.startOf(succ) {
			return false
		}
		if r.q.Place(x).Queue == reference.QueueRunnext {
			x = r.q.Head(p)
		} else {
			x = r.q.Next(x)
		}
	}
	r.sum.Corrections++
	if x := r.q.Runnext(p); x != reference.None {
		r.trim(p, r.rules.RingSize-1)
		r.q.Remove(x)
		r.q.PutTail(p, x)
		r.move(x, p, p, reference.QueueLocal, reference.WhyCorrected)
	}
	return true
}
