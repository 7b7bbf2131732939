// Package goroutinechurn is the detector goroutine-churn: were goroutines
// created for next to no work each? doc.md explains it.
package goroutinechurn

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
const ID = "goroutine-churn"

// Thresholds of the detector.
type Thresholds struct {
	Rate     float64        `json:"rate"`      // creations in a second
	LifeNs   int64          `json:"life_ns"`   // median running time of a goroutine's whole life
	WindowNs int64          `json:"window_ns"` // in which both are judged
	Grade    findings.Grade `json:"grade"`
}

// Default returns the default thresholds. They are guesses, checked on traces:
// creating, starting and ending a goroutine takes about a microsecond, so that
// 10,000 a second cost a hundredth of a CPU, and one that runs for 20 µs pays a
// twentieth of its work.
func Default() Thresholds {
	return Thresholds{Rate: 10_000, LifeNs: 20_000, WindowNs: 100_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "goroutines created for next to no work", Doc: doc,
		Kind: findings.KindCause, Counted: true,
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Why: "what creation costs is part of the goroutines' work"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyCreate}}, w.ready)
			view.Runs(findings.RunFilter{Whys: []reference.Why{reference.WhyExit}}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	from     int64   // of the window
	before   int64   // run intervals before it
	now      account // in it
	total    account
	windows  int64
	worst    int64 // creations in one window
	worstAt  int64
	short    findings.Tally // those that ended early
	creators findings.Tally
}

type account struct {
	created, starts int64
	ended           findings.Lengths // running time of those that ended
	idle            int64            // ns in which an early-ended one waited while its P ran nothing
}

func (w *watcher) roll(now int64) {
	if now >= w.from+w.t.WindowNs {
		w.close()
		w.from = now - now%w.t.WindowNs
	}
}

func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System {
		return
	}
	w.roll(d.Time)
	w.now.created++
	if w.now.created%sample == 0 {
		c := findings.Cell{Class: 0, Ns: 1, G: d.By, P: reference.NoP, Stack: d.Stack}
		if by := w.view.ByID(d.By); by != nil {
			c.Class, c.P = by.Class, by.RanOn
		}
		w.creators.Add(&c)
	}
}

// sample is of how many creations and ends one is asked for who it was: it costs
// a look-up.
const sample = 16

func (w *watcher) run(r *findings.Run) {
	if r.System {
		return
	}
	g := w.view.Goroutine()
	if g == nil || g.ID != r.G {
		return
	}
	w.roll(r.To)
	w.now.ended.Add(g.RunNs)
	if g.RunNs >= w.t.LifeNs {
		return
	}
	w.now.idle += r.IdleWait
	if w.now.ended.N%sample == 0 {
		w.short.Add(&findings.Cell{Class: r.Class, Ns: 1, From: r.From, To: r.To, G: r.G, P: r.P})
	}
}

func (w *watcher) close() {
	a := &w.now
	runs := w.view.Totals().Runs
	a.starts = runs - w.before
	w.before = runs
	if float64(a.created) > w.t.Rate*float64(w.t.WindowNs)/1e9 && a.ended.N > 0 && a.ended.Median() < w.t.LifeNs {
		t := &w.total
		t.created += a.created
		t.starts += a.starts
		t.idle += a.idle
		t.ended.Merge(&a.ended)
		w.windows++
		if a.created > w.worst {
			w.worst, w.worstAt = a.created, w.from
		}
	}
	*a = account{}
}
