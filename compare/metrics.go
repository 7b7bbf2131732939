package compare

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// metric reads one number of a result.
type metric struct {
	name, title, unit string
	better            Direction
	primary           bool
	of                func(r *analyze.Result) float64
}

// metrics are what is compared. Primary ones are few: each more makes it harder
// to tell any of them from chance.
var metrics = []metric{
	{waitingName, "waiting / (waiting + running)", "share", Lower, true, waitingShare},
	{"waits.user.time_weighted.p50_ns", "wait that half of all waiting is in, or longer", "ns", Lower, true, user(func(s *waits.Summary) float64 { return float64(s.TimeWeighted.P50) })},
	{"pressure.some", "time in which somebody waited", "share", Lower, true, func(r *analyze.Result) float64 { return r.Pressure.Some }},

	// By number of waits: a change that makes fewer but longer ones moves them,
	// whether or not anybody waits more.
	{"waits.user.mean_ns", "mean wait", "ns", Lower, false, func(r *analyze.Result) float64 {
		return ratio(float64(r.Waits.User.TotalNs), float64(r.Waits.User.Count))
	}},
	{"waits.user.p99_ns", "wait, p99", "ns", Lower, false, user(func(s *waits.Summary) float64 { return float64(s.P99) })},
	{"waits.user.p50_ns", "wait, median", "ns", Lower, false, user(func(s *waits.Summary) float64 { return float64(s.P50) })},
	{"waits.user.p999_ns", "wait, p99.9", "ns", Lower, false, user(func(s *waits.Summary) float64 { return float64(s.P999) })},
	{"waits.user.max_ns", "longest wait", "ns", Lower, false, user(func(s *waits.Summary) float64 { return float64(s.MaxNs) })},
	{"waits.user.time_weighted.p99_ns", "wait, time-weighted p99", "ns", Lower, false, user(func(s *waits.Summary) float64 { return float64(s.TimeWeighted.P99) })},
	{"waits.user.tail_mass.1ms", "share of waiting in waits over 1 ms", "share", Lower, false, user(func(s *waits.Summary) float64 { return s.TailMass["1ms"] })},
	{"waits.user.tail_mass.10ms", "share of waiting in waits over 10 ms", "share", Lower, false, user(func(s *waits.Summary) float64 { return s.TailMass["10ms"] })},
	{"pressure.full", "time in which somebody waited and nothing ran", "share", Lower, false, func(r *analyze.Result) float64 { return r.Pressure.Full }},
	{"pressure.unclaimed_idle", "P-time idle beside work", "share", Lower, false, func(r *analyze.Result) float64 { return r.Pressure.UnclaimedIdle }},
	{"pressure.starvation_age.max_ns", "longest that anybody had waited", "ns", Lower, false, func(r *analyze.Result) float64 { return float64(r.Pressure.Age.MaxNs) }},
	{"fairness.jain", "Jain's index", "", Higher, false, func(r *analyze.Result) float64 { return r.Fairness.Jain }},
	{"fairness.max_lag_ns", "largest debt of running time", "ns", Lower, false, func(r *analyze.Result) float64 { return float64(r.Fairness.MaxLagNs) }},
	{"fairness.slowdown.mean", "mean slowdown", "", Lower, false, func(r *analyze.Result) float64 { return r.Fairness.Slowdown.Mean }},
	{"fairness.slowdown.p99", "slowdown, p99", "", Lower, false, func(r *analyze.Result) float64 { return r.Fairness.Slowdown.P99 }},
	// Primary, and lower is better, where both sides did the same work: see
	// metricsFor.
	{"trace.duration_ns", "duration", "ns", Neither, false, func(r *analyze.Result) float64 { return float64(r.Trace.DurationNs) }},
	{"utilisation", "P-time that ran the program", "share", Neither, false, func(r *analyze.Result) float64 { return ratio(float64(running(r)), lifetime(r)) }},
	{"gc_share", "P-time in mark workers", "share", Neither, false, func(r *analyze.Result) float64 {
		var ns int64
		for _, p := range r.Procs.Ps {
			ns += p.GCNs
		}
		return ratio(float64(ns), lifetime(r))
	}},
	{"starts_per_s", "starts", "1/s", Neither, false, rate(func(r *analyze.Result) int64 { return r.Reconstruction.Starts })},
	{"steals_per_s", "steals", "1/s", Neither, false, rate(func(r *analyze.Result) int64 { return r.Procs.Steals.Count })},
	{"retakes_per_s", "retakes", "1/s", Neither, false, rate(func(r *analyze.Result) int64 { return r.Procs.Retakes.Count })},
	{"handoffs_per_s", "handoffs", "1/s", Neither, false, rate(func(r *analyze.Result) int64 { return r.Procs.Handoffs.Count })},
	{"preemptions_per_s", "preemptions", "1/s", Neither, false, rate(func(r *analyze.Result) int64 { return r.Procs.Preemptions.Count })},
}

func waitingShare(r *analyze.Result) float64 {
	w, x := waitingNs(r), float64(running(r))
	return ratio(w, w+x)
}

// The names of metrics that are asked for by name, besides those of userVisibleMetrics.
const (
	durationName = "trace.duration_ns"
	waitingName  = "waiting_share"
)

// metricsFor are the metrics to compare on a basis. How long a trace is says something
// only of the same work; how much got done in a second then says the same.
func metricsFor(b Basis, before, after []*analyze.Result) []metric {
	asked, ms := userVisibleMetrics(before, after), slices.Clone(metrics)
	if b == PerTrace || finished(before, after) {
		i := slices.IndexFunc(ms, func(m metric) bool { return m.name == durationName })
		d := ms[i]
		d.better, d.primary = Lower, true
		d.title = "duration of the same work"
		ms = slices.Delete(ms, i, i+1)
		asked = slices.DeleteFunc(asked, func(m metric) bool { return m.name == workName && b == PerTrace })
		asked = slices.Insert(asked, 0, d)
	}
	return append(asked, ms...)
}

func user(f func(s *waits.Summary) float64) func(r *analyze.Result) float64 {
	return func(r *analyze.Result) float64 { return f(&r.Waits.User) }
}

func rate(f func(r *analyze.Result) int64) func(r *analyze.Result) float64 {
	return func(r *analyze.Result) float64 { return ratio(float64(f(r)), float64(r.RecordedNs())/1e9) }
}

// running is the time that goroutines of the program ran, ns.
func running(r *analyze.Result) (ns int64) {
	for _, p := range r.Procs.Ps {
		ns += p.RunningNs
	}
	return ns
}

// lifetime is that of all Ps, ns, as far as it is recorded.
func lifetime(r *analyze.Result) (ns float64) {
	for _, p := range r.Procs.Ps {
		ns += float64(p.LifetimeNs - p.NotRecordedNs)
	}
	return ns
}

func ratio(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}
