package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A take comes before the start that shows it: the thread moves the rest of a batch,
// and gets the goroutine ready, in between (findRunnable, globrunqget,
// globrunqgetbatch, runqgrab, schedule; all versions). Meanwhile others put and take,
// and see the queues without it.

// takeAtOnce lets a thread by whose event its P has nothing to run take what it starts
// next, if that is in a queue already, unless nothing comes in between.
func (r *explainer) takeAtOnce(it *item) {
	if r.without.has(hypEarlyTake) {
		return
	}
	if e := &it.ev; e.From != events.Running || e.To == events.Syscall || e.Kind != events.Go || it.nextM <= r.now+1 || r.reduced {
		return
	}
	p := it.p
	s := r.startsNext(it, p)
	if s == nil || r.q.Len(p) > 0 {
		return
	}
	x := s.of
	if g := r.gs.At(x); g.state != events.Runnable || g.hidden || g.start != it.nextM || g.isTaken || g.late || g.direct != reference.SrcUnknown {
		return
	}
	switch from := r.q.Place(x); from.Queue {
	case reference.QueueGlobal:
		if x == r.q.GlobalHead() && s.ev.Time-r.time <= stalled {
			r.inHand(x, p, from, r.takes(x, p))
		}
	case reference.QueueLocal:
		if r.stealsNow(x, p) {
			r.inHand(x, p, from, r.takes(x, p))
		}
	}
}

// A thread that has come for a P looks for work at once. If it steals some, it wakes
// another thread (resetspinning, wakep), which takes a system call, before it says what
// it starts: its take then comes soon after its P's start, long before the goroutine's.

const (
	thiefTakes = 1_500     // from the start of its P to its take, in ns, mostly
	thiefWakes = 3_000     // from the start of its P to that of a goroutine if it wakes a thread in between, at least
	thiefLags  = 20_000    // at most, if it does not lack a CPU
	thiefLacks = 1_000_000 // at least, if it does: before its take or, more often, after it
)

// thief is a thread that has come for a P and will start a goroutine of another one.
type thief struct {
	at    int64 // time of its take
	start int64 // event
}

// expectThief looks at what the thread starts that has come for a P.
func (r *explainer) expectThief(it *item) {
	if r.without.has(hypWakingThief) {
		return
	}
	s := r.startsNext(it, it.of)
	if s == nil || len(r.thieves) == farEnough {
		return
	}
	if lag := s.ev.Time - r.time; lag >= thiefWakes {
		r.thieves = append(r.thieves, thief{r.time + thiefTakes, it.nextM})
		r.watch()
	}
}

// thievesTake lets thieves take what they start later.
func (r *explainer) thievesTake() {
	r.thieves = slices.DeleteFunc(r.thieves, func(t thief) bool {
		s := r.win.at(t.start)
		if s == nil || t.start <= r.now {
			return true
		}
		if r.time < t.at {
			return false
		}
		if lag := s.ev.Time - t.at; lag >= thiefLags && lag < thiefLacks {
			return true
		}
		if g := r.gs.At(s.of); g.state == events.Runnable && g.start == t.start && r.stealsNow(s.of, s.p) {
			r.settle(s.of)
		}
		return true
	})
}

// stealsNow says that nothing speaks against p stealing x now.
func (r *model) stealsNow(x, p int32) bool {
	place := r.q.Place(x)
	if place.Queue != reference.QueueLocal || place.P == p || r.q.Len(p) > 0 || r.q.GlobalLen() > 0 {
		return false
	}
	k := 1
	for y := r.q.Prev(x); y != reference.None; y = r.q.Prev(y) {
		if r.startP(y) == place.P {
			return false
		}
		k++
	}
	return k == r.rules.StealBatch(r.q.RingLen(place.P))
}
