// Package syscallretakestorm is the detector syscall-retake-storm: did short
// system calls lose their P, and then wait longer for another than they took?
// doc.md explains it.
package syscallretakestorm

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
const ID = "syscall-retake-storm"

// Thresholds of the detector.
type Thresholds struct {
	// ShortNs is the length up to which a call would better have kept its P. To
	// take the P, start a thread for it and get one back takes some 100 µs, and
	// sysmon does not look twice within 40.
	ShortNs int64 `json:"short_ns"`
	// Share of a class's calls must have lost the P, or Rate of them a second;
	// and MinCount in all.
	Share    float64        `json:"share"`
	Rate     float64        `json:"rate"`
	MinCount int64          `json:"min_count"`
	Grade    findings.Grade `json:"grade"`
}

// Default returns the default thresholds. What they guard against is
// golang/go#18236.
func Default() Thresholds {
	return Thresholds{ShortNs: 1_000_000, Share: 0.05, Rate: 1000, MinCount: 20, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "short system calls that lost their P", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{ProcsPlus: 1, Why: "one P more, as if CPU-bound goroutines left one free; if the machine has a core for it"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]int32{}, cells: make([]cell, 1)}
			view.Syscalls(findings.SyscallFilter{Lost: true}, w.syscall)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSyscallExit}, When: findings.WithoutP}, w.exit)
			view.Residencies(findings.ResidencyFilter{Whys: []reference.Why{reference.WhySyscallExit}}, w.leave)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells []cell // the first is for all classes that come too late
	at    map[int32]int32
	last  int32 // cell of the last call
}

// cell is the system calls of one class.
type cell struct {
	class   int32
	taken   int64 // calls that lost the P
	short   int64 // of these, those that came back soon
	shortNs int64
	waits   findings.Cell // of the short ones, for another P
}

// maxCells bounds the classes that are told apart.
const maxCells = 1024

func (w *watcher) cell(class int32) *cell {
	if c := &w.cells[w.last]; c.class == class {
		return c
	}
	i, ok := w.at[class]
	if !ok && len(w.cells) < maxCells {
		i = int32(len(w.cells))
		w.cells = append(w.cells, cell{class: class})
		w.at[class] = i
	}
	w.last = i
	return &w.cells[i]
}

func (w *watcher) syscall(c *findings.Syscall) {
	if !c.System && byOthers(c.Why) {
		w.cell(c.Class).taken++
	}
}

// byOthers reports whether a P was taken because others could use it.
func byOthers(why reference.Why) bool {
	return why == reference.WhyRetakeSlow || why == reference.WhyRetakeReturn
}

func (w *watcher) exit(d *reference.Decision) {
	if g := w.view.Goroutine(); g != nil && !g.System && w.short(g, w.view.Now()) {
		x := w.cell(g.Class)
		x.short++
		x.shortNs += w.view.Now() - g.CallAt
	}
}

// short reports whether g's last call lost its P and came back soon, at the given
// time.
func (w *watcher) short(g *findings.Goroutine, back int64) bool {
	return byOthers(g.CallWhy) && g.CallAt >= 0 && back-g.CallAt <= w.t.ShortNs
}

func (w *watcher) leave(s *findings.Residency) {
	g := s.G
	if !s.Start || !w.short(g, g.ReadyAt) {
		return
	}
	c := &w.cell(g.Class).waits
	ns := s.To - g.ReadyAt
	if ns > c.Worst {
		c.Worst, c.From, c.To, c.G, c.Stack, c.P = ns, g.ReadyAt, s.To, g.ID, g.Stack, s.P
	}
	c.N++
	c.Ns += ns
}
