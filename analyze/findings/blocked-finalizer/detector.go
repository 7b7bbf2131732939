// Package blockedfinalizer is the detector blocked-finalizer: do finalizers wait for
// something, and all others for them? doc.md explains it.
package blockedfinalizer

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	slowstage "github.com/gmpscope/gmpscope/analyze/findings/slow-stage"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "blocked-finalizer"

// Thresholds of the detector.
type Thresholds struct {
	// MinNs is how long finalizers must have been blocked, in all.
	MinNs int64 `json:"min_ns"`
	// Shares of the recording for which they were.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
}

// Default returns the default thresholds. All are our own.
func Default() Thresholds {
	return Thresholds{MinNs: 10_000_000, NoteShare: 0.05, WarningShare: 0.25, CriticalShare: 0.75}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "a finalizer that waits", Doc: doc,
		Kind: findings.KindCause, CostOf: findings.OfBlocked,
		Explains: []string{slowstage.ID, serialization.ID},
		Remedy:   findings.Remedy{Why: "the model wakes goroutines in the order of the recording"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]int{}}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.OfRuntime}, w.woken)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	sites []site
	at    map[int32]int // by stack
}

// maxSites bounds memory; what comes later is not told.
const maxSites = 1024

// site is a place where a goroutine of the runtime was blocked.
type site struct {
	stack, class int32
	g            int64
	n, ns        int64
	longest      int64
	from, to     int64 // of that
}

func (w *watcher) woken(*reference.Decision) {
	if g := w.view.Goroutine(); g.BlockedNs > 0 {
		w.blocked(g, g.BlockedNs)
	}
}

// blocked adds that g, of the runtime, has been blocked for the last ns.
func (w *watcher) blocked(g *findings.Goroutine, ns int64) {
	if !forProgram(g.Reason) {
		return
	}
	i, ok := w.at[g.Stack]
	if !ok {
		if len(w.sites) == maxSites {
			return
		}
		i = len(w.sites)
		w.sites = append(w.sites, site{stack: g.Stack, class: g.Class, g: g.ID})
		w.at[g.Stack] = i
	}
	s := &w.sites[i]
	s.n++
	s.ns += ns
	if now := w.view.Now(); ns > s.longest {
		s.longest, s.from, s.to, s.g = ns, now-ns, now, g.ID
	}
}

// forProgram reports whether a reason to block is one that the code of a program has, not
// the runtime's.
func forProgram(r reference.Reason) bool {
	switch r {
	case reference.ReasonForever, reference.ReasonNetwork, reference.ReasonSelect, reference.ReasonCond, reference.ReasonSync,
		reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSleep:
		return true
	}
	return false
}
