// Package starvation is the detector starvation: did goroutines wait far longer
// than sharing the Ps explains? doc.md explains it.
package starvation

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "starvation"

// Thresholds of the detector.
type Thresholds struct {
	LongNs   int64 `json:"long_ns"`   // shorter waits are not looked at
	SevereNs int64 `json:"severe_ns"` // one this long makes it severe
	// Stretch is how many times longer than under equal sharing a wait must be.
	Stretch float64 `json:"stretch"`
	// QueueShare and QueueNs: severe waits that sharing does explain are worth a
	// note from this share of all P-time, and this much of them, on.
	// QueueSome is the share of the duration in which somebody must have waited,
	// and QueueMinNs the least duration: a burst of work is no lack of Ps.
	QueueShare float64 `json:"queue_share"`
	QueueNs    int64   `json:"queue_ns"`
	QueueSome  float64 `json:"queue_some"`
	QueueMinNs int64   `json:"queue_min_ns"`
	// MinCount is the number of starved waits from which on it is more than a note.
	// One as long as AloneNs suffices.
	MinCount int64 `json:"min_count"`
	AloneNs  int64 `json:"alone_ns"`
	// ManyCount is the number of starved waits from which on they are more than
	// a note although none is of SevereNs.
	ManyCount int64 `json:"many_count"`
	// Grade of the excess waiting.
	// PlainShare is the share of the waiting of those that waited longest behind others of
	// their own class from which on it is no more than a note.
	PlainShare float64        `json:"plain_share"`
	Grade      findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	g := findings.DefaultGrade()
	g.NoteNs = 10_000_000
	return Thresholds{LongNs: 1_000_000, SevereNs: 10_000_000, Stretch: 3, QueueShare: 0.1, QueueNs: 100_000_000, QueueSome: 0.5, QueueMinNs: 100_000_000, MinCount: 3, AloneNs: 100_000_000, ManyCount: 100, PlainShare: 0.8, Grade: g}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindSymptom,
		InLine: findings.Queued(),
		Remedy: findings.Remedy{ProcsTimes: 2, Why: "more Ps, or as much less to do for each; if the machine has the cores"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Runs(findings.RunFilter{MinWaitNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	starved findings.Tally // the excess of starved waits
	severe  int64          // of them, those of SevereNs or more
	waited  int64          // their whole length
	longest int64
	open    int64 // still waiting at the end
	queued  findings.Tally
	load    float64 // highest of the queued
}

// run judges the wait before a run interval: only its length tells how much
// the goroutine wanted.
func (w *watcher) run(r *findings.Run) {
	if !r.Counted || w.feeds(r) {
		return
	}
	w.compare(r.Wait, max(r.Ns(), w.view.ClassStat(r.Class).Mean()), r.Load,
		findings.Cell{Class: r.Class, From: r.From - r.Wait, To: r.From, G: r.G, P: r.P, Stack: r.Stack})
}

// feeds reports whether a goroutine that had waited for room in a channel was kept from
// running by nothing but the one that made room and that has not blocked since: there was
// no lack of what it sends.
func (w *watcher) feeds(r *findings.Run) bool {
	g := w.view.Goroutine()
	if g == nil || g.ID != r.G || g.Reason != reference.ReasonChanSend || g.Waker < 0 {
		return false
	}
	by := w.view.ByID(g.Waker)
	return by != nil && by.ID != g.ID && by.BlockedAt < r.From-r.Wait
}

// compare compares a wait with what equal sharing of the Ps among all that wanted
// them would have given: a goroutine that needs x is through after x times the
// load, so it waits that long less x.
func (w *watcher) compare(wait, need int64, load float64, c findings.Cell) {
	fair := int64(float64(max(1, need)) * (load - 1))
	if float64(wait) < w.t.Stretch*float64(max(1, need))*load {
		if wait >= w.t.SevereNs {
			c.Ns = wait
			w.queued.Add(&c)
			w.load = max(w.load, load)
		}
		return
	}
	c.Ns = wait - fair
	w.starved.Add(&c)
	w.waited += wait
	w.longest = max(w.longest, wait)
	if wait >= w.t.SevereNs {
		w.severe++
	}
}
