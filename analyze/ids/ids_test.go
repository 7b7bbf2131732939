package ids_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ids"
)

// An index is a map, whatever the ids are: in a row, far apart, all alike in
// their low bits, negative.
func TestIndex(t *testing.T) {
	for name, id := range map[string]func(i int64) int64{
		"in a row":  func(i int64) int64 { return i },
		"alike":     func(i int64) int64 { return i << 32 },
		"scattered": func(i int64) int64 { return i * 0x9e3779b97f4a7c1 },
		"negative":  func(i int64) int64 { return -i },
	} {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			x, want := ids.New(), map[int64]int32{}
			for range 20_000 {
				i := id(rnd.Int64N(1000))
				if place, ok := want[i]; ok {
					if got := x.Find(i); got != place {
						t.Fatalf("id %d is at %d, want %d", i, got, place)
					}
					if rnd.IntN(2) == 0 {
						x.Remove(i)
						delete(want, i)
					}
					continue
				}
				if got := x.Find(i); got != ids.None {
					t.Fatalf("id %d is at %d, but it is not there", i, got)
				}
				place := rnd.Int32N(1 << 30)
				x.Add(i, place)
				want[i] = place
			}
			for i, place := range want {
				if got := x.Find(i); got != place {
					t.Errorf("id %d is at %d, want %d", i, got, place)
				}
			}
		})
	}
}

// Goroutines that come and go cost no allocation.
func TestIndexAllocates(t *testing.T) {
	x := ids.New()
	const live = 100
	next := int64(0)
	step := func() {
		x.Add(next, int32(next%live))
		if next >= live {
			x.Remove(next - live)
		}
		next++
	}
	for range 10 * live {
		step()
	}
	if got := testing.AllocsPerRun(1000, step); got > 0 {
		t.Errorf("%v allocations an id", got)
	}
}
