package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// The global queue is FIFO, and one thread runs a batch in order. So what a thread starts just before a
// goroutine stood in front of it, unless that one began a batch or was picked at the 61st tick. This
// shows the order of the enqueues of threads that lose their CPU in the middle of one.

// longBatch is the least batch of which it is unlikely that a goroutine begins it: one in 16 does. Half
// or twice: nothing.
const longBatch = 16

// overflowsLater reports whether the overflow of p's ring by newcomer, displaced from runnext, comes
// after others whose events come later.
func (r *enqueuer) overflowsLater(p, newcomer int32) bool {
	before := r.ahead.win.at(r.ahead.now).nextM
	head := r.queues.Head(p)
	if r.ahead.without.has(hypDeferredOverflow) || before == none || r.ps.gomaxprocs == 1 || r.ahead.gStates.At(newcomer).deferred || !r.model.comesLater(r.queues.GlobalTail(), head, before) {
		return false
	}
	return r.ahead.follows(head, r.queues.Next(head)) // else it may have been picked at the 61st tick
}

const (
	// stalled is how long a thread that has lost its CPU has no event, in ns. Half takes 0.2 from gl of
	// fanout and 0.1 of mixed, twice gives 0.3 to that of uneven.
	stalled = 50_000
	// meanwhile is the number of events of others for which that is worth a fork, a budget. Half or
	// twice: nothing, but 0.03 in gl of bbolt (half).
	meanwhile = 16
)

// mayHaveLostCPU reports whether a thread may have lost its CPU before it did what its event announces:
// it has no other event for long, or another thread dequeues globally before that, and how much is
// evidence.
func (r *enqueuer) mayHaveLostCPU() bool {
	next := r.ahead.win.at(r.ahead.now).nextM
	if next == none {
		return false
	}
	start := r.ahead.startOf(r.queues.GlobalHead())
	return next-r.ahead.now > meanwhile || start > r.ahead.now && start < next && r.queues.GlobalLen() <= r.ahead.rules.GlobalBatchMax
}

// proposeDeferredOverflow proposes that the overflow of q.p's ring by q.g, displaced from runnext,
// comes with its event, or later.
func proposeDeferredOverflow(r *stepper, q question) []choice {
	now := choice{is: no, says: "the overflow comes with its event", then: thenFinish, apply: func(fork *stepper) { fork.enqueuer.overflow(q.p, q.g, q.p, nil) }}
	later := choice{is: yes, says: "the overflow comes later", then: thenFinish, apply: func(fork *stepper) { fork.enqueuer.deferOverflow(q.p, q.g) }}
	if q.likely == yes {
		return []choice{later, now}
	}
	return []choice{now, later}
}

// deferOverflow keeps an overflow of p's ring by newcomer for later.
func (r *enqueuer) deferOverflow(p, newcomer int32) {
	r.ahead.gStates.At(newcomer).deferred = true
	r.list = append(r.list, deferredEnqueue{g: newcomer, p: p, before: r.ahead.win.at(r.ahead.now).nextM})
	r.ahead.settleSoon()
	r.out.move(newcomer, nobody, p, reference.QueueUnknown, reference.WhyDisplaced)
}

// nextOverflow is the number of the deferred overflow that continues what is at the tail of the global
// queue, or -1.
func (r *enqueuer) nextOverflow() int {
	tail := r.queues.GlobalTail()
	return slices.IndexFunc(r.list, func(late deferredEnqueue) bool {
		switch {
		case late.p < 0:
			return false
		case len(late.held) > 0:
			return r.ahead.follows(tail, late.held[0])
		}
		return r.ahead.follows(tail, r.queues.Head(late.p))
	})
}

// holdOverflow removes the older half of victim's ring for a deferred overflow: a thief steals size,
// which is too many if that half is still there, and half of what is left if not. The half leaves the
// ring before its thread gets the lock of the global queue (runqputslow).
func (r *enqueuer) holdOverflow(victim int32, size int) bool {
	half, n := r.ahead.rules.RingSize/2, r.queues.RingLen(victim)
	i := slices.IndexFunc(r.list, func(late deferredEnqueue) bool { return late.p == victim && len(late.held) == 0 })
	if i < 0 || size <= r.ahead.rules.StealBatch(n) || size <= half || size-half > r.ahead.rules.StealBatch(n-half) {
		return false
	}
	held := make([]int32, half)
	for j := range held {
		g := r.queues.Head(victim)
		held[j] = g
		r.queues.Remove(g)
		r.ahead.gStates.At(g).deferred = true
		r.out.move(g, nobody, victim, reference.QueueUnknown, reference.WhyOverflow)
	}
	r.list[i].held = held
	return true
}
