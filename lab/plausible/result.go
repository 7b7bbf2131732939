package plausible

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/compare"
)

// complaints gathers what cannot be.
type complaints []string

func (c *complaints) unless(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// share holds a part of a whole against it.
func (c *complaints) share(name string, f float64) {
	c.unless(f >= 0 && f <= 1, "%s is %v of the whole", name, f)
}

func (c *complaints) part(name string, part, whole int64) {
	c.unless(part >= 0 && part <= whole, "%s: %d of %d", name, part, whole)
}

// Result returns what cannot be in a result: shares beyond the whole, parts that
// do not add up, quantiles out of order, costs of more than there was to lose.
func Result(r *analyze.Result) []string {
	var c complaints
	c.numbers("", reflect.ValueOf(r))
	t := &r.Trace
	c.part("lost bytes", t.LostBytes, t.Bytes)
	c.part("lost time", t.LostNs, t.DurationNs)
	x := &r.Reconstruction
	c.unless(x.Explained+x.Ambiguous+x.Unexplained == x.Starts, "starts: %d + %d + %d, not %d", x.Explained, x.Ambiguous, x.Unexplained, x.Starts)

	w := &r.Waits
	for name, s := range map[string]*waits.Summary{"user": &w.User, "self": &w.Self, "system": &w.System, "all": &w.All} {
		c.summary(name, s)
		c.part(name+" behind long runs", s.BehindLongNs, s.SeenNs())
	}
	c.unless(w.User.TotalNs+w.Self.TotalNs+w.System.TotalNs == w.All.TotalNs && w.User.Count+w.Self.Count+w.System.Count == w.All.Count, "waits: the parts are not all")
	for i := range w.Classes {
		x := &w.Classes[i]
		c.summary(x.Name, &x.Waits)
		// The others also account for what waited, of any class, while a queue held more classes than it tells apart.
		if x.ID != waits.ClassOthers {
			c.part(x.Name+" behind long runs", x.Waits.BehindLongNs, x.Waits.SeenNs())
		}
	}

	for i := range r.Procs.Ps {
		p := reflect.ValueOf(r.Procs.Ps[i])
		var sum, life int64
		for j := range p.NumField() {
			switch name := p.Type().Field(j).Name; {
			case name == "HostNs": // a part of IdleNs
			case name == "LifetimeNs":
				life = p.Field(j).Int()
			case strings.HasSuffix(name, "Ns"):
				sum += p.Field(j).Int()
			}
		}
		c.unless(sum == life && life <= t.DurationNs, "P%d: %d ns of %d ns, in %d ns", r.Procs.Ps[i].P, sum, life, t.DurationNs)
	}

	for _, s := range []struct {
		name string
		f    float64
	}{
		{"some", r.Pressure.Some}, {"full", r.Pressure.Full}, {"unclaimed idle", r.Pressure.UnclaimedIdle},
		{"Jain's index", r.Fairness.Jain}, {"inversions", r.Fairness.Bypass.Inversions}, {"efficiency", r.Span.Efficiency},
	} {
		c.share(s.name, s.f)
	}
	c.unless(r.Pressure.Full <= r.Pressure.Some, "full %v is more than some %v", r.Pressure.Full, r.Pressure.Some)
	for i := range r.Pressure.Windows {
		for _, x := range []float64{r.Pressure.Windows[i].Some.P50, r.Pressure.Windows[i].Some.P99, r.Pressure.Windows[i].Some.Max, r.Pressure.Windows[i].Full.P50, r.Pressure.Windows[i].Full.P99, r.Pressure.Windows[i].Full.Max} {
			c.share("a window", x)
		}
	}
	f := &r.Fairness
	c.unless(f.P99LagNs <= f.MaxLagNs, "lag: p99 %d, the most %d", f.P99LagNs, f.MaxLagNs)
	c.unless(f.Slowdown.P50 <= f.Slowdown.P99 && f.Slowdown.P99 <= f.Slowdown.Max && f.Slowdown.Mean <= f.Slowdown.Max*(1+1e-9), "slowdown: %+v", f.Slowdown)
	c.unless(f.Bypass.P50 <= f.Bypass.P99 && f.Bypass.P99 <= f.Bypass.Max, "bypass: %+v", f.Bypass)
	for i := range f.Classes {
		c.share("Jain's index of a class", f.Classes[i].Jain)
		c.share("Gini", f.Classes[i].Gini)
		c.share("min/max", f.Classes[i].MinMax)
	}
	c.part("span of work", r.Span.SpanNs, r.Span.WorkNs)

	for i := range r.Work.Kinds {
		c.units(&r.Work.Kinds[i])
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		c.part("cost of "+f.ID, f.CostNs, f.WholeNs)
		c.unless(f.CostOf != "", "%s: of what its cost is a part is not said", f.ID)
		c.unless(f.FromNs >= 0 && f.FromNs <= f.ToNs && f.ToNs <= t.DurationNs, "%s: from %d to %d of %d", f.ID, f.FromNs, f.ToNs, t.DurationNs)
	}
	return c
}

// units holds the numbers of a kind of units of work against each other.
func (c *complaints) units(k *work.UnitKind) {
	l := &k.Latency
	c.unless(l.P50Ns <= l.P95Ns && l.P95Ns <= l.P99Ns && l.P99Ns <= l.MaxNs && l.MaxNs <= k.TotalNs, "%s: quantiles %d, %d, %d, %d of %d", k.Name, l.P50Ns, l.P95Ns, l.P99Ns, l.MaxNs, k.TotalNs)
	var count, ns, typical, slow int64
	for i := 1; i < len(l.Histogram); i += 2 {
		count += l.Histogram[i]
	}
	c.unless(count == k.Count, "%s: a histogram of %d of %d units", k.Name, count, k.Count)
	for i := range k.Path {
		p := &k.Path[i]
		ns, typical, slow = ns+p.Ns, typical+p.TypicalNs, slow+p.SlowNs
		c.unless(p.Ns > 0 && p.TypicalNs >= 0 && p.SlowNs >= 0, "%s: %+v", k.Name, *p)
	}
	c.unless(ns == k.TotalNs, "%s: parts of %d of %d ns", k.Name, ns, k.TotalNs)
	c.unless(typical <= slow+1 && slow <= l.MaxNs+1, "%s: typically %d ns, slow %d, the slowest %d", k.Name, typical, slow, l.MaxNs)
	last := l.MaxNs
	for i := range k.Slowest {
		s := &k.Slowest[i]
		long := s.EndNs - s.BeginNs
		c.unless(long >= 0 && long <= last && (i > 0 || long == last), "%s: unit %d by length takes %d ns, the one before %d", k.Name, i, long, last)
		last = long
		for j := range s.Segments {
			long -= s.Segments[j].Ns
		}
		c.unless(long == 0, "%s: %d ns of unit %d by length are in no segment", k.Name, long, i)
	}
}

func (c *complaints) summary(name string, s *waits.Summary) {
	c.unless(s.P50 <= s.P90 && s.P90 <= s.P99 && s.P99 <= s.P999 && s.P999 <= s.MaxNs, "%s: quantiles %d, %d, %d, %d, %d", name, s.P50, s.P90, s.P99, s.P999, s.MaxNs)
	q := s.TimeWeighted
	c.unless(q.P50 <= q.P90 && q.P90 <= q.P99 && q.P99 <= s.MaxNs, "%s: by time %+v, longest %d", name, q, s.MaxNs)
	c.unless(s.MaxNs <= s.TotalNs, "%s: longest %d of %d", name, s.MaxNs, s.TotalNs)
	var causes int64
	for _, x := range s.Causes {
		causes += x.Ns
	}
	c.unless(causes == s.TotalNs, "%s: causes of %d of %d", name, causes, s.TotalNs)
	for k, f := range s.TailMass {
		c.share(name+" in waits over "+k, f)
	}
	c.unless(s.TailMass["10ms"] <= s.TailMass["1ms"], "%s: tail %v", name, s.TailMass)
	var n, ns int64
	for _, b := range s.Histogram {
		n, ns = n+b.Count, ns+b.SumNs
	}
	c.unless(len(s.Histogram) == 0 || n == s.Count && ns == s.TotalNs, "%s: bars of %d and %d of %d and %d", name, n, ns, s.Count, s.TotalNs)
}

// Comparison returns what cannot be in a comparison.
func Comparison(r *compare.Result) []string {
	var c complaints
	c.numbers("", reflect.ValueOf(r))
	in := func(what string, x float64, lo, hi float64) {
		c.unless(lo <= x && x <= hi, "%s: %v is not within %v and %v", what, x, lo, hi)
	}
	metrics := slices.Clone(r.Metrics)
	for i := range r.Work {
		metrics = append(metrics, r.Work[i].Metrics...)
	}
	for i := range metrics {
		m := &metrics[i]
		for _, e := range []compare.Estimate{m.Before, m.After} {
			if e.Lo != nil && e.Hi != nil {
				in(m.Name, e.Value, *e.Lo, *e.Hi)
			}
			if m.Unit == "share" {
				c.share(m.Name, e.Value)
			}
		}
		c.unless(m.Delta == m.After.Value-m.Before.Value, "%s: %v, not %v", m.Name, m.Delta, m.After.Value-m.Before.Value)
		if m.RatioCI != nil {
			c.unless(m.Ratio != nil && m.RatioCI[0] >= 0, "%s: ratio %v within %v", m.Name, m.Ratio, m.RatioCI)
			if m.Ratio != nil {
				in(m.Name, *m.Ratio, m.RatioCI[0], m.RatioCI[1])
			}
		}
		for _, p := range []*float64{m.P, m.PAdjusted} {
			if p != nil {
				c.share("p of "+m.Name, *p)
			}
		}
	}
	var causes, classes compare.Waiting
	for _, x := range r.Causes {
		causes = compare.Waiting{BeforeNs: causes.BeforeNs + x.BeforeNs, AfterNs: causes.AfterNs + x.AfterNs, DeltaNs: causes.DeltaNs + x.DeltaNs}
	}
	for _, x := range r.Classes {
		classes = compare.Waiting{BeforeNs: classes.BeforeNs + x.BeforeNs, AfterNs: classes.AfterNs + x.AfterNs, DeltaNs: classes.DeltaNs + x.DeltaNs}
	}
	c.unless(causes == r.Waiting && classes == r.Waiting, "waiting %+v, by causes %+v, by classes %+v", r.Waiting, causes, classes)
	for _, b := range r.Distribution {
		c.share("a bar", b.Before)
		c.share("a bar", b.After)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		c.part("before", int64(f.BeforeN), int64(r.Before.N))
		c.part("after", int64(f.AfterN), int64(r.After.N))
		c.unless((f.BeforeN > 0) == (f.BeforeTitle != nil) && (f.AfterN > 0) == (f.AfterTitle != nil), "%s: a side is not told", f.ID)
	}
	return c
}

// signed are the fields that may be less than 0: differences, and -1 for what
// is not known.
var signed = map[string]bool{"DeltaNs": true, "PolicyNs": true, "ExcessNs": true}

// numbers walks through v: all numbers are some, and no time or number of things
// is less than nothing.
func (c *complaints) numbers(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		c.unless(!math.IsNaN(f) && !math.IsInf(f, 0), "%s is %v", name, f)
	case reflect.Int64:
		if strings.HasSuffix(name, "Ns") || strings.HasSuffix(name, "Count") {
			c.unless(v.Int() >= 0 || signed[name], "%s is %d", name, v.Int())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.numbers(name, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			c.numbers(name, v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			c.numbers(name, i.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.numbers(v.Type().Field(i).Name, v.Field(i))
		}
	}
}
