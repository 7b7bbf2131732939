package work

import (
	"math/bits"
	"strconv"
)

// Histogram counts latencies, ns, in buckets of which an octave has 16, so that a value is
// known within 6 %. In JSON it is a list of bucket, count, bucket, count, …
type Histogram []int64

const octaveBits = 4

func bucketOf(ns int64) int {
	shift := max(0, bits.Len64(uint64(ns))-octaveBits-1)
	return shift<<octaveBits + int(ns>>shift)
}

// least returns the smallest value in a bucket.
func least(bucket int) int64 {
	shift := max(0, bucket>>octaveBits-1)
	return int64(bucket-shift<<octaveBits) << shift
}

func (h *Histogram) add(ns int64) {
	i := bucketOf(ns)
	if n := i + 1 - len(*h); n > 0 {
		*h = append(*h, make([]int64, n)...)
	}
	(*h)[i]++
}

// quantile returns the middle of the bucket that holds the value which a share q of all
// does not exceed.
func (h Histogram) quantile(q float64) int64 {
	var total, n int64
	for _, c := range h {
		total += c
	}
	for i, c := range h {
		if n += c; n > 0 && float64(n) >= q*float64(total) {
			return (least(i) + least(i+1)) / 2
		}
	}
	return 0
}

// MarshalJSON writes the buckets that are not empty.
func (h Histogram) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, n := range h {
		if n == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendInt(out, int64(i), 10), ',')
		out = strconv.AppendInt(out, n, 10)
	}
	return append(out, ']'), nil
}
