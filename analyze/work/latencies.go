package work

import "github.com/gmpscope/gmpscope/analyze/histogram"

// latencies counts latencies, ns, in buckets of which an octave has 16, so that a value is
// known within 6 %.
type latencies []int64

const octaveBits = 4

func least(bucket int) int64 { return histogram.Least(bucket, octaveBits) }

func (h *latencies) add(bucket int, n int64) {
	*h = grown(*h, bucket+1)
	(*h)[bucket] += n
}

// grown returns a slice with so many elements at least.
func grown[S ~[]T, T any](s S, n int) S {
	if n > len(s) {
		s = append(s, make(S, n-len(s))...)
	}
	return s
}

// result returns the distribution of units of which the slowest took so long.
func (h latencies) result(longest int64) Latency {
	out := Latency{MaxNs: longest, Histogram: []int64{}}
	var total, n int64
	for i, c := range h {
		if total += c; c > 0 {
			out.Histogram = append(out.Histogram, int64(i), c)
		}
	}
	quantiles := []struct {
		share float64
		to    *int64
	}{{0.5, &out.P50Ns}, {0.95, &out.P95Ns}, {0.99, &out.P99Ns}}
	for i, c := range h {
		for n += c; len(quantiles) > 0 && n > 0 && float64(n) >= quantiles[0].share*float64(total); quantiles = quantiles[1:] {
			*quantiles[0].to = min((least(i)+least(i+1))/2, longest)
		}
	}
	return out
}
