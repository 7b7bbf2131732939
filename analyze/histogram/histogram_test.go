package histogram_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// TestHDR compares the buckets with those of an HDR histogram that got the same
// values, at all ends of octaves, and at random.
func TestHDR(t *testing.T) {
	for _, highest := range []int64{100, 1 << 20, 1e9, 3_600_000_000_000} {
		h, want := histogram.New(highest), hdrhistogram.New(1, highest, 3)
		add := func(v int64) {
			h.Add(v)
			if err := want.RecordValue(min(v, highest)); err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(1, uint64(highest)))
		for octave := range 43 {
			v := int64(1) << octave
			for _, d := range []int64{-1, 0, 1, r.Int64N(v), r.Int64N(v)} {
				add(v + d)
			}
		}
		add(highest - 1)
		add(highest + 1)
		for range 1000 { // more than fits into a byte
			add(highest / 3)
		}
		if !h.HDR().Equals(want) {
			t.Errorf("up to %d: another distribution", highest)
		}
		var bars, wantBars [][2]int64
		for middle, n := range h.Bars() {
			bars = append(bars, [2]int64{middle, n})
		}
		for _, b := range want.Distribution() {
			if b.Count > 0 {
				wantBars = append(wantBars, [2]int64{b.From + (b.To-b.From)/2, b.Count})
			}
		}
		if !slices.Equal(bars, wantBars) {
			t.Errorf("up to %d: bars %v, want %v", highest, bars, wantBars)
		}
		both := histogram.New(highest)
		both.Merge(h)
		both.Merge(h)
		if got := both.HDR(); got.TotalCount() != 2*want.TotalCount() || got.ValueAtQuantile(50) != want.ValueAtQuantile(50) {
			t.Errorf("up to %d: twice the same is another distribution", highest)
		}
	}
}
