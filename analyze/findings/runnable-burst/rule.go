// Package runnableburst is the detector runnable-burst: did far more goroutines
// become runnable at once than the Ps can serve? doc.md explains it.
package runnableburst

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	globalqueueneglect "github.com/gmpscope/gmpscope/analyze/findings/global-queue-neglect"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "runnable-burst"

// Thresholds decide when the detector reports bursts of far more runnable goroutines than the
// Ps can serve. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0
// to 1.
type Thresholds struct {
	// Queue is the number of runnable goroutines for each P from which on there is a burst, and
	// SevereQueue the number from which on it is severe.
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

// Default returns the thresholds that apply unless a configuration sets others. Five for each
// P is where schedstat, a tool that counts runnable goroutines, speaks of a burst; 32 is where
// CockroachDB's admission control takes a node for overloaded. The rest is a guess, checked on
// traces.
func Default() Thresholds {
	return Thresholds{Queue: 5, SevereQueue: 32, LengthNs: 1_000_000, Share: 0.01, WarningShare: 0.05, MinBurstNs: 10_000_000, CriticalShare: 0.5, CriticalNs: 1_000_000_000}
}

// New returns the detector that reports bursts of far more runnable goroutines than the Ps can
// serve, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, InLine: findings.Queued(),
		Delays: true, Explains: []string{globalqueueneglect.ID}, // what overflows a local queue goes to the global one
		Remedy: findings.Remedy{Why: "to admit fewer moves the wait to where no trace shows it"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, burst: burst{from: -1}}
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

	burst        // the present one; from is -1: there is none
	build   bool // there are more than one for each P
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
	created  findings.Tally
}

// littleWork is the share of the time that all ran, at least, that those must have run which were created
// in bursts: else what others do keeps them waiting.
const littleWork = 0.05

// burst is a time with more goroutines than limit.
type burst struct {
	from, to     int64 // to is up to now
	n            int64 // now
	limit        int64
	peak, peakAt int64
	excess       int64 // goroutine-ns beyond the limit
	severe       int64 // ns
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
		w.over()
	}
}

// step records that n goroutines are runnable now.
func (w *watcher) step(n int64) {
	now := w.view.Now()
	if w.from < 0 {
		if limit := w.t.Queue * w.view.Procs(); n > limit {
			w.burst = burst{from: now, to: now, n: n, limit: limit, peak: n, peakAt: now}
			w.starts.Set(true)
		}
		return
	}
	w.pass(now)
	w.n = n
	if n > w.peak {
		w.peak, w.peakAt = n, now
	}
	if n <= w.limit {
		w.over()
	}
}

func (w *watcher) pass(now int64) {
	dt := now - w.to
	w.to = now
	w.excess += dt * (w.n - w.limit)
	if w.n*w.t.Queue > w.t.SevereQueue*w.limit {
		w.severe += dt
	}
}

// over ends the burst.
func (w *watcher) over() {
	b := w.burst
	w.from, w.build = -1, false
	w.starts.Set(false)
	ns := b.to - b.from
	if ns < w.t.LengthNs {
		return
	}
	w.bursts++
	w.ns += ns
	w.severeNs += b.severe
	w.cost += b.excess
	w.longest = max(w.longest, ns)
	if b.peak > w.biggest.peak {
		w.biggest = b
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
			w.created.Add(&s.victim)
		default:
			w.wakers.Add(&s.waker)
		}
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.from >= 0 {
		w.pass(max(w.to, f.EndNs))
		w.over()
	}
	var s findings.Severity
	ns, limit := w.ns, w.t.Queue
	switch enough := func(ns int64, share float64) bool { return ns >= w.t.MinBurstNs && f.Share(ns) >= share }; {
	case enough(w.severeNs, w.t.WarningShare):
		s, limit, ns = findings.Warning, w.t.SevereQueue, w.severeNs
		if w.severeNs >= w.t.CriticalNs && f.Share(w.severeNs) >= w.t.CriticalShare {
			s = findings.Critical
		}
	case enough(w.ns, w.t.Share):
		s = findings.Note
	default:
		return nil
	}
	whys := w.why()
	most := reference.WhyUnknown
	if len(whys) > 0 {
		most = whys[0].why
	}
	victims, causes := &w.victims, &w.wakers
	if most == reference.WhyTimer && w.timed.Total.N > 0 {
		victims = &w.timed // whose stacks tell where they slept
	}
	if most == reference.WhyCreate || causes.Total.N == 0 {
		causes = &w.creators
	}
	x := findings.Finding{
		Severity: s, CostNs: w.cost, FromNs: w.biggest.from, ToNs: w.biggest.to, Basis: findings.Certain,
		Actors: append(victims.Actors(f, findings.Victim, 2), causes.Actors(f, findings.Cause, 2)...),
	}
	cause := x.Cause()
	if cause != nil && marks(cause) {
		x.Severity = findings.Note // gc-assist-wait names who allocates
	}
	if most == reference.WhyCreate && cause != nil && w.createdRan() < littleWork*float64(f.BusyNs()) {
		x.Severity = findings.Note
	}
	b := &w.biggest
	forEach := float64(b.peak) / float64(b.limit/w.t.Queue)
	headline, title := phrase(&x, most, b.peak)
	x.Headline = headline
	x.Title = findings.Say("%s, %s for each P; for %s of the time they were more than %d for each", title, quantity.Number(forEach), quantity.Percent(f.Share(ns)), limit)
	x.Measured("runnable at once for each P, at most", findings.Number(forEach), findings.Count(limit))
	x.Measured(fmt.Sprintf("time with more than %d for each P", limit), findings.Share(f.Share(ns)).Of(ns), findings.Share(w.t.Share))
	x.Measured("bursts", findings.Count(w.bursts), findings.Time(w.t.LengthNs).With(" each"))
	x.Measured("the longest", findings.Time(w.longest))
	x.Measured("from the highest peak to its end", findings.Time(b.to-b.peakAt))
	for _, y := range whys[:min(3, len(whys))] {
		x.Measured("became runnable then: "+cmp.Or(ways[y.why].words, y.why.String()), findings.Count(y.n))
	}
	if len(whys) > 0 {
		if most == reference.WhyCreate && cause == nil {
			most = reference.WhyTimer // which creates them where no goroutine does
		}
		advice := cmp.Or(ways[most].advice, "See in the timeline what came before the peak.")
		if most == reference.WhyUnblock {
			advice = fmt.Sprintf(advice, callOf(cause).instead)
		}
		x.Advise("%s", advice)
	}
	x.Advise("Admit no more than a few for each P at once, and let the rest wait outside the scheduler, where they can be ordered, shed or cancelled: whoever becomes runnable now stands behind all of them.")
	return []findings.Finding{x}
}

// createdRan is for how long the goroutines of classes that were created in bursts ran, ns.
func (w *watcher) createdRan() (ns float64) {
	for _, c := range w.created.Top(4) {
		ns += float64(w.view.ClassStat(c.Class).RunNs)
	}
	return ns
}

type entry struct {
	why reference.Why
	n   int64
}

// why lists how the goroutines became runnable, the commonest way first.
func (w *watcher) why() []entry {
	var out []entry
	for i, n := range w.total {
		if n > 0 {
			out = append(out, entry{reference.Why(i), n})
		}
	}
	slices.SortStableFunc(out, func(x, y entry) int { return cmp.Compare(y.n, x.n) })
	return out
}

// marks reports whether an actor is a mark worker: it wakes those that wait for a cycle of the collector to end.
func marks(a *findings.Actor) bool { return strings.HasPrefix(a.Class, "runtime.gcBgMarkWorker") }

// waker is what an actor that wakes others is called.
func waker(a *findings.Actor, name findings.Text) findings.Text {
	if marks(a) {
		return findings.Say("The garbage collector")
	}
	return name
}

// phrase returns the headline and the beginning of the title: who made so many goroutines runnable.
func phrase(x *findings.Finding, why reference.Why, peak int64) (headline, title findings.Text) {
	many := quantity.Plural(peak, "goroutine", "goroutines")
	if a := x.Cause(); a != nil {
		switch why {
		case reference.WhyCreate:
			return findings.Say("%s creates goroutines faster than they run: up to %s wait", a.Short(), many),
				findings.Say("%s created goroutines faster than they ran: up to %s were runnable at once", a.Doer(), many)
		case reference.WhyUnblock:
			return findings.Say("%s wakes up to %s at once", waker(a, findings.Say("%s", a.Short())), many),
				findings.Say("%s made up to %s runnable at once%s", waker(a, a.Doer()), many, callOf(a).how)
		}
	}
	if len(x.Actors) > 0 {
		a := &x.Actors[0]
		switch why {
		case reference.WhyTimer:
			in := "of"
			if a.Short() != findings.Short(findings.Name(a.Class)) {
				in = "in"
			}
			return findings.Say("Timers wake up to %s %s %s at once", many, in, a.Short()),
				findings.Say("Timers made up to %s of %s runnable at once", many, a.Work())
		case reference.WhyCreate: // by no goroutine, as time.AfterFunc does it
			return findings.Say("Timers start up to %s of %s at once", many, a.Short()),
				findings.Say("Timers, as by time.AfterFunc, started goroutines faster than they ran: up to %s, most of %s, were runnable at once", many, a.Work())
		}
	}
	return findings.Say("Too much work at once: up to %s are runnable", many), findings.Say("Up to %s were runnable at once", many)
}

// call is one by which a goroutine wakes many, and what to do instead.
type call struct {
	function, how, instead string
	holds                  string // in the name of the function, too
}

// calls ends in what stands for any other one.
var calls = [...]call{
	{"runtime.closechan", " by closing a channel", "send a token to as many as there is work for, instead of closing the channel", ""},
	{"sync.(*Cond).Broadcast", " with sync.Cond.Broadcast", "Signal instead of Broadcast", ""},
	{"context.", " by cancelling a context", "let those that have more to do than to end finish it some milliseconds apart", "cancel"},
	{"sync.(*WaitGroup)", " through a sync.WaitGroup", "have one wait for the WaitGroup, and hand on to the others", ""},
	{"sync.(*RWMutex)", " by unlocking a sync.RWMutex", "hold the write lock for less, or swap what it guards by an atomic.Pointer", ""},
	{"", "", "Signal instead of Broadcast, a token instead of a closed channel", ""},
}

// callOf returns the call by which an actor, which may be nil, woke goroutines, as far as its stack shows it.
func callOf(a *findings.Actor) *call {
	others := len(calls) - 1
	if a == nil {
		return &calls[others]
	}
	for _, fr := range a.Stack {
		name := findings.FunctionOf(fr)
		for i := range calls[:others] {
			if c := &calls[i]; strings.HasPrefix(name, c.function) && strings.Contains(name, c.holds) {
				return c
			}
		}
	}
	return &calls[others]
}

// ways are how goroutines become runnable, and what to do where most do so. %s is call.instead.
var ways = map[reference.Why]struct{ words, advice string }{
	reference.WhyCreate:      {"created", "Most of them were just created: bound how many goroutines a request or a loop starts (a semaphore, errgroup.SetLimit, a fixed set of workers)."},
	reference.WhyUnblock:     {"woken by a goroutine", "Most of them were woken by other goroutines, at once: wake as many as there is work for (%s), or let them go in groups, some milliseconds apart."},
	reference.WhyTimer:       {"woken by a timer", "Most of them were woken or started by timers that were due together: spread their times."},
	reference.WhyNetwork:     {"woken by the network poller", "Most of them had waited for the network: limit the connections or requests that are worked on at once."},
	reference.WhySyscallExit: {"came back from a system call", "Most of them came back from system calls without a P: bound how many such calls are made at once."},
	reference.WhySlice:       {"preempted", ""},
}
