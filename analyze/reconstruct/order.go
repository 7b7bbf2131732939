package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// An overflow puts half of a ring into the global queue at once (runqputslow,
// globrunqputbatch), possibly long after the event that shows it, if its thread
// loses its CPU. Two of them may so come in another order than their events, and
// what is taken in between is then taken for the wrong goroutines.

// mend is whether something is to be mended at an event.
type mend struct {
	at int64
	do bool
}

// putGlobal puts x, alone, at the tail of the global queue.
func (r *Reconstructor) putGlobal(x int32) {
	r.gs.At(x).putBatch = 0
	r.q.PutGlobal(x)
}

// together says that a and b came to the global queue by the same overflow.
func (r *Reconstructor) together(a, b int32) bool {
	return r.gs.At(a).putBatch > 0 && r.gs.At(a).putBatch == r.gs.At(b).putBatch
}

// misordered says that p takes ix, which came by an overflow, from the global
// queue because those in front of it came later than the model has it.
func (r *Reconstructor) misordered(ix, p int32) bool {
	switch {
	case r.gs.At(ix).putBatch == 0 || r.q.Len(p) > 0 && !r.ps[p].phase.maybeTick():
		return false
	case r.trial.mend.at == r.now:
		return r.trial.mend.do
	case r.startOf(ix) != r.now || !r.mayTry():
		return true
	}
	story := func(do bool) func(c *Reconstructor) {
		return startAgain(func(c *Reconstructor) { c.trial.mend = mend{c.now, do} })
	}
	return r.better(story(false), story(true)) > 0
}

// reorder moves ix, and what came to the global queue together with it and stands
// behind it, to its head. What stands in front of ix of its own overflow, the last
// P to take a batch has, instead of what that is thought to have of the overflow
// at the head.
func (r *Reconstructor) reorder(ix int32) {
	last := reference.None
	if r.taker >= 0 {
		last = r.q.Tail(r.taker)
	}
	for head, y := r.q.GlobalHead(), r.q.Prev(ix); r.together(y, ix) && !r.together(head, ix); y = r.q.Prev(ix) {
		for last != reference.None && (r.gs.At(last).fromGlobal != r.taker || !r.together(last, head)) {
			last = r.q.Prev(last)
		}
		if last == reference.None {
			break
		}
		x := last
		last = r.q.Prev(x)
		r.exchange(x, y)
	}
	next := r.q.Next(ix)
	r.q.Promote(ix)
	for front := ix; next != reference.None && r.together(next, ix); {
		x := next
		next = r.q.Next(x)
		r.q.Remove(x)
		r.q.PutGlobalAfter(front, x)
		r.gs.At(x).doubt = true
		r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
		front = x
	}
}

// exchange puts x, out of a batch in a P's ring, back to the head of the global
// queue, and y from there into its place.
func (r *Reconstructor) exchange(x, y int32) {
	p, front := r.q.Place(x).P, r.q.Prev(x)
	r.q.Remove(x)
	r.q.PutGlobalHead(x)
	a, b := r.gs.At(x), r.gs.At(y)
	a.fromGlobal = nobody
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.q.Remove(y)
	r.q.InsertAfter(p, front, y)
	b.fromGlobal, b.putAt = p, a.putAt
	r.move(y, p, nobody, reference.QueueLocal, reference.WhyCorrected)
}
