package reconstruct

import (
	"fmt"
	"slices"
	"strings"
)

// A Hypothesis is something that may have happened between the events of a trace, and that the
// reconstruction looks for where the plain rules leave the order of operations open. [Options].Without
// leaves some out, to see what they are worth.
type Hypothesis struct {
	Name  string // its name, for the function Without
	Claim string // what may have happened, in words
	Cites string // the functions of the runtime that do it, and their Go versions
	File  string // the file of this package that looks for it

	// propose lists what may have happened, the likeliest first, where evidence does not decide and
	// forks go on with each ([engine.decide]); it is nil if evidence always decides. Forks go on for
	// horizon events, forkLen if it is 0.
	propose func(*stepper, question) []choice
	horizon int64
}

// A number of a hypothesis is its place in the list.
type hypothesis uint8

const (
	hypEarlyDequeue hypothesis = iota
	hypWakingThief
	hypUnseenSteal
	hypEarlyThief
	hypDeferredEnqueue
	hypEnqueueOrder
	hypDeferredOverflow
	hypOverflowOrder
	hypWorkerDrain
	hypEarlyDrain
	hypLearnedTick
	hypExchangedEnqueues
	hypBatchSize
	hypLateDrain
	hypForks
)

var hypotheses = [...]Hypothesis{
	hypEarlyDequeue: {
		Name: "early-dequeue", File: "early_dequeue.go",
		Claim: "a thread that has stopped a goroutine dequeues what it starts next at once, before others enqueue or dequeue",
		Cites: "schedule, findRunnable; all",
	},
	hypWakingThief: {
		Name: "waking-thief", File: "early_dequeue.go",
		Claim: "a thread that has come for a P steals soon, and its start comes only after it has woken another thread",
		Cites: "resetspinning, wakep; all",
	},
	hypUnseenSteal: {
		Name: "unseen-steal", File: "unseen_steal.go",
		Claim: "others have stolen what stands in front of a goroutine that is stolen, and start it later",
		Cites: "runqgrab, runqsteal; all",
	},
	hypEarlyThief: {
		Name: "early-thief", File: "early_thief.go",
		Claim:   "a thief has emptied half of a full ring before the enqueue that would overflow it, and starts what it stole later",
		Cites:   "runqput, runqgrab; all",
		propose: proposeEarlyThief,
	},
	hypDeferredEnqueue: {
		Name: "deferred-enqueue", File: "deferred_enqueue.go",
		Claim:   "a thread loses its CPU between the event of an enqueue to the global queue and the enqueue",
		Cites:   "globrunqput, goschedImpl; all",
		propose: proposeDeferredEnqueue,
	},
	hypEnqueueOrder: {
		Name: "enqueue-order", File: "deferred_enqueue.go",
		Claim: "enqueues to the global queue came in another order than their events",
		Cites: "globrunqput; all",
	},
	hypDeferredOverflow: {
		Name: "deferred-overflow", File: "deferred_overflow.go",
		Claim:   "a thread loses its CPU between the event of an enqueue and the overflow that it makes",
		Cites:   "runqputslow, globrunqputbatch; all",
		propose: proposeDeferredOverflow,
	},
	hypOverflowOrder: {
		Name: "overflow-order", File: "overflow_order.go",
		Claim:   "overflows of two threads came in another order than their events",
		Cites:   "runqputslow, globrunqputbatch; all",
		propose: proposeOverflowOrder,
	},
	hypWorkerDrain: {
		Name: "worker-drain", File: "worker_drain.go",
		Claim:   "a dedicated mark worker that is requested to yield gives its P's queue to the global one",
		Cites:   "gcBgMarkWorker, runqdrain; all",
		propose: proposeWorkerDrain,
	},
	hypEarlyDrain: {
		Name: "early-drain", File: "worker_drain.go",
		Claim:   "a mark worker is requested to yield before its time slice is over",
		Cites:   "forEachP, preemptall; all",
		propose: proposeEarlyDrain,
	},
	hypLearnedTick: {
		Name: "learned-tick", File: "learned_tick.go",
		Claim: "what a P dequeues while the global queue holds something shows when its 61st tick comes",
		Cites: "findRunnable; all",
	},
	hypExchangedEnqueues: {
		Name: "exchanged-enqueues", File: "repair.go",
		Claim: "two goroutines came to the global queue in the other order, and so into another batch",
		Cites: "globrunqput; all",
	},
	hypBatchSize: {
		Name: "batch-size", File: "batch_size.go",
		Claim:   "what was dequeued from the global queue was one goroutine at the 61st tick, or a batch, or a batch of another size",
		Cites:   "findRunnable, globrunqget; all",
		propose: proposeBatchSize,
	},
	hypLateDrain: {
		Name: "late-drain", File: "worker_drain.go",
		Claim:   "a mark worker loses its CPU before it drains its queue, which it does when it goes on or has woken those that assist",
		Cites:   "gcBgMarkWorker, runqdrain; all",
		propose: proposeLateDrain, horizon: longFork,
	},
	hypForks: {
		Name: "forks", File: "forks.go",
		Claim: "where none of this decides, two forks of the model go on, and the one that needs fewer corrections is believed",
	},
}

// Hypotheses returns all hypotheses that the reconstruction looks for.
func Hypotheses() []Hypothesis { return hypotheses[:] }

// Set is a set of hypotheses, for Options.Without: the function [Without] makes one of names. The zero
// value is empty.
type Set uint32

// has reports whether a hypothesis is in the set.
func (w Set) has(h hypothesis) bool { return w>>h&1 != 0 }

// Without returns the set of the hypotheses with the given names; an unknown name is an error.
func Without(names ...string) (w Set, err error) {
	for _, name := range names {
		h := slices.IndexFunc(hypotheses[:], func(h Hypothesis) bool { return h.Name == name })
		if h < 0 {
			var all []string
			for _, h := range hypotheses {
				all = append(all, h.Name)
			}
			return 0, fmt.Errorf("there is no hypothesis %q: they are %s", name, strings.Join(all, ", "))
		}
		w |= 1 << h
	}
	return w, nil
}
