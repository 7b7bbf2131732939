package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// model is what the queues hold, and how sure that is.
type model struct {
	*lookahead
	*output

	queues        reference.Queues
	lastTaker     int32      // P that took the last batch from the global queue
	returned      []returned // of that, what overflows have put back
	lastBatchRoom []returned // room for lastBatch
	wider         bool       // that batch may have been a larger one
	fedSinceBatch bool       // something was put into the global queue since that batch
	driftingP     int32      // P whose batches may be others than the model's, nobody if none
	lastOverflow  int32      // number of the last overflow
	noGlobal      int64      // event at which the global queue was empty last
	globalTaint   int64      // event by which what is in the global queue was put in doubt
}

// goroutine is what is known of one live goroutine. Its index is reused after
// its death.
//
// None of its fields is a pointer: there can be a million goroutines. It is as long as
// two lines of the cache. What enter needs, and the judge for most events, is in the
// first.
type goroutine struct {
	id       int64
	readyAt  int64 // ns; -1 if not runnable
	ready    int64 // event that made it runnable
	start    int64 // event by which it will start, none if unknown
	newReady int64 // event that made it runnable, at the head of the window
	queued   int64 // event by which it came into its queue
	pending  int32 // events of it in the window
	class    int32

	state      events.State
	flags      reference.Flags
	direct     reference.Source
	isDequeued bool // its take was settled before its start
	dead       bool
	deferred   bool // its put to the global queue comes later than its event
	tainted    bool // the model may have it in the wrong place
	moved      bool // it has been in another queue since it became runnable

	enqueuedBy int64         // event of the thread that made it runnable by which its put is over, none if not in sight
	ringSince  int64         // event from which on it may have been in its ring, none if not known
	reason     events.Handle // of the last block
	stack      events.Handle // of the last block
	fromGlobal int32         // P whose take from the global queue moved it to its ring, nobody if none
	lastM      int32         // thread on which it ran last
	readyM     int32         // thread that made it runnable
	overflowID int32         // number of the overflow that put it into the global queue last, 0 if it came alone
	dequeued   dequeue       // if isDequeued

	passedOver  int8  // times that others were taken from behind it in the global queue
	fresh       bool  // direct start with a new time slice
	unsure      bool  // direct start that may be another one, or put that may have been another
	wasDeferred bool  // it was late, and its put has come
	lock        lock  // whether it is locked to its thread
	lockUses    uint8 // times that lock, a conclusion only, was relied on
	hidden      bool  // its first event has not come yet: decisions do not know it
	seeded      bool  // was runnable before the trace began
}

// goroutine returns the index of a goroutine.
func (r *model) goroutine(id int64) int32 {
	if g := r.gStates.Find(id); g != 0 {
		return g
	}
	return r.addGoroutine(id)
}

func (r *model) addGoroutine(id int64) int32 {
	g := r.gStates.add(id)
	r.queues.Grow(int(r.gStates.Len()), 0)
	return g
}

// setClass notes the class of a goroutine.
func (r *model) setClass(gp *goroutine, class int32) {
	if class == gp.class {
		return
	}
	gp.class = class
	gp.flags = r.classes.Flags(class)
	if r.summary.MainFunc == "" && gp.id == 1 {
		r.summary.MainFunc = r.classes.Start(class)
	}
}

// remove forgets a goroutine that has ended, if its last event is being judged.
func (r *model) remove(g int32, gp *goroutine) {
	if gp.pending > 1 {
		return
	}
	if r.ctx.g == g {
		r.ctx.g, r.ctx.state = nobody, &noGoroutine
	}
	r.gStates.Remove(gp.id, g)
}

// putGlobal puts x, alone, at the tail of the global queue.
func (r *model) putGlobal(x int32) {
	r.gStates.At(x).overflowID = 0
	r.queues.PutGlobal(x)
}

// pass goes on to the next event.
func (r *model) pass() {
	if r.queues.GlobalLen() == 0 {
		r.noGlobal = r.now
	}
	r.win.tail++
}

// emit emits a decision at the present time, with the queue lengths after it. It
// emits a copy, so that d need not be allocated.
func (r *model) emit(d *reference.Decision) {
	if r.sink == nil {
		return
	}
	p := nobody
	if d.P >= 0 {
		p = r.pix.Find(int64(d.P))
	}
	r.lowerBasis(d, p)
	draft := r.draft(p, nobody)
	d.Time, d.Local, d.Global = draft.Time, draft.Local, draft.Global
	*draft = *d
	r.commit()
}

// draft begins a decision at the present time, with the queue lengths after it: of the
// P and the thread with these indices, nobody if there is none. It is to be filled in
// and told before another one is: for those that come most often, since a copy of what
// was just filled in costs more than filling it in.
func (r *model) draft(p, m int32) *reference.Decision {
	h := &r.held
	if h.n >= BlockLen {
		return r.draftNext(p, m)
	}
	d := &h.block[h.n]
	h.n++
	h.held++
	*d = reference.Decision{}
	d.Time, d.P, d.M = r.time, reference.NoP, reference.NoM
	if px := uint(p); px < uint(len(r.pStates)) {
		d.P, d.Local = r.pStates[px].id, int32(r.queues.ShownLen(p))
	}
	if mx := uint(m); mx < uint(len(r.mStates)) {
		d.M = r.mStates[mx].id
	}
	d.Global = int32(r.queues.ShownGlobalLen())
	return d
}

// draftNext is draft where there is no block with room.
func (r *model) draftNext(p, m int32) *reference.Decision {
	if r.sink == nil {
		return &r.discarded
	}
	r.flush(false)
	return r.draft(p, m)
}

// commit says that a draft is filled in.
func (r *model) commit() {
	if h := &r.held; h.held >= h.due {
		r.settleTicks(false)
	}
}

// move emits a Move of g to P to (nobody: the global queue) from P from.
func (r *model) move(g, to, from int32, queue reference.Queue, why reference.Why) {
	basis := r.carryTaint(g, to, from, why)
	gp := r.gStates.At(g)
	if gp.hidden {
		return
	}
	d := r.draft(to, nobody)
	d.Kind, d.Why, d.Flags, d.Basis = reference.KindMove, why, gp.flags, basis
	d.G, d.Class, d.Victim, d.To = gp.id, gp.class, r.procID(from), queue
	r.commit()
}

// emitDequeued records that p's thread has taken a goroutine, which the model had at a place,
// and will start it later.
func (r *model) emitDequeued(g, p int32, from reference.Place, t dequeue) {
	why := reference.WhySteal
	switch t.src {
	case reference.SrcGlobal, reference.SrcGlobalTick:
		why = reference.WhyGlobalBatch
		from = reference.Place{Queue: reference.QueueGlobal, P: reference.NoP}
	case reference.SrcRunnext, reference.SrcLocal:
		why = reference.WhyUnknown
		from = reference.Place{Queue: reference.QueueLocal, P: p}
	case reference.SrcSteal, reference.SrcStealRunnext:
		from = reference.Place{Queue: reference.QueueLocal, P: t.victim}
	}
	r.dequeueUnseen(g, t, why, from)
}

// dequeueUnseen records that a goroutine has left its queue although its start
// comes later.
func (r *model) dequeueUnseen(g int32, t dequeue, why reference.Why, from reference.Place) {
	gp := r.gStates.At(g)
	if r.queues.Place(g).Queue != reference.QueueUnknown {
		r.queues.Remove(g)
	}
	gp.dequeued, gp.isDequeued = t, true
	victim := nobody
	if from.Queue == reference.QueueLocal || from.Queue == reference.QueueRunnext {
		victim = from.P
	}
	r.move(g, r.startsOn(g), victim, reference.QueueDirect, why)
}

// forget takes a goroutine out of what the model thought of it.
func (r *model) forget(g int32, gp *goroutine) {
	if r.queues.Place(g).Queue != reference.QueueUnknown {
		r.queues.Remove(g)
		r.summary.Corrections++
	}
	gp.readyAt, gp.ready, gp.start, gp.isDequeued, gp.deferred = -1, none, none, false, false
}

// trim moves what p's ring cannot hold beside a batch, so cannot be there, to
// the global queue.
func (r *model) trim(p int32, room int) {
	for r.queues.RingLen(p) > room {
		x := r.queues.Tail(p)
		r.summary.Corrections++
		r.queues.Remove(x)
		r.putGlobal(x)
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
}

// insert puts x into p's ring where its start says that it must stand.
func (r *model) insert(p, x int32) {
	after := r.queues.Tail(p)
	start := r.gStates.At(x).start
	for after != reference.None {
		gp := r.gStates.At(after)
		if s := r.win.at(gp.start); s == nil || s.p != p || gp.start < start {
			break
		}
		after = r.queues.Prev(after)
	}
	r.queues.InsertAfter(p, after, x)
	r.gStates.At(x).ringSince = none
}

// exchangeWithGlobal exchanges x, of a batch in p's ring, for y, of the global queue.
func (r *model) exchangeWithGlobal(x, y, p int32) {
	r.summary.Corrections++
	a, b := r.gStates.At(x), r.gStates.At(y)
	front, behind := r.queues.Prev(x), r.queues.Prev(y)
	r.queues.Remove(x)
	r.queues.Remove(y)
	if behind == reference.None {
		r.queues.PutGlobalHead(x)
	} else {
		r.queues.PutGlobalAfter(behind, x)
	}
	r.queues.InsertAfter(p, front, y)
	a.fromGlobal, b.fromGlobal, b.ringSince = nobody, p, a.ringSince
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.move(y, p, nobody, reference.QueueLocal, reference.WhyCorrected)
}

// relocate moves a goroutine that cannot be where the model has it to where it
// will run, or to the global queue.
func (r *model) relocate(x, from int32) {
	r.summary.Corrections++
	to := r.startsOn(x)
	if to >= 0 && to != from {
		r.trim(to, r.rules.RingSize-1)
	}
	r.queues.Remove(x)
	if to >= 0 && to != from {
		r.insert(to, x)
		r.move(x, to, from, reference.QueueLocal, reference.WhyCorrected)
		return
	}
	r.putGlobal(x)
	r.move(x, nobody, from, reference.QueueGlobal, reference.WhyCorrected)
}

// requeue moves x, in the global queue, behind after.
func (r *model) requeue(x, after int32) {
	r.queues.Remove(x)
	r.queues.PutGlobalAfter(after, x)
	r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
}

// promote moves g, and what came to the global queue together with it and stands
// behind it, to its head.
func (r *model) promote(g int32) {
	last, n := g, 0
	for x := r.queues.Next(g); x != reference.None && r.sameOverflow(x, g); x = r.queues.Next(x) {
		last = x
		n++
	}
	// The last first: each goes to the head, which needs no room between two others.
	for x := last; ; {
		front := r.queues.Prev(x)
		r.queues.Promote(x)
		if x == g {
			break
		}
		x = front
	}
	for x := r.queues.Next(g); n > 0; x = r.queues.Next(x) {
		r.gStates.At(x).tainted = true
		r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
		n--
	}
}

// exchange puts x, out of a batch, back to the head of the global queue, where it was
// by the overflow of that number, and y from there into its place.
func (r *model) exchange(x, y, overflow int32) {
	from, front := r.queues.Place(x), r.queues.Prev(x)
	p := nobody
	if from.Queue == reference.QueueLocal {
		p = from.P
	}
	a, b := r.gStates.At(x), r.gStates.At(y)
	r.queues.Remove(x)
	r.queues.PutGlobalHead(x)
	a.fromGlobal = nobody
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.queues.Remove(y)
	if p == nobody {
		r.queues.PutGlobalAfter(front, y)
		a.overflowID, b.overflowID = overflow, a.overflowID
	} else {
		r.queues.InsertAfter(p, front, y)
		b.fromGlobal, b.ringSince = p, a.ringSince
	}
	r.move(y, p, nobody, from.Queue, reference.WhyCorrected)
}

// rehome tells that g had been at the head of p's ring, and not in from's, and
// takes it from there.
func (r *model) rehome(g, p, from int32) {
	r.trim(p, r.rules.RingSize-1)
	r.queues.Remove(g)
	r.queues.InsertAfter(p, reference.None, g)
	r.move(g, p, from, reference.QueueLocal, reference.WhyCorrected)
	r.queues.Remove(g)
}

// undoBatchEnd undoes the end of v's take from the global queue, from g on.
func (r *model) undoBatchEnd(g, v int32) {
	r.summary.Corrections++
	x := g
	for y := r.queues.Next(x); y != reference.None && r.gStates.At(y).fromGlobal == v; y = r.queues.Next(y) {
		x = y
	}
	for {
		front := r.queues.Prev(x)
		r.queues.Remove(x)
		r.queues.PutGlobalHead(x)
		r.gStates.At(x).fromGlobal = nobody
		r.move(x, nobody, v, reference.QueueGlobal, reference.WhyCorrected)
		if x == g {
			return
		}
		x = front
	}
}

// destroyAbove empties the queues of Ps that are no more to the head of the
// global queue (p.destroy).
func (r *model) destroyAbove(n int) {
	for i := range r.pStates {
		pp := &r.pStates[i]
		if int(pp.id) < n {
			continue
		}
		px := int32(i)
		r.queues.Destroy(px, func(x int32) { r.move(x, nobody, px, reference.QueueGlobal, reference.WhyProcs) })
	}
}

// hasOwn reports whether p's own queue holds something that p will run itself.
func (r *model) hasOwn(p int32) bool {
	if x := r.queues.Runnext(p); x != reference.None && r.startsOn(x) == p {
		return true
	}
	for x := r.queues.Head(p); x != reference.None; x = r.queues.Next(x) {
		if r.startsOn(x) == p {
			return true
		}
	}
	return false
}

// staysLocal reports whether what p has queued next is what p will run next of it.
func (r *model) staysLocal(p int32) bool {
	x := r.queues.Runnext(p)
	if x == reference.None {
		x = r.queues.Head(p)
	}
	return x != reference.None && r.startsOn(x) == p
}

// oldest returns what is first in p's queue, or None.
func (r *model) oldest(p int32) int32 {
	if x := r.queues.Runnext(p); x != reference.None {
		return x
	}
	return r.queues.Head(p)
}

// stayed returns how many of v's ring were in it all the time in which the thread that
// starts a goroutine now can have looked.
func (r *model) stayed(v int32) int {
	since, n := r.win.at(r.now).prevM, 0
	for x := r.queues.Head(v); x != reference.None; x = r.queues.Next(x) {
		if gp := r.gStates.At(x); max(gp.ready, gp.ringSince) < since {
			n++
		}
	}
	return n
}

// firstInFlight returns the first goroutine in front of g in the global queue
// that is in flight to another P than taker, or None. The queue can be far
// longer than there are threads, so it looks at what these will do next.
func (r *model) firstInFlight(g, taker int32) int32 {
	first := reference.None
	for m := range r.mStates[:min(len(r.mStates), farEnough)] {
		s := r.win.at(r.mStates[m].next)
		if s == nil || s.ev.Kind != events.Go || s.p == taker {
			continue
		}
		if x := s.of; r.queues.Place(x).Queue == reference.QueueGlobal && r.gStates.At(x).start == r.mStates[m].next && r.inFlight(x) &&
			r.queues.AheadGlobal(x, g) && (first == reference.None || r.queues.AheadGlobal(x, first)) {
			first = x
		}
	}
	return first
}
