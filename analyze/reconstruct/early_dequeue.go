package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A dequeue comes before the start that shows it: in between, the thread moves the rest of a batch and
// gets the goroutine ready (findRunnable, globrunqget, globrunqgetbatch, runqgrab, schedule; all
// versions). Meanwhile others enqueue and dequeue, and see the queues without it.

// dequeueEarly dequeues what a thread starts next when its P has nothing left to run, if that is in a
// queue already, unless nothing comes in between.
func (r *dequeuer) dequeueEarly(rec *record) {
	ahead := r.ahead
	if ahead.without.has(hypEarlyDequeue) || !rec.isStop() || rec.To == events.Syscall || rec.nextM <= ahead.now+1 || ahead.reduced {
		return
	}
	p := rec.p
	start := ahead.startsNext(rec, p)
	if start == nil || r.queues.Len(p) > 0 {
		return
	}
	g := start.of
	if gp := ahead.gStates.At(g); gp.state != events.Runnable || gp.hidden || gp.start != rec.nextM || gp.isDequeued || gp.deferred || gp.direct != reference.SrcUnknown {
		return
	}
	if g == r.queues.GlobalHead() && start.Time-ahead.time <= stalled || r.model.maySteal(g, p) {
		r.out.emitDequeued(g, p, r.dequeue(g, p))
	}
}

// A thread that has come for a P looks for work at once. If it steals some, it wakes another thread
// (resetspinning, wakep), which needs a system call, before its start: the steal then comes soon after
// its P's start, long before the goroutine's.

// Times of such a thief, in ns: about those of mutex and workerpool, in recordings with truth. Half or
// twice: nothing.
const (
	thiefSteals = 1_500     // from the start of its P to its steal, mostly
	thiefWakes  = 3_000     // from the start of its P to that of a goroutine if it wakes a thread in between, at least
	thiefLags   = 20_000    // at most, if it does not lack a CPU
	thiefLacks  = 1_000_000 // at least, if it does: before its steal or, more often, after it
)

// wakingThief is a thread that has come for a P and will start a goroutine of another one.
type wakingThief struct {
	at    int64 // time of its steal
	start int64 // event
}

// thieves are the threads that have come for a P and are about to steal.
type thieves struct{ list []wakingThief }

// wakingThieves finds out which threads steal as soon as they have come for a P.
type wakingThieves struct {
	*thieves
	view
	dequeuer *dequeuer
}

// expectThief looks at what the thread starts that has come for a P.
func (r *wakingThieves) expectThief(rec *record) {
	start := r.ahead.startsNext(rec, rec.of)
	if r.ahead.without.has(hypWakingThief) || start == nil || len(r.list) == farEnough {
		return
	}
	if lag := start.Time - r.ahead.time; lag >= thiefWakes {
		r.list = append(r.list, wakingThief{r.ahead.time + thiefSteals, rec.nextM})
		r.ahead.settleSoon()
	}
}

// wakingThievesSteal settles the steals that have come by now.
func (r *wakingThieves) wakingThievesSteal() {
	ahead := r.ahead
	r.list = slices.DeleteFunc(r.list, func(t wakingThief) bool {
		start := ahead.win.at(t.start)
		if start == nil || t.start <= ahead.now {
			return true
		}
		if ahead.time < t.at {
			return false
		}
		if lag := start.Time - t.at; lag >= thiefLags && lag < thiefLacks {
			return true
		}
		if gp := ahead.gStates.At(start.of); gp.state == events.Runnable && gp.start == t.start && r.model.maySteal(start.of, start.p) {
			r.dequeuer.settle(start.of)
		}
		return true
	})
}
