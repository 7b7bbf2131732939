package compare

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

type metric struct {
	name, title, unit string
	better            Direction
	of                func(r *analyze.Result) float64
}

// The metrics of whole traces that decide: how long the same work took beside the units of work,
// the other where these do not change.
var (
	durationMetric = metric{"trace.duration_ns", "duration of the same work", "ns", Lower, func(r *analyze.Result) float64 { return float64(r.Trace.DurationNs) }}
	heldMetric     = metric{"held_share", "time held up / (time held up + running)", "share", Lower, heldShare}
)

// described are metrics that are shown, and not tested.
var described = []metric{
	{"waiting_share", "runnable / (runnable + running)", "share", Lower, waitingShare},
	{"waits.user.p50_ns", "wait for a P, median", "ns", Lower, user(func(s *waits.Summary) float64 { return float64(s.P50) })},
	{"waits.user.p99_ns", "wait for a P, p99", "ns", Lower, user(func(s *waits.Summary) float64 { return float64(s.P99) })},
	{"waits.user.max_ns", "longest wait for a P", "ns", Lower, user(func(s *waits.Summary) float64 { return float64(s.MaxNs) })},
	{"pressure.some", "time in which a goroutine was runnable", "share", Lower, func(r *analyze.Result) float64 { return r.Pressure.Some }},
	{"pressure.unclaimed_idle", "CPU capacity idle beside work", "share", Lower, func(r *analyze.Result) float64 { return r.Pressure.UnclaimedIdle }},
	{"fairness.max_lag_ns", "largest debt of running time", "ns", Lower, func(r *analyze.Result) float64 { return float64(r.Fairness.MaxLagNs) }},
	{"utilisation", "CPU capacity that ran the program", "share", Neither, func(r *analyze.Result) float64 { return quantity.Ratio(float64(running(r)), lifetime(r)) }},
	{"gc_share", "CPU capacity in mark workers", "share", Neither, func(r *analyze.Result) float64 {
		return quantity.Ratio(float64(quantity.Sum(r.Procs.Ps, func(p *procs.Proc) int64 { return p.GCNs })), lifetime(r))
	}},
	{"starts_per_s", "starts", "1/s", Neither, rate(func(r *analyze.Result) int64 { return r.Reconstruction.Starts })},
	{"steals_per_s", "steals", "1/s", Neither, rate(func(r *analyze.Result) int64 { return r.Procs.Steals.Count })},
	{"preemptions_per_s", "preemptions", "1/s", Neither, rate(func(r *analyze.Result) int64 { return r.Procs.Preemptions.Count })},
}

// describe returns a metric without a test: medians.
func (m *metric) describe(before, after []*analyze.Result) Metric {
	value := func(rs []*analyze.Result) Estimate {
		var xs []float64
		for _, r := range rs {
			xs = append(xs, m.of(r))
		}
		return Estimate{Value: quantity.Median(xs)}
	}
	x := Metric{Name: m.name, Title: m.title, Unit: m.unit, Better: m.better, Before: value(before), After: value(after)}
	x.Delta = x.After.Value - x.Before.Value
	if x.Before.Value != 0 {
		x.Ratio = new(x.After.Value / x.Before.Value)
	}
	return x
}

// sample returns a metric's numbers of some traces.
func (m *metric) sample(rs []*analyze.Result) (s sample) {
	to, _ := scaleOf(m.unit)
	for _, r := range rs {
		s.values = append(s.values, to(m.of(r)))
	}
	return s
}

// heldShare is the share of the time in which goroutines of the program ran
// or were held up that they were held up: by the scheduler, by one another at a lock, or
// by a channel that was full. Waits for something to do are not among it.
func heldShare(r *analyze.Result) float64 {
	s := &r.Breakdown.Program
	held := float64(s.RunnableNs + s.BlockedNs[breakdown.ReasonSync] + s.BlockedNs[breakdown.ReasonChanSend])
	return quantity.Ratio(held, held+float64(s.RunningNs))
}

func waitingShare(r *analyze.Result) float64 {
	w, x := float64(r.Waits.User.TotalNs), float64(running(r))
	return quantity.Ratio(w, w+x)
}

// finished reports whether on both sides the same goroutines were created and came to
// their end: then the program did the same work, whatever it ran for it.
func finished(before, after []*analyze.Result) bool {
	count := func(r *analyze.Result) (n float64) {
		for _, c := range r.Breakdown.Classes {
			if !c.Runtime {
				n += float64(c.Complete)
			}
		}
		return n
	}
	all := slices.Concat(before, after)
	n := count(all[0])
	return n >= 2 && !slices.ContainsFunc(all, func(r *analyze.Result) bool {
		return math.Abs(count(r)-n) > 0.02*n
	})
}

// fixedTime reports whether all traces are about as long, as those are that were recorded for a
// given time.
func fixedTime(before, after []*analyze.Result) bool {
	var lengths []int64
	for _, r := range slices.Concat(before, after) {
		lengths = append(lengths, r.Trace.DurationNs)
	}
	within := 1.03
	if len(lengths) < 6 { // which may be alike by chance
		within = 1.01
	}
	return float64(slices.Max(lengths)) <= within*float64(slices.Min(lengths))
}

func user(f func(s *waits.Summary) float64) func(r *analyze.Result) float64 {
	return func(r *analyze.Result) float64 { return f(&r.Waits.User) }
}

func rate(f func(r *analyze.Result) int64) func(r *analyze.Result) float64 {
	return func(r *analyze.Result) float64 { return quantity.Ratio(float64(f(r)), float64(r.RecordedNs())/1e9) }
}

// running is the time that goroutines of the program ran, ns.
func running(r *analyze.Result) int64 {
	return quantity.Sum(r.Procs.Ps, func(p *procs.Proc) int64 { return p.RunningNs })
}

// lifetime is that of all Ps, ns, as far as it is recorded.
func lifetime(r *analyze.Result) (ns float64) {
	for _, p := range r.Procs.Ps {
		ns += float64(p.LifetimeNs - p.NotRecordedNs)
	}
	return ns
}
