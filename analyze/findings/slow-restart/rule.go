// Package slowrestart is the detector slow-restart: did Ps stay away after a
// stop-the-world, though there was work for them? doc.md explains it.
package slowrestart

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/findings"
	gcassistwait "github.com/gmpscope/gmpscope/analyze/findings/gc-assist-wait"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "slow-restart"

// Thresholds decide when the detector reports Ps that came back late after a stop-the-world
// although there was work. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	SlowNs int64 `json:"slow_ns"` // a restart that takes this long, until all Ps have work or all work has Ps, is slow
	MaxNs  int64 `json:"max_ns"`  // a restart is taken to be over after this time: what lasts longer has another cause
	// MinCount is how many slow restarts there must be: on any machine a thread is
	// late now and then.
	MinCount int64 `json:"min_count"`
	// Share is the share of slow ones among the restarts with work for Ps that
	// were away, below which it may as well be threads that had no CPU; below
	// MinShare it is not reported.
	Share    float64        `json:"share"`
	MinShare float64        `json:"min_share"`
	Grade    findings.Grade `json:"grade"` // severities, by the P-time lost in slow restarts
}

// Default returns the thresholds that apply unless a configuration sets others. They are ours:
// a thread is woken in some 50 µs, and startTheWorldWithSema (runtime/proc.go) wakes them one
// after the other. golang/go#45894 is about restarts of milliseconds.
func Default() Thresholds {
	return Thresholds{SlowNs: 200_000, MaxNs: 10_000_000, MinCount: 3, Share: 0.5, MinShare: 0.2, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports Ps that came back late after a stop-the-world although
// there was work, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfIdle, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{Why: "threads are the machine's"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWBegin}}, w.begin)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWEnd}}, w.end)
			w.after = view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart, reference.KindPStart, reference.KindPStop, reference.KindRetake}}, w.advance)
			w.after.Set(false)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	label int32 // reason of the stop-the-world that began last
	open  bool
	after *findings.Switch // on while open
	now   restart
	rate  int64 // goroutines that could run on Ps that are not back yet
	at    int64 // up to when it is integrated

	restarts int64 // those with work for Ps that were away
	slow     findings.Tally
	slowNs   int64
	prompt   int64 // slow ones in which the first P was back in time
	worst    restart
	labels   findings.Labels // of the stops before slow ones
}

// restart is one.
type restart struct {
	from    int64
	ns      int64
	lost    int64 // goroutine-ns
	wanting int64 // goroutines that could have been taken at once
	global  int64 // of the program, in the global queue then
	away    int64 // Ps that ran nothing then
	first   int64 // ns until the first of them had a thread; -1: none had
	last    findings.Cell
}

func (w *watcher) begin(d *reference.Decision) {
	w.lose(d)
	w.label = d.Label
}

func (w *watcher) end(d *reference.Decision) {
	w.at, w.rate = d.Time, w.lost()
	n, _ := w.view.Stealable()
	w.now = restart{from: d.Time, wanting: n, global: w.view.Queued(reference.NoP), away: w.away(), first: -1}
	w.open = w.rate > 0
	w.after.Set(w.open)
	if w.open {
		w.restarts++
		w.now.last = w.first()
	}
}

// first is a goroutine that waits, for restarts in which none is started.
func (w *watcher) first() findings.Cell {
	for p := reference.NoP; p < w.view.KnownPs(); p++ {
		for g := range w.view.Waiting(p, math.MaxInt) {
			if !g.Self && !g.Locked {
				return findings.Cell{Class: g.Class, G: g.ID, P: g.P, Stack: g.Stack}
			}
		}
	}
	return findings.Cell{}
}

// away is how many Ps run nothing: without a thread, or with one that was only
// just woken.
func (w *watcher) away() int64 { return w.view.CountPs(ledger.Idle) + w.view.Waking() }

// lost is how many goroutines could run on them. It is asked for again when a P
// changes, or starts a goroutine; what becomes runnable between counts from then
// on.
func (w *watcher) lost() int64 {
	n, _ := w.view.Stealable()
	return min(n, w.away())
}

func (w *watcher) integrate(now int64) {
	now = min(now, w.now.from+w.t.MaxNs)
	w.now.lost += w.rate * (now - w.at)
	w.now.ns, w.at = now-w.now.from, now
}

func (w *watcher) advance(d *reference.Decision) {
	if !w.open {
		return
	}
	w.integrate(d.Time)
	if d.Kind == reference.KindPStart && w.now.first < 0 {
		w.now.first = w.now.ns
	}
	if g := w.view.Goroutine(); d.Kind == reference.KindStart && g != nil && !g.System {
		w.now.last = findings.Cell{Class: g.Class, G: g.ID, P: d.P, Stack: g.Stack}
	}
	if w.rate = w.lost(); w.rate == 0 || w.now.ns >= w.t.MaxNs {
		w.over()
	}
}

// lose ends a restart that another stop, or a gap in the trace, cuts off.
func (w *watcher) lose(d *reference.Decision) {
	if w.open {
		w.integrate(d.Time)
		w.over()
	}
}

// over ends a restart: every P has work, or all work has a P.
func (w *watcher) over() {
	w.open = false
	w.after.Set(false)
	r := &w.now
	if r.ns < w.t.SlowNs {
		return
	}
	c := r.last
	c.Ns, c.From, c.To = r.lost, r.from, r.from+r.ns
	w.slow.Add(&c)
	w.slowNs += r.ns
	if r.first >= 0 && r.first < w.t.SlowNs {
		w.prompt++
	}
	if r.ns > w.worst.ns {
		w.worst = *r
	}
	w.labels.Add(w.label)
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.open {
		w.integrate(f.EndNs)
		w.over()
	}
	total := w.slow.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || total.N < w.t.MinCount || float64(total.N) < w.t.MinShare*float64(w.restarts) {
		return nil
	}
	doubt := ""
	switch {
	case f.Records() != nil && !f.Strained: // threads had their CPUs
	case float64(total.N) < w.t.Share*float64(w.restarts):
		doubt = quick
	case 2*w.prompt > total.N:
		doubt = prompt(f)
	}
	x := findings.Finding{
		Severity: s, CostNs: total.Ns, FromNs: w.worst.from, ToNs: w.worst.from + w.worst.ns, Basis: findings.Inferred, Feigned: findings.ByStall,
		Actors: w.slow.Actors(f, findings.Victim, 3),
	}
	if doubt != "" {
		x.Severity, x.Basis = x.Severity.Lower(), findings.Suspected
	}
	longest := quantity.Duration(w.worst.ns)
	if w.worst.ns >= w.t.MaxNs {
		longest += " or more"
	}
	x.Headline = findings.Say("Ps are slow to work again after the world was stopped: up to %s", longest)
	x.Title = findings.Say("After %s of the world it took over %s until the Ps had taken up the work that waited; the longest %s",
		quantity.Plural(total.N, "stop", "stops"), quantity.Duration(w.t.SlowNs), longest)
	x.Measured("slow restarts", findings.Count(total.N).With(" of %s with work for Ps that were away", quantity.Count(w.restarts)), findings.Time(w.t.SlowNs).With(" each"))
	x.Measured("the longest", findings.Said("%s", longest).Of(w.worst.ns), findings.Time(w.t.SlowNs))
	x.Measured("their mean", findings.Time(w.slowNs/total.N))
	x.Measured("of them, those in which the first P was back in time", findings.Count(w.prompt), findings.Time(w.t.SlowNs))
	x.Measured("in the longest, Ps that ran nothing at first", findings.Count(w.worst.away))
	x.Measured("in the longest, goroutines that they could have run", findings.Count(w.worst.wanting).With(", %s in the global queue", quantity.Count(w.worst.global)))
	x.MeasuredLabels("slow restarts after: ", w.labels, f)
	x.Advise("Stop the world less often: allocate less, or raise GOGC or GOMEMLIMIT; call runtime.ReadMemStats, runtime.GC and the goroutine profile rarely.")
	x.Advise("Only Ps with work in their own queues are started at once, the others one by one, each by the one before: many goroutines in one queue, or in the global one, as after a cycle that made many wait for assists (see %s), make that chain long.", findings.ID(gcassistwait.ID))
	x.Advise("Check whether the machine wakes threads late (%s), and try the newest Go version: it gives Ps their old threads back after a stop (Go 1.26).", f.TakesCPUs())
	if doubt != "" {
		x.Advise("%s", doubt)
	}
	return []findings.Finding{x}
}

// quick is why the machine may have done it, as prompt is.
const quick = "Most restarts were quick: in the slow ones threads may just have had no CPU."

func prompt(f *findings.Facts) string {
	const same = "The first P was back in time, and others were not: it looks the same if "
	if f.EnoughCPUs() {
		return same + "other programs use the CPUs. Repeat the recording on a quiet machine."
	}
	return same + "the machine has fewer CPUs than Ps, or other programs use them. Repeat the recording with no more Ps than CPUs."
}
