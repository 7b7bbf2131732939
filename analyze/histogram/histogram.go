// Package histogram answers: how often did each of many values occur, to three
// decimal digits? [Bucket] and [Least] divide values likewise, as finely as need be. It serves the accumulators of step 5 of
// [github.com/gmpscope/gmpscope/analyze], which count one or two with every start.
//
// It serves this module and is not stable: see package gmpscope.
package histogram

import (
	"iter"
	"math/bits"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts values from 0 to a highest one in the buckets of an HDR histogram of
// three digits, into which it converts without loss. Counting is one inlined addition.
//
// OPT: what is counted often lies in one byte a bucket, an eighth of what whole numbers
// take, so that the buckets in use stay in the CPU's cache between two blocks of decisions.
type Histogram struct {
	low     []uint8 // of each bucket's count, the lowest byte
	high    []int64 // the rest, times 256; nil: all zero
	highest int64
}

// octaveBits is how finely a Histogram counts: see Bucket.
const octaveBits = 10

// New returns an empty Histogram of values up to highest.
func New(highest int64) *Histogram {
	return &Histogram{low: make([]uint8, Bucket(highest, octaveBits)+1), highest: highest}
}

// Bucket returns the index, from 0, of the bucket that counts v, which must not be negative.
// Each range from a power of two to the next is divided into 2^fine buckets of equal width;
// values below 2^(fine+1) have a bucket each.
func Bucket(v int64, fine int) int {
	shift := max(0, bits.Len64(uint64(v))-fine-1)
	return shift<<fine + int(uint64(v)>>shift)
}

// Least returns the least value that [Bucket], with the same fine, puts into the bucket with
// an index.
func Least(bucket, fine int) int64 {
	shift := max(0, bucket>>fine-1)
	return int64(bucket-shift<<fine) << shift
}

// Halve merges each two neighbouring bins into one by plus, in place, and returns the
// shortened slice: a picture over time then has bins of twice the width. The last of an odd
// number of bins stays as it is.
func Halve[T any](bins []T, plus func(x, y T) T) []T {
	n := (len(bins) + 1) / 2
	for i := range n {
		if bins[i] = bins[2*i]; 2*i+1 < len(bins) {
			bins[i] = plus(bins[i], bins[2*i+1])
		}
	}
	return bins[:n]
}

// Add counts a value, which must not be negative. One above the highest counts as
// the highest.
func (h *Histogram) Add(v int64) {
	i := Bucket(min(v, h.highest), octaveBits)
	if h.low[i]++; h.low[i] == 0 {
		h.carry(i, 1<<8)
	}
}

// carry adds n, a multiple of 256, to the count of a bucket.
func (h *Histogram) carry(i int, n int64) {
	if h.high == nil {
		h.high = make([]int64, len(h.low))
	}
	h.high[i] += n
}

func (h *Histogram) count(i int) int64 {
	n := int64(h.low[i])
	if h.high != nil {
		n += h.high[i]
	}
	return n
}

// Merge adds the counts of another Histogram with the same highest value.
func (h *Histogram) Merge(o *Histogram) {
	for i := range o.low {
		n := o.count(i)
		if n == 0 {
			continue
		}
		n += int64(h.low[i])
		h.low[i] = uint8(n)
		if n >= 1<<8 {
			h.carry(i, n&^0xff)
		}
	}
}

// Bars yields the non-empty buckets, lowest first: the middle of each, and its count.
func (h *Histogram) Bars() iter.Seq2[int64, int64] {
	return func(yield func(middle, n int64) bool) {
		for i := range h.low {
			n := h.count(i)
			if n == 0 {
				continue
			}
			if !yield((Least(i, octaveBits)+Least(i+1, octaveBits)-1)/2, n) {
				return
			}
		}
	}
}

// HDR returns the counts as a histogram of package hdrhistogram.
func (h *Histogram) HDR() *hdrhistogram.Histogram {
	out := hdrhistogram.New(1, h.highest, 3)
	for i := range h.low {
		n := h.count(i)
		if n == 0 {
			continue
		}
		_ = out.RecordValues(Least(i, octaveBits), n) // cannot fail: the value is within the histogram's range
	}
	return out
}
