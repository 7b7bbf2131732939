package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// ErrNoTraces reports that a side has no trace.
var ErrNoTraces = errors.New("no traces on one side")

// Compare compares the results of traces from before a change with those from after it.
// It retains none of them. The same results in the same order give the same comparison.
func Compare(before, after []*analyze.Result) (*Result, error) {
	if len(before) == 0 || len(after) == 0 {
		return nil, ErrNoTraces
	}
	for _, r := range slices.Concat(before, after) {
		if r.DecisionsOnly {
			return nil, fmt.Errorf("comparing %s: it was not measured (Options.DecisionsOnly)", r.Trace.Name)
		}
	}
	r := &Result{Before: sideOf(before), After: sideOf(after), Machine: machineOf(before, after)}
	r.Basis = basisOf(&r.Before, &r.After)
	var cs []*candidate
	r.Work, cs = kindChanges(before, after, r.Basis)
	for i := range r.Work {
		explain(&r.Work[i], before, after)
	}
	decisions := r.decisions(before, after, cs)
	r.Metrics = []Metric{}
	for _, d := range decisions {
		if d.kind != nil {
			d.kind.Metrics = append(d.kind.Metrics, *d.Metric)
		} else {
			r.Metrics = append(r.Metrics, *d.Metric)
		}
	}
	for i := range described {
		r.Metrics = append(r.Metrics, described[i].describe(before, after))
	}
	whole := plain(slices.Concat(before, after))
	b, a := accountOf(before, r.Basis, whole), accountOf(after, r.Basis, whole)
	r.Waiting = Waiting{BeforeNs: b.total, AfterNs: a.total, DeltaNs: a.total - b.total}
	for _, c := range waits.Causes() {
		r.Causes = append(r.Causes, CauseChange{Cause: string(c), BeforeNs: b.causes[c], AfterNs: a.causes[c], DeltaNs: a.causes[c] - b.causes[c]})
	}
	r.Classes = classesOf(&b, &a)
	r.Distribution = distribution(before, after)
	r.Renames = renames(r.Classes)
	r.Findings = changes(before, after, r.Basis)
	for _, x := range slices.Concat(before, after) {
		r.Suppressed = append(r.Suppressed, x.Suppressed...)
	}
	r.Suppressed = findings.MergeSuppressed(r.Suppressed)
	r.Caveats = caveats(r, before, after)
	r.judge(decisions)
	return r, nil
}

func sideOf(rs []*analyze.Result) Side {
	s := Side{N: len(rs)}
	var durations, runs, starts []int64
	for _, r := range rs {
		s.CPUs = max(s.CPUs, r.Trace.CPUs)
		s.Traces = append(s.Traces, r.Trace.Name)
		durations = append(durations, r.RecordedNs())
		runs = append(runs, running(r))
		starts = append(starts, r.Reconstruction.Starts)
		s.GOMAXPROCS = append(s.GOMAXPROCS, r.Trace.GOMAXPROCS)
		s.GoVersions = append(s.GoVersions, r.Trace.GoVersion)
		s.Rules = analyze.AddRules(s.Rules, r.Trace.Rules)
	}
	slices.Sort(s.GOMAXPROCS)
	slices.Sort(s.GoVersions)
	s.GOMAXPROCS, s.GoVersions = slices.Compact(s.GOMAXPROCS), slices.Compact(s.GoVersions)
	s.DurationNs, s.RunningNs, s.Starts = middle(durations), middle(runs), middle(starts)
	return s
}

// caveats reports what differs besides the change, and what cannot be concluded.
func caveats(r *Result, before, after []*analyze.Result) []string {
	out := []string{}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	b, a := &r.Before, &r.After
	out = append(out, r.Machine.Differs...)
	if !slices.Equal(b.GOMAXPROCS, a.GOMAXPROCS) {
		say("GOMAXPROCS differs: %s before, %s after.", list(b.GOMAXPROCS), list(a.GOMAXPROCS))
	}
	switch {
	case b.CPUs != a.CPUs:
		say("The CPUs that the processes had, as told, differ: %s before, %s after (0: not told).", quantity.Number(b.CPUs), quantity.Number(a.CPUs))
	case b.CPUs > 0:
		say("The process had %s (as told), before and after.", quantity.Amount(b.CPUs, "CPU", "CPUs"))
	}
	if !slices.Equal(b.GoVersions, a.GoVersions) {
		say("The Go versions differ: %s before, %s after; the rules of the scheduler may, too.", list(b.GoVersions), list(a.GoVersions))
	}
	if far(float64(b.DurationNs), float64(a.DurationNs)) {
		say("The traces are of different length: %s before, %s after (medians).", quantity.Duration(b.DurationNs), quantity.Duration(a.DurationNs))
	}
	switch r.Basis {
	case PerSecond:
		say("The work differs but the load is the same, so waiting is given per second of trace.")
	case PerRunning:
		say("The load differs: the program kept %s busy before and %s after, on average; waiting is given per second of running, and part of the change may be the load's.",
			quantity.Amount(quantity.Ratio(float64(b.RunningNs), float64(b.DurationNs)), "P", "Ps"), quantity.Amount(quantity.Ratio(float64(a.RunningNs), float64(a.DurationNs)), "P", "Ps"))
	}
	if r.Machine.Busy && len(r.Machine.Differs) == 0 {
		say("Threads seem to have lacked CPUs in at least one trace: programs differ more from one run to the next then, which is allowed for.")
	}
	if slices.ContainsFunc(slices.Concat(before, after), func(r *analyze.Result) bool { return r.Trace.Incomplete || r.Trace.LostBytes > 0 }) {
		say("At least one trace is incomplete or damaged; what is missing is not compared.")
	}
	reduced := func(rs []*analyze.Result) bool {
		return slices.ContainsFunc(rs, func(r *analyze.Result) bool { return r.Trace.Reduced })
	}
	if reduced(before) != reduced(after) {
		say("Only one side has run queues: the other was written by Go 1.21 or older.")
	}
	return out
}

func far(x, y float64) bool { return math.Abs(x-y) > alike*max(x, y) }

func list[T any](xs []T) string {
	var parts []string
	for _, x := range xs {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ", ")
}
