package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// An overflow puts half of a ring into the global queue at once (runqputslow,
// globrunqputbatch), possibly long after the event that shows it, if its thread
// loses its CPU. Two of them may so come in another order than their events, and
// what is taken in between is then taken for the wrong goroutines.

// What a trial of a start may mend.
const (
	reorders  = iota // reorder
	rebatches        // rebatch
	extends          // wentWithLast
	numMends
)

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
	if r.without.has(hypOverflowOrder) {
		return false
	}
	if r.gs.At(ix).putBatch == 0 || r.q.Len(p) > 0 && !r.ps[p].phase.maybeTick() {
		return false
	}
	return r.mends(ix, reorders, true)
}

// mends tries two stories of the present event, the start of ix: the model is mended
// there, or not. Without a trial, it returns otherwise.
func (r *Reconstructor) mends(ix int32, how int, otherwise bool) bool {
	switch m := r.trial.mends[how]; {
	case m.at == r.now:
		return m.do
	case r.startOf(ix) != r.now || !r.mayTry():
		return otherwise
	}
	story := func(do bool) func(c *Reconstructor) {
		return startAgain(func(c *Reconstructor) { c.trial.mends[how] = mend{c.now, do} })
	}
	return r.better(story(false), story(true)) > 0
}

// again is a goroutine that was taken from the global queue, and put there again by
// an overflow.
type again struct{ g, from, to int32 } // numbers of the overflows that put it there before and now

// putAgain notes that the present overflow puts g, of p's ring, into the global queue.
func (r *Reconstructor) putAgain(g, p int32) {
	x := r.gs.At(g)
	if x.fromGlobal == r.taker && p == r.taker {
		r.again = append(r.again, again{g, x.putBatch, r.putBatch})
	}
	x.putBatch = r.putBatch
}

// reorder moves ix, and what came to the global queue together with it and stands
// behind it, to its head. What stands in front of ix of its own overflow, the last
// P to take a batch has taken, instead of the last that it is thought to have.
func (r *Reconstructor) reorder(ix int32) {
	if !r.together(r.q.GlobalHead(), ix) {
		r.took = r.tookLast(r.took[:0], ix)
		for _, x := range r.took {
			y := r.q.Prev(ix)
			if !r.together(y, ix) {
				break
			}
			r.exchange(x.g, y, x.from)
		}
	}
	r.promote(ix)
}

// promote moves ix, and what came to the global queue together with it and stands
// behind it, to its head.
func (r *Reconstructor) promote(ix int32) {
	last, n := ix, 0
	for x := r.q.Next(ix); x != reference.None && r.together(x, ix); x = r.q.Next(x) {
		last = x
		n++
	}
	// The last first: each goes to the head, which needs no room between two others.
	for x := last; ; {
		front := r.q.Prev(x)
		r.q.Promote(x)
		if x == ix {
			break
		}
		x = front
	}
	for x := r.q.Next(ix); n > 0; x = r.q.Next(x) {
		r.gs.At(x).doubt = true
		r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
		n--
	}
}

// wrongBatch says that p starts ix, which came by an overflow and which the model has
// in the global queue, out of the batch that p took: what that has instead came later
// than the model has it.
func (r *Reconstructor) wrongBatch(ix, p int32) bool {
	if r.without.has(hypOtherBatch) {
		return false
	}
	head := r.q.Head(p)
	if head == reference.None || r.gs.At(head).fromGlobal != p || r.gs.At(ix).putBatch == 0 || r.together(head, ix) || r.startP(head) == p ||
		r.q.Runnext(p) != reference.None || r.ps[p].phase.maybeTick() {
		return false
	}
	return r.mends(ix, rebatches, false)
}

// rebatch gives back what p's ring has of a batch, and takes as many from ix on.
func (r *Reconstructor) rebatch(ix, p int32) {
	var list []int32
	for x := r.q.Head(p); x != reference.None && r.gs.At(x).fromGlobal == p; x = r.q.Next(x) {
		list = append(list, x)
	}
	putAt := r.gs.At(list[0]).putAt
	for _, x := range slices.Backward(list) {
		g := r.gs.At(x)
		g.fromGlobal, g.doubt = nobody, true
		r.q.Remove(x)
		r.q.PutGlobalHead(x)
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
	r.promote(ix)
	last := reference.None
	for y := ix; len(list) > 0; list = list[1:] {
		next := r.q.Next(y)
		g := r.gs.At(y)
		g.fromGlobal, g.putAt = p, putAt
		r.q.Remove(y)
		r.q.InsertAfter(p, last, y)
		r.move(y, p, nobody, reference.QueueLocal, reference.WhyCorrected)
		last, y = y, next
	}
}

// tookLast returns what the last batch from the global queue took, the last first,
// as far as it did not come together with ix: what is in the ring of who took it, and
// what has been put again and stands behind ix. It appends them to list.
func (r *Reconstructor) tookLast(list []again, ix int32) []again {
	if r.taker < 0 {
		return list
	}
	own := r.gs.At(ix).putBatch
	for x := r.q.Tail(r.taker); x != reference.None; x = r.q.Prev(x) {
		g := r.gs.At(x)
		if g.fromGlobal != r.taker {
			continue
		}
		if g.putBatch == own {
			return list
		}
		list = append(list, again{x, g.putBatch, 0})
	}
	for i := len(r.again) - 1; i >= 0; i-- {
		a := r.again[i]
		if a.from == own {
			return list
		}
		if r.gs.At(a.g).putBatch == a.to && r.q.Place(a.g).Queue == reference.QueueGlobal && r.q.AheadGlobal(ix, a.g) {
			list = append(list, a)
		}
	}
	return list
}

// exchange puts x, out of a batch, back to the head of the global queue, where it was
// by the overflow of that number, and y from there into its place.
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
