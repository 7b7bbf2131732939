// Package netpolldelay is the detector netpoll-delay: was the network left to
// sysmon, because all Ps were busy? doc.md explains it.
package netpolldelay

import (
	_ "embed"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "netpoll-delay"

// Thresholds of the detector.
type Thresholds struct {
	// Share is the share of the network's wake-ups that came from a thread without a
	// P while all Ps were busy.
	Share float64 `json:"share"`
	// WaitNs is from when on the wait after such a wake-up counts, and MinCount and
	// TailShare how many of them, and which share, must have waited so long.
	WaitNs    int64   `json:"wait_ns"`
	MinCount  int64   `json:"min_count"`
	TailShare float64 `json:"tail_share"`
	// LongNs is the length of a run interval that holds up the network.
	LongNs int64 `json:"long_ns"`
	// PollNs is for how long nobody polled when sysmon does.
	PollNs int64          `json:"poll_ns"`
	Grade  findings.Grade `json:"grade"`
}

// Default returns the default thresholds. PollNs is sysmon's, in proc.go; a wait of
// 1 ms for 1 % of the wake-ups is a p99 above 1 ms, a hundred times what waking a
// thread takes.
func Default() Thresholds {
	return Thresholds{Share: 0.001, MinCount: 5, WaitNs: 1_000_000, TailShare: 0.01, LongNs: 1_000_000, PollNs: 10_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "network left unpolled while all Ps were busy", Doc: doc,
		Kind: findings.KindSymptom, NeedsQueues: true,
		Remedy: findings.Remedy{Why: "the time before the wake-up is no waiting for a P"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, pending: map[int64]struct{}{}}
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.WithoutP}, w.ready)
			w.mark = w.view.NewMark()
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, Mark: w.mark}, w.start)
			w.view.Runs(findings.RunFilter{MinNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	late    int64              // wake-ups by the network, by threads without a P while all Ps were busy
	pending map[int64]struct{} // goroutines woken so that have not started yet
	mark    findings.Mark      // of these
	victims findings.Tally
	causes  findings.Tally
}

func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if g != nil && !g.System && d.Why == reference.WhyNetwork && w.view.CountPs(ledger.Idle) == 0 {
		w.late++
		w.pending[d.G] = struct{}{}
		w.view.Mark(w.view.Slot(), w.mark)
	}
}

func (w *watcher) start(d *reference.Decision) {
	w.view.Unmark(w.view.Slot(), w.mark)
	if _, ok := w.pending[d.G]; ok {
		delete(w.pending, d.G)
		if g := w.view.Goroutine(); g != nil && g.Wait >= 0 {
			w.waited(g, g.Wait, d.Time, d.P)
		}
	}
}

// waited processes the wait of a goroutine that was woken late.
func (w *watcher) waited(g *findings.Goroutine, ns, now int64, p int32) {
	if ns >= w.t.WaitNs {
		w.victims.Add(&findings.Cell{Class: g.Class, Ns: ns, From: now - ns, To: now, G: g.ID, P: p, Stack: g.Stack})
	}
}

func (w *watcher) run(r *findings.Run) {
	if len(w.pending) > 0 && r.Ns() >= w.t.LongNs {
		w.causes.Add(&findings.Cell{Class: r.Class, Ns: r.Ns(), From: r.From, To: r.To, G: r.G, P: r.P, Stack: r.Stack})
	}
}
