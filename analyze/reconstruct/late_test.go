package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// globalOf returns who is in the global queue, in order.
func globalOf(r *Reconstructor) (out []int64) {
	for x := r.q.GlobalHead(); x != reference.None; x = r.q.Next(x) {
		out = append(out, r.gs.At(x).id)
	}
	return out
}

// TestDelay has goroutine 1, which stands in front in the model, run after others.
func TestDelay(t *testing.T) {
	const unknown, over = 1 << 40, 0
	for _, c := range []struct {
		name  string
		order []int64 // in which they run
		putBy int64   // event by which 1 had been put
		want  []int64
	}{
		{"its start tells its place", []int64{2, 3, 1, 4}, unknown, []int64{2, 3, 1, 4}},
		{"behind all: it may not have been put", []int64{2, 3, 4, 1}, unknown, []int64{2, 3, 4}},
		{"it had been put before the others", []int64{2, 3, 1, 4}, over, []int64{1, 2, 3, 4}},
	} {
		r := ahead(4, c.order, nil)
		for _, g := range upTo(1, 4) {
			r.q.PutGlobal(r.gs.find(g))
		}
		r.gs.At(r.gs.find(1)).putBy = c.putBy
		if got := r.delay(r.gs.find(1), r.gs.find(2)); got != (c.putBy == unknown) || !slices.Equal(globalOf(r), c.want) {
			t.Errorf("%s: %v, then %v", c.name, got, globalOf(r))
		}
	}
}

// TestDelayInBatch has a goroutine in the middle of a batch that its taker runs
// after what stands behind the batch.
func TestDelayInBatch(t *testing.T) {
	for _, late := range []bool{true, false} {
		r := ahead(6, []int64{1, 2, 4, 5, 3, 6}, nil)
		for _, g := range upTo(1, 6) {
			r.q.PutGlobal(r.gs.find(g))
		}
		want := upTo(1, 6)
		if late {
			r.gs.At(r.gs.find(3)).putBy = 1 << 40
			want = []int64{1, 2, 4, 5, 3, 6}
		}
		if r.delayInBatch(r.gs.find(1), 0, 4); !slices.Equal(globalOf(r), want) {
			t.Errorf("late %v: %v", late, globalOf(r))
		}
	}
}
