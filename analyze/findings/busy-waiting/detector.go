// Package busywaiting is the detector busy-waiting: does a goroutine keep a P without
// ever blocking, to see whether something has happened? doc.md explains it.
package busywaiting

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	latepreemption "github.com/gmpscope/gmpscope/analyze/findings/late-preemption"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	preemptionthrash "github.com/gmpscope/gmpscope/analyze/findings/preemption-thrash"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "busy-waiting"

// Thresholds of the detector.
type Thresholds struct {
	// MinCount is how often a class must have been preempted, and PollShare the share of
	// these times at which it was about to look whether something has happened.
	MinCount  int64   `json:"min_count"`
	PollShare float64 `json:"poll_share"`
	// PollRun is how much of the duration such a class must have run, in Ps, and PollEnds
	// the share of its run intervals that preemptions must have ended.
	PollRun  float64 `json:"poll_run"`
	PollEnds float64 `json:"poll_ends"`
	// Who spends WorkCalls of its time in system calls does more than to look; and so does a
	// class that keeps WorkPs of all Ps, if nobody else waited for WorkBehind of that time:
	// nobody is left to bring what it would wait for.
	WorkCalls  float64 `json:"work_calls"`
	WorkPs     float64 `json:"work_ps"`
	WorkBehind float64 `json:"work_behind"`
	// A class of fewer goroutines than Ps that did not look but ran for LoopRun of the
	// duration, and ended LoopShare of its run intervals by preemptions, computes or waits
	// for a variable; it counts if others waited behind it.
	LoopRun   float64 `json:"loop_run"`
	LoopShare float64 `json:"loop_share"`
	// Grade is of the waiting behind it; of P-time where it looks.
	Grade findings.Grade `json:"grade"`
}

// Default returns the default thresholds. All are our own. A goroutine that sends a packet of
// 5 µs each millisecond, and looks at the clock in between, spends half a percent in system
// calls.
func Default() Thresholds {
	return Thresholds{
		MinCount: 4, PollShare: 0.5, PollRun: 0.2, PollEnds: 0.3, WorkCalls: 0.02, WorkPs: 0.9, WorkBehind: 0.01,
		LoopRun: 0.5, LoopShare: 0.7, Grade: findings.DefaultGrade(),
	}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "goroutines that poll instead of blocking", Doc: doc,
		Kind: findings.KindCause, CostOf: findings.OfPTime,
		Explains: []string{
			starvation.ID, timerlateness.ID, netpolldelay.ID, serialization.ID, convoy.ID, preemptionthrash.ID,
			latepreemption.ID,
		},
		Remedy: findings.Remedy{Why: "what would be left of its running if it blocked the trace does not tell"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]*class{}}
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhySlice}}, w.preempted)
			return w
		},
	}
}

type watcher struct {
	t       Thresholds
	view    *findings.View
	at      map[int32]*class
	classes []*class
}

const (
	// maxClasses bounds memory; what comes later is not told.
	maxClasses = 1024
	// maxStacks and maxGoroutines are how many of a class are told apart.
	maxStacks     = 64
	maxGoroutines = 64
)

// class is the preemptions of its goroutines.
type class struct {
	id       int32
	n        int64
	gs       map[int64]int64 // of each goroutine
	stacks   map[int32]int64 // at each stack
	from, to int64
	p        int32
}

func (w *watcher) preempted(r *findings.Run) {
	if r.System {
		return
	}
	c := w.at[r.Class]
	if c == nil {
		if len(w.classes) == maxClasses {
			return
		}
		c = &class{id: r.Class, gs: map[int64]int64{}, stacks: map[int32]int64{}, from: r.From}
		w.at[r.Class] = c
		w.classes = append(w.classes, c)
	}
	c.n++
	c.to, c.p = r.To, r.P
	if _, known := c.gs[r.G]; known || len(c.gs) < maxGoroutines {
		c.gs[r.G]++
	}
	if _, known := c.stacks[r.Stack]; known || len(c.stacks) < maxStacks {
		c.stacks[r.Stack]++
	}
}
