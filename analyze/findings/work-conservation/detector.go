// Package workconservation is the detector work-conservation: did Ps idle while
// goroutines waited? doc.md explains it.
package workconservation

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "work-conservation"

// Thresholds of the detector. Shares are of all P-time.
type Thresholds struct {
	IntervalNs    int64   `json:"interval_ns"` // shorter ones are a thread waking up
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
	// Least goroutine-time, and least number of intervals.
	NoteNs     int64 `json:"note_ns"`
	WarningNs  int64 `json:"warning_ns"`
	CriticalNs int64 `json:"critical_ns"`
	MinCount   int64 `json:"min_count"`
	// It is but a note where fewer than WarningCount intervals lost less than
	// CriticalNs; and where they last less than LateNs on average, as threads do to
	// wake up beside other processes, unless ManyShare is lost.
	WarningCount int64   `json:"warning_count"`
	LateNs       int64   `json:"late_ns"`
	ManyShare    float64 `json:"many_share"`
	// AfterSTWNs is how long after a stop-the-world an interval counts as a slow
	// restart.
	AfterSTWNs int64 `json:"after_stw_ns"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{
		IntervalNs: 100_000, NoteShare: 0.01, WarningShare: 0.02, CriticalShare: 0.2,
		NoteNs: 1_000_000, WarningNs: 10_000_000, CriticalNs: 100_000_000, MinCount: 3,
		WarningCount: 10, LateNs: 1_000_000, ManyShare: 0.1, AfterSTWNs: 1_000_000,
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "idle Ps beside waiting goroutines", Doc: doc,
		Kind: findings.KindCause, CostOf: findings.OfIdle, NeedsQueues: true, Strains: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Why: "the model leaves no P idle longer than threads take to wake up: the gain is in the split's excess"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, start: -1, restarted: -1}
			view.IdlePs(w.add)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	idle      []int64 // by P: since when; -1: not
	last      int64   // when it was looked at
	lost      int64   // View.UnservedByIdlePs, since last
	start     int64   // of the interval; -1: none
	cost      int64   // of the interval
	restarted int64   // end of the last stop-the-world

	victims  findings.Tally
	length   int64 // of all long intervals
	longest  int64
	restarts int64
	worst    int64
	worstP   int32
	worstFor int64 // how long that P had been idle
}

func (w *watcher) add(d *reference.Decision) {
	if dt := w.view.Now() - w.last; dt > 0 {
		w.cost += w.lost * dt
		w.last += dt
	}
	w.lost = w.view.UnservedByIdlePs()
	switch {
	case w.lost > 0 && w.start < 0:
		_, since := w.view.Stealable()
		w.start, w.cost = max(w.last, since), 0
	case w.lost == 0 && w.start >= 0:
		if w.last-w.start >= w.t.IntervalNs {
			w.over(d)
		}
		w.start = -1
	}
	for _, c := range w.view.Changed() {
		for int(c.P) >= len(w.idle) {
			w.idle = append(w.idle, -1)
		}
		if c.Next == ledger.Idle {
			w.idle[c.P] = w.last
		} else {
			w.idle[c.P] = -1
		}
	}
	if d.Kind == reference.KindSTWEnd {
		w.restarted = d.Time
	}
}

// over accounts for a long interval. d, which may be nil, ended it.
func (w *watcher) over(d *reference.Decision) {
	ns := w.last - w.start
	w.length += ns
	w.longest = max(w.longest, ns)
	if w.restarted >= 0 && w.start-w.restarted < w.t.AfterSTWNs {
		w.restarts++
	}
	c := findings.Cell{Ns: w.cost, From: w.start, To: w.last, P: reference.NoP}
	oldest := w.last
	look := func(g *findings.Goroutine) bool {
		if g.Self || g.Locked {
			return true
		}
		if w.view.QueuedAt(g) < oldest || c.G == 0 {
			oldest = w.view.QueuedAt(g)
			c.Class, c.G, c.P, c.Stack = g.Class, g.ID, g.P, g.Stack
		}
		return false
	}
	if g := w.view.Goroutine(); d != nil && d.Kind == reference.KindStart && g != nil && !g.System {
		c.Class, c.G, c.P, c.Stack = g.Class, g.ID, d.P, g.Stack
	} else {
		w.view.Waiting(reference.NoP, look)
		for p := range w.view.KnownPs() {
			w.view.Waiting(p, look)
		}
	}
	w.victims.Add(&c)
	if w.cost <= w.worst {
		return
	}
	w.worst, w.worstP = w.cost, reference.NoP
	if d != nil && d.Kind == reference.KindPStart && d.P >= 0 && int(d.P) < len(w.idle) && w.idle[d.P] >= 0 {
		w.worstP, w.worstFor = d.P, w.last-w.idle[d.P]
		return
	}
	for p, at := range w.idle {
		if at >= 0 && at <= w.start {
			w.worstP, w.worstFor = int32(p), w.last-at
			return
		}
	}
}
