// Package globalqueueneglect is the detector global-queue-neglect: did the Ps
// serve their own queues and forget the global one? doc.md explains it.
package globalqueueneglect

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
const ID = "global-queue-neglect"

// Thresholds of the detector.
type Thresholds struct {
	WaitNs int64 `json:"wait_ns"` // in the global queue
	// Poll is after how many starts a P looks at the global queue first.
	Poll int64 `json:"poll"`
	// Ratio is how many times longer it must have stood there than those waited,
	// on average, that were started from local queues meanwhile.
	Ratio    float64        `json:"ratio"`
	MinCount int64          `json:"min_count"` // of residencies, from which on it is more than a note
	Share    float64        `json:"share"`     // of the program's waiting, from which on it is critical
	Grade    findings.Grade `json:"grade"`
}

// Default returns the default thresholds. Poll is the runtime's (findRunnable, Go 1.22 to 1.27):
// it does not follow the newest release, which says nothing about older traces.
func Default() Thresholds {
	return Thresholds{WaitNs: 1_000_000, Poll: 61, Ratio: 4, MinCount: 3, Share: 0.01, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "global queue left waiting behind local ones", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Policy: "fifo", Why: "one queue, served in order: the most that a way around the global queue can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Residencies(findings.ResidencyFilter{Global: true}, w.leave)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	victims findings.Tally
	waited  int64 // their whole residencies
	later   int64 // most starts that came before one of them
	polls   int64 // starts of others that waited in the global queue, at the tick
	batches int64 // other leavings
	maxLen  int32
}

func (w *watcher) leave(s *findings.Residency) {
	if !s.Open {
		if s.Src == reference.SrcGlobalTick {
			w.polls++
		} else {
			w.batches++
		}
	}
	ns := s.To - s.From
	due := w.t.Poll * w.view.Procs()
	if ns <= w.t.WaitNs || s.Later <= due || float64(ns) < w.t.Ratio*float64(s.LaterWait) {
		return
	}
	w.waited += ns
	w.later = max(w.later, s.Later)
	w.maxLen = max(w.maxLen, w.view.GlobalLen())
	// What a wait of just the polls that were due would have been is not lost.
	lost := int64(float64(ns) * (1 - float64(due)/float64(s.Later)))
	w.victims.Add(&findings.Cell{Class: s.G.Class, Ns: lost, From: s.From, To: s.To, G: s.G.ID, P: s.G.P, Stack: s.G.Stack})
}
