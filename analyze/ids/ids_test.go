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
		"in a row":   func(i int64) int64 { return i },
		"alike":      func(i int64) int64 { return i << 32 },
		"scattered":  func(i int64) int64 { return i * 0x9e3779b97f4a7c1 },
		"negative":   func(i int64) int64 { return -i },
		"at the end": func(i int64) int64 { return 1<<42 - 1500 + i },
		"too large":  func(i int64) int64 { return 1<<37 + i<<28 + i },
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

// A table keeps what was put at the place of each id, gives the places of removed
// ids away again, and no pointer moves.
func TestTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, want := ids.NewTable[int](), map[int64]*int{}
	most := 0
	for n := range 20_000 {
		id := rnd.Int64N(2000)
		place := x.Find(id)
		if p := want[id]; p != nil {
			if place == 0 || x.At(place) != p {
				t.Fatalf("id %d is at %d, not where it was put", id, place)
			}
			if rnd.IntN(2) == 0 {
				x.Remove(id, place)
				delete(want, id)
			}
			continue
		}
		if place != 0 {
			t.Fatalf("id %d is at %d, but it is not there", id, place)
		}
		place = x.Add(id)
		p := x.At(place)
		for other, q := range want {
			if p == q {
				t.Fatalf("ids %d and %d share place %d", id, other, place)
			}
		}
		*p = n
		want[id] = p
		most = max(most, len(want))
	}
	if got := int(x.Len()) - 1; got != most {
		t.Errorf("%d places for %d ids at a time", got, most)
	}
}

func TestParts(t *testing.T) {
	var p ids.Parts[int]
	if p.Find(5000) != nil {
		t.Error("an element that was never made")
	}
	*p.Make(5000) = 1
	if p.Find(0) != nil {
		t.Error("what lies in front takes memory")
	}
	last := p.At(5000)
	*p.Make(0), *p.Make(1_000_000) = 2, 3
	if p.Find(5000) != last || *last != 1 || *p.At(0) != 2 || *p.At(1_000_000) != 3 {
		t.Error("an element is not what it was")
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
