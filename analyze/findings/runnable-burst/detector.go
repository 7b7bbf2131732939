// Package runnableburst is the detector runnable-burst: did far more goroutines
// become runnable at once than the Ps can serve? doc.md explains it.
package runnableburst

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "runnable-burst"

// Thresholds of the detector.
type Thresholds struct {
	// Queue and SevereQueue are runnable goroutines for each P.
	Queue       int64 `json:"queue"`
	SevereQueue int64 `json:"severe_queue"`
	LengthNs    int64 `json:"length_ns"` // a burst shorter than this drains by itself
	// Share of the duration, and the time, in bursts: above Queue it is worth a
	// note, above SevereQueue a warning; CriticalShare and CriticalNs are of the
	// latter.
	Share         float64 `json:"share"`
	Ns            int64   `json:"ns"`
	CriticalShare float64 `json:"critical_share"`
	CriticalNs    int64   `json:"critical_ns"`
}

// Default returns the default thresholds. Five for each P is where schedstat,
// a tool that counts runnable goroutines, speaks of a burst; 32 is where
// CockroachDB's admission control takes a node for overloaded. The rest is a
// guess, checked on traces.
func Default() Thresholds {
	return Thresholds{Queue: 5, SevereQueue: 32, LengthNs: 1_000_000, Share: 0.01, Ns: 10_000_000, CriticalShare: 0.5, CriticalNs: 1_000_000_000}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "bursts of runnable goroutines", Doc: doc,
		Kind:   findings.KindCause,
		Remedy: findings.Remedy{Why: "to admit fewer moves the wait to where no trace shows it"},
		New: func(env findings.Env) findings.Watcher {
			w := &watcher{t: t, world: env.World, from: -1}
			env.World.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.Crowded}, w.ready)
			w.starts = env.World.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}}, w.start)
			env.World.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			w.starts.Set(false)
			return w
		},
	}
}

type watcher struct {
	findings.Quiet
	t     Thresholds
	world *findings.World

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
	wakers   findings.Tally
}

// burst is the one with the highest peak.
type burst struct {
	from, to, peakAt, peak int64
	procs                  int64
}

// sample is one goroutine that became runnable, and who made it so.
type sample struct{ victim, waker findings.Cell }

// Of those that become runnable while a burst builds up, one of every is looked
// at closely, and at most maxSamples: that costs a look-up.
const (
	every      = 8
	maxSamples = 32
)

func (w *watcher) ready(d *reference.Decision) {
	n := w.world.Runnable() - w.world.Yielded()
	if w.world.Calm() {
		w.build = false
	}
	if !w.build && w.from < 0 {
		w.build, w.entries, w.whys, w.samples = true, 0, [32]int64{}, w.samples[:0]
	}
	g := w.world.Goroutine()
	if g != nil && !g.System && !g.Self {
		w.whys[d.Why&31]++
		if w.entries%every == 0 && len(w.samples) < maxSamples {
			s := sample{victim: findings.Cell{Class: g.Class, Ns: 1, G: g.ID, P: g.P, Stack: g.Stack}}
			if by := w.world.ByID(d.By); by != nil {
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
		w.step(w.world.Runnable() - w.world.Yielded())
	}
}

// lose ends a burst that a gap in the trace cuts off.
func (w *watcher) lose(d *reference.Decision) {
	if w.from >= 0 {
		w.pass(d.Time)
		w.over(d.Time)
	}
}

// step takes note that n goroutines are runnable now.
func (w *watcher) step(n int64) {
	now := w.world.Now()
	if w.from < 0 {
		if limit := w.t.Queue * w.world.Procs(); n > limit {
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
		w.victims.Add(s.victim)
		if s.waker.Class != 0 {
			w.wakers.Add(s.waker)
		}
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if w.from >= 0 {
		w.pass(max(w.last, f.EndNs))
		w.over(w.last)
	}
	var s findings.Severity
	limit := w.t.Queue
	ns := w.ns
	switch enough := func(ns int64) bool { return ns >= w.t.Ns && f.Share(ns) >= w.t.Share }; {
	case enough(w.severeNs):
		s, limit, ns = findings.Warning, w.t.SevereQueue, w.severeNs
		if w.severeNs >= w.t.CriticalNs && f.Share(w.severeNs) >= w.t.CriticalShare {
			s = findings.Critical
		}
	case enough(w.ns):
		s = findings.Note
	default:
		return nil
	}
	b := w.biggest
	forEach := float64(b.peak) / float64(b.procs)
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: w.cost, FromNs: b.from, ToNs: b.to, Basis: findings.Certain,
		Title: fmt.Sprintf("Up to %s were runnable at once, %s for each P; for %s of the time they were more than %d for each",
			findings.Plural(b.peak, "goroutine", "goroutines"), findings.Number(forEach), findings.Percent(f.Share(ns)), limit),
		Actors: append(w.victims.Actors(f, findings.Victim, 2), w.wakers.Actors(f, findings.Cause, 2)...),
		Evidence: []findings.Evidence{
			{What: "runnable at once for each P, at most", Value: findings.Number(forEach), Limit: findings.Count(limit)},
			{What: fmt.Sprintf("time with more than %d for each P", limit), Value: findings.Percent(f.Share(ns)), Limit: findings.Percent(w.t.Share), Ns: ns},
			{What: "bursts", Value: findings.Count(w.bursts), Limit: findings.Dur(w.t.LengthNs) + " each"},
			{What: "the longest", Value: findings.Dur(w.longest), Ns: w.longest},
			{What: "from the highest peak to its end", Value: findings.Dur(b.to - b.peakAt), Ns: b.to - b.peakAt},
		},
	}
	whys := w.why()
	for _, y := range whys[:min(3, len(whys))] {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "became runnable then: " + words(y.why), Value: findings.Count(y.n)})
	}
	if len(whys) > 0 {
		x.Advice = append(x.Advice, advice(whys[0].why))
	}
	x.Advice = append(x.Advice,
		"Admit no more than a few for each P at once, and let the rest wait outside the scheduler, where they can be ordered, shed or cancelled: whoever becomes runnable now stands behind all of them.")
	f.Doubt(&x)
	return []findings.Finding{x}
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

func words(why reference.Why) string {
	switch why {
	case reference.WhyCreate:
		return "created"
	case reference.WhyUnblock:
		return "woken by a goroutine"
	case reference.WhyTimer:
		return "woken by a timer"
	case reference.WhyNetwork:
		return "woken by the network poller"
	case reference.WhySyscallExit:
		return "came back from a system call"
	case reference.WhySlice:
		return "preempted"
	}
	return why.String()
}

func advice(why reference.Why) string {
	switch why {
	case reference.WhyCreate:
		return "Most of them were just created: bound how many goroutines a request or a loop starts (a semaphore, errgroup.SetLimit, a fixed set of workers)."
	case reference.WhyUnblock:
		return "Most of them were woken by other goroutines: wake as many as there is work for (Signal instead of Broadcast, a token instead of a closed channel)."
	case reference.WhyTimer:
		return "Most of them were woken by timers that were due together: spread their times."
	case reference.WhyNetwork:
		return "Most of them had waited for the network: limit the connections or requests that are worked on at once."
	case reference.WhySyscallExit:
		return "Most of them came back from system calls without a P: bound how many such calls are made at once."
	}
	return "See in the timeline what came before the peak."
}
