package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// What the look-ahead shows of what the model has in the queues.

// hasOwn reports whether p's own queue holds something that p will run itself.
func (r *model) hasOwn(p int32) bool {
	for g := range r.queues.Local(p) {
		if r.ahead.startsOn(g) == p {
			return true
		}
	}
	return false
}

// oldest returns what is first in p's queue, or None.
func (r *model) oldest(p int32) int32 {
	if g := r.queues.Runnext(p); g != reference.None {
		return g
	}
	return r.queues.Head(p)
}

// stayed returns how many of victim's ring have been in it since an event: all the time in which a
// thread can have looked that had nothing to run since then.
func (r *model) stayed(victim int32, since int64) int {
	n := 0
	for g := r.queues.Head(victim); g != reference.None; g = r.queues.Next(g) {
		if gp := r.ahead.gStates.At(g); max(gp.ready, gp.ringSince) < since {
			n++
		}
	}
	return n
}

// firstInFlight returns the first goroutine in front of g in the global queue that is in flight to
// another P than p, or None. The queue can be far longer than there are threads, so it looks at
// what these will do next.
func (r *model) firstInFlight(g, p int32) int32 {
	first := reference.None
	for m := range r.ahead.mStates[:min(len(r.ahead.mStates), farEnough)] {
		start := r.ahead.win.at(r.ahead.mStates[m].next)
		if start == nil || start.Kind != events.Go || start.p == p {
			continue
		}
		if other := start.of; r.queues.Place(other).Queue == reference.QueueGlobal && r.ahead.gStates.At(other).start == r.ahead.mStates[m].next && r.ahead.inFlight(other) &&
			r.queues.AheadGlobal(other, g) && (first == reference.None || r.queues.AheadGlobal(other, first)) {
			first = other
		}
	}
	return first
}

// comesLater reports whether first is not put behind tail, the tail of the global queue, but behind
// what is put there later, though before event limit.
func (r *model) comesLater(tail, first int32, limit int64) bool {
	if first == reference.None || r.ahead.follows(tail, first) {
		return false
	}
	start := r.ahead.ranBefore(r.ahead.startOf(first))
	s := r.ahead.win.at(start)
	if s == nil || start <= r.ahead.now || s.link >= limit {
		return false
	}
	return r.queues.Place(s.of).Queue != reference.QueueGlobal
}

// stealsFromMiddle reports whether the thread that starts g then starts one of p's ring that is not
// the first of it, as a thief does.
func (r *model) stealsFromMiddle(g, p int32) bool {
	start := r.ahead.startOf(g)
	for i, rec := range r.ahead.win.thread(start, farEnough) {
		if i != start && rec.Kind == events.Go && rec.From == events.Runnable {
			return r.queues.Place(rec.of) == reference.Place{Queue: reference.QueueLocal, P: p} && rec.of != r.oldest(p)
		}
	}
	return false
}

// upTo returns how many stand in g's ring up to g: those that a thief steals who starts g first.
func (r *model) upTo(g int32) int {
	n := 1
	for other := r.queues.Prev(g); other != reference.None; other = r.queues.Prev(other) {
		n++
	}
	return n
}

// known returns how many of n goroutines of a queue, from g on, decisions know by now.
func (r *model) known(g int32, n int) int {
	known := 0
	for ; n > 0 && g != reference.None; n-- {
		if !r.ahead.gStates.At(g).hidden {
			known++
		}
		g = r.queues.Next(g)
	}
	return known
}

// maySteal reports whether nothing speaks against p stealing g now.
func (r *model) maySteal(g, p int32) bool {
	place := r.queues.Place(g)
	if place.Queue != reference.QueueLocal || place.P == p || r.queues.Len(p) > 0 || r.queues.GlobalLen() > 0 {
		return false
	}
	for other := r.queues.Prev(g); other != reference.None; other = r.queues.Prev(other) {
		if r.ahead.startsOn(other) == place.P {
			return false
		}
	}
	return r.upTo(g) == r.ahead.rules.StealBatch(r.queues.RingLen(place.P))
}

// inThiefsOrder reports whether p starts the head of victim's ring after g and before what stands
// behind g: that is a thief's order, and no queue's.
func (r *model) inThiefsOrder(g, p, victim int32) bool {
	first, start := r.queues.Head(victim), r.ahead.startOf(g)
	if first == g || first == reference.None || r.ahead.startsOn(first) != p || r.ahead.startOf(first) <= start {
		return false
	}
	next := r.ahead.startOf(r.queues.Next(g))
	return next < 0 || next > r.ahead.startOf(first)
}

// slack is by how many goroutines the model's ring may differ from the real one. Half or twice:
// nothing.
const slack = 4

// fitsRing reports whether p starts g before more than it has in its ring, so that g may be there,
// too.
func (r *model) fitsRing(p, g int32) bool {
	start := r.ahead.startOf(g)
	first := r.ahead.win.at(start)
	if first == nil || first.p != p || r.ahead.ps.pStates[p].m < 0 {
		return true // nothing speaks against it
	}
	left := r.queues.Len(p) + slack
	for i, rec := range r.ahead.win.thread(r.ahead.mStates[r.ahead.ps.pStates[p].m].next, farEnough) {
		if i == start || rec.Kind == events.Proc {
			return true
		}
		if rec.Kind == events.Go && rec.From == events.Runnable && r.ahead.gStates.At(rec.of).start == i && r.ahead.gStates.At(rec.of).ready < r.ahead.now {
			if left--; left < 0 {
				return false
			}
		}
	}
	return true
}

// globalSurelyHolds reports whether the global queue surely held something when a dequeue began,
// after event since: it is long; or what was put there before, not long ago, is not in flight.
func (r *model) globalSurelyHolds(since int64) bool {
	g := r.queues.GlobalHead()
	if g == reference.None {
		return false
	}
	before := r.ahead.win.at(since)
	if before == nil || r.tainted(g) {
		return false
	}
	if r.queues.GlobalLen() >= long {
		return true
	}
	for ; g != reference.None; g = r.queues.Next(g) {
		gp := r.ahead.gStates.At(g)
		if r.ahead.inFlight(g) || gp.readyAt > before.Time {
			return false
		}
		if gp.readyAt < before.Time-stale || gp.deferred || gp.start == none {
			continue
		}
		// What the poller made runnable may be in a ring instead (injectglist).
		if put := r.ahead.win.at(gp.ready); put != nil && put.From != events.Waiting {
			return true
		}
	}
	return false
}
