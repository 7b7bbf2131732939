// Package stwstoplatency is the detector stw-stop-latency: did one goroutine make
// all the others wait for a stop-the-world? doc.md explains it.
package stwstoplatency

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	stoptheworldcalls "github.com/gmpscope/gmpscope/analyze/findings/stop-the-world-calls"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "stw-stop-latency"

// Thresholds decide when the detector reports goroutines that delayed a stop-the-world. Fields
// whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	LateNs   int64 `json:"late_ns"`   // a stop that takes this long, from the request until the last P has stopped, is late
	SevereNs int64 `json:"severe_ns"` // a stop that takes this long is severe
	// MinCount is how many severe stops there must be: on any machine a thread is
	// late now and then. One as late as AloneNs suffices.
	MinCount int64 `json:"min_count"`
	AloneNs  int64 `json:"alone_ns"`
	// Share is the share of late stops among those that a class was asked for,
	// below which it may as well be a thread that had no CPU.
	Share float64        `json:"share"`
	Grade findings.Grade `json:"grade"` // severities, by the P-time that was lost until the last P stopped
}

// Default returns the thresholds that apply unless a configuration sets others. After LateNs
// stopTheWorldWithSema (runtime/proc.go, Go 1.22 to 1.27) asks again, so what can be
// interrupted has heard of it by then; stops that took longer than SevereNs were reported as a
// fault (golang/go#17831). The rest is ours.
func Default() Thresholds {
	return Thresholds{LateNs: 100_000, SevereNs: 1_000_000, MinCount: 3, AloneNs: 10_000_000, Share: 0.25, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that delayed a stop-the-world, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfIdle, Delays: true, Explains: []string{stoptheworldcalls.ID},
		Remedy: findings.Remedy{Why: "the model stops a world in a time of its own"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, classes: findings.NewTable(findings.MaxKept, newClass), samples: map[int64]sample{}}
			w.runs = view.Runs(findings.RunFilter{}, w.run)
			w.calls = view.Syscalls(findings.SyscallFilter{}, w.syscall)
			w.listen(false)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWBegin}}, w.begin)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindPStop, reference.KindRetake}}, w.stop)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSample}}, w.sample)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWEnd}}, w.end)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	runs, calls *findings.Switch // on while open

	// The stop that is under way.
	open    bool
	request reference.Decision // that asked for it
	class   int32              // of the goroutine that asked
	user    bool               // it belongs to the program
	rate    int64              // goroutines that wait for the last P to stop
	seen    int64              // since when
	lost    int64              // goroutine-ns up to then
	last    int64              // when a P stopped last
	late    findings.Run       // what it had run; G is 0 if nothing
	inCall  bool               // the P about to stop was in a system call
	ended   []findings.Run     // by P, the run interval that ended last

	samples map[int64]sample // by goroutine

	stops   int64 // late or not
	longest int64 // from the request to the restart
	classes findings.Table[int32, class]
	victims findings.Tally
	labels  findings.Labels // of late stops
}

// sample is what the CPU profiler saw of a goroutine while it was asked to stop.
type sample struct {
	n     int64
	stack int32
}

// class is how its goroutines stopped.
type class struct {
	requests int64         // stops
	slow     int64         // of them, those that were late
	last     findings.Cell // of these, those that were the last, from the request on
	severe   int64         // of last, those over SevereNs
	itself   int64         // of last: ended by the goroutine, before it heard of the request
	cost     int64
	seen     int64 // CPU samples
}

func newClass(id int32) class { return class{last: findings.Cell{Class: id}} }

const (
	maxVictims = 64 // of a queue that are looked at
	maxSamples = 64 // goroutines
)

func (w *watcher) listen(on bool) {
	w.runs.Set(on)
	w.calls.Set(on)
}

func (w *watcher) begin(d *reference.Decision) {
	w.listen(true)
	w.inCall = false
	w.open, w.request, w.class, w.user = true, *d, 0, false
	if g := w.view.ByID(d.G); g != nil {
		w.class, w.user = g.Class, !g.System
	}
	w.seen, w.last, w.lost = d.Time, d.Time, 0
	w.late.G = 0
	w.rate = w.waiting()
	clear(w.samples)
}

// waiting is how many goroutines of the program the stop keeps from running at
// present: those that could run on the Ps that run nothing, and who asked.
func (w *watcher) waiting() int64 {
	busy := w.view.CountPs(ledger.User) + w.view.CountPs(ledger.System) + w.view.CountPs(ledger.GC) + w.view.CountPs(ledger.Tracer) + w.view.CountPs(ledger.Syscall)
	n := min(max(0, w.view.Procs()-busy), w.view.Runnable())
	if w.user {
		n++
	}
	return n
}

// advance integrates up to the present. What becomes runnable between the stops
// of two Ps counts from the second on.
func (w *watcher) advance(d *reference.Decision) {
	w.lost += w.rate * (d.Time - w.seen)
	w.rate, w.seen = w.waiting(), d.Time
}

func (w *watcher) run(r *findings.Run) {
	if w.open && r.P >= 0 {
		*findings.Entry(&w.ended, r.P, findings.Run{}) = *r
	}
}

func (w *watcher) syscall(c *findings.Syscall) {
	w.inCall = w.open && c.Why != reference.WhySyscallExit
}

func (w *watcher) stop(d *reference.Decision) {
	inCall := w.inCall
	w.inCall = false
	// A P in a system call is taken at once, nobody is asked.
	if !w.open || inCall || d.P == w.request.P {
		return
	}
	w.advance(d)
	w.last = d.Time
	w.late.G = 0
	if d.P < 0 || int(d.P) >= len(w.ended) || w.ended[d.P].G == 0 || w.ended[d.P].To < w.request.Time {
		return // its thread looked for work, or slept
	}
	w.late = w.ended[d.P]
	if c := w.classes.At(w.late.Class); c != nil {
		c.requests++
		if d.Time-w.request.Time >= w.t.LateNs {
			c.slow++
		}
	}
}

func (w *watcher) sample(d *reference.Decision) {
	if !w.open || d.G < 0 || d.P == w.request.P {
		return
	}
	if x, ok := w.samples[d.G]; ok || len(w.samples) < maxSamples {
		w.samples[d.G] = sample{x.n + 1, d.Stack}
	}
}

func (w *watcher) end(d *reference.Decision) {
	if !w.open {
		return
	}
	w.open = false
	w.listen(false)
	w.stops++
	w.longest = max(w.longest, d.Time-w.request.Time)
	from, ns := w.request.Time, w.last-w.request.Time
	if ns < w.t.LateNs || w.late.G == 0 {
		return
	}
	c := w.classes.At(w.late.Class)
	if c == nil {
		return
	}
	seen := w.samples[w.late.G]
	c.last.Add(&findings.Cell{Ns: ns, From: from, To: w.last, G: w.late.G, P: w.late.P, Stack: cmp.Or(seen.stack, w.late.Stack)})
	c.cost += w.lost
	c.seen += seen.n
	if ns >= w.t.SevereNs {
		c.severe++
	}
	if w.late.Why != reference.WhySTW {
		c.itself++
	}
	w.labels.Add(w.request.Label)
	if w.user {
		w.victims.Add(&findings.Cell{Class: w.class, Ns: ns, From: from, To: w.last, G: w.request.G, P: w.request.P, Stack: w.request.Stack})
	}
	for p := reference.NoP; p < w.view.KnownPs(); p++ {
		for g := range w.view.Waiting(p, maxVictims) {
			if at := max(g.ReadyAt, from); at < w.last && g.ID != w.late.G {
				w.victims.Add(&findings.Cell{Class: g.Class, Ns: w.last - at, From: at, To: w.last, G: g.ID, P: g.P, Stack: g.Stack})
			}
		}
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	classes, sum := w.sums()
	if len(classes) == 0 || sum.severe < w.t.MinCount && sum.last.Worst < w.t.AloneNs {
		return nil
	}
	s, ok := w.t.Grade.Severity(sum.cost, f.RecordedNs())
	if !ok {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: sum.cost, FromNs: sum.last.From, ToNs: sum.last.To, Basis: findings.Inferred,
		Actors: w.victims.Actors(f, findings.Victim, 2),
	}
	for _, c := range classes[:min(2, len(classes))] {
		x.Actors = append(x.Actors, c.last.Actor(f, findings.Cause))
	}
	top := classes[0]
	seldom := sum.seen == 0 && float64(top.slow) < w.t.Share*float64(top.requests)
	if seldom {
		x.Severity, x.Basis = x.Severity.Lower(), findings.Suspected
	}
	latest := quantity.Duration(sum.last.Worst)
	name := f.Name(top.last.Class)
	x.Headline = findings.Say("The world is slow to stop, for up to %s, because of %s", latest, findings.Short(name))
	x.Title = findings.Say("%s the world took over %s to stop, most by %s, which ran on; the longest %s",
		quantity.Plural(sum.last.N, "time", "times"), quantity.Duration(w.t.LateNs), name, latest)
	x.Measured("late stops", findings.Count(sum.last.N).With(" of %s", quantity.Count(w.stops)), findings.Time(w.t.LateNs).With(" each"))
	x.Measured("the latest, from the request to the stop of the last P", findings.Time(sum.last.Worst), findings.Time(w.t.SevereNs))
	x.Measured("all late stops, summed", findings.Time(sum.last.Ns))
	x.MeasuredOf(findings.Say("times that %s was asked to stop, and stopped late", name), findings.Count(top.requests).With(", %s", quantity.Count(top.slow)))
	x.Measured("longest pause, stopping included", findings.Time(w.longest))
	if top.itself > 0 {
		x.Measured("late stops of it that came only when it blocked, yielded or ended", findings.Count(top.itself))
	}
	if sum.seen > 0 {
		x.Measured("CPU samples of those who were late, taken meanwhile", findings.Count(sum.seen))
	}
	x.MeasuredLabels("late stops asked for: ", w.labels, f)
	x.Advise("Look in %s, where it stopped or just before, for what cannot be interrupted: assembly over a large input, a large copy or clear, a tight loop of pointer assignments, code of the runtime; or, with GODEBUG=asyncpreemptoff=1, any loop without calls. Do it in pieces of some 100 µs.", name)
	x.Advise("Stop the world less often: allocate less, or raise GOGC or GOMEMLIMIT; call runtime.GC, runtime.ReadMemStats, runtime.GOMAXPROCS and the goroutine profile rarely (runtime/metrics needs no stop).")
	if seldom {
		x.Advise("Most of the time %s stopped when asked: its thread may have had no CPU the other times. CPU samples in the trace would tell.", name)
	}
	if sum.seen == 0 { // samples prove that it ran
		x.Feigned = findings.ByStall
	}
	return []findings.Finding{x}
}

// sums returns the classes that were late, costliest first, and their sum.
func (w *watcher) sums() (classes []*class, sum class) {
	classes = slices.DeleteFunc(w.classes.List, func(c *class) bool { return c.last.N == 0 })
	slices.SortFunc(classes, func(x, y *class) int {
		return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(y.last.Ns, x.last.Ns), cmp.Compare(x.last.Class, y.last.Class))
	})
	for _, c := range classes {
		sum.cost += c.cost
		sum.last.Merge(&c.last)
		sum.severe += c.severe
		sum.seen += c.seen
	}
	return classes, sum
}
