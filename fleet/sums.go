package fleet

import (
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// sums is what some traces did together.
type sums struct {
	traces, incomplete, durationNs, starts, unexplained int64
	user                                                Waits
	ps                                                  Ps
	jain, parallelism, pressure                         Histogram
}

func (s *sums) add(r *Record) {
	s.traces++
	if t := &r.Trace; t.Incomplete || t.LostBytes > 0 || t.LostNs > 0 {
		s.incomplete++
	}
	s.durationNs = add(s.durationNs, r.Trace.DurationNs)
	s.starts, s.unexplained = add(s.starts, r.Starts.Count), add(s.unexplained, r.Starts.Unexplained)
	s.user.merge(&r.User)
	s.ps.merge(&r.Ps)
	s.jain.Add(r.Spread.Jain, 1)
	s.parallelism.Add(r.Spread.Parallelism, 1)
	s.pressure.Add(r.Spread.Pressure, 1)
}

func (s *sums) document() jsondoc.FleetSums {
	return jsondoc.FleetSums{
		Traces: s.traces, Incomplete: s.incomplete, DurationNs: s.durationNs, RunningNs: s.ps.RunningNs,
		Waits: s.user.Count, WaitingNs: s.user.TotalNs, WaitingPerRunning: per(s.user.TotalNs, s.ps.RunningNs),
		P50Ns: s.quantile(0.5), P99Ns: s.quantile(0.99), TimeP50Ns: min(s.user.Histogram.TimeQuantile(0.5), s.user.MaxNs), MaxNs: s.user.MaxNs,
		Causes: causeTimes(&s.user.Causes), IdleNs: s.ps.IdleNs, PNs: max(0, s.ps.LifetimeNs-s.ps.UnusedNs-s.ps.NotRecordedNs),
		Starts: s.starts, Unexplained: s.unexplained, Steals: s.ps.Steals, Handoffs: s.ps.Handoffs, Retakes: s.ps.Retakes, Preemptions: s.ps.Preemptions,
		Jain: spreadOf(s.jain), Parallelism: spreadOf(s.parallelism), Pressure: spreadOf(s.pressure),
	}
}

func (s *sums) quantile(q float64) int64 { return min(s.user.Histogram.Quantile(q), s.user.MaxNs) }

func spreadOf(h Histogram) jsondoc.FleetSpread {
	return jsondoc.FleetSpread{P10: unit(h.Quantile(0.1)), P50: unit(h.Quantile(0.5)), P90: unit(h.Quantile(0.9))}
}

// unit is what a number of millionths is.
func unit(millionths int64) float64 { return float64(millionths) / 1e6 }

func causeTimes(c *Causes) []waits.CauseTime {
	out := make([]waits.CauseTime, 0, len(c))
	for i, cause := range waits.Causes() {
		out = append(out, waits.CauseTime{Cause: cause, Ns: c[i]})
	}
	return out
}

// largest returns the cause that owns most; empty if none owns anything.
func (c *Causes) largest() string {
	most, name := int64(0), waits.Cause("")
	for i, cause := range waits.Causes() {
		if c[i] > most {
			most, name = c[i], cause
		}
	}
	return string(name)
}

// per is a by b, 0 without b.
func per(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// maxRatio bounds a ratio, in millionths.
const maxRatio = 1 << 41

// ratio is waiting by running time in millionths. It is not ok for what did not run.
func ratio(waiting, running int64) (millionths int64, ok bool) {
	if running <= 0 {
		return 0, false
	}
	return int64(min(per(waiting, running)*1e6, maxRatio)), true
}
