package waits

import (
	"math/rand/v2"
	"testing"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

// The buckets are those of an HDR histogram of two digits.
func TestCoarse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h coarse
	ref := hdrhistogram.NewPacked(1, longestNs, 2)
	add := func(ns int64) {
		h.add(ns)
		if err := ref.RecordValue(ns); err != nil {
			t.Fatal(err)
		}
	}
	for ns := range int64(1000) {
		add(ns)
	}
	add(longestNs)
	for range 1000 { // more than fits into a byte
		add(77)
	}
	for range 100_000 {
		add(min(longestNs, int64(rnd.Uint64()>>(22+rnd.UintN(40)))))
	}
	var want []FilledBucket
	ref.ForEachBucket(func(v, n int64) bool {
		want = append(want, FilledBucket{v, n})
		return true
	})
	if diff := cmp.Diff(want, h.levels()); diff != "" {
		t.Error(diff)
	}
}
