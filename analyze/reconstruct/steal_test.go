package reconstruct

import (
	"slices"
	"testing"
)

// TestStealWithOwn has P 0, which goes on with what is in its own ring, start a goroutine
// that the model has in the middle of P 1's batch from the global queue. Unless its 61st
// tick may be due, no other goroutine is in the wrong place.
func TestStealWithOwn(t *testing.T) {
	for _, tick := range []bool{true, false} {
		r := ahead(6, []int64{2, 5, 6}, []int64{5, 6})
		other(r, 1, 3, 4)
		for _, g := range upTo(1, 4) {
			ix := r.gs.find(g)
			r.q.PutTail(1, ix)
			r.gs.At(ix).fromGlobal = 1
		}
		if !tick {
			r.ps[0].phase.saw(0)
		}
		r.steal(r.gs.find(2), 0, 1)
		want := []int64{1, 3, 4}
		if tick {
			want = []int64{1}
		}
		if got := ringOf(r, 1); !slices.Equal(got, want) {
			t.Errorf("tick %v: P 1 has %v", tick, got)
		}
	}
}
