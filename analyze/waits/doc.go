// Package waits answers: why did goroutines that could run not run? It is one
// of the accumulators of step 5 of [github.com/gmpscope/gmpscope/analyze].
//
// A wait is one interval of one goroutine from the decision that made it (or
// first showed it) runnable, [reference.KindReady], to its start,
// [reference.KindStart]. Every nanosecond of every wait belongs to exactly one
// [Cause], so causes sum to the wait exactly: for each wait, for each class,
// and in total. All times are in ns.
//
// # What is true at an instant
//
// Decisions take effect at their time. A P is usable below GOMAXPROCS (as long
// as that is unknown, every P seen is). A P that nothing was said about is idle.
//
//   - P idle: it has no thread ([reference.KindPStop], or [reference.KindRetake],
//     until [reference.KindPStart]).
//   - P unavailable: its goroutine is in a system call and it was not retaken; or
//     it lost its thread for a hand-over to a locked one ([reference.WhyLocked]).
//   - P runs a mark worker, or one of the tracer's goroutines, or any other; else
//     it has a thread and no goroutine: it is in the scheduler.
//   - World stopping: from [reference.KindSTWBegin] to [reference.KindSTWEnd]. The
//     P that asked for it counts as without thread meanwhile (it is _Pgcstop),
//     and so do idle ones, which nobody can start (stopTheWorldWithSema takes them).
//   - World stopped: stopping, and every usable P is without thread. A P that gets
//     its thread back before the KindSTWEnd ends that, for itself and for the
//     world (startTheWorldWithSema starts Ps before it writes the end).
//
// # The causes
//
// A goroutine in the queue of P p (runnext or ring) owes an instant to the
// first of these that holds:
//
//  1. world-stopped: the world is stopped; or it is stopping, and p is without thread.
//  2. p-unavailable: p is unavailable.
//  3. garbage-collector: p runs a mark worker.
//  4. p-waking-up: the P that starts the goroutine in the end, or whose thread
//     takes it out of its queue, has got its thread already, and has run nothing
//     since.
//     idle-p-available: the world is not stopping, and some usable P is idle.
//  5. queueing: p runs a goroutine that became runnable before this one;
//     overtaken: after this one. A goroutine keeps its place in that order from
//     one Ready to the next, through system calls too; one that was never seen
//     to become runnable was the first.
//  6. tracer: p runs one of the tracer's goroutines.
//  7. scheduler-overhead: p is in the scheduler.
//
// The global queue is served by all usable Ps. A goroutine in it (or in a queue
// that is unknown) owes an instant to world-stopped if the world is stopped, to
// p-waking-up and idle-p-available as above, and else to all usable Ps in equal
// shares, each by the rules above; an idle P can then only be a stopped one.
// Over one stay in the queue the shares are weights, P-ns by cause, and whole
// ns are given out by largest remainder. A change of GOMAXPROCS within it
// counts by P-ns too.
//
// A goroutine that is run at once, without a queue, owes its time to
// scheduler-overhead, or to world-stopped while the world is stopped. One that the thread of P p has taken out
// of its queue and not started yet (moved to [reference.QueueDirect]) owes it to
// world-stopped, p-unavailable and p-waking-up as in p's queue, and all else to scheduler-overhead:
// no other P could have it any more. A goroutine that is locked to a thread
// waits so while p is handed to that thread.
//
// A goroutine that is moved between queues obeys, in each, the rules of that
// one. If it is moved and started at one instant, as a stolen goroutine is, then
// it was taken from where it was before the move; and only the stay from which
// it was taken, and that with the taker, can be waking. The part of waking that lies further back than what is kept of p's
// past (Options.PastPerP intervals) goes to the other causes.
//
// # The cost
//
// No decision costs more because goroutines wait long or in great numbers: the state of each
// P, split by the state of the world, is summed up for all who wait together, and a stay in a
// queue takes the difference at its two ends. Only the order of those in one queue costs
// O(log n) at most, a decision about the global queue a step for each P that runs, and the
// start by a P that just woke a step for each interval since. Memory follows the number of
// goroutines and Ps alive; all else has a bound, named where it is set.
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package waits
