package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// An overflow tells how long the ring was: it puts the newcomer behind the
// older half, and whoever takes them from the global queue runs them in that
// order. Without an overflow the newcomer runs after the newest of the ring.

// slack is by how much the model may have too few in a ring that is full.
const slack = 4

// resize brings p's nearly full ring in line with what a put of newcomer to it
// shows. If the ring was full although the model has too few in it, resize
// returns how many, else 0.
func (r *Reconstructor) resize(p, newcomer int32) int {
	missing := r.rules.RingSize - r.q.RingLen(p)
	if missing > slack {
		return 0
	}
	under := r.follows(r.q.Tail(p), newcomer)
	if under != (missing == 0) || r.startOf(newcomer) < 0 {
		return 0
	}
	last := r.q.Head(p) // that an overflow takes along
	for n := missing + 1; n < r.rules.RingSize/2; n++ {
		last = r.q.Next(last)
	}
	switch over := r.follows(last, newcomer); {
	case over && !under:
		return missing
	case over || !under:
		return 0
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
	return 0
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
