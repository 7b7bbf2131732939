// Package childprocess is the detector child-process: does the program do nothing but wait for
// processes that it has started? doc.md explains it.
package childprocess

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	blockedonothers "github.com/gmpscope/gmpscope/analyze/findings/blocked-on-others"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "child-process"

// Thresholds of the detector.
type Thresholds struct {
	// MinNs is for how long nothing else must have run.
	MinNs int64 `json:"min_ns"`
	// Shares of the recording for which nothing else ran.
	NoteShare    float64 `json:"note_share"`
	WarningShare float64 `json:"warning_share"`
}

// Default returns the default thresholds. All are our own.
func Default() Thresholds { return Thresholds{MinNs: 50_000_000, NoteShare: 0.1, WarningShare: 0.25} }

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "nothing runs but child processes", Doc: doc,
		Kind: findings.KindCause, CostOf: findings.OfBlocked,
		Explains: []string{blockedonothers.ID},
		Remedy:   findings.Remedy{Why: "the model makes the system calls of the recording"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, under: map[int64]call{}}
			view.Syscalls(findings.SyscallFilter{Lost: true}, w.lostP)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSyscallExit}, When: findings.WithoutP}, w.returned)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	under map[int64]call // system calls that have lost their P, by goroutine
	calls []call         // those that took long
}

// longNs is from when on a system call may be a wait for a process; maxCalls bounds memory: what
// comes later does not count.
const (
	longNs   = 1_000_000
	maxCalls = 1 << 14
)

// call is a system call without its P.
type call struct {
	g            int64
	class, stack int32
	began        int64
	from, to     int64 // without the P
	// For how long goroutines of the program had run by then.
	busyFrom, busyTo int64
}

func (w *watcher) lostP(c *findings.Syscall) {
	if !c.System {
		w.under[c.G] = call{g: c.G, class: c.Class, stack: c.Stack, began: c.From, from: c.To, busyFrom: w.view.RunIntegral().BusyNs}
	}
}

func (w *watcher) returned(d *reference.Decision) {
	c, ok := w.under[d.G]
	delete(w.under, d.G)
	if ok {
		w.over(c, d.Time)
	}
}

func (w *watcher) over(c call, now int64) {
	if c.to, c.busyTo = now, w.view.RunIntegral().BusyNs; now-c.began >= longNs && len(w.calls) < maxCalls {
		w.calls = append(w.calls, c)
	}
}
