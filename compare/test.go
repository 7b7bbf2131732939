package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
)

const (
	confidence = 0.95
	alpha      = 1 - confidence
	// dealings is how many ways to deal the traces out to the sides are looked
	// at, where there are more.
	dealings = 20_000
	// minPerSide is from how many traces a side on chance can be ruled out at
	// all: with 5 and 5 the most extreme of 252 dealings has p = 2/252, and there
	// is room for the correction.
	minPerSide = 5
)

// test compares all metrics of traces: rows are metrics, columns traces.
func test(ms []metric, before, after [][]float64) []Metric {
	out := make([]Metric, len(ms))
	traces := resampler{}
	for i, m := range ms {
		b := benchmath.NewSample(slices.Clone(before[i]), &benchmath.DefaultThresholds)
		a := benchmath.NewSample(slices.Clone(after[i]), &benchmath.DefaultThresholds)
		x := Metric{Name: m.name, Title: m.title, Unit: m.unit, Better: m.better, Primary: m.primary, UserVisible: m.primary && slices.Contains(userVisible, m.name),
			Before: estimate(b), After: estimate(a)}
		x.Delta = x.After.Median - x.Before.Median
		if x.Before.Median != 0 {
			r := x.After.Median / x.Before.Median
			x.Ratio = &r
		}
		if len(before[i]) >= minPerSide && len(after[i]) >= minPerSide {
			p := benchmath.AssumeNothing.Compare(b, a).P
			if math.IsNaN(p) || slices.Min(b.Values) == slices.Max(b.Values) && slices.Equal(unique(b.Values), unique(a.Values)) {
				p = 1 // all alike
			}
			x.P = &p
			q := p
			x.PAdjusted = &q
			x.CI, x.RatioCI = traces.shift(before[i], after[i])
		}
		out[i] = x
	}
	// What users feel is asked first, and only if it gives no answer, queueing: each
	// group is corrected by itself.
	adjust(out, before, after, true)
	adjust(out, before, after, false)
	for i := range out {
		x := &out[i]
		x.Significant = x.PAdjusted != nil && *x.PAdjusted < alpha
	}
	return out
}

func unique(xs []float64) []float64 { return slices.Compact(slices.Sorted(slices.Values(xs))) }

func estimate(s *benchmath.Sample) Estimate {
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	return Estimate{Median: sum.Center, Lo: finite(sum.Lo), Hi: finite(sum.Hi)}
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// shift returns the confidence intervals of how the median went from before to
// after: of the difference, and of the ratio, which is nil where the median
// before may be 0. They are percentile intervals of the bootstrap (B. Efron:
// Bootstrap Methods: Another Look at the Jackknife, Annals of Statistics 7(1),
// 1979) of what they are the intervals of, so they contain it: a resampled median
// is at least the median with a probability of a quarter or more, and at most
// that as well.
func (r resampler) shift(before, after []float64) (difference, ratio *[2]float64) {
	b, a := slices.Sorted(slices.Values(before)), slices.Sorted(slices.Values(after))
	diffs, ratios := make([]float64, resamples), make([]float64, resamples)
	for i, m := range r.of(len(b), len(a)) {
		x, y := (b[m[0]]+b[m[1]])/2, (a[m[2]]+a[m[3]])/2
		diffs[i], ratios[i] = y-x, y/x
	}
	return quantiles(diffs), quantiles(ratios)
}

// resampler holds, for a number of values before and after, where the medians of
// resamples of them stand: the ranks of the two values in the middle before, and
// of those after. The resamples are of traces, so they serve all metrics.
type resampler map[[2]int][][4]int

func (r resampler) of(before, after int) [][4]int {
	key := [2]int{before, after}
	if r[key] != nil {
		return r[key]
	}
	rnd := rand.New(rand.NewPCG(uint64(before), uint64(after)))
	middle := func(ranks []int) (low, high int) {
		n := len(ranks)
		for i := range ranks {
			ranks[i] = rnd.IntN(n)
		}
		slices.Sort(ranks)
		return ranks[(n-1)/2], ranks[n/2]
	}
	b, a := make([]int, before), make([]int, after)
	list := make([][4]int, resamples)
	for i := range list {
		m := &list[i]
		m[0], m[1] = middle(b)
		m[2], m[3] = middle(a)
	}
	r[key] = list
	return list
}

// quantiles returns the ends of the middle of the resampled values, which it
// sorts; nil if some are no numbers.
func quantiles(xs []float64) *[2]float64 {
	slices.Sort(xs)
	if math.IsNaN(xs[0]) || math.IsInf(xs[0], 0) || math.IsInf(xs[len(xs)-1], 0) {
		return nil
	}
	n := float64(len(xs))
	return &[2]float64{xs[int(n*alpha/2)], xs[int(n*(1-alpha/2))-1]}
}

// adjust corrects the p values of the primary metrics for their number. Under
// the hypothesis that the change did nothing, any way to deal the traces out to
// the two sides is as likely as the one that was made; so the p value is the
// share of dealings in which the most extreme of all primary metrics is at least
// as extreme as this one. Metrics that move together so cost nothing.
//
// Those that are felt are a group by themselves.
func adjust(out []Metric, before, after [][]float64, visible bool) {
	var rows []int
	for i := range out {
		if out[i].Primary && out[i].UserVisible == visible && out[i].P != nil {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return
	}
	nb, na := len(before[rows[0]]), len(after[rows[0]])
	ranks := make([][]float64, len(rows))
	for k, i := range rows {
		ranks[k] = ranksOf(slices.Concat(before[i], after[i]))
	}
	// extremity of one dealing: the rank sum's distance from its mean, in its
	// standard deviations, ties included.
	scale := make([]float64, len(rows))
	mean := float64(na) * float64(nb+na+1) / 2
	for k := range rows {
		scale[k] = deviation(ranks[k], na)
	}
	statistic := func(k int, inAfter []bool) float64 {
		if scale[k] == 0 {
			return 0
		}
		sum := 0.0
		for j, in := range inAfter {
			if in {
				sum += ranks[k][j]
			}
		}
		return math.Abs(sum-mean) / scale[k]
	}
	actual := make([]bool, nb+na)
	for j := nb; j < nb+na; j++ {
		actual[j] = true
	}
	observed := make([]float64, len(rows))
	for k := range rows {
		observed[k] = statistic(k, actual)
	}
	total, atLeast := 0, make([]int, len(rows))
	deal(nb, na, func(inAfter []bool) {
		total++
		most := 0.0
		for k := range rows {
			most = max(most, statistic(k, inAfter))
		}
		for k := range rows {
			if most >= observed[k]-1e-9 {
				atLeast[k]++
			}
		}
	})
	for k, i := range rows {
		p := max(float64(atLeast[k])/float64(total), *out[i].P)
		out[i].PAdjusted = &p
	}
}

// ranksOf gives equal values their mean rank.
func ranksOf(xs []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case xs[a] < xs[b]:
			return -1
		case xs[a] > xs[b]:
			return 1
		}
		return a - b
	})
	out := make([]float64, len(xs))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && xs[order[j]] == xs[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// deviation is the standard deviation of the sum of n of the ranks, drawn
// without putting back.
func deviation(ranks []float64, n int) float64 {
	total := float64(len(ranks))
	mean := (total + 1) / 2
	v := 0.0
	for _, r := range ranks {
		v += (r - mean) * (r - mean)
	}
	return math.Sqrt(v / total * float64(n) * (total - float64(n)) / (total - 1))
}

// deal calls f for all ways to choose na of nb+na, or, where there are too many,
// for as many drawn at random, the actual one among them. The draw is the same
// each time.
func deal(nb, na int, f func(inAfter []bool)) {
	n := nb + na
	in := make([]bool, n)
	if choose(n, na) <= dealings {
		var walk func(from, left int)
		walk = func(from, left int) {
			if left == 0 {
				f(in)
				return
			}
			for j := from; j <= n-left; j++ {
				in[j] = true
				walk(j+1, left-1)
				in[j] = false
			}
		}
		walk(0, na)
		return
	}
	for j := nb; j < n; j++ {
		in[j] = true
	}
	f(in)
	r := rand.New(rand.NewPCG(uint64(nb), uint64(na)))
	for range dealings - 1 {
		r.Shuffle(n, func(a, b int) { in[a], in[b] = in[b], in[a] })
		f(in)
	}
}

// choose is the number of ways to choose k of n, or more than dealings.
func choose(n, k int) float64 {
	c := 1.0
	for i := range min(k, n-k) {
		c = c * float64(n-i) / float64(i+1)
		if c > dealings {
			return c
		}
	}
	return c
}
