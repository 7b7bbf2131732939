// Package processstopped is the detector process-stopped: was the whole process kept
// from running, at no fixed period? doc.md explains it.
package processstopped

import (
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

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if m := f.Records(); m != nil {
		return w.byKernel(f, m)
	}
	if q := f.Quota; q != nil && q.Counted().Throttled > 0 {
		return nil // cpu-throttling reports it
	}
	stops := Stops(w.view, w.silences, w.t)
	var stoppedNs, longest, cost, overdue, runs int64
	var worst findings.Silence
	b := w.silences.Beat(w.quota.PeriodNs)
	if b.IsPeriodic(w.quota.PeriodNs, w.quota.MinCount, w.quota.Chance, w.quota.Within) && 2*len(stops) >= len(b.Silences) {
		return nil
	}
	for _, s := range stops {
		stoppedNs += s.Ns()
		longest = max(longest, s.Ns())
		cost += s.Ns() * max(1, s.Running+s.Waiting)
		overdue += s.Overdue
		runs += s.Running
		if s.Ns() > worst.Ns() {
			worst = s
		}
	}
	// Where most of what stood still are threads one by one, they lacked CPUs.
	if 2*stoppedNs < w.silences.Ns+w.view.Stalls().Ns {
		return nil
	}
	if len(stops) < w.t.MinCount && (longest < w.t.AloneNs || worst.StallSigns() < 2) {
		return nil
	}
	severity, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	share := f.Share(stoppedNs)
	if share < w.t.WarningShare {
		severity = findings.Note
	}
	x := findings.Finding{
		Severity: severity, CostNs: cost, FromNs: worst.From, ToNs: worst.To, Basis: findings.Inferred,
	}
	if i := slices.IndexFunc(stops, func(s findings.Silence) bool { return s.Running > 0 }); i >= 0 {
		s := stops[i]
		a := f.Class(findings.Victim, s.Class)
		a.G, a.P = s.G, findings.OnP(s.P)
		x.Actors = append(x.Actors, a)
	}
	count := int64(len(stops))
	x.Headline = findings.Say("The whole process was stopped %s, for up to %s", quantity.Plural(count, "time", "times"), quantity.Duration(longest))
	x.Title = findings.Say("The whole process did not run %s, for up to %s at a time, %s of the recording: the machine, or whoever stops processes on it, is to blame, not the program",
		quantity.Plural(count, "time", "times"), quantity.Duration(longest), quantity.Percent(share))
	x.Measured("stops: silences that no program makes by itself", findings.Count(count), findings.Said("%d of %s, or one of %s", w.t.MinCount, quantity.Duration(w.t.StopNs), quantity.Duration(w.t.AloneNs)))
	x.Measured("their sum", findings.Time(stoppedNs).With(" (%s of the recording)", quantity.Percent(share)), findings.Share(w.t.WarningShare))
	x.Measured("the longest", findings.Time(longest))
	x.Measured("goroutines that ran into them, and went on together, summed", findings.Count(runs))
	x.Measured("timers that were due in them and fired only afterwards", findings.Count(overdue))
	x.Advise("See what stopped the process: a debugger or a SIGSTOP, a frozen or migrated virtual machine or container, a CPU limit (cpu.stat of its control group counts nr_throttled), swapping, or neighbours that own the cores. Nothing in the program helps against it.")
	x.Advise("Do not judge the program by this recording: waits, runs and locks contain the stops. Record again where it does not happen.")
	return []findings.Finding{x}
}
