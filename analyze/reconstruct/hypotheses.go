package reconstruct

import (
	"fmt"
	"strings"
)

// A Hypothesis is something that may have happened between the events of a trace, and that
// the reconstruction looks for where the plain rules leave the order of operations open.
// [Options].Without does without some, to see what they are worth.
type Hypothesis struct {
	Name  string
	Says  string // what may have happened
	Cites string // the functions of the runtime that do it, and their Go versions
	File  string // of this package, that looks for it
}

// A number of a hypothesis is its place in the list.
type hypothesis uint8

const (
	hypEarlyTake hypothesis = iota
	hypWakingThief
	hypUnseenSteal
	hypEarlyThief
	hypLatePut
	hypPutOrder
	hypLateOverflow
	hypOverflowOrder
	hypOtherBatch
	hypWorkerDrain
	hypEarlyDrain
	hypShownBatch
	hypLearnedPause
	hypLearnedTick
	hypExchangedPuts
	hypForks
)

var hypotheses = [...]Hypothesis{
	hypEarlyTake:     {"early-take", "a thread that has stopped a goroutine takes what it starts next at once, before others put or take", "schedule, findRunnable; all", "early.go"},
	hypWakingThief:   {"waking-thief", "a thread that has come for a P steals soon, and says what it starts only after it has woken another thread", "resetspinning, wakep; all", "early.go"},
	hypUnseenSteal:   {"unseen-steal", "others have stolen what stands in front of a goroutine that is stolen, and start it later", "runqgrab, runqsteal; all", "thieves.go"},
	hypEarlyThief:    {"early-thief", "a thief has emptied half of a full ring before the put that would overflow it, and starts what it took later", "runqput, runqgrab; all", "resize.go"},
	hypLatePut:       {"late-put", "a thread loses its CPU between the event of a put to the global queue and the put", "globrunqput, goschedImpl; all", "late.go"},
	hypPutOrder:      {"put-order", "puts to the global queue came in another order than their events", "globrunqput; all", "late.go"},
	hypLateOverflow:  {"late-overflow", "a thread loses its CPU between the event of a put and the overflow that it makes", "runqputslow, globrunqputbatch; all", "spill.go"},
	hypOverflowOrder: {"overflow-order", "overflows of two threads came in another order than their events", "runqputslow, globrunqputbatch; all", "order.go"},
	hypOtherBatch:    {"other-batch", "what a P took from the global queue was another batch than the head of the model's", "globrunqget (globrunqgetbatch since 1.25); all", "order.go"},
	hypWorkerDrain:   {"worker-drain", "a dedicated mark worker that is asked to yield gives its P's queue to the global one", "gcBgMarkWorker, runqdrain; all", "drain.go"},
	hypEarlyDrain:    {"early-drain", "a mark worker is asked to yield before its time slice is over", "forEachP, preemptall; all", "drain.go"},
	hypShownBatch:    {"shown-batch", "who runs what stood at the end of a batch shows how large the batch was", "globrunqget; all", "global.go"},
	hypLearnedPause:  {"learned-pause", "the pause before a start is longer if the thread took a batch", "globrunqget; all", "pause.go"},
	hypLearnedTick:   {"learned-tick", "what a P takes while the global queue holds something shows when its 61st tick comes", "findRunnable; all", "phase.go"},
	hypExchangedPuts: {"exchanged-puts", "two goroutines came to the global queue in the other order, and so into another batch", "globrunqput; all", "repair.go"},
	hypForks:         {"forks", "where none of this decides, two copies of the model go on, and the one that needs fewer corrections is believed", "", "trial.go"},
}

// Hypotheses returns all.
func Hypotheses() []Hypothesis { return hypotheses[:] }

// Set is a set of hypotheses.
type Set uint32

func (w Set) has(h hypothesis) bool { return w>>h&1 != 0 }

// Without returns the set of those with the given names.
func Without(names ...string) (w Set, err error) {
	for _, name := range names {
		found := false
		for h := range hypotheses {
			if hypotheses[h].Name == name {
				w |= 1 << h
				found = true
			}
		}
		if !found {
			var all []string
			for _, h := range hypotheses {
				all = append(all, h.Name)
			}
			return 0, fmt.Errorf("there is no hypothesis %q: they are %s", name, strings.Join(all, ", "))
		}
	}
	return w, nil
}
