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

// clearAhead settles what stands in front of ix in its queue, and moves ix to
// the front of what cannot be settled. taker is the P that takes ix.
func (r *Reconstructor) clearAhead(ix, taker int32) reference.Basis {
	basis := byRule
	place := r.q.Place(ix)
	for n := 0; r.q.Prev(ix) != reference.None; n++ {
		if r.q.Place(ix) != place {
			return basis // what was settled took ix along
		}
		x := reference.None
		if place.Queue == reference.QueueGlobal {
			x = r.firstInFlight(ix, taker) // the first to have been taken
		} else {
			x = r.firstTaken(place.P, ix, taker)
		}
		if x == reference.None || n > 512 {
			return r.passOver(ix, taker)
		}
		r.settle(x)
		basis = reference.Known(reference.Inferred, reference.RulePassed)
	}
	return basis
}

// passOver takes ix to the front of its queue although others stand there
// that nobody seems to have in hand. In the global queue, the last batch was
// larger than the model thought: they have been in its taker's ring since. Or
// two puts came in another order than their events.
func (r *Reconstructor) passOver(ix, taker int32) reference.Basis {
	r.sum.Corrections++
	place := r.q.Place(ix)
	if place.Queue == reference.QueueGlobal {
		// Whose thread has lost its CPU at the put has not come yet.
		for x := r.q.Prev(ix); x != reference.None && r.stalls(x) && r.putLate(x); x = r.q.Prev(ix) {
		}
		if r.q.Prev(ix) == reference.None {
			return reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
		if r.misordered(ix, taker) {
			r.reorder(ix)
			return reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
		for n := 0; n < 2; n++ {
			x := r.q.Prev(ix)
			if x == reference.None {
				return reference.Known(reference.Ambiguous, reference.RuleRepair)
			}
			if r.delay(x, ix) || r.putLate(x) {
				continue
			}
			to := r.taker
			if g := r.gs.At(x); g.passed < 2 {
				g.passed++
				if r.near(x, ix) && !r.wider {
					break
				}
				if to < 0 || r.startP(x) != to && !r.wentWithLast(x, ix) {
					break
				}
			} else if to = r.startP(x); to < 0 || to == taker {
				break // passed over again and again: only where it runs can tell
			}
			if !r.fitsRing(to, x) {
				break
			}
			r.trim(to, r.rules.RingSize-1)
			r.q.Remove(x)
			r.insert(to, x)
			r.wider = false
			r.move(x, to, nobody, reference.QueueLocal, reference.WhyCorrected)
		}
	}
	if place.Queue == reference.QueueLocal {
		for x := r.q.Prev(ix); x != reference.None; {
			y := r.q.Prev(x)
			if to := r.startP(x); to >= 0 && to != place.P && !r.turned(x, ix) {
				r.relocate(x, place.P)
			}
			x = y
		}
	}
	front := r.q.Prev(ix)
	if front == reference.None {
		return reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	r.q.Promote(ix)
	if front != reference.None && r.near(front, ix) {
		return reference.Known(reference.Ambiguous, reference.RuleReorder)
	}
	return reference.Known(reference.Ambiguous, reference.RuleRepair)
}

// turned says that x and ix, of one batch from the global queue, may have been put there
// in the other order: each by itself, and by another thread. An overflow since has kept
// that order.
func (r *Reconstructor) turned(x, ix int32) bool {
	a, b := r.gs.At(x), r.gs.At(ix)
	return a.fromGlobal == b.fromGlobal && a.fromGlobal != nobody && a.readyM != b.readyM && (a.putBatch == 0 || r.cameAlone(a) && r.cameAlone(b))
}

// cameAlone says that g went to the global queue by itself when it became runnable: it
// yielded, or was made to.
func (r *Reconstructor) cameAlone(g *goroutine) bool {
	put := r.win.at(g.ready)
	return put != nil && put.ev.Kind == events.Go && put.ev.From == events.Running
}

// wentWithLast says that x, which came together with ix and stands in front of it, was the
// end of the last batch from the global queue, if trials say so.
func (r *Reconstructor) wentWithLast(x, ix int32) bool {
	return r.together(x, ix) && r.mends(ix, extends, false)
}

// slack is by how many goroutines the model's ring may differ from what is seen.
const slack = 4

// fitsRing says that p runs x before it has run more than it has in its ring, so
// that x may be there, too.
func (r *Reconstructor) fitsRing(p, x int32) bool {
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
func (r *Reconstructor) swap(ix, p int32) bool {
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
func (r *Reconstructor) tradeIn(ix, p int32) bool {
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

// trade exchanges x, of a batch in p's ring, for y, of the global queue.
func (r *Reconstructor) trade(x, y, p int32) {
	r.sum.Corrections++
	a, b := r.gs.At(x), r.gs.At(y)
	front, behind := r.q.Prev(x), r.q.Prev(y)
	r.q.Remove(x)
	r.q.Remove(y)
	if behind == reference.None {
		r.q.PutGlobalHead(x)
	} else {
		r.q.PutGlobalAfter(behind, x)
	}
	r.q.InsertAfter(p, front, y)
	a.fromGlobal, b.fromGlobal, b.putAt = nobody, p, a.putAt
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.move(y, p, nobody, reference.QueueLocal, reference.WhyCorrected)
}

// insert puts x into p's ring where its start says that it must stand.
func (r *Reconstructor) insert(p, x int32) {
	after := r.q.Tail(p)
	start := r.gs.At(x).start
	for after != reference.None {
		g := r.gs.At(after)
		if s := r.win.at(g.start); s == nil || s.p != p || g.start < start {
			break
		}
		after = r.q.Prev(after)
	}
	r.q.InsertAfter(p, after, x)
	r.gs.At(x).putAt = none
}

// near says that two puts may have come in another order than their events:
// two threads did them, at nearly the same time.
func (r *Reconstructor) near(a, b int32) bool {
	if r.gs.At(a).readyM == r.gs.At(b).readyM {
		return false
	}
	d := r.gs.At(a).readyAt - r.gs.At(b).readyAt
	return d < nearby && d > -nearby
}

// purge takes what will run elsewhere out of p's own queue: p took from the
// global queue without being at the 61st tick, so its own was empty.
func (r *Reconstructor) purge(p int32) {
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
func (r *Reconstructor) goesOn(ix, p int32) bool {
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

// trim moves what p's ring cannot hold beside a batch, so cannot be there, to
// the global queue.
func (r *Reconstructor) trim(p int32, room int) {
	for r.q.RingLen(p) > room {
		x := r.q.Tail(p)
		r.sum.Corrections++
		r.q.Remove(x)
		r.putGlobal(x)
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
}

// hasOwn says that p's own queue holds something that p will run itself.
func (r *Reconstructor) hasOwn(p int32) bool {
	if x := r.q.Runnext(p); x != reference.None && r.startP(x) == p {
		return true
	}
	for x := r.q.Head(p); x != reference.None; x = r.q.Next(x) {
		if r.startP(x) == p {
			return true
		}
	}
	return false
}

// staysLocal says that what p has queued next is what p will run next of it.
func (r *Reconstructor) staysLocal(p int32) bool {
	x := r.q.Runnext(p)
	if x == reference.None {
		x = r.q.Head(p)
	}
	return x != reference.None && r.startP(x) == p
}

// clearGone settles what the model still has in p's own queue although p took
// from elsewhere: others have it in hand.
func (r *Reconstructor) clearGone(p int32) {
	for n := 0; n <= r.rules.RingSize; n++ {
		x := r.firstTaken(p, reference.None, p)
		if x == reference.None {
			break
		}
		r.settle(x)
	}
	if x := r.q.Runnext(p); x != reference.None && r.q.RingLen(p) == 0 && r.inFlight(x) && r.startP(x) != p {
		r.settle(x)
	}
}
