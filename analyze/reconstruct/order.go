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

// again is a goroutine that was taken from the global queue, and put there again by
// an overflow.
type again struct{ g, from, to int32 } // numbers of the overflows that put it there before and now

// putAgain notes that the present overflow puts g, of p's ring, into the global queue.
func (r *Reconstructor) putAgain(g, p int32) {
	x := r.gs.At(g)
	if x.fromGlobal == r.taker && p == r.taker && x.putBatch > 0 {
		r.again = append(r.again, again{g, x.putBatch, r.putBatch})
	}
	x.putBatch = r.putBatch
}

// reorder moves ix, and what came to the global queue together with it and stands
// behind it, to its head. What stands in front of ix of its own overflow, the last
// P to take a batch has taken, instead of what that is thought to have of the
// overflow at the head.
func (r *Reconstructor) reorder(ix int32) {
	if head := r.q.GlobalHead(); !r.together(head, ix) {
		for _, x := range r.tookOf(r.gs.At(head).putBatch, ix) {
			y := r.q.Prev(ix)
			if !r.together(y, ix) {
				break
			}
			r.exchange(x, y, r.gs.At(head).putBatch)
		}
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

// tookOf returns what the last batch from the global queue has of an overflow, the
// last first: what is in the ring of who took it, and what has been put again and
// stands behind ix.
func (r *Reconstructor) tookOf(overflow, ix int32) []int32 {
	var list []int32
	if r.taker < 0 || overflow == 0 {
		return nil
	}
	for x := r.q.Tail(r.taker); x != reference.None; x = r.q.Prev(x) {
		if g := r.gs.At(x); g.fromGlobal == r.taker && g.putBatch == overflow {
			list = append(list, x)
		}
	}
	for i := len(r.again) - 1; i >= 0; i-- {
		if a := &r.again[i]; a.from == overflow && r.gs.At(a.g).putBatch == a.to && r.q.Place(a.g).Queue == reference.QueueGlobal && r.q.AheadGlobal(ix, a.g) {
			list = append(list, a.g)
		}
	}
	return list
}

// exchange puts x, out of a batch, back to the head of the global queue, where it was
// by an overflow, and y from there into its place.
func (r *Reconstructor) exchange(x, y, overflow int32) {
	from, front := r.q.Place(x), r.q.Prev(x)
	p := nobody
	if from.Queue == reference.QueueLocal {
		p = from.P
	}
	a, b := r.gs.At(x), r.gs.At(y)
	r.q.Remove(x)
	r.q.PutGlobalHead(x)
	a.fromGlobal = nobody
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.q.Remove(y)
	if p == nobody {
		r.q.PutGlobalAfter(front, y)
		a.putBatch, b.putBatch = overflow, a.putBatch
	} else {
		r.q.InsertAfter(p, front, y)
		b.fromGlobal, b.putAt = p, a.putAt
	}
	r.move(y, p, nobody, from.Queue, reference.WhyCorrected)
}
