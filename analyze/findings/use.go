package findings

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Use is what the program makes of its Ps. Goroutines in system calls that keep
// their P are busy outside the program: they count neither way.
type Use struct {
	// Slack: somebody runs, nobody is ready to, and half of the Ps could run more.
	Slack bool
	// Parallel: at least half of the Ps run the program, and two.
	Parallel bool
	Run      int64 // goroutines of the program that run
	Procs    int64 // GOMAXPROCS
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

// see looks how the Ps are used, after decision d.
func (w *World) see(d *reference.Decision) {
	usable := w.usablePs
	if n := w.runnable + w.running; n != w.wanting || usable != w.usable {
		if usable != w.usable {
			w.span.Ps(int64(w.procs), usable)
		}
		w.wanting, w.usable, w.load = n, usable, load(n, usable)
	}
	run := w.running - w.counts[ledger.Syscall]
	if run >= w.parallelFrom != w.parallel.on {
		w.parallel.toggle(w.now)
	}
	if w.use.Slack || w.idlers() {
		w.seeSlack(run)
	}
	if idle := w.counts[ledger.Idle]; idle != w.idle || idle != 0 && w.stealers.n|w.lost != 0 { // else none is lost, as before
		w.seeLost(d)
	}
}

// seeSlack is for where there was Slack, or may be from now on, when run goroutines
// run.
func (w *World) seeSlack(run int64) {
	u := &w.use
	slack := w.idlers() && run >= w.slackFrom
	if !slack && !u.Slack {
		return
	}
	if slack != u.Slack {
		w.slack.toggle(w.now)
	}
	u.Slack, u.Parallel, u.Run, u.Procs = slack, w.parallel.on, run, w.gomaxp
	w.uses.emit(u)
}

// idlers reports whether there is Slack if somebody runs.
func (w *World) idlers() bool {
	return w.runnable == 0 && 2*(w.usablePs-w.running) >= w.gomaxp
}

// setLimits follows a change of GOMAXPROCS, or the begin or end of a stop of the
// world.
func (w *World) setLimits() {
	p := max(1, int64(w.procs))
	w.gomaxp, w.slackFrom, w.parallelFrom = p, math.MaxInt64, math.MaxInt64
	if p >= 2 && !w.stw {
		w.slackFrom, w.parallelFrom = 1, max(2, (p+1)/2)
	}
}

// ParallelNs is for how long [Use] was Parallel, up to [World.Now].
func (w *World) ParallelNs() int64 { return w.parallel.ns(w.now) }

// HeldUp is a goroutine of the program that another has woken from a channel, a
// lock or a condition, after a wait in which there was [Use] with Slack.
type HeldUp struct {
	G, By *Goroutine
	To    int64
	Ns    int64 // of the wait, with Slack
}

// forOthers is the reasons with which a goroutine waits for others, a bit each.
const forOthers = 1<<reference.ReasonChanReceive | 1<<reference.ReasonChanSend | 1<<reference.ReasonSelect |
	1<<reference.ReasonSync | 1<<reference.ReasonCond

// idleUnknown is a World.idle that makes seeLost emit a decision whether there was
// a change or not.
const idleUnknown = -1

// seeLost looks how many idle Ps there are too many.
func (w *World) seeLost(d *reference.Decision) {
	idle, lost := w.counts[ledger.Idle], int64(0)
	if idle > 0 && !w.stw {
		lost = max(0, min(w.stealers.n-w.waking-w.coming, idle-w.coming))
	}
	if lost != w.lost || idle != w.idle {
		w.lost, w.idle = lost, idle
		w.idlePs.emit(d)
	}
}

// Lost is how many goroutines of the program idle Ps could run that no P is on its
// way to.
func (w *World) Lost() int64 { return w.lost }

// Ran is the running of the program's goroutines, as integrals over time up to
// [World.Now]. How many run is looked at when one starts or stops, and at CPU
// samples.
type Ran struct {
	Ns      int64   // goroutine-ns
	BusyNs  int64   // ns with at least one
	Squares float64 // of the square of how many: goroutine²-ns
}

func (r *Ran) pass(running, dt int64) {
	if running > 0 {
		r.BusyNs += dt
		r.Ns += running * dt
		r.Squares += float64(running * running * dt)
	}
}

// Ran returns it. It is valid until the next decision.
func (w *World) Ran() *Ran {
	if dt := w.now - w.ranAt; dt > 0 {
		w.ran.pass(w.ranN, dt)
		w.ranAt = w.now
	}
	return &w.ran
}

// setRan says how many run from now on.
func (w *World) setRan(running int64) {
	w.Ran()
	w.ranN = running
}

// SlicePart is what is left of a [Slice] since it began, or since a preemption in it: a
// goroutine may inherit the slice through runnext, but the request was heeded.
type SlicePart struct {
	P         int32
	Runs      int32
	Why       reference.Why // of its last stop
	Open      bool          // it ran when the trace ended, or a gap in it began
	System    bool          // a goroutine of the runtime took part
	From, To  int64
	SyscallNs int64
	// The goroutine that ran longest.
	Longest      int64 // ns
	G            int64
	Class, Stack int32
}

// Ns is the length, system calls left out.
func (t *SlicePart) Ns() int64 { return t.To - t.From - t.SyscallNs }

// addPart adds the run interval s to the slice part on P p.
func (w *World) addPart(p *proc, s *Run) {
	t, ns := &p.part, s.Ns()
	if t.Runs == 0 || s.Nth == 1 {
		t.Runs, t.From, t.SyscallNs, t.System = 1, s.From, s.SyscallNs, s.System
		t.Longest, t.G, t.Class, t.Stack = ns, s.G, s.Class, s.Stack
		return
	}
	t.Runs++
	t.SyscallNs += s.SyscallNs
	t.System = t.System || s.System
	if ns >= t.Longest {
		t.Longest, t.G, t.Class, t.Stack = ns, s.G, s.Class, s.Stack
	}
}

func (w *World) endPart(p *proc) {
	t, last := &p.part, &p.run
	if t.Runs > 0 && last.To-t.From-t.SyscallNs >= w.longPart {
		t.To, t.Why, t.Open = last.To, last.Why, last.Open
		w.longParts.emit(t)
	}
	t.Runs = 0
}
