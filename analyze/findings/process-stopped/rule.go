// Package processstopped is the detector process-stopped: was the whole process kept
// from running, at no fixed period? doc.md explains it.
package processstopped

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	lockconvoy "github.com/gmpscope/gmpscope/analyze/findings/lock-convoy"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "process-stopped"

// Thresholds decide when the detector reports stops of the whole process at no fixed period.
// Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1. A silence
// lasts at least 5 ms: see findings.View.Silences.
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
	Grade        findings.Grade `json:"grade"` // severities, by the goroutine-time that stood still
}

// Default returns the thresholds that apply unless a configuration sets others. PairNs is a
// time slice of 10 ms and two sleeps of the runtime's watcher (sysmon) of up to 10 ms; StopNs
// is above the turns that busy neighbours on the same CPUs take. The rest is ours.
func Default() Thresholds {
	return Thresholds{StopNs: 10_000_000, MinCount: 2, AloneNs: 30_000_000, PairNs: 30_000_000, WarningShare: 0.05, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports stops of the whole process at no fixed period, with
// thresholds t. Silences in which that of cpu-throttling, with thresholds quota, sees a CPU
// quota are left to it.
func New(t Thresholds, quota cputhrottling.Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindMachine, CostOf: findings.OfPTime, Delays: true, Explains: []string{lockconvoy.ID},
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

// stops are the silences in which the whole process was stopped. Its signs are goroutines that go on
// together: threads that lacked CPUs, spin or wait for a page go on one by one.
func (w *watcher) stops() (out []findings.Silence) {
	for _, s := range w.silences.All() {
		if s.Ns() < w.t.StopNs || s.WentOn < s.Running {
			continue
		}
		overdue := s.Overdue >= 1 && (s.StallSigns() >= 2 || s.Ns() >= 2*w.t.StopNs)
		together := s.Running >= 2 && s.Ns() >= w.t.PairNs && !w.view.ClassStat(s.Class).OftenRunsFor(s.Ns())
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
	stops := w.stops()
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
	share := f.Share(stoppedNs)
	severity, ok := w.severity(f, cost, share)
	if !ok {
		return nil
	}
	x := findings.Finding{
		Severity: severity, CostNs: cost, FromNs: worst.From, ToNs: worst.To, Basis: findings.Inferred,
	}
	if i := slices.IndexFunc(stops, func(s findings.Silence) bool { return s.Running > 0 }); i >= 0 {
		s := stops[i]
		x.Actors = append(x.Actors, (&findings.Cell{Class: s.Class, G: s.G, P: s.P}).Actor(f, findings.Victim))
	}
	count := int64(len(stops))
	times := quantity.Plural(count, "time", "times")
	x.Headline = findings.Say("The whole process was stopped %s, for up to %s", times, quantity.Duration(longest))
	x.Title = findings.Say("The whole process did not run %s, for up to %s at a time, %s of the recording: the machine, or whoever stops processes on it, is to blame, not the program",
		times, quantity.Duration(longest), quantity.Percent(share))
	x.Measured("stops: silences that no program makes by itself", findings.Count(count), findings.Said("%d of %s, or one of %s", w.t.MinCount, quantity.Duration(w.t.StopNs), quantity.Duration(w.t.AloneNs)))
	x.Measured("their sum", findings.Time(stoppedNs).With(" (%s of the recording)", quantity.Percent(share)), findings.Share(w.t.WarningShare))
	x.Measured("the longest", findings.Time(longest))
	x.Measured("goroutines that ran into them, and went on together, summed", findings.Count(runs))
	x.Measured("timers that were due in them and fired only afterwards", findings.Count(overdue))
	x.Advise("See what stopped the process: a debugger or a SIGSTOP, a frozen or migrated virtual machine or container, a CPU limit (cpu.stat of its control group counts nr_throttled), swapping, or neighbours that own the cores. Nothing in the program helps against it.")
	x.Advise(again)
	return []findings.Finding{x}
}

// byKernel judges by the kernel's records: threads that were stopped are in them, also of
// a process without work.
func (w *watcher) byKernel(f *findings.Facts, m *kernel.Machine) []findings.Finding {
	s := &m.Stops
	cost, share := max(m.Off.StoppedNs, s.TotalNs), f.Share(s.TotalNs)
	severity, ok := w.severity(f, cost, share)
	if !ok {
		return nil
	}
	count := quantity.Plural(s.Count, "time", "times")
	x := findings.Finding{
		Severity: severity, CostNs: cost, FromNs: s.LongestAt, ToNs: s.LongestAt + s.LongestNs, Basis: findings.Certain, Proven: true, Actors: f.OffVictims(m),
		Headline: findings.Say("The process was stopped %s by a signal, for up to %s", count, quantity.Duration(s.LongestNs)),
		Title: findings.Say("The process was stopped %s by a signal or a debugger, for up to %s at a time, %s of the recording, as the kernel's records show: whoever stops it is to blame, not the program",
			count, quantity.Duration(s.LongestNs), quantity.Percent(share)),
		Evidence: append(findings.EvidenceOf(m),
			findings.Measured("stops: threads were in the state T, stopped", findings.Count(s.Count)),
			findings.Measured("their sum", findings.Time(s.TotalNs).With(" (%s of the recording)", quantity.Percent(share)), findings.Share(w.t.WarningShare)),
			findings.Measured("goroutines that ran into them, summed", findings.Time(m.Off.StoppedNs))),
	}
	x.Advise("See who sent SIGSTOP or SIGTSTP: a debugger, a supervisor, a shell's job control, a checkpoint. Nothing in the program helps against it.")
	x.Advise(again)
	return []findings.Finding{x}
}

const again = "Do not judge the program by this recording: waits, runs and locks contain the stops. Record again where it does not happen."

// severity is that of stops with a cost and a share of the recording.
func (w *watcher) severity(f *findings.Facts, cost int64, share float64) (s findings.Severity, ok bool) {
	s, ok = w.t.Grade.Severity(cost, f.RecordedNs())
	if ok && share < w.t.WarningShare {
		s = findings.Note
	}
	return s, ok
}
