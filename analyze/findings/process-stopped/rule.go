// Package processstopped is the detector process-stopped: was the whole process kept
// from running, at no fixed period? doc.md explains it.
package processstopped

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	lockconvoy "github.com/gmpscope/gmpscope/analyze/findings/lock-convoy"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// ID of the detector.
const ID = "process-stopped"

// Thresholds of the detector. That of a silence, 5 ms, is in findings.View.Silences.
type Thresholds struct {
	// StopNs is the least length of a stop, and MinCount how many there must be; one of
	// AloneNs suffices, if there are two signs of it.
	StopNs   int64 `json:"stop_ns"`
	MinCount int   `json:"min_count"`
	AloneNs  int64 `json:"alone_ns"`
	// PairNs is the length by which a silence is a stop if two goroutines ran, and went on
	// together.
	PairNs int64 `json:"pair_ns"`
	// WarningShare is the share of the duration in stops from which on it may be more
	// than a note.
	WarningShare float64        `json:"warning_share"`
	Grade        findings.Grade `json:"grade"`
}

// Default returns the default thresholds. PairNs is a time slice of 10 ms and two
// sleeps of the runtime's watcher (sysmon) of up to 10 ms; StopNs is above the turns that busy neighbours on the same CPUs take. The rest is ours.
func Default() Thresholds {
	return Thresholds{StopNs: 10_000_000, MinCount: 2, AloneNs: 30_000_000, PairNs: 30_000_000, WarningShare: 0.05, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t. What cpu-throttling reports by its
// thresholds, quota, is left to that.
func New(t Thresholds, quota cputhrottling.Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindMachine, CostOf: findings.OfPTime,
		Delays: true, Explains: []string{lockconvoy.ID},
		Remedy: findings.Remedy{Why: "CPUs are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			return &watcher{t: t, quota: quota, view: view, silences: findings.NewSilences(view)}
		},
	}
}

type watcher struct {
	t        Thresholds
	quota    cputhrottling.Thresholds
	view     *findings.View
	silences *findings.Silences
}

// Stops returns the silences in which, by thresholds t, the process was stopped. Threads that
// lacked CPUs, spin or wait for a page go on one by one; those of a process that was stopped go
// on together.
func Stops(view *findings.View, silences *findings.Silences, t Thresholds) (out []findings.Silence) {
	for _, s := range silences.All() {
		if s.Ns() < t.StopNs || s.WentOn < s.Running {
			continue
		}
		overdue := s.Overdue >= 1 && (s.StallSigns() >= 2 || s.Ns() >= 2*t.StopNs)
		together := s.Running >= 2 && s.Ns() >= t.PairNs && !view.ClassStat(s.Class).OftenRunsFor(s.Ns())
		if overdue || together {
			out = append(out, s)
		}
	}
	return out
}

// evidence is what a finding says.
type evidence struct {
	stops         []findings.Silence
	ns, longest   int64
	cost          int64 // goroutine-time
	overdue, runs int64 // timers, and goroutines that ran
	worst         findings.Silence
	share         float64 // of the duration
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if m := f.Records(); m != nil {
		return w.byKernel(f, m)
	}
	if q := f.Quota; q != nil && q.Counted().Throttled > 0 {
		return nil // cpu-throttling reports it
	}
	n := evidence{stops: Stops(w.view, w.silences, w.t)}
	b := w.silences.Beat(w.quota.PeriodNs)
	if b.IsPeriodic(w.quota.PeriodNs, w.quota.MinCount, w.quota.Chance, w.quota.Within) && 2*len(n.stops) >= len(b.Silences) {
		return nil
	}
	for _, s := range n.stops {
		n.ns += s.Ns()
		n.longest = max(n.longest, s.Ns())
		n.cost += s.Ns() * max(1, s.Running+s.Waiting)
		n.overdue += s.Overdue
		n.runs += s.Running
		if s.Ns() > n.worst.Ns() {
			n.worst = s
		}
	}
	// Where most of what stood still are threads one by one, they lacked CPUs.
	if 2*n.ns < w.silences.Ns+w.view.Stalls().Ns {
		return nil
	}
	if len(n.stops) < w.t.MinCount && (n.longest < w.t.AloneNs || n.worst.StallSigns() < 2) {
		return nil
	}
	severity, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	if n.share = f.Share(n.ns); n.share < w.t.WarningShare {
		severity = findings.Note
	}
	x := findings.Finding{
		Severity: severity, CostNs: n.cost, FromNs: n.worst.From, ToNs: n.worst.To, Basis: findings.Inferred,
	}
	if i := slices.IndexFunc(n.stops, func(s findings.Silence) bool { return s.Running > 0 }); i >= 0 {
		s := n.stops[i]
		a := f.Class(findings.Victim, s.Class)
		a.G, a.P = s.G, findings.OnP(s.P)
		x.Actors = append(x.Actors, a)
	}
	w.phrase(f, &x, &n)
	return []findings.Finding{x}
}

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	count := int64(len(n.stops))
	x.Headline = fmt.Sprintf("The whole process was stopped %s, for up to %s", quantity.Plural(count, "time", "times"), quantity.Duration(n.longest))
	x.Title = fmt.Sprintf("The whole process did not run %s, for up to %s at a time, %s of the recording: the machine, or whoever stops processes on it, is to blame, not the program",
		quantity.Plural(count, "time", "times"), quantity.Duration(n.longest), quantity.Percent(n.share))
	x.Evidence = []findings.Evidence{
		{What: "stops: silences that no program makes by itself", Value: quantity.Count(count), Limit: fmt.Sprintf("%d of %s, or one of %s", w.t.MinCount, quantity.Duration(w.t.StopNs), quantity.Duration(w.t.AloneNs))},
		{What: "their sum", Value: quantity.Duration(n.ns) + " (" + quantity.Percent(n.share) + " of the recording)", Limit: quantity.Percent(w.t.WarningShare), Ns: n.ns},
		{What: "the longest", Value: quantity.Duration(n.longest), Ns: n.longest},
		{What: "goroutines that ran into them, and went on together, summed", Value: quantity.Count(n.runs)},
		{What: "timers that were due in them and fired only afterwards", Value: quantity.Count(n.overdue)},
	}
	x.Advice = []string{
		"See what stopped the process: a debugger or a SIGSTOP, a frozen or migrated virtual machine or container, a CPU limit (cpu.stat of its control group counts nr_throttled), swapping, or neighbours that own the cores. Nothing in the program helps against it.",
		"Do not judge the program by this recording: waits, runs and locks contain the stops. Record again where it does not happen.",
	}
}
