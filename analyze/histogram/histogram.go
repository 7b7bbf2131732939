// Package histogram answers: how often did each of many values occur, to three
// decimal digits? It serves the accumulators of step 5 of
// [github.com/gmpscope/gmpscope/analyze], which count one or two with every start.
//
// It serves this module and is not stable: see package gmpscope.
package histogram

import (
	"iter"
	"math/bits"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts values from 0 to a highest one in the buckets that an HDR
// histogram of three digits has, so that the one becomes the other without loss.
// Counting is one inlined addition.
type Histogram struct {
	counts  []int64
	highest int64
}

// An octave has 2^octaveBits buckets; values below 2^(octaveBits+1) have one each.
const octaveBits = 10

// New returns an empty Histogram of values up to highest.
func New(highest int64) *Histogram {
	return &Histogram{counts: make([]int64, bucket(uint64(highest))+1), highest: highest}
}

func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-octaveBits-1)
	return shift<<octaveBits + int(v>>shift)
}

// Add counts a value, which must not be negative. One above the highest counts as
// the highest.
func (h *Histogram) Add(v int64) { h.counts[bucket(uint64(min(v, h.highest)))]++ }

// Merge adds what another one of the same highest value has counted.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
}

// Bars gives the buckets in which something was counted, the lowest first: the middle
// of each, and how often.
func (h *Histogram) Bars() iter.Seq2[int64, int64] {
	return func(yield func(middle, n int64) bool) {
		for i, n := range h.counts {
			if n == 0 {
				continue
			}
			from, shift := lowest(i)
			if !yield(from+(1<<shift-1)/2, n) {
				return
			}
		}
	}
}

// lowest returns the least value in a bucket, which has 1<<shift values.
func lowest(bucket int) (v int64, shift int) {
	shift = max(0, bucket>>octaveBits-1)
	return int64(bucket-shift<<octaveBits) << shift, shift
}

// HDR returns the same as an HDR histogram.
func (h *Histogram) HDR() *hdrhistogram.Histogram {
	out := hdrhistogram.New(1, h.highest, 3)
	for i, n := range h.counts {
		if n == 0 {
			continue
		}
		v, _ := lowest(i)
		_ = out.RecordValues(v, n) // cannot fail: the value is within the histogram's range
	}
	return out
}
