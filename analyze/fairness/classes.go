package fairness

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// exactWaits is the number of goroutines of one class whose total waits are
// kept one by one; those of larger classes go to a histogram.
const exactWaits = 10_000

// index is Jain's index and the extremes of shares x = service / ideal service
// (R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness and
// Discrimination for Resource Allocation in Shared Computer Systems, DEC
// TR-301, 1984).
type index struct {
	n              int64
	sum, sumSq     float64
	lowest, widest float64
}

func (x *index) add(v float64) {
	if x.n == 0 {
		x.lowest, x.widest = v, v
	}
	x.n++
	x.sum += v
	x.sumSq += v * v
	x.lowest, x.widest = min(x.lowest, v), max(x.widest, v)
}

// jain is (sum x)^2 / (n sum x^2): 1 if all shares are equal, 1/n if one has
// all. Without shares, and where all are 0 alike, no class is treated worse than
// anybody else: 1.
func (x *index) jain() float64 {
	if x.n == 0 || x.sumSq == 0 {
		return 1
	}
	return min(1, x.sum*x.sum/(float64(x.n)*x.sumSq))
}

// minMax is the smallest share over the largest, by the same convention.
func (x *index) minMax() float64 {
	if x.n == 0 || x.widest == 0 {
		return 1
	}
	return x.lowest / x.widest
}

// waits holds the total waits, ns, of the goroutines of one class: up to
// exactWaits one by one, from then on in a histogram.
type waits struct {
	exact []int64
	hist  *[buckets]bucket
}

type bucket struct {
	n   int64
	sum float64
}

// The histogram's buckets are 1/32 of an octave's lower end wide; each knows
// its mean, so only inequality within a bucket is lost.
const (
	waitBits = 5
	buckets  = (64 - waitBits) << waitBits
)

func (w *waits) add(v int64) {
	if w.hist == nil {
		if len(w.exact) < exactWaits {
			w.exact = append(w.exact, v)
			return
		}
		w.hist = new([buckets]bucket)
		for _, e := range w.exact {
			w.put(e)
		}
		w.exact = nil
	}
	w.put(v)
}

func (w *waits) put(v int64) {
	b := &w.hist[histogram.Bucket(max(0, v), waitBits)]
	b.n++
	b.sum += float64(max(0, v))
}

// gini is the mean absolute difference of two waits over twice the mean wait,
// computed from the waits in order: 2 sum(i w_i) / (n sum w) - (n+1)/n.
func (w *waits) gini() float64 {
	var n, sum, ranked float64
	if w.hist == nil {
		slices.Sort(w.exact)
		for _, v := range w.exact {
			n++
			sum += float64(v)
			ranked += n * float64(v)
		}
	} else {
		for i := range w.hist {
			b := &w.hist[i]
			if b.n == 0 {
				continue
			}
			// Ranks n+1 … n+b.n, all with the bucket's mean.
			ranked += b.sum * (n + (float64(b.n)+1)/2)
			n += float64(b.n)
			sum += b.sum
		}
	}
	if sum == 0 {
		return 0
	}
	return math.Max(0, 2*ranked/(n*sum)-(n+1)/n)
}

// class gathers the goroutines of one class that are over.
type class struct {
	n      int64
	shares index
	waits  waits
	maxLag int64
}
