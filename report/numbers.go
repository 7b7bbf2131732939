package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// A measured is a thing that numbers are about, which [WriteBench] and [WriteOpenMetrics] write:
// the trace, a cause of waiting, a detector, a kind of units of work, or a class of goroutines.
type measured struct {
	kind    string // "" for the trace
	tags    []tag
	numbers []number
	samples [][]number // of numbers in parts of the trace, where there is enough for each
}

// A tag distinguishes one measured from others of its kind.
type tag struct{ key, value string }

// A number is one value. Names are words with "_" between them, without the unit.
type number struct {
	name, help string
	unit       unit
	value      float64 // of unit seconds: in ns
}

// A unit is that of OpenMetrics; numbers of things have none.
type unit string

const (
	none    unit = ""
	seconds unit = "seconds"
	ratio   unit = "ratio"
)

// inUnit is the value in the number's unit; 0 where that is no number, as in JSON.
func (n *number) inUnit() float64 {
	if n.unit == seconds {
		return quantity.Finite(n.value) / 1e9
	}
	return quantity.Finite(n.value)
}

func count(name, help string, n int64) number {
	return number{name, help, none, float64(n)}
}

func duration(name, help string, ns int64) number {
	return number{name, help, seconds, float64(ns)}
}

// subjectsOf lists what the numbers of doc are about, those of a kind one after the
// other. Those of a kind have the same numbers, in the same order.
func subjectsOf(doc *Document) []measured {
	r := doc.Result
	out := []measured{{numbers: numbersOfTrace(r)}}
	for _, c := range r.Waits.User.Causes {
		out = append(out, measured{kind: "cause", tags: []tag{{"cause", string(c.Cause)}}, numbers: []number{
			duration("wait", "waiting of the program's goroutines that the cause owns", c.Ns),
		}})
	}
	out = append(out, findingSubjects(r)...)
	seen := map[[3]string]int{}
	for i := range r.Work.Kinds {
		if k := &r.Work.Kinds[i]; k.Count > 0 {
			name, class := words.Visible(k.Name), words.Visible(k.Class)
			key := [3]string{name, class, k.How}
			if seen[key]++; seen[key] > 1 {
				name += fmt.Sprintf("#%02d", seen[key]-1)
			}
			out = append(out, measured{kind: "work", tags: []tag{{"kind", name}, {"class", class}, {"how", k.How}}, samples: samplesOf(k, r.EndNs()), numbers: []number{
				count("units", "units of work that ended", k.Count),
				{"throughput", "units that ended, a second", none, k.PerS},
				{"concurrency", "units under way, on average", none, k.Concurrency},
				duration("latency_mean", "how long a unit takes, on average", k.TotalNs/k.Count),
				duration("latency_p50", "latency that half of the units do not exceed", k.Latency.P50Ns),
				duration("latency_p95", "latency that 95 % of the units do not exceed", k.Latency.P95Ns),
				duration("latency_p99", "latency that 99 % of the units do not exceed", k.Latency.P99Ns),
				duration("unit_running", "for how long a unit's own goroutine ran, on average", k.RunningNs),
			}})
		}
	}
	return append(out, classSubjects(r)...)
}

// benchSamples is how many samples benchstat wants for its intervals; unitsOfSample is how many units
// make one.
const benchSamples, unitsOfSample = 6, 5

// samplesOf returns throughput and latency of a kind in consecutive parts of the trace, which ends at
// a time, ns; nil if one of them has few units.
func samplesOf(k *work.UnitKind, end int64) (out [][]number) {
	s := &k.Series
	if s.BinNs == 0 || len(s.Cells) == 0 {
		return nil
	}
	bins := int((end - s.FromNs + s.BinNs - 1) / s.BinNs)
	for i := range benchSamples {
		from, to := i*bins/benchSamples, (i+1)*bins/benchSamples
		var n, ns int64
		for _, c := range s.Cells {
			if from <= c.Bin && c.Bin < to {
				n, ns = n+c.Count, ns+c.TotalNs
			}
		}
		if n < unitsOfSample {
			return nil
		}
		wide := min(s.FromNs+int64(to)*s.BinNs, end) - s.FromNs - int64(from)*s.BinNs
		out = append(out, []number{
			{"throughput", "", none, float64(n) * 1e9 / float64(wide)},
			duration("latency_mean", "", ns/n),
		})
	}
	return out
}

func numbersOfTrace(r *analyze.Result) []number {
	w := &r.Waits.User
	out := []number{
		duration("duration", "time that was measured", r.EndNs()-r.BeginNs()),
		duration("lost", "time of which events are lost", r.Trace.LostNs),
		count("lost_bytes", "bytes of the trace that could not be read or used", r.Trace.LostBytes),
		duration("wait", "waiting of the program's goroutines from runnable to running", w.TotalNs),
	}
	out = append(out, distribution(w)...)
	out = append(out,
		duration("wait_p50_by_time", "wait that half of all waiting is in, or longer", w.TimeWeighted.P50),
		count("waits", "waits that ended", w.Count),
		count("starts", "transitions from runnable to running", r.Reconstruction.Starts),
		count("starts_unexplained", "starts that no rule of the scheduler explains", r.Reconstruction.Unexplained),
	)
	ps := AllPs(r.Procs.Ps)
	out = append(out,
		duration("running", "P-time in goroutines of the program", ps.RunningNs),
		duration("gc", "P-time in mark workers", ps.GCNs),
		duration("syscall", "P-time in system calls", ps.SyscallNs),
		duration("idle", "P-time without a thread", ps.IdleNs),
		number{"idle", "share of the usable P-time without a thread", ratio, float64(ps.IdleNs) / float64(max(1, ps.UsableNs()))},
		number{"pressure_some", "share of the time in which a goroutine was runnable", ratio, r.Pressure.Some},
		number{"unclaimed_idle", "share of P-time that was idle while work was queued", ratio, r.Pressure.UnclaimedIdle},
		count("preemptions", "goroutines made to yield", r.Procs.Preemptions.Count),
	)
	if r.Trace.Reduced { // an old trace does not show the rest
		return out
	}
	return append(out,
		count("steals", "steals from another P's run queue", r.Procs.Steals.Count),
		count("stolen", "goroutines that steals moved", r.Procs.Steals.Moved),
		count("handoffs", "Ps given to another thread", r.Procs.Handoffs.Count),
		count("retakes", "Ps taken from threads in system calls", r.Procs.Retakes.Count),
	)
}

// distribution is how long single waits were; each counts once.
func distribution(w *waits.Summary) []number {
	return []number{
		duration("wait_p50", "wait that half of the waits do not exceed", w.P50),
		duration("wait_p90", "wait that 90 % of the waits do not exceed", w.P90),
		duration("wait_p99", "wait that 99 % of the waits do not exceed", w.P99),
		duration("wait_max", "longest wait", w.MaxNs),
	}
}

// findingSubjects has one for each detector that ran, so that a finding that goes away shows as 0.
func findingSubjects(r *analyze.Result) []measured {
	found, cost := map[string]int64{}, map[string]int64{}
	for i := range r.Findings {
		found[r.Findings[i].ID]++
		cost[r.Findings[i].ID] += r.Findings[i].CostNs
	}
	var out []measured
	for _, d := range r.Detectors {
		out = append(out, measured{kind: "finding", tags: []tag{{"id", d.ID}}, numbers: []number{
			count("found", "findings of the detector, without those that are suppressed", found[d.ID]),
			duration("cost", "goroutine-time lost, by all findings of the detector", cost[d.ID]),
		}})
	}
	return out
}

func classSubjects(r *analyze.Result) []measured {
	var out []measured
	seen := map[[2]string]int{}
	for i := range r.Waits.Classes {
		c := &r.Waits.Classes[i]
		name, creator := className(c), words.Visible(c.Creator)
		key := [2]string{name, creator}
		if seen[key]++; seen[key] > 1 { // as package testing tells subtests of one name apart
			creator += fmt.Sprintf("#%02d", seen[key]-1)
		}
		out = append(out, measured{kind: "class", tags: []tag{{"class", name}, {"creator", creator}}, numbers: slices.Concat(
			[]number{duration("wait", "waiting of the class", c.Waits.TotalNs)}, distribution(&c.Waits), []number{
				count("waits", "waits of the class that ended", c.Waits.Count),
				duration("running", "running time of the class", c.RunningNs),
				count("goroutines", "goroutines of the class", c.Goroutines),
			})})
	}
	return out
}

// className is the full name of a class, which does not depend on what else is in the
// trace, so that traces can be compared.
func className(c *waits.Class) string {
	switch {
	case c.ID == waits.ClassOthers:
		return "(others)"
	case c.Name == "":
		return "(unknown)"
	}
	return strings.TrimSpace(words.Visible(c.Name))
}
