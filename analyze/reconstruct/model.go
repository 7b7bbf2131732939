package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// model is what the queues hold, and how sure that is, with the events that show it.
type model struct {
	ahead lookahead

	queues        reference.Queues
	lastBatchP    int32      // P of the last batch from the global queue
	returned      []returned // of that, what overflows have put back
	wider         bool       // that batch may have been a larger one
	fedSinceBatch bool       // something was put into the global queue since that batch
	driftingP     int32      // P whose batches may be others than the model's, nobody if none
	lastOverflow  int32      // number of the last overflow
	noGlobal      int64      // event at which the global queue was empty last
	globalTaint   int64      // event by which what is in the global queue is tainted
}

// view is what most parts look at: the model, and the Ps, the look-ahead and the queues in it.
type view struct {
	ps     *processors
	ahead  *lookahead
	queues *reference.Queues
	model  *model
}

// goroutine is what is known of one live goroutine. Its index is reused after its death.
//
// None of its fields is a pointer: there can be a million goroutines. It is as long as two lines of the
// cache. What enter needs, and the stepper for most events, is in the first.
type goroutine struct {
	id       int64
	newReady int64 // event that made it runnable, at the head of the window
	pending  int32 // events of it in the window
	class    int32

	state    events.State
	flags    reference.Flags
	dead     bool
	hidden   bool  // its first event has not come yet: decisions do not know it
	seeded   bool  // was runnable before the trace began
	lock     lock  // whether it is locked to its thread
	lockUses uint8 // times that lock, a conclusion only, was relied on
	fresh    bool  // direct start with a new time slice

	wait

	reason events.Handle // of the last block
	stack  events.Handle // of the last block
}

// wait is what is known of a goroutine from when it becomes runnable to its start.
type wait struct {
	readyAt int64 // ns; -1 if not runnable
	ready   int64 // event that made it runnable
	start   int64 // event by which it will start, none if unknown

	direct      reference.Source // if it needs no queue: how it starts
	isDequeued  bool             // its dequeue came before its start, as that of another showed (settle) or its thread's last event (dequeueEarly)
	deferred    bool             // its enqueue to the global queue comes later than its event
	wasDeferred bool             // it was deferred, and has been enqueued
	tainted     bool             // the model may have it in the wrong place
	moved       bool             // it has been in another queue since it became runnable
	unsure      bool             // direct start that may be another one, or enqueue that may have been another
	passedOver  int8             // times that others were dequeued from behind it in the global queue

	queued     int64   // event by which it came into its queue
	enqueuedBy int64   // event of the thread that made it runnable by which its enqueue is over, none if not in sight
	ringSince  int64   // event from which on it may have been in its ring, none if not known
	readyM     int32   // thread that made it runnable
	lastM      int32   // thread on which it ran last
	fromGlobal int32   // P to whose ring a batch from the global queue moved it, nobody if none
	overflowID int32   // number of the overflow that put it into the global queue last, 0 if it came alone
	dequeued   dequeue // if isDequeued
}

// goroutine returns the index of a goroutine.
func (r *model) goroutine(id int64) int32 {
	if g := r.ahead.gStates.Find(id); g != 0 {
		return g
	}
	return r.addGoroutine(id)
}

// addGoroutine adds a goroutine that has not become runnable yet, and makes room for it in the queues.
func (r *model) addGoroutine(id int64) int32 {
	r.ahead.seen++
	g := r.ahead.gStates.Add(id)
	gp := r.ahead.gStates.At(g)
	*gp = goroutine{} // what is not zero by itself: a whole goroutine would be made elsewhere and copied
	gp.id, gp.newReady = id, none
	gp.readyAt, gp.ready, gp.start = -1, none, none
	gp.lastM, gp.fromGlobal = nobody, nobody
	r.queues.Grow(int(r.ahead.gStates.Len()), 0)
	return g
}

// putGlobal puts g, alone, at the tail of the global queue.
func (r *model) putGlobal(g int32) {
	r.ahead.gStates.At(g).overflowID = 0
	r.queues.PutGlobal(g)
}

// putTail puts g at the tail of p's ring.
func (r *model) putTail(p, g int32) {
	r.ahead.gStates.At(g).ringSince = r.ahead.now
	r.queues.PutTail(p, g)
}

// pass goes on to the next event.
func (r *model) pass() {
	if r.queues.GlobalLen() == 0 {
		r.noGlobal = r.ahead.now
	}
	r.ahead.win.tail++
}

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
// another P than p, or None. The queue can be far longer than there are threads, so it looks at what
// these will do next.
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

// stealsFromMiddle reports whether the thread that starts g then starts one of p's ring that is not the
// first of it, as a thief does.
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

// fitsRing reports whether p starts g before more than it has in its ring, so that g may be there, too.
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

// globalSurelyHolds reports whether the global queue surely held something when a dequeue began, after
// event since: it is long; or what was put there before, not long ago, is not in flight.
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
