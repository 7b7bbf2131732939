package findings

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/reference"
)

// Goroutine is what a View knows of a live goroutine. Times are ns since the first event of the
// trace, durations are ns, and Class and the stacks are handles, for [Facts.Name] and
// [Facts.Frames]; 0 is unknown. The fields used most come first, so that they share two cache
// lines.
type Goroutine struct {
	ID      int64
	ReadyAt int64 // time since which it waits for a P; -1 if it does not
	StartAt int64 // time since which it runs; -1 if it does not
	Wait    int64 // length of the wait for a P before this run interval; -1 if unknown, or it does not run
	Class   int32 // handle of its class
	P       int32 // P of the queue in which it waits (NoP: the global one, or none), or on which it ran last
	Stack   int32 // where it stopped last

	slot    int32   // its place in View.gs
	turn    int32   // its place in View.turns; 0: it does not wait for a P
	load    float32 // Run.Load, if it is known
	class   int32   // index
	marks   Mark
	assists bool // marks for the garbage collector before it may allocate

	System   bool             // belongs to the runtime or the tracer
	Self     bool             // waits after runtime.Gosched
	Locked   bool             // locked to a thread, as far as seen
	New      bool             // has not run yet
	Moved    bool             // its last run interval was on another P than the one before
	ReadyWhy reference.Why    // why it became runnable last
	Reason   reference.Reason // what it waits or waited for; none if it is new, was preempted, or came from a system call
	CallWhy  reference.Why    // how its last system call lost its P, as in Syscall.Why; else WhyUnknown
	RunNs    int64            // sum of its run intervals so far, system calls that kept the P left out
	WaitNs   int64            // sum of its waits for a P so far, as far as they are known
	RunAt    int64            // time at which the run interval before its last stop began; -1 if unknown
	// The time that it is blocked, or was last, and how that ended.
	BlockedAt int64 // time since which it is blocked, or was before it became runnable; -1: unknown, or it was not
	BlockedNs int64 // how long it was blocked before it became runnable last; -1: it was not; a sleep of 100 µs may be one of 1 ms on idle Ps
	Waker     int64 // ID of the goroutine that made it runnable last; NoG: none did
	WakeStack int32 // handle of the stack at which Waker did so
	RanOn     int32 // P of its last run interval; NoP: it has not run
	CallAt    int64 // time at which its last system call began; -1 if unknown
	Creator   int64 // ID of the goroutine that created it; NoG if unknown, or no goroutine did
	Created   int32 // number of goroutines that it created since it became runnable last
	Stops     int64 // number of its run intervals that ended with a KindStop other than its end
	// steps is how many there were from what happened outside to when it became runnable, and woke
	// how many goroutines it made runnable since it was blocked: see await.
	steps, woke int8
	slackAt     int64 // how long there had been Slack when it began to wait for others; -1: it has been woken since
	node        span.Node
	round       round
}

// round is what a goroutine has done since it was blocked last, or came up.
type round struct {
	blockedNs     int64 // how long that block was; 0: there was none
	reason        reference.Reason
	runNs, waitNs int64 // RunNs and WaitNs when it was over
}

// Round returns how long the goroutine has run and has waited for a P from the end of the last time
// that it was blocked up to now, and how long and for what it had been blocked; blocked is 0 if it
// never was. Times are ns; of a wait that is not over nothing is counted.
func (g *Goroutine) Round(now int64) (ran, waited, blocked int64, reason reference.Reason) {
	if g.StartAt >= 0 {
		ran = now - g.StartAt
	}
	r := &g.round
	return ran + g.RunNs - r.runNs, g.WaitNs - r.waitNs, r.blockedNs, r.reason
}

// Slot returns a small number that identifies the goroutine among the live ones: see [View.Slot].
func (g *Goroutine) Slot() int32 { return g.slot }

// goroutine returns the decision's goroutine, and takes over what its note says about it.
func (w *follower) goroutine() *Goroutine {
	n := w.note
	g := w.gs.At(n.G)
	w.g = g
	if n.Was == ledger.Unseen {
		w.newGoroutine(g)
	} else if n.Changed&ledger.Learned != 0 {
		w.learn(g)
	}
	return g
}

// newGoroutine makes g the decision's goroutine, of which nothing was known.
func (w *follower) newGoroutine(g *Goroutine) {
	slot, id := w.note.G, w.decision().G
	*g = Goroutine{} // OPT: a literal with values is made elsewhere and copied
	g.ID, g.slot = id, slot
	g.ReadyAt, g.StartAt, g.Wait, g.BlockedAt, g.BlockedNs, g.RunAt, g.CallAt, g.slackAt = -1, -1, -1, -1, -1, -1, -1, -1
	g.steps = unawaited
	g.Waker, g.Creator, g.P, g.RanOn = reference.NoG, reference.NoG, reference.NoP, reference.NoP
	w.byID.Add(id, slot)
	w.slots = max(w.slots, slot+1)
	w.learn(g)
}

// learn copies what the note says about g's class, and whether it is the program's.
func (w *follower) learn(g *Goroutine) {
	n := w.note
	g.Class, g.class = w.block.Classes[n.Class], n.Class
	if n.Class >= maxClasses {
		g.class = 0
	}
	if !n.OfProgram() && !g.System {
		w.runnable -= b2i64(g.ReadyAt >= 0)
		w.running -= b2i64(g.StartAt >= 0)
		w.leave(g, w.turn(g))
		g.System = true
		w.span.Forget(&g.node)
	}
}

// begin records that g is runnable, or runs, from now on: since is its ReadyAt or StartAt,
// n counts the program's goroutines of which that is so.
func (w *follower) begin(g *Goroutine, since, n *int64) {
	if !g.System {
		*n += b2i64(*since < 0)
	}
	*since = w.now
}

// end records that it is not so any more.
func (g *Goroutine) end(since, n *int64) {
	if !g.System {
		*n -= b2i64(*since >= 0)
	}
	*since = -1
}
