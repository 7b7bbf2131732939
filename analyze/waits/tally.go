package waits

import (
	"math"
	"math/bits"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

const (
	longestNs = 3_600_000_000_000 // the histograms take longer waits for an hour
	tail1Ns   = 1_000_000
	tail10Ns  = 10_000_000
)

// score is what is summed up of a set of waits.
type score struct {
	count, total, max int64
	tail1, tail10     int64 // sums of the waits above 1 ms and 10 ms
	causes            [numCauses]int64
}

// tally is the account of a set of waits.
type tally struct {
	score
	long         pooled
	open, openNs int64
	cutNs        int64
	fine         *histogram.Histogram // 3 digits, for the totals
	bars         *bars                // for the totals
	coarse       *coarse              // for the classes
}

// bars are the waits by powers of two: bar i holds those in [1<<(i-1), 1<<i).
type bars [64]struct{ n, sum int64 }

func newFine() *histogram.Histogram { return histogram.New(longestNs) }

func (s *score) add(ns int64, causes *[numCauses]int64) {
	s.count++
	s.total += ns
	s.max = max(s.max, ns)
	if ns > tail1Ns {
		s.tail1 += ns
		if ns > tail10Ns {
			s.tail10 += ns
		}
	}
	addCauses(&s.causes, causes)
}

const _ = uint(9 - numCauses) // of which addCauses and copyCauses name each

// addCauses adds what to has for each cause.
//
// OPT: the CPU does not foresee the end of so short a loop, which is there twice for
// each wait.
func addCauses(to, what *[numCauses]int64) {
	to[0] += what[0]
	to[1] += what[1]
	to[2] += what[2]
	to[3] += what[3]
	to[4] += what[4]
	to[5] += what[5]
	to[6] += what[6]
	to[7] += what[7]
	to[8] += what[8]
}

// copyCauses is addCauses to nothing.
func copyCauses(to, what *[numCauses]int64) {
	to[0] = what[0]
	to[1] = what[1]
	to[2] = what[2]
	to[3] = what[3]
	to[4] = what[4]
	to[5] = what[5]
	to[6] = what[6]
	to[7] = what[7]
	to[8] = what[8]
}

var _ = [1]int{}[numCauses-9] // there are no more

func (s *score) merge(o *score) {
	s.count += o.count
	s.total += o.total
	s.max = max(s.max, o.max)
	s.tail1 += o.tail1
	s.tail10 += o.tail10
	addCauses(&s.causes, &o.causes)
}

// record adds a wait to the distribution of t, which has a fine one.
func (t *tally) record(ns int64) {
	t.fine.Add(ns)
	b := &t.bars[bits.Len64(uint64(ns))&63]
	b.n++
	b.sum += ns
}

// merge adds o, which has a fine histogram, as t has.
func (t *tally) merge(o *tally) {
	t.score.merge(&o.score)
	t.long.ns += o.long.ns
	t.open += o.open
	t.openNs += o.openNs
	t.cutNs += o.cutNs
	t.fine.Merge(o.fine)
	for i, b := range o.bars {
		t.bars[i].n += b.n
		t.bars[i].sum += b.sum
	}
}

func (t *tally) summary() Summary {
	s := Summary{
		Count:        t.count,
		TotalNs:      t.total,
		MaxNs:        t.max,
		TailMass:     map[string]float64{"1ms": quantity.Ratio(t.tail1, t.total), "10ms": quantity.Ratio(t.tail10, t.total)},
		Causes:       causeTimes(&t.causes),
		BehindLongNs: t.long.ns,
		OpenCount:    t.open,
		OpenNs:       t.openNs,
		CutNs:        t.cutNs,
	}
	var dist []FilledBucket
	switch {
	case t.fine != nil:
		for middle, n := range t.fine.Bars() {
			dist = append(dist, FilledBucket{middle, n})
		}
		for i, b := range t.bars {
			if b.n > 0 {
				s.Histogram = append(s.Histogram, Bucket{histogram.Least(i, 0), histogram.Least(i+1, 0), b.n, b.sum})
			}
		}
	case t.coarse != nil:
		dist = t.coarse.levels()
	}
	if len(dist) == 0 {
		return s
	}
	s.Levels = dist
	count := func(q float64) int64 { return quantile(dist, t.max, q, false) }
	time := func(q float64) int64 { return quantile(dist, t.max, q, true) }
	s.P50, s.P90, s.P99, s.P999 = count(0.5), count(0.9), count(0.99), count(0.999)
	s.TimeWeighted = Quantiles{P50: time(0.5), P90: time(0.9), P99: time(0.99)}
	return s
}

func causeTimes(c *[numCauses]int64) []CauseTime {
	out := make([]CauseTime, numCauses)
	for i, name := range Causes() {
		out[i] = CauseTime{name, c[i]}
	}
	return out
}

// quantile is the smallest value, at most longest, that at least the share q of all waits, or of the
// time waited, does not exceed.
func quantile(dist []FilledBucket, longest int64, q float64, byTime bool) (v int64) {
	weight := func(b FilledBucket) float64 {
		if v = min(b.Ns, longest); byTime {
			return float64(b.Count) * float64(v)
		}
		return float64(b.Count)
	}
	want, sum := 0.0, 0.0
	for _, b := range dist {
		want += weight(b)
	}
	want *= q
	want -= math.Abs(want) * 1e-12 // rounding of q must not push it into the next level
	for _, b := range dist {
		if sum += weight(b); sum >= want {
			break
		}
	}
	return v
}
