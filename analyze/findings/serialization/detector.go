// Package serialization is the detector serialization: does one chain of work
// hold up a program that could use more Ps? doc.md explains it.
package serialization

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "serialization"

// Thresholds of the detector.
type Thresholds struct {
	// Parallelism is T1/Tinf below which the program is serial; with more than
	// twice as many Ps, half of the Ps.
	Parallelism float64 `json:"parallelism"`
	// SlackShare is the share of the busy time in which half of the Ps had
	// nothing to do, although somebody ran and nobody was ready to.
	SlackShare float64 `json:"slack_share"`
	// BusyShare is the share of the duration in which the program must be busy.
	BusyShare float64 `json:"busy_share"`
	// There must be somebody who could have worked meanwhile: goroutines that
	// waited for others, not for their own children, at least WaitShare of that time on average, and were woken
	// MinWakes times; or a share ParallelShare of the busy time in which at least
	// half of the Ps, and two, did run the program.
	WaitShare     float64        `json:"wait_share"`
	MinWakes      int64          `json:"min_wakes"`
	ParallelShare float64        `json:"parallel_share"`
	Grade         findings.Grade `json:"grade"`
}

// Default returns the default thresholds. Work shorter than twice its span gains
// nothing from a third P (Brent 1974: at least max(T1/P, Tinf)); the other
// numbers are our own.
func Default() Thresholds {
	return Thresholds{
		Parallelism: 2, SlackShare: 0.4, BusyShare: 0.5,
		WaitShare: 0.5, MinWakes: 20, ParallelShare: 0.1, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "one chain of work while Ps are idle", Doc: doc,
		Kind: findings.KindCause, CostOf: findings.OfIdle,
		Remedy: findings.Remedy{Speed: 2, Makespan: true, Why: "the largest part of the critical path in half of the time"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, sliced: map[sliceEnd]int64{}}
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhySlice}}, w.preempted)
			view.Uses(w.see)
			view.HeldUps(w.wake)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	at  int64
	use findings.Use // since then

	slack int64   // ns
	lost  float64 // of it, what work spread over all Ps would not have taken, ns
	// The longest stretch of slack, interruptions below a millisecond included.
	from, to           int64
	longFrom, longTo   int64
	starved            findings.Tally
	starvedBySemaphore int64 // ns of it
	pieces             int64 // ns of it, for one of several goroutines that the one who waited had created
	// What ran when a time slice was over, by class and stack: only that tells what is
	// computed, for who wakes somebody or blocks has done it before.
	sliced map[sliceEnd]int64
}

// sliceEnd is the class and the stack of a goroutine whose time slice was over.
type sliceEnd struct{ class, stack int32 }

// maxSliceEnds bounds memory.
const maxSliceEnds = 4096

func (w *watcher) preempted(r *findings.Run) {
	k := sliceEnd{r.Class, r.Stack}
	if _, ok := w.sliced[k]; r.System || r.Stack == 0 || !ok && len(w.sliced) == maxSliceEnds {
		return
	}
	w.sliced[k]++
}

// stretchGap is the longest interruption of one stretch of slack.
const stretchGap = 1_000_000

func (w *watcher) see(u *findings.Use) {
	w.advance(w.view.Now())
	w.use = *u
}

func (w *watcher) advance(now int64) {
	dt := now - w.at
	if dt <= 0 {
		return
	}
	if w.use.Slack {
		w.slack += dt
		w.lost += float64(dt) * (1 - float64(w.use.Run)/float64(w.use.Procs))
		if w.at-w.to > stretchGap || w.to == 0 {
			w.from = w.at
		}
		w.to = now
		if w.to-w.from > w.longTo-w.longFrom {
			w.longFrom, w.longTo = w.from, w.to
		}
	}
	w.at = now
}

// idled reports whether for most of the wait the one who ended it slept, or waited for
// the network: then it was no work that took so long.
func idled(h *findings.HeldUp) bool {
	by := h.By
	if by.BlockedNs <= 0 || by.Reason != reference.ReasonSleep && by.Reason != reference.ReasonNetwork {
		return false
	}
	both := min(h.To, by.BlockedAt+by.BlockedNs) - max(h.G.BlockedAt, by.BlockedAt)
	return 2*both > h.To-h.G.BlockedAt
}

// several goroutines that one creates could share the work evenly.
const several = 3

func (w *watcher) wake(h *findings.HeldUp) {
	g := h.G
	// Who waits for the one goroutine that it created has called it, as it were; who
	// created several waits for the slowest.
	if h.By.Creator == g.ID && g.Created < several || idled(h) {
		return
	}
	if h.By.Creator == g.ID {
		w.pieces += h.Ns
	}
	if g.Reason == reference.ReasonSync {
		w.starvedBySemaphore += h.Ns
	}
	w.starved.Add(&findings.Cell{Class: g.Class, Ns: h.Ns, From: g.BlockedAt, To: h.To, G: g.ID, P: reference.NoP, Stack: g.Stack})
}
