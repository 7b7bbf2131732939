package findings

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Use is how the program uses its Ps at one time; [View.Uses] reports it. Goroutines in system
// calls that keep their P count neither as running nor as idle.
type Use struct {
	// Slack reports whether a goroutine of the program runs, none is runnable, and at least half
	// of the Ps are free.
	Slack bool
	Run   int64 // number of goroutines of the program that run
	Procs int64 // GOMAXPROCS
}

// stopwatch adds up for how long something is so: the times at which that ended,
// less those at which it began.
type stopwatch struct {
	sum int64
	on  bool
}

// toggle begins or ends it.
func (s *stopwatch) toggle(now int64) {
	if s.on = !s.on; s.on {
		now = -now
	}
	s.sum += now
}

// ns is for how long it was so up to now.
func (s *stopwatch) ns(now int64) int64 {
	if s.on {
		return s.sum + now
	}
	return s.sum
}

// usage follows how the Ps are used.
type usage struct {
	use Use
	// How many must run for use to be Slack, or for at least half of the Ps, and two, to run the program.
	slackFrom, parallelFrom int64
	slack, parallel         stopwatch
}

// limit is for a change of GOMAXPROCS, or the begin or end of a stop of the world.
func (u *usage) limit(procs int64, stopping bool) {
	u.slackFrom, u.parallelFrom = math.MaxInt64, math.MaxInt64
	if procs >= 2 && !stopping {
		u.slackFrom, u.parallelFrom = 1, max(2, (procs+1)/2)
	}
}

// follow processes how many goroutines run, and whether there is Slack if any does. It
// reports whether there was Slack before, or is now.
func (u *usage) follow(now, run int64, idlers bool) bool {
	if run >= u.parallelFrom != u.parallel.on {
		u.parallel.toggle(now)
	}
	slack := idlers && run >= u.slackFrom
	if !slack && !u.use.Slack {
		return false
	}
	if slack != u.use.Slack {
		u.slack.toggle(now)
	}
	u.use.Slack, u.use.Run = slack, run
	return true
}

// see looks how the Ps are used, after decision d.
func (w *follower) see(d *reference.Decision) {
	usable := w.usablePs
	if n := w.runnable + w.running; n != w.wanting || usable != w.usable {
		if usable != w.usable {
			w.span.Ps(int64(w.procs), usable)
		}
		w.wanting, w.usable, w.load = n, usable, load(n, usable)
	}
	run := w.running - w.counts[ledger.Syscall]
	if w.follow(w.now, run, w.idlers()) {
		w.use.Procs = w.gomaxp
		w.uses.emit(&w.use)
	}
	if idle := w.counts[ledger.Idle]; idle != w.idle || idle != 0 && w.stealers.n|w.unserved != 0 { // else none is lost, as before
		w.countUnserved(d)
	}
}

// idlers reports whether there is Slack if a goroutine runs.
func (w *follower) idlers() bool {
	return w.runnable == 0 && 2*(w.usablePs-w.running) >= w.gomaxp
}

// ParallelNs returns the total time up to [View.Now], in ns, in which at least half of the Ps, and
// at least two, ran goroutines of the program.
func (w *View) ParallelNs() int64 { return w.parallel.ns(w.now) }

// HeldUp is a goroutine of the program woken by another from a channel, a lock or a
// condition, after a wait during which [Use] had Slack.
type HeldUp struct {
	G, By *Goroutine // the one that was woken, and the one that woke it
	To    int64      // time of the wake-up, ns
	Ns    int64      // part of the wait in which Use had Slack, ns
}

// forOthers is the reasons with which a goroutine waits for others, a bit each.
const forOthers = 1<<reference.ReasonChanReceive | 1<<reference.ReasonChanSend | 1<<reference.ReasonSelect |
	1<<reference.ReasonSync | 1<<reference.ReasonCond

// idleUnknown is a View.idle that makes countUnserved emit a decision whether there was
// a change or not.
const idleUnknown = -1

// countUnserved looks how many idle Ps there are too many.
func (w *follower) countUnserved(d *reference.Decision) {
	idle, lost := w.counts[ledger.Idle], int64(0)
	if idle > 0 && !w.stw {
		lost = max(0, min(w.stealers.n-w.waking-w.coming, idle-w.coming))
	}
	if lost != w.unserved || idle != w.idle {
		w.unserved, w.idle = lost, idle
		w.idlePs.emit(d)
	}
}

// UnservedByIdlePs returns the number of goroutines of the program that idle Ps could run and
// no P is on its way to take.
func (w *View) UnservedByIdlePs() int64 { return w.unserved }

// RunIntegral holds integrals over time of the number of running goroutines of the
// program, up to [View.Now], updated at starts, stops and CPU samples. The difference of two of
// them tells how many ran in between, on average.
type RunIntegral struct {
	Ns      int64   // integral of the number, in goroutine-ns
	BusyNs  int64   // time in which at least one ran, in ns
	Squares float64 // integral of the square of the number, in goroutine²-ns
}

// runTime is Ran up to a time, since when n goroutines run, as far as it counts.
type runTime struct {
	ran   RunIntegral
	at, n int64
}

// upTo lets time pass.
func (r *runTime) upTo(now int64) *RunIntegral {
	if dt := now - r.at; dt > 0 {
		if r.n > 0 {
			r.ran.BusyNs += dt
			r.ran.Ns += r.n * dt
			r.ran.Squares += float64(r.n * r.n * dt)
		}
		r.at = now
	}
	return &r.ran
}

// set records how many run from now on.
func (r *runTime) set(now, n int64) {
	r.upTo(now)
	r.n = n
}

// RunIntegral returns the integrals over time, up to [View.Now], of the number of running goroutines
// of the program. The result is valid until the next decision.
func (w *View) RunIntegral() *RunIntegral { return w.ran.upTo(w.now) }

// SlicePart is the part of a [Slice] since its beginning or the last preemption in it: a
// goroutine may inherit the slice through runnext although the request to yield was
// heeded.
type SlicePart struct {
	P         int32
	Runs      int32         // number of run intervals in it
	Why       reference.Why // why the last run interval ended
	Open      bool          // it was not over when the trace ended, or at a gap
	System    bool          // a goroutine of the runtime or the tracer took part
	From, To  int64         // it is [From, To), ns
	SyscallNs int64         // time of it in system calls, ns
	OffNs     int64         // time of it on no CPU, as in Run, ns
	// Longest is the length of the longest run interval in it, in ns; G is the ID of the goroutine
	// that ran then, and Class and Stack are the handles of its class and of the stack at which it
	// stopped.
	Longest      int64
	G            int64
	Class, Stack int32
}

// Ns returns the length of the part in ns, without system calls and known time on no CPU.
func (t *SlicePart) Ns() int64 { return t.To - t.From - t.SyscallNs - t.OffNs }

// addPart adds the run interval s to the slice part on P p.
func (w *follower) addPart(p *proc, s *Run) {
	t, ns := &p.part, s.Ns()
	if t.Runs == 0 || s.Nth == 1 {
		t.Runs, t.From, t.SyscallNs, t.OffNs, t.System = 1, s.From, s.SyscallNs, s.OffNs, s.System
		t.Longest, t.G, t.Class, t.Stack = ns, s.G, s.Class, s.Stack
		return
	}
	t.Runs++
	t.SyscallNs += s.SyscallNs
	t.OffNs += s.OffNs
	t.System = t.System || s.System
	if ns >= t.Longest {
		t.Longest, t.G, t.Class, t.Stack = ns, s.G, s.Class, s.Stack
	}
}

func (w *follower) endPart(p *proc) {
	t, last := &p.part, &p.run
	if t.To = last.To; t.Runs > 0 && t.Ns() >= w.longPart {
		t.Why, t.Open = last.Why, last.Open
		w.longParts.emit(t)
	}
	t.Runs = 0
}
