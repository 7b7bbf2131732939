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

// view is what most parts look at: the model, and the look-ahead and the Ps in it.
type view struct {
	ps    *processors
	ahead *lookahead
	model *model
}

// goroutine is what is known of one live goroutine. Its index is reused after its death.
//
// None of its fields is a pointer: there can be a million goroutines. It is as long as two lines of
// the cache. What enter needs, and the stepper for most events, is in the first.
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
