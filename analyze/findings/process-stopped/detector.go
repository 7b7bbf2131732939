// Package processstopped is the detector process-stopped: was the whole process kept
// from running, at no fixed period? doc.md explains it.
package processstopped

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	cputhrottling "github.com/gmpscope/gmpscope/analyze/findings/cpu-throttling"
	lockconvoy "github.com/gmpscope/gmpscope/analyze/findings/lock-convoy"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
)

//go:embed doc.md
var doc string

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
		ID: ID, Title: "stops of the whole process", Doc: doc,
		Kind: findings.KindMachine, CostOf: findings.OfPTime,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID, lockconvoy.ID},
		Remedy:   findings.Remedy{Why: "CPUs are the machine's"},
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
