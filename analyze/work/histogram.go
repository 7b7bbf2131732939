package work

import "math/bits"

// histogram counts latencies, ns, in buckets of which an octave has 16, so that a value is
// known within 6 %.
type histogram []int64

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

func (h *histogram) add(ns int64) {
	i := bucketOf(ns)
	if n := i + 1 - len(*h); n > 0 {
		*h = append(*h, make([]int64, n)...)
	}
	(*h)[i]++
}

// quantile returns the middle of the bucket that holds the value which a share q of all
// does not exceed.
func (h histogram) quantile(q float64) int64 {
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

// latency returns the distribution of units of which the slowest took so long.
func (h histogram) latency(longest int64) Latency {
	at := func(q float64) int64 { return min(h.quantile(q), longest) }
	return Latency{P50Ns: at(0.5), P95Ns: at(0.95), P99Ns: at(0.99), MaxNs: longest, Histogram: h.pairs()}
}

// pairs returns the buckets that are not empty: bucket, count, bucket, count, …
func (h histogram) pairs() []int64 {
	out := []int64{}
	for i, n := range h {
		if n > 0 {
			out = append(out, int64(i), n)
		}
	}
	return out
}
