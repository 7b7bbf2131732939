package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// ringOf returns who is in P 0's ring, in order.
func ringOf(r *Reconstructor) (out []int64) {
	for x := r.step.queues.Head(0); x != reference.None; x = r.step.queues.Next(x) {
		out = append(out, r.step.ahead.gStates.At(x).id)
	}
	return out
}

// TestReorder has the model believe that goroutines 1 to 3 came to the global queue
// before 4 to 7, which came together. P 0 has taken a batch, of which the model
// thinks that it holds some of the former, and now 6 is taken.
func TestReorder(t *testing.T) {
	for _, c := range []struct {
		name                  string
		taken                 []int64
		again                 bool // an overflow has put them into the global queue again
		wantRing, wantGlobals []int64
	}{
		{"as many as stand in front of it", []int64{1, 2}, false, []int64{4, 5}, []int64{6, 7, 1, 2, 3}},
		{"fewer", []int64{1}, false, []int64{5}, []int64{6, 7, 1, 2, 3, 4}},
		{"none", nil, false, nil, []int64{6, 7, 1, 2, 3, 4, 5}},
		{"as many, put again", []int64{1, 2}, true, nil, []int64{6, 7, 1, 2, 3, 4, 5}},
		{"fewer, put again", []int64{1}, true, nil, []int64{6, 7, 1, 2, 3, 4, 5}},
	} {
		r := ahead(7, upTo(1, 7), nil)
		r.step.model.lastBatchP = 0
		for g := range int64(7) {
			ix := r.step.model.goroutine(g + 1)
			r.step.ahead.gStates.At(ix).overflowID = 1
			if g >= 3 {
				r.step.ahead.gStates.At(ix).overflowID = 2
			}
			if slices.Contains(c.taken, g+1) {
				r.step.queues.PutTail(0, ix)
				r.step.ahead.gStates.At(ix).fromGlobal = 0
			} else {
				r.step.queues.PutGlobal(ix)
			}
		}
		if c.again {
			r.step.model.lastOverflow = 3
			for _, g := range c.taken {
				r.step.queues.Remove(r.step.model.goroutine(g))
				r.step.model.noteReturn(r.step.model.goroutine(g), 0)
				r.step.queues.PutGlobal(r.step.model.goroutine(g))
			}
		}
		r.step.correct.reorder(r.step.model.goroutine(6))
		if !slices.Equal(ringOf(r), c.wantRing) || !slices.Equal(globalOf(r), c.wantGlobals) {
			t.Errorf("%s: ring %v, global queue %v, want %v and %v", c.name, ringOf(r), globalOf(r), c.wantRing, c.wantGlobals)
		}
	}
}

// TestMisordered has P 0 take goroutine 2, which the model has behind 1.
func TestMisordered(t *testing.T) {
	for _, c := range []struct {
		name          string
		together, own bool
		want          bool
	}{
		{"by an overflow, to an empty queue", true, false, true},
		{"alone", false, false, false},
		{"to a queue that is not empty, and no tick", true, true, false},
	} {
		r := ahead(3, upTo(1, 3), nil)
		for g := range int64(2) {
			r.step.queues.PutGlobal(r.step.model.goroutine(g + 1))
			if c.together {
				r.step.ahead.gStates.At(r.step.model.goroutine(g + 1)).overflowID = int32(g + 1)
			}
		}
		if c.own {
			r.step.queues.PutTail(0, r.step.model.goroutine(3))
			r.step.ps.pStates[0].tick.Learn(tickPastOwn)
			r.step.ps.pStates[0].tick.Learn(tickPastOwn)
			r.step.ps.pStates[0].tick.Next()
		}
		if got := r.step.dequeuer.misordered(r.step.model.goroutine(2), 0); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
