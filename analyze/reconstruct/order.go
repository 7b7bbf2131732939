package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// An overflow puts half of a ring into the global queue at once (runqputslow,
// globrunqputbatch), possibly long after the event that shows it, if its thread
// loses its CPU. Two of them may so come in another order than their events, and
// what is taken in between is then taken for the wrong goroutines.

// together says that a and b came to the global queue by the same overflow.
func (r *lookahead) together(a, b int32) bool {
	return r.gs.At(a).putBatch > 0 && r.gs.At(a).putBatch == r.gs.At(b).putBatch
}

// misordered says that p takes ix, which came by an overflow, from the global
// queue because those in front of it came later than the model has it.
func (r *explainer) misordered(ix, p int32) bool {
	if r.without.has(hypOverflowOrder) {
		return false
	}
	if r.gs.At(ix).putBatch == 0 || r.q.Len(p) > 0 && !r.ps[p].phase.maybeTick() {
		return false
	}
	return r.mends(hypOverflowOrder, ix, yes)
}

// mends asks a hypothesis whether the model is to be mended as it says by the present
// event, if that is the start of ix.
func (r *explainer) mends(h hypothesis, ix int32, likely int) bool {
	if answer, is := r.givenNow(h); is {
		return answer == yes
	}
	if r.startOf(ix) != r.now {
		return likely == yes
	}
	return r.says(h, question{g: ix, likely: likely})
}

// mended: the present event, a start, is judged as it is, or mends the model first. The
// copy asks which of them when it comes to that.
func (r *explainer) mended(question) []choice {
	return []choice{{is: no, then: thenRepeat}, {is: yes, then: thenRepeat}}
}

// again is a goroutine that was taken from the global queue, and put there again by
// an overflow.
type again struct{ g, from, to int32 } // numbers of the overflows that put it there before and now

// putAgain notes that the present overflow puts g, of p's ring, into the global queue.
func (r *model) putAgain(g, p int32) {
	x := r.gs.At(g)
	if x.fromGlobal == r.taker && p == r.taker {
		r.again = append(r.again, again{g, x.putBatch, r.putBatch})
	}
	x.putBatch = r.putBatch
}

// reorder moves ix, and what came to the global queue together with it and stands
// behind it, to its head. What stands in front of ix of its own overflow, the last
// P to take a batch has taken, instead of the last that it is thought to have.
func (r *model) reorder(ix int32) {
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

// wrongBatch says that p starts ix, which came by an overflow and which the model has
// in the global queue, out of the batch that p took: what that has instead came later
// than the model has it.
func (r *explainer) wrongBatch(ix, p int32) bool {
	if r.without.has(hypOtherBatch) {
		return false
	}
	head := r.q.Head(p)
	if head == reference.None || r.gs.At(head).fromGlobal != p || r.gs.At(ix).putBatch == 0 || r.together(head, ix) || r.startP(head) == p ||
		r.q.Runnext(p) != reference.None || r.ps[p].phase.maybeTick() {
		return false
	}
	return r.mends(hypOtherBatch, ix, no)
}

// rebatch gives back what p's ring has of a batch, and takes as many from ix on.
func (r *model) rebatch(ix, p int32) {
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
func (r *model) tookLast(list []again, ix int32) []again {
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
