// Package convoy is the detector convoy: did long runs hold up short ones?
// doc.md explains it.
package convoy

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "convoy"

// Thresholds of the detector.
type Thresholds struct {
	LongNs int64   `json:"long_ns"` // a run this long may hold up others
	Ratio  float64 `json:"ratio"`   // if it is this many times their median run
	// With fewer than MinCount such runs it is one step milder; it is critical
	// from CriticalCount on.
	MinCount      int64 `json:"min_count"`
	CriticalCount int64 `json:"critical_count"`
	// Rare and Minor: if the long runs are a smaller share than Rare of the runs
	// of their class, and than Minor of its running time, then they may as well
	// be a thread that had no CPU.
	Rare  float64 `json:"rare"`
	Minor float64 `json:"minor"`
	// Common: where the long runs are at least such a share of the runs of their class,
	// goroutines of that class that wait behind them are no victims: they do the same.
	Common float64        `json:"common"`
	Grade  findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{LongNs: 1_000_000, Ratio: 10, MinCount: 3, CriticalCount: 10, Rare: 0.01, Minor: 0.5, Common: 0.1, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, LongRuns: true, NeedsQueues: true, InLine: findings.Queued(),
		Delays: true,
		Remedy: findings.Remedy{YieldNs: 100_000, Why: "the long work in pieces, with a point between them at which others get in"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[pair]int{}}
			view.Runs(findings.RunFilter{MinNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells []cell
	at    map[pair]int
}

// pair is who held up whom.
type pair struct{ cause, victim int32 }

// cell sums up long runs of one class in front of goroutines of another.
type cell struct {
	pair
	victims findings.Cell
	runs    int64
	runNs   int64
	last    int64 // start of the last run counted
	lastP   int32
	longest int64
	g       int64 // that had the run of the worst case
	p       int32
	stack   int32
	after   int32 // where that goroutine was blocked last before, if stack is none
	// Of victims of the same class as the cause: how many waited behind one run, at most, by where
	// they had stopped.
	alike []alike
}

type alike struct {
	stack   int32
	n, most int64
	from    int64 // start of the run that n is of
}

// maxAlike is how many stacks are told apart in a cell.
const maxAlike = 8

// count counts one that had stopped at a stack, and waits behind a run of its class.
func (c *cell) count(stack int32, from int64) {
	i := slices.IndexFunc(c.alike, func(a alike) bool { return a.stack == stack })
	if i < 0 {
		if len(c.alike) == maxAlike {
			return
		}
		i, c.alike = len(c.alike), append(c.alike, alike{stack: stack})
	}
	a := &c.alike[i]
	if a.from != from {
		a.from, a.n = from, 0
	}
	a.n++
	a.most = max(a.most, a.n)
}

// maxPairs bounds memory; what comes later is not told.
const maxPairs = 8192

// maxGlobal is how many goroutines of the global queue are looked at after one
// run, the earliest ones.
const maxGlobal = 256

func (w *watcher) run(r *findings.Run) {
	if r.System || r.Ns() < w.t.LongNs {
		return
	}
	w.view.Waiting(r.P, func(g *findings.Goroutine) bool { return w.behind(r, g, 1) })
	n := 0
	w.view.Waiting(reference.NoP, func(g *findings.Goroutine) bool {
		n++
		return w.behind(r, g, w.view.Procs()) && n < maxGlobal
	})
}

// behind adds the time that g stood behind the run s. Of the global queue each P
// takes its part: by.
func (w *watcher) behind(s *findings.Run, g *findings.Goroutine, by int64) bool {
	ns := (s.To - max(w.view.QueuedAt(g), s.From) - s.SyscallNs) / by
	if g.Self || ns <= 0 || w.feeds(s, g) {
		return true
	}
	k := pair{s.Class, g.Class}
	i, ok := w.at[k]
	if !ok {
		if len(w.cells) >= maxPairs {
			return true
		}
		i = len(w.cells)
		w.cells = append(w.cells, cell{pair: k, last: -1})
		w.at[k] = i
	}
	c := &w.cells[i]
	if c.last != s.From || c.lastP != s.P {
		c.runs++
		c.runNs += s.Ns()
		c.last, c.lastP = s.From, s.P
		if s.Ns() > c.longest {
			c.longest, c.g, c.p, c.stack = s.Ns(), s.G, s.P, s.Stack
			c.victims.From, c.victims.To = s.From, s.To
			if c.after = 0; s.Stack == 0 {
				if long := w.view.ByID(s.G); long != nil {
					c.after = long.Stack
				}
			}
		}
	}
	if s.Class == g.Class {
		c.count(g.Stack, s.From)
	}
	c.victims.N++
	c.victims.Ns += ns
	if ns > c.victims.Worst {
		c.victims.Worst, c.victims.G, c.victims.P = ns, g.ID, g.P
	}
	return true
}

// feeds reports whether g feeds s, or one like it: it was blocked in a send, and the
// receiver that took its value is of the class that runs now. What it sends next
// would have to wait for that class anyway.
func (w *watcher) feeds(s *findings.Run, g *findings.Goroutine) bool {
	if g.Reason != reference.ReasonChanSend {
		return false
	}
	by := w.view.ByID(g.Waker)
	return by != nil && by.Class == s.Class
}
