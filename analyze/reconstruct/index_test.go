package reconstruct

import (
	"math/rand/v2"
	"testing"
)

func TestIndexIsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []int64{1, 2, 1 << 20} { // far apart, ids collide in their low bits
		x, want := newIndex(), map[int64]int32{}
		for i := range int32(20_000) {
			id := (random.Int64N(3000) - 10) * spread
			ix, ok := x.find(id)
			if w, is := want[id]; ok != is || ok && ix != w {
				t.Fatalf("step %d: id %d is at %d (%v), want %d (%v)", i, id, ix, ok, w, is)
			}
			switch {
			case !ok:
				x.add(id, i)
				want[id] = i
			case random.IntN(2) == 0:
				x.remove(id)
				delete(want, id)
			}
		}
		if x.n != len(want) {
			t.Errorf("%d ids, want %d", x.n, len(want))
		}
	}
}
