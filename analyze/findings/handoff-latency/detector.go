// Package handofflatency is the detector handoff-latency: did work wait for the
// thread that a P was handed to? doc.md explains it.
package handofflatency

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
const ID = "handoff-latency"

// Thresholds of the detector.
type Thresholds struct {
	// LateNs is the length from which on a hand-over counts: several times what
	// it takes to wake a thread that waits, 2 to 8 µs (golang/go#18023; measured).
	LateNs   int64 `json:"late_ns"`
	MinCount int64 `json:"min_count"` // of late ones, from which on it is more than a note
	// Still is the share of the P-time that must have passed in hand-overs for
	// more than a note. Below, whatever takes the Ps is the trouble. The share
	// for critical is that of Grade.
	Still float64        `json:"still"`
	Grade findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{LateNs: 20_000, MinCount: 20, Still: 0.05, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "work that waited for the thread a P was handed to", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Why: "threads are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, threads: map[int64]struct{}{}}
			view.Handovers(w.handover)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStart}}, w.pStart)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	threads map[int64]struct{} // that had a P
	lastM   []int64            // by P; spares most look-ups
	fresh   []bool             // by P: its thread was not seen before

	victims findings.Tally // by class of the one that ran first
	givers  findings.Tally
	n       int64 // hand-overs with somebody waiting
	sum     int64
	late    int64
	made    int64 // of the late ones, to threads not seen before
	bars    [len(limits) + 1]int64
}

// limits of the bars that the evidence shows, in ns.
var limits = [...]int64{20_000, 100_000, 1_000_000, 10_000_000}

// maxThreads bounds the threads that are told apart; later ones count as seen.
const maxThreads = 1 << 16

func (w *watcher) pStart(d *reference.Decision) {
	if uint32(d.P) >= uint32(len(w.lastM)) {
		if d.P < 0 || d.P >= w.view.KnownPs() {
			return
		}
		for int(d.P) >= len(w.lastM) {
			w.lastM, w.fresh = append(w.lastM, reference.NoM), append(w.fresh, false)
		}
	}
	w.fresh[d.P] = false
	if w.lastM[d.P] == d.M {
		return
	}
	w.lastM[d.P] = d.M
	if _, ok := w.threads[d.M]; !ok && len(w.threads) < maxThreads {
		w.threads[d.M] = struct{}{}
		w.fresh[d.P] = true
	}
}

func (w *watcher) handover(h *findings.Handover) {
	ns := h.To - h.From
	made := int(h.P) < len(w.fresh) && w.fresh[h.P]
	// Between threads that goroutines are wired to, it is locked-thread-penalty's.
	if h.Ns == 0 || h.Why == reference.WhyLocked && !made {
		return
	}
	w.n++
	w.sum += ns
	bar := 0
	for bar < len(limits) && ns >= limits[bar] {
		bar++
	}
	w.bars[bar]++
	if ns < w.t.LateNs {
		return
	}
	w.late++
	if made {
		w.made++
	}
	w.victims.Add(&findings.Cell{Class: h.Class, Ns: h.Ns, From: h.From, To: h.To, G: h.G, P: h.P})
	w.givers.Add(&findings.Cell{Class: h.GiverClass, Ns: h.Ns, From: h.From, To: h.To, G: h.Giver, P: h.P, Stack: h.GiverStack})
}
