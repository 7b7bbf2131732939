// Package tracequality is the detector trace-quality: can what the trace shows
// be trusted? doc.md explains it.
package tracequality

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "trace-quality"

// Thresholds of the detector.
type Thresholds struct {
	// Unexplained is the share of unexplained starts above which, and
	// UnexplainedMin their number from which on, the queues are in doubt.
	Unexplained    float64 `json:"unexplained"`
	UnexplainedMin int64   `json:"unexplained_min"`
	// Tracer is the share of all P-time above which the tracer itself disturbs,
	// in a trace of at least TracerMinNs.
	Tracer      float64 `json:"tracer"`
	TracerMinNs int64   `json:"tracer_min_ns"`
	// AnnotationNs is the P-time for each annotation of the program below which
	// the annotations themselves disturb, in a trace of at least TracerMinNs.
	AnnotationNs int64 `json:"annotation_ns"`
	// ShortNs is the duration below which numbers are anecdotes.
	ShortNs int64 `json:"short_ns"`
	// Periods is how many GC cycles a trace should cover that has two or more.
	Periods int64 `json:"periods"`
}

// Default returns the default thresholds. ShortNs is ten time slices. A region, a
// task or a log takes 170 to 510 ns of the goroutine that makes it, measured on
// amd64 with Go 1.26: one for each AnnotationNs is as much as Tracer, or more.
func Default() Thresholds {
	return Thresholds{
		Unexplained: 0.01, UnexplainedMin: 10, Tracer: 0.02, TracerMinNs: 100_000_000,
		AnnotationNs: 10_000,
		ShortNs:      100_000_000, Periods: 10,
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "how far the trace can be trusted", Doc: doc,
		Kind:   findings.KindTrace,
		Remedy: findings.Remedy{Why: "it is about the trace"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, first: -1, lastGC: -1}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.Unexplained}, w.unexplained)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin}}, w.cycle)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t           Thresholds
	first, last int64 // unexplained starts
	cycles      int64
	lastGC      int64 // -1: there was none since the last gap
	slowestGC   int64
}

func (w *watcher) unexplained(d *reference.Decision) {
	if w.first < 0 {
		w.first = d.Time
	}
	w.last = d.Time
}

func (w *watcher) cycle(d *reference.Decision) {
	w.cycles++
	if w.lastGC >= 0 {
		w.slowestGC = max(w.slowestGC, d.Time-w.lastGC)
	}
	w.lastGC = d.Time
}

// lose is for a gap in the trace: how many cycles began in it is not known.
func (w *watcher) lose(*reference.Decision) { w.lastGC = -1 }
