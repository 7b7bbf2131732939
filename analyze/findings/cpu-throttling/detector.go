// Package cputhrottling is the detector cpu-throttling: was the whole process
// stopped again and again, as a CPU quota does? doc.md explains it.
package cputhrottling

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "cpu-throttling"

// Thresholds of the detector. That of a silence, 5 ms, is in findings.View.Silences.
type Thresholds struct {
	// PeriodNs is that of the quota, and Within how far off the silences may be, as
	// a share of it.
	PeriodNs int64   `json:"period_ns"`
	Within   float64 `json:"within"`
	// EachNs: half of them come within this time after the one before, or sooner. A
	// process that meets its limit does so in most periods.
	EachNs int64 `json:"each_ns"`
	// MinCount is the least number of silences, and Chance the highest probability
	// that the regularity is none.
	MinCount int     `json:"min_count"`
	Chance   float64 `json:"chance"`
	// LongNs is the length from which on a silence means that nothing ran, if a
	// goroutine did that needs little or can be preempted. PairNs is that if two did,
	// which need not be known to yield if they seldom run for so long.
	LongNs int64 `json:"long_ns"`
	PairNs int64 `json:"pair_ns"`
	// SliceNs is how long goroutines may have run in a silence that no habit of
	// theirs contradicts.
	SliceNs int64          `json:"slice_ns"`
	Grade   findings.Grade `json:"grade"`
}

// Default returns the default thresholds. PeriodNs is the default of the Linux
// scheduler (cpu.cfs_period_us, and the second number of cpu.max), Chance is the
// usual 1 %, SliceNs the time slice (10 ms) and one sleep of sysmon, LongNs another
// sleep more, PairNs the time for sysmon's thread to wake up; see golang/go#33803
// and #73193.
func Default() Thresholds {
	return Thresholds{
		PeriodNs: 100_000_000, Within: 0.15, EachNs: 250_000_000, MinCount: 5, Chance: 0.01,
		LongNs: 30_000_000, PairNs: 22_000_000, SliceNs: 20_000_000, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "stops of the whole process, as by a CPU quota", Doc: doc,
		Kind: findings.KindMachine, CostOf: findings.OfPTime,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Why: "CPUs are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, silences: findings.NewSilences(view), ended: map[int32]int32{}}
			view.Slices(findings.SliceFilter{Whys: []reference.Why{reference.WhySlice}}, w.slice)
			return w
		},
	}
}

type watcher struct {
	t        Thresholds
	view     *findings.View
	silences *findings.Silences
	ended    map[int32]int32 // by class: where its last time slice ended that a preemption ended
}

func (w *watcher) slice(s *findings.Slice) {
	if s.N > 0 && s.Stack != 0 {
		w.ended[s.Classes[0]] = s.Stack
	}
}
