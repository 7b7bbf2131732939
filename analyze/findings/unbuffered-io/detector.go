// Package unbufferedio is the detector unbuffered-io: does somebody read or write little
// by little, with a system call each time? doc.md explains it.
package unbufferedio

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	pthrash "github.com/gmpscope/gmpscope/analyze/findings/p-thrash"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "unbuffered-io"

// Thresholds of the detector.
type Thresholds struct {
	// MinRow is how many calls there must be in a run interval, on average.
	MinRow float64 `json:"min_row"`
	// ShortNs is how long the calls may take on average: those that take longer do more.
	ShortNs int64 `json:"short_ns"`
	// ShortSocketNs is the same of calls of package net: the protocol is at work in them.
	ShortSocketNs int64 `json:"short_socket_ns"`
	// PerSecond is how many there must be in a second of the recording.
	PerSecond float64 `json:"per_second"`
	// MinNs is the least time that they take.
	MinNs int64 `json:"min_ns"`
	// Shares of the P-time that was not idle that the calls take.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
}

// Default returns the default thresholds. A system call takes from some 100 ns to a
// microsecond before it does anything; a send of some bytes by TCP on loopback took 4 to 7 µs
// where we measured it, one of 32 kB 9 µs and more. The thresholds are ours.
func Default() Thresholds {
	return Thresholds{MinRow: 20, ShortNs: 4_000, ShortSocketNs: 8_000, PerSecond: 5_000, MinNs: 5_000_000, NoteShare: 0.05, WarningShare: 0.2, CriticalShare: 0.5}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "small reads and writes without a buffer", Doc: doc,
		Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Explains: []string{pthrash.ID},
		Remedy:   findings.Remedy{Why: "the model makes the system calls of the recording"},
		New:      func(view *findings.View) findings.Watcher { return &watcher{t, view} },
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View
}
