package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

const (
	confidence = 0.95
	// alpha is how often a comparison of a program with itself may call anything significant,
	// over all metrics that decide.
	alpha = 0.01
	// power is how often a change of the size that is called detectable would be significant.
	power = 0.8
	// With fewer degrees of freedom than fewDF, which is fewer than three traces a side, little is
	// known of this program's variance: then that counts which most programs do not exceed, as if
	// known by mostDF.
	fewDF, mostDF = 4, 8
)

// sample is a metric's numbers of the traces of one side, on the scale on which they are compared.
type sample struct {
	values []float64 // of a trace each
	within []float64 // variances of the values by the units in their traces; empty for none
}

// scaleOf returns on which scale numbers of a unit are compared, and the way back: ratios of odds
// for shares, ratios for others.
func scaleOf(unit string) (to, from func(float64) float64) {
	if unit == "share" {
		const least = 1e-3 // shares below it are alike
		return func(x float64) float64 { x = min(max(x, least), 1-least); return math.Log(x / (1 - x)) },
			func(y float64) float64 { return 1 / (1 + math.Exp(-y)) }
	}
	least, way := 1e-3, exp
	if unit == "ns" {
		least, way = 1, func(y float64) float64 { return math.Round(exp(y)) }
	}
	return func(x float64) float64 { return math.Log(max(x, least)) }, way
}

// exp is finite whatever it is given.
func exp(x float64) float64 { return math.Exp(min(x, 600)) }

// outcome is a test of two samples.
type outcome struct {
	delta, deviation, df float64 // of the difference of the means
	sides                [2]float64
}

// compareSamples estimates how the mean of a metric differs, and how sure that is. It is a mixed
// model with two levels: units within traces, and traces within a side, whose variance is
// moderated: what the few traces show is weighed against what recordings of one program differ by,
// prior, as G. Smyth has it for genes: Linear Models and Empirical Bayes Methods, Statistical
// Applications in Genetics and Molecular Biology 3(1), 2004. With one trace a side the prior is all
// there is. Sides that were not recorded in turns differ by the time, too, which no number of
// traces averages out.
func compareSamples(before, after sample, prior variance, turns bool) outcome {
	nb, na := float64(len(before.values)), float64(len(after.values))
	mb, sb := moments(before.values)
	ma, sa := moments(after.values)
	df := nb + na - 2
	if df < fewDF {
		prior.Between, prior.DF = prior.Most, mostDF
	}
	between := prior.Between + quantity.Mean(slices.Concat(before.within, after.within))
	v := (prior.DF*between + sb + sa) / (prior.DF + df)
	o := outcome{delta: ma - mb, df: prior.DF + df, sides: [2]float64{math.Sqrt(v / nb), math.Sqrt(v / na)}}
	v *= 1/nb + 1/na
	if !turns {
		v += 2 * prior.Apart
	}
	o.deviation = math.Sqrt(v)
	return o
}

// moments returns the mean and the sum of the squared deviations from it.
func moments(xs []float64) (m, squares float64) {
	m = quantity.Mean(xs)
	for _, x := range xs {
		squares += (x - m) * (x - m)
	}
	return m, squares
}

// p returns how likely a difference of at least this size is by chance, if its first by, which
// something else explains, does not count.
func (o outcome) p(by float64) float64 {
	d := max(0, math.Abs(o.delta)-by)
	return 2 * stats.TDist{V: o.df}.CDF(-d/o.deviation)
}

// half returns half of the width of a confidence interval for a deviation.
func (o outcome) half(deviation float64) float64 { return quantile(o.df, (1+confidence)/2) * deviation }

// detectable returns the smallest difference that would have been significant at a level.
func (o outcome) detectable(level float64) float64 {
	return (quantile(o.df, 1-level/2) + quantile(o.df, power)) * o.deviation
}

// quantile is that of Student's distribution.
func quantile(df, p float64) float64 { return stats.InvCDF(stats.TDist{V: df})(p) }

// metricOf compares the numbers of a metric; by is what the machine may account for.
func metricOf(m metric, before, after sample, prior variance, turns bool) (Metric, outcome) {
	_, from := scaleOf(m.unit)
	o := compareSamples(before, after, prior, turns)
	x := Metric{Name: m.name, Title: m.title, Unit: m.unit, Better: m.better, Primary: true}
	for i, s := range []sample{before, after} {
		mid, half := quantity.Mean(s.values), o.half(o.sides[i])
		*[...]*Estimate{&x.Before, &x.After}[i] = Estimate{Value: from(mid), Lo: new(from(mid - half)), Hi: new(from(mid + half))}
	}
	x.Delta = x.After.Value - x.Before.Value
	x.Ratio, x.P = new(quantity.Ratio(x.After.Value, x.Before.Value)), new(o.p(0))
	if m.unit != "share" {
		half := o.half(o.deviation)
		x.Ratio, x.RatioCI = new(exp(o.delta)), &[2]float64{exp(o.delta - half), exp(o.delta + half)}
	}
	return x, o
}

// decide finds which of the metrics that decide are significant: by S. Holm's procedure with weights
// (A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2),
// 1979), so that the program's main work has most of the chances. slower is the logarithm of the
// factor for which the machine may account.
func decide(ds []*decision, slower float64) {
	total := 0.0
	ps := make([]float64, len(ds))
	for i, d := range ds {
		total += d.weight
		by := 0.0
		if d.worse() == (slower > 0) {
			by = math.Abs(slower)
		}
		ps[i] = d.p(by)
		d.machine = by > 0
	}
	order := make([]int, len(ds))
	for i, d := range ds {
		order[i] = i
		level := alpha * d.weight / total
		d.machine = d.machine && *d.P < level
		d.Detectable = new(exp(d.detectable(level)))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ps[i]/ds[i].weight, ps[j]/ds[j].weight) })
	most := 0.0
	for _, i := range order {
		most = max(most, min(1, ps[i]*total/ds[i].weight))
		total -= ds[i].weight
		ds[i].PAdjusted, ds[i].Significant = new(most), most < alpha
	}
}
