package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// slack is by how many goroutines the model's ring may differ from what is seen.
const slack = 4

// resize takes somebody out of p's ring if it is full in the model, although what
// a put of newcomer to it leads to shows that it was not. An overflow puts the
// newcomer behind the older half, and whoever takes them from the global queue
// runs them in that order; without one it runs after the newest of the ring.
func (r *Reconstructor) resize(p, newcomer int32) {
	if !r.q.Full(p) || !r.follows(r.q.Tail(p), newcomer) {
		return
	}
	last := r.q.Head(p) // that an overflow takes along
	for range r.rules.RingSize/2 - 1 {
		last = r.q.Next(last)
	}
	if r.follows(last, newcomer) {
		return
	}
	if thief := r.thief(p, true); thief != reference.None {
		r.settle(thief)
	} else if x := r.stranger(p); x != reference.None {
		r.sum.Corrections++
		r.q.Remove(x)
		r.q.PutGlobalHead(x)
		r.gs.At(x).fromGlobal = nobody
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
}

// stranger returns the last goroutine in p's ring that came with a batch from
// the global queue but is not run between its neighbours, which are run one
// after the other, or None: the batch was smaller.
func (r *Reconstructor) stranger(p int32) int32 {
	for x := r.q.Tail(p); x != reference.None; x = r.q.Prev(x) {
		before, after := r.q.Prev(x), r.q.Next(x)
		if r.gs.At(x).fromGlobal == p && before != reference.None && after != reference.None &&
			!r.follows(before, x) && !r.follows(x, after) && r.follows(before, after) {
			return x
		}
	}
	return reference.None
}

// follows says that one thread starts b after a, with no more than one start in
// between, which is that of a pick at the 61st tick.
func (r *Reconstructor) follows(a, b int32) bool {
	from, to := r.startOf(a), r.startOf(b)
	if from < 0 || to <= from || r.startP(a) != r.startP(b) {
		return false
	}
	between := 0
	for i, n := from, 0; n < 256; n++ {
		it := r.win.at(i)
		switch {
		case it == nil:
			return false
		case i == to:
			return true
		case it.ev.Kind == events.Go && it.ev.From == events.Runnable && i != from:
			if between++; between > 1 {
				return false
			}
		}
		i = it.nextM
	}
	return false
}
