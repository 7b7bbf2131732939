// Package retakestall is the detector retake-stall: did system calls keep a P
// from the goroutines in its queue? doc.md explains it.
package retakestall

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
const ID = "retake-stall"

// Thresholds of the detector.
type Thresholds struct {
	// StallNs is from which on a goroutine behind a system call counts. sysmon
	// takes such a P at its second look, 20 µs apart, unless it has backed off
	// (runtime/proc.go: retake, sysmon).
	StallNs int64 `json:"stall_ns"`
	// Backoff is how many times longer a stall may last than the time for which
	// sysmon had not taken a P before. Its sleeps double after a millisecond of
	// that, so two of them, one to see the call and one to take the P, are never
	// more than that long. What lasts longer is a machine without CPUs.
	Backoff float64 `json:"backoff"`
	// Rare is the share of the calls from the same stack below which one that is
	// so long counts as a thread without a CPU, once there are RareOf of them.
	Rare     float64        `json:"rare"`
	RareOf   int64          `json:"rare_of"`
	MinCount int64          `json:"min_count"` // of calls, from which on it is more than a note
	Grade    findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{StallNs: 1_000_000, Backoff: 2, Rare: 0.05, RareOf: 20, MinCount: 10, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "system calls that kept a P from its queue", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{ProcsPlus: 1, Why: "one P more takes the queue over; if the machine has a core for it"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, tookAt: -1}
			view.Syscalls(findings.SyscallFilter{MinNs: t.StallNs}, w.syscall)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindRetake}}, w.retake)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	victims findings.Tally
	calls   findings.Tally // by class of the caller; Ns is their victims'
	stalls  int64          // ns of the calls, while somebody waited
	longest int64
	taken   int64   // ended by sysmon
	back    int64   // over before sysmon came
	tookAt  int64   // when sysmon took a P last; -1: not yet, or not since a gap
	long    []int64 // long calls, by the number of their stack
	rare    int64   // unusually long calls
	freaks  int64   // longer than sysmon's sleeps explain
	quiet   int64   // for how long it had not when the longest stall began; -1: it never had
}

// maxVictims is how many goroutines of a queue are looked at, the earliest ones.
const maxVictims = 257

func (w *watcher) retake(d *reference.Decision) {
	if d.Why == reference.WhyRetakeSlow {
		w.tookAt = w.view.Now()
	}
}

// lose is for a gap in the trace: sysmon may have taken Ps in it.
func (w *watcher) lose(*reference.Decision) { w.tookAt = -1 }

func (w *watcher) syscall(c *findings.Syscall) {
	n, i := w.view.CallsFrom(c.Stack)
	for len(w.long) <= int(i) {
		w.long = append(w.long, 0)
	}
	w.long[i]++
	if c.Local == 0 || c.System || c.Why == reference.WhySTW {
		return
	}
	if n >= w.t.RareOf && float64(w.long[i]) < w.t.Rare*float64(n) {
		w.rare++
		return
	}
	quiet := int64(-1)
	if w.tookAt >= 0 {
		quiet = max(0, c.From-w.tookAt)
		if float64(c.To-max(c.From, w.tookAt)) > w.t.Backoff*float64(quiet)+float64(w.t.StallNs) {
			w.freaks++
			return
		}
	}
	var cost, worst int64
	seen := 0
	w.view.Waiting(c.P, func(g *findings.Goroutine) bool {
		from := max(w.view.QueuedAt(g), c.From)
		if ns := c.To - from; ns >= w.t.StallNs && !g.Self && !g.Locked {
			w.victims.Add(&findings.Cell{Class: g.Class, Ns: ns, From: from, To: c.To, G: g.ID, P: c.P, Stack: g.Stack})
			cost += ns
			worst = max(worst, ns)
		}
		seen++
		return seen < maxVictims
	})
	if cost == 0 {
		return
	}
	w.calls.Add(&findings.Cell{Class: c.Class, Ns: cost, From: c.From, To: c.To, G: c.G, P: c.P, Stack: c.Stack})
	w.stalls += worst
	if worst > w.longest {
		w.longest, w.quiet = worst, quiet
	}
	switch c.Why {
	case reference.WhySyscallExit:
		w.back++
	case reference.WhyRetakeSlow:
		w.taken++
	}
}
