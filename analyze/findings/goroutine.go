package findings

import (
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/reference"
)

// Goroutine is one that the stream has shown and that has not ended. What most
// decisions touch comes first, so that it lies in two lines of the CPU's cache.
type Goroutine struct {
	ID       int64
	ReadyAt  int64 // since when it waits for a P; -1: it does not
	QueuedAt int64 // since when it is in its present queue
	StartAt  int64 // since when it runs; -1: it does not
	Wait     int64 // the wait before this run interval, or the last; -1 if unknown
	Class    int32 // handle
	P        int32 // whose queue it waits in (NoP: the global one, or none), or where it ran last
	Stack    int32 // where it stopped last

	slot       int32   // its place in World.gs
	next, prev int32   // slots
	list       int32   // P, or inNone, inGlobal, inNowhere
	mark       int64   // localStarts when it was queued, if it is watched
	markWait   int64   // localWait then
	loadAt     float64 // loadSum when it became runnable
	wanted     int32   // goroutines that wanted a P when it became runnable
	usable     int32   // Ps then
	load       float32 // Run.Load, if it is known
	class      int32   // index
	markLen    int32   // localLen when it was queued
	marks      Mark
	stealable  bool
	watched    bool // somebody subscribed to the end of its queue residency

	System   bool             // belongs to the runtime or the tracer
	Self     bool             // waits because it asked for it, by runtime.Gosched
	Locked   bool             // wired to a thread, as far as seen
	New      bool             // has not run yet
	Moved    bool             // its last run interval was on another P than the one before
	ReadyWhy reference.Why    // why it became runnable last
	Reason   reference.Reason // what it waits or waited for; none if it is new, was preempted, or came from a system call
	CallWhy  reference.Why    // how its last system call lost its P, as in Syscall.Why; WhyUnknown: it has not
	RunNs    int64            // all its run intervals so far, system calls that kept the P left out
	RunAt    int64            // its run interval before the last block began; -1 if unknown
	// Of the last block, and how it ended.
	BlockedAt int64 // since when it is blocked, or was before it became runnable; -1: unknown, or it has not
	BlockedNs int64 // how long it was blocked before it became runnable last; -1: it was not
	Waker     int64 // who made it runnable; NoG: no goroutine
	WakeStack int32 // where the waker was
	RanOn     int32 // P of its last run interval; NoP: it has not run
	M         int64 // thread of its last start
	CallAt    int64 // its last system call began; -1 if unknown
	Creator   int64 // who created it; NoG if that is unknown, or was no goroutine
	Stops     int64 // of its run intervals, by a KindStop other than its end
	slackAt   int64 // how long there had been Slack when it began to wait for others; -1: it has been woken since
	node      span.Node
}

// loadBefore is Load when g became runnable.
func (g *Goroutine) loadBefore() float32 { return float32(load(int64(g.wanted), int64(g.usable))) }

// goroutine returns d's goroutine, and takes over what d says of it.
func (w *World) goroutine(d *reference.Decision) *Goroutine {
	i := w.find(d.G)
	if i == 0 {
		i = w.newGoroutine(d.G)
	}
	g := w.gs.At(i)
	w.g = g
	w.seen(d, g)
	return g
}

// onP is goroutine for decisions about one that mostly runs on d's P, which is p.
func (w *World) onP(d *reference.Decision, p *proc) *Goroutine {
	if p != nil {
		if g := p.g; g != nil && g.ID == d.G {
			w.g = g
			w.seen(d, g)
			return g
		}
	}
	return w.goroutine(d)
}

// waker is the goroutine that d names as such, nil if there is none.
func (w *World) waker(d *reference.Decision) *Goroutine {
	if d.By < 0 {
		return nil
	}
	if g := w.Running(d.P); g != nil && g.ID == d.By {
		return g
	}
	return w.ByID(d.By)
}

// seen takes over what d says of its goroutine, which is g.
func (w *World) seen(d *reference.Decision, g *Goroutine) {
	if d.Class != g.Class || d.Flags&notOfProgram != 0 && !g.System {
		w.learn(d)
	}
}

// learn is for what d says that was not known.
func (w *World) learn(d *reference.Decision) {
	g := w.g
	if d.Class != 0 && d.Class != g.Class {
		g.Class = d.Class
		g.class = w.classIndex(d.Class)
	}
	if d.Flags&notOfProgram != 0 && !g.System {
		w.uncount(g)
		w.leave(g)
		g.System = true
		w.span.Forget(&g.node)
	}
}

func (w *World) newGoroutine(id int64) int32 {
	i := w.gs.Add(id)
	*w.gs.At(i) = Goroutine{ID: id, slot: i, ReadyAt: -1, StartAt: -1, Wait: -1, BlockedAt: -1, BlockedNs: -1, RunAt: -1, CallAt: -1, Waker: reference.NoG, Creator: reference.NoG, M: reference.NoM, P: reference.NoP, RanOn: reference.NoP, list: inNone, slackAt: -1}
	return i
}

func (w *World) uncount(g *Goroutine) {
	if g.System {
		return
	}
	if g.ReadyAt >= 0 {
		w.runnable--
	}
	if g.StartAt >= 0 {
		w.running--
	}
}

// begin says that g is runnable, or runs, from now on: since is its ReadyAt or StartAt,
// n counts the program's goroutines of which that is so.
func (w *World) begin(g *Goroutine, since, n *int64) {
	if !g.System {
		*n += b2i64(*since < 0)
	}
	*since = w.now
}

// end says that it is not so any more.
func (g *Goroutine) end(since, n *int64) {
	if !g.System {
		*n -= b2i64(*since >= 0)
	}
	*since = -1
}
