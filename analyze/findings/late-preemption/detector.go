// Package latepreemption is the detector late-preemption: did goroutines keep a
// P far beyond their time slice? doc.md explains it.
package latepreemption

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
const ID = "late-preemption"

// Thresholds of the detector.
type Thresholds struct {
	// SliceNs is the length from which on the end of a slice is late: the 10 ms
	// after which sysmon asks, and two of its sleeps of up to 10 ms.
	SliceNs int64 `json:"slice_ns"`
	// AskedNs is when it should have been asked.
	AskedNs int64 `json:"asked_ns"`
	// LostNs is the length from which on it is late whatever ended it: a stop by
	// the goroutine itself excuses only a request that was still on its way.
	LostNs int64 `json:"lost_ns"`
	// Share is the share of late ones among the class's slices that a preemption
	// ended, below which it may as well be a thread that had no CPU: code that
	// cannot be interrupted is late as a rule.
	Share float64 `json:"share"`
	// NoteCount and NoteNs: with nobody waiting, so many such slices, or one so
	// long, are worth a note.
	NoteCount int64          `json:"note_count"`
	NoteNs    int64          `json:"note_ns"`
	Grade     findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{SliceNs: 30_000_000, AskedNs: 10_000_000, LostNs: 60_000_000, Share: 0.5, NoteCount: 5, NoteNs: 100_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "time slices that ended late", Doc: doc,
		Kind:     findings.KindCause,
		LongRuns: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Why: "the model preempts in time: the gain is in the split's excess"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]int{}}
			view.SliceParts(t.AskedNs, w.over)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells []cell
	at    map[int32]int
}

// cell is the late slices of one class, that of the goroutine which ran longest.
type cell struct {
	class     int32
	preempted int64 // slices that a preemption ended, late or not
	n         int64
	ns        int64 // beyond AskedNs
	longest   longest
	by        [4]int64        // how they ended: preempted, stopped itself, world stopped, open
	stacks    map[int32]int64 // of those that were preempted, by where
	victims   findings.Tally
}

// longest is the slice part that was longest.
type longest struct {
	from, to, ns int64
	g            int64
	p, stack     int32
	runs         int32
}

const (
	maxCells   = 1024
	maxVictims = 256
	maxStacks  = 1024
)

// over judges a slice part.
func (w *watcher) over(p *findings.SlicePart) {
	ns := p.Ns()
	if p.System {
		return
	}
	end := 0
	switch p.Why {
	case reference.WhyBlock, reference.WhyExit, reference.WhyGosched, reference.WhyGoyield, reference.WhyCoroutine, reference.WhyLocked:
		end = 1
	case reference.WhySTW, reference.WhyGC, reference.WhyGeneration, reference.WhySuspend:
		end = 2
	case reference.WhyRetakeSlow, reference.WhyRetakeReturn, reference.WhySyscall:
		return // it was in a system call, which is no running
	}
	if p.Open {
		end = 3
	}
	if end != 0 && ns < w.t.LostNs {
		return // if not late, not known to have been asked either
	}
	i, ok := w.at[p.Class]
	if !ok {
		if len(w.cells) >= maxCells {
			return
		}
		i = len(w.cells)
		w.cells = append(w.cells, cell{class: p.Class, stacks: map[int32]int64{}})
		w.at[p.Class] = i
	}
	c := &w.cells[i]
	if end == 0 {
		c.preempted++
	}
	if ns <= w.t.SliceNs {
		return
	}
	c.n++
	c.ns += ns - w.t.AskedNs
	c.by[end]++
	if _, known := c.stacks[p.Stack]; end == 0 && (known || len(c.stacks) < maxStacks) {
		c.stacks[p.Stack]++
	}
	if ns > c.longest.ns {
		c.longest = longest{from: p.From, to: p.To, ns: ns, g: p.G, p: p.P, stack: p.Stack, runs: p.Runs}
	}
	late := p.From + w.t.AskedNs
	look := func(q int32, by int64) {
		seen := 0
		w.view.Waiting(q, func(g *findings.Goroutine) bool {
			seen++
			if over := (p.To - max(w.view.QueuedAt(g), late)) / by; over > 0 && !g.Self {
				c.victims.Add(&findings.Cell{Class: g.Class, Ns: over, From: max(w.view.QueuedAt(g), late), To: p.To, G: g.ID, P: g.P, Stack: g.Stack})
			}
			return seen < maxVictims
		})
	}
	look(p.P, 1)
	look(reference.NoP, w.view.Procs())
}
