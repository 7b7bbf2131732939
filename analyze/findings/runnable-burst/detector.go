// Package runnableburst is the detector runnable-burst: did far more goroutines
// become runnable at once than the Ps can serve? doc.md explains it.
package runnableburst

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	globalqueueneglect "github.com/gmpscope/gmpscope/analyze/findings/global-queue-neglect"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "runnable-burst"

// Thresholds of the detector.
type Thresholds struct {
	// Queue and SevereQueue are runnable goroutines for each P.
	Queue       int64 `json:"queue"`
	SevereQueue int64 `json:"severe_queue"`
	LengthNs    int64 `json:"length_ns"` // a burst shorter than this drains by itself
	// Share of the duration, and the time, in bursts above Queue make it worth a note;
	// the time above SevereQueue makes it a warning from WarningShare on, and critical
	// from CriticalShare and CriticalNs on.
	Share         float64 `json:"share"`
	WarningShare  float64 `json:"warning_share"`
	MinBurstNs    int64   `json:"ns"`
	CriticalShare float64 `json:"critical_share"`
	CriticalNs    int64   `json:"critical_ns"`
}

// Default returns the default thresholds. Five for each P is where schedstat,
// a tool that counts runnable goroutines, speaks of a burst; 32 is where
// CockroachDB's admission control takes a node for overloaded. The rest is a
// guess, checked on traces.
func Default() Thresholds {
	return Thresholds{Queue: 5, SevereQueue: 32, LengthNs: 1_000_000, Share: 0.01, WarningShare: 0.05, MinBurstNs: 10_000_000, CriticalShare: 0.5, CriticalNs: 1_000_000_000}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, InLine: findings.Queued(),
		Delays: true, Explains: []string{globalqueueneglect.ID}, // what overflows a local queue goes to the global one
		Remedy: findings.Remedy{Why: "to admit fewer moves the wait to where no trace shows it"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, from: -1}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.Crowded}, w.ready)
			w.starts = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}}, w.start)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			w.starts.Set(false)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	starts *findings.Switch // on in a burst

	from    int64 // of the burst; -1: there is none
	last    int64
	lastN   int64
	limit   int64 // of the burst, goroutines
	peak    int64
	peakAt  int64
	excess  int64 // goroutine-ns beyond the limit
	severe  int64 // ns
	build   bool  // there are more than one for each P
	entries int64
	whys    [32]int64
	samples []sample

	bursts   int64
	ns       int64
	severeNs int64
	cost     int64
	biggest  burst
	longest  int64
	total    [32]int64 // entries by Why
	victims  findings.Tally
	timed    findings.Tally // of them, those that timers woke
	wakers   findings.Tally
	creators findings.Tally
}

// burst is the one with the highest peak.
type burst struct {
	from, to, peakAt, peak int64
	procs                  int64
}

// sample is one goroutine that became runnable, and who made it so.
type sample struct {
	victim, waker findings.Cell
	why           reference.Why
}

// Of those that become runnable while a burst builds up, one of every is looked
// at closely, and at most maxSamples: that costs a look-up.
const (
	every      = 8
	maxSamples = 32
)

func (w *watcher) ready(d *reference.Decision) {
	n := w.view.Runnable() - w.view.Yielded()
	if w.view.UncrowdedSince() {
		w.build = false
	}
	if !w.build && w.from < 0 {
		w.build, w.entries, w.whys, w.samples = true, 0, [32]int64{}, w.samples[:0]
	}
	g := w.view.Goroutine()
	if g != nil && !g.System && !g.Self {
		w.whys[d.Why&31]++
		if w.entries%every == 0 && len(w.samples) < maxSamples {
			s := sample{why: d.Why, victim: findings.Cell{Class: g.Class, Ns: 1, G: g.ID, P: g.P, Stack: g.Stack}}
			if by := w.view.ByID(d.By); by != nil {
				s.waker = findings.Cell{Class: by.Class, Ns: 1, G: by.ID, P: by.RanOn, Stack: d.Stack}
			}
			w.samples = append(w.samples, s)
		}
		w.entries++
	}
	w.step(n)
}

func (w *watcher) start(*reference.Decision) {
	if w.from >= 0 {
		w.step(w.view.Runnable() - w.view.Yielded())
	}
}

// lose ends a burst that a gap in the trace cuts off.
func (w *watcher) lose(d *reference.Decision) {
	if w.from >= 0 {
		w.pass(d.Time)
		w.over(d.Time)
	}
}

// step records that n goroutines are runnable now.
func (w *watcher) step(n int64) {
	now := w.view.Now()
	if w.from < 0 {
		if limit := w.t.Queue * w.view.Procs(); n > limit {
			w.from, w.last, w.lastN, w.limit, w.peak, w.peakAt, w.excess, w.severe = now, now, n, limit, n, now, 0, 0
			w.starts.Set(true)
		}
		return
	}
	w.pass(now)
	w.lastN = n
	if n > w.peak {
		w.peak, w.peakAt = n, now
	}
	if n <= w.limit {
		w.over(now)
	}
}

func (w *watcher) pass(now int64) {
	dt := now - w.last
	w.last = now
	w.excess += dt * (w.lastN - w.limit)
	if w.lastN*w.t.Queue > w.t.SevereQueue*w.limit {
		w.severe += dt
	}
}

// over ends the burst.
func (w *watcher) over(now int64) {
	from := w.from
	w.from, w.build = -1, false
	w.starts.Set(false)
	if now-from < w.t.LengthNs {
		return
	}
	w.bursts++
	w.ns += now - from
	w.severeNs += w.severe
	w.cost += w.excess
	w.longest = max(w.longest, now-from)
	if w.peak > w.biggest.peak {
		w.biggest = burst{from, now, w.peakAt, w.peak, w.limit / w.t.Queue}
	}
	for i, n := range w.whys {
		w.total[i] += n
	}
	for _, s := range w.samples {
		w.victims.Add(&s.victim)
		if s.why == reference.WhyTimer {
			w.timed.Add(&s.victim)
		}
		switch {
		case s.waker.Class == 0:
		case s.why == reference.WhyCreate:
			w.creators.Add(&s.waker)
		default:
			w.wakers.Add(&s.waker)
		}
	}
}
