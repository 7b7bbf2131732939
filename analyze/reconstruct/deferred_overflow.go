package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// Who is put into the global queue first runs first, and a batch is run by one
// thread in its order. So what the thread runs just before a goroutine stood in
// front of it, unless that one began a batch or was picked at the 61st tick. This
// tells the order of the puts of threads that lose their CPU in the middle of one.

// longBatch is the least batch of which it is unlikely that a goroutine begins it: one in 16
// does. Half or twice: nothing.
const longBatch = 16

// overflowsLater reports whether the overflow of p's ring by newcomer, displaced from
// runnext, comes after others whose events come later.
func (r *deferredPuts) overflowsLater(p, newcomer int32) bool {
	before := r.win.at(r.now).nextM
	head := r.queues.Head(p)
	if r.without.has(hypDeferredOverflow) || before == none || r.procs == 1 || r.gStates.At(newcomer).deferred || !r.comesLater(r.queues.GlobalTail(), head, before) {
		return false
	}
	return r.follows(head, r.queues.Next(head)) // else it may have been picked at the 61st tick
}

const (
	// stalled is how long a thread that has lost its CPU has no event, in ns. Half takes 0.2 from
	// gl of fanout and 0.1 of mixed, twice gives 0.3 to that of uneven.
	stalled = 50_000
	// meanwhile is the number of events of others for which that is worth a fork, a budget. Half or
	// twice: nothing, but 0.03 in gl of bbolt (half).
	meanwhile = 16
)

// mayHaveLostCPU reports whether a thread may have lost its CPU before it did what its event announces:
// it has no other event for long, or another thread takes from the global queue before
// that, and how much tells.
func (r *deferredPuts) mayHaveLostCPU() bool {
	next := r.win.at(r.now).nextM
	if next == none {
		return false
	}
	taken := r.startOf(r.queues.GlobalHead())
	return next-r.now > meanwhile || taken > r.now && taken < next && r.queues.GlobalLen() <= r.rules.GlobalBatchMax
}

// proposeDeferredOverflow proposes that the overflow of q.p's ring by q.g, displaced from
// runnext, comes with its event, or later.
func proposeDeferredOverflow(r *explainer, q question) []choice {
	now := choice{is: no, says: "the overflow comes with its event", then: thenFinish, apply: func(fork *judge) { fork.overflow(q.p, q.g, q.p, nil) }}
	later := choice{is: yes, says: "the overflow comes later", then: thenFinish, apply: func(fork *judge) { fork.deferred.deferOverflow(q.p, q.g) }}
	if q.likely == yes {
		return []choice{later, now}
	}
	return []choice{now, later}
}

// deferOverflow keeps an overflow of p's ring by newcomer for later.
func (r *deferredPuts) deferOverflow(p, newcomer int32) {
	r.gStates.At(newcomer).deferred = true
	r.list = append(r.list, deferredPut{g: newcomer, p: p, before: r.win.at(r.now).nextM})
	r.settleSoon()
	r.move(newcomer, nobody, p, reference.QueueUnknown, reference.WhyDisplaced)
}

// catchUp does what comes late and continues what is at the tail of the global
// queue, before something else comes there. No sooner: a thread that has lost its
// CPU goes on at once when it has done its put.
func (r *explainer) catchUp() {
	for r.catchUpOne() {
	}
}

// catchUpOne does the first deferred overflow, or drain of a mark worker, that continues what is
// at the tail of the global queue. It reports whether there was one.
func (r *explainer) catchUpOne() bool {
	if len(r.deferred.list)+len(r.workers.list) == 0 {
		return false
	}
	if i := r.deferred.nextOverflow(); i >= 0 {
		r.deferred.putNow(i)
		return true
	}
	tail := r.queues.GlobalTail()
	for i, worker := range r.workers.list {
		if r.time > worker.due-drainLag && r.follows(tail, r.oldest(worker.p)) && !r.stealsFromMiddle(tail, worker.p) {
			begun, _, _ := r.putsAround(worker.m)
			r.workers.finish(i, begun)
			return true
		}
	}
	return false
}

// nextOverflow is the number of the late overflow that continues what is at the tail of the
// global queue, or -1.
func (r *deferredPuts) nextOverflow() int {
	tail := r.queues.GlobalTail()
	return slices.IndexFunc(r.list, func(late deferredPut) bool {
		switch {
		case late.p < 0:
			return false
		case len(late.held) > 0:
			return r.follows(tail, late.held[0])
		}
		return r.follows(tail, r.queues.Head(late.p))
	})
}

// holdOverflow takes the older half of victim's ring out of it, for an overflow that comes
// later: a thief takes size of the ring, which are too many if that half is still there, and
// half of what is left if not. The half leaves the ring before its thread gets the lock
// of the global queue (runqputslow).
func (r *deferredPuts) holdOverflow(victim int32, size int) bool {
	half, n := r.rules.RingSize/2, r.queues.RingLen(victim)
	i := slices.IndexFunc(r.list, func(late deferredPut) bool { return late.p == victim && len(late.held) == 0 })
	if i < 0 || size <= r.rules.StealBatch(n) || size <= half || size-half > r.rules.StealBatch(n-half) {
		return false
	}
	held := make([]int32, half)
	for j := range held {
		g := r.queues.Head(victim)
		held[j] = g
		r.queues.Remove(g)
		r.gStates.At(g).deferred = true
		r.move(g, nobody, victim, reference.QueueUnknown, reference.WhyOverflow)
	}
	r.list[i].held = held
	return true
}
