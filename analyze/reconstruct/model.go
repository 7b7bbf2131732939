package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// model is what the queues hold, and how sure that is.
type model struct {
	*lookahead
	*output

	q           reference.Queues
	taker       int32   // P that took the last batch from the global queue
	again       []again // of that, what overflows have put back
	took        []again // room for tookLast
	wider       bool    // that batch may have been a larger one
	fed         bool    // something was put into the global queue since that batch
	drifting    int32   // P whose batches may be others than the model's, nobody if none
	putBatch    int32   // number of the last overflow
	noGlobal    int64   // event at which the global queue was empty last
	globalDoubt int64   // event by which what is in the global queue was put in doubt
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

	state   events.State
	flags   reference.Flags
	direct  reference.Source
	isTaken bool // its take was settled before its start
	dead    bool
	late    bool // its put to the global queue comes later than its event
	doubt   bool // the model may have it in the wrong place
	moved   bool // it has been in another queue since it became runnable

	putBy      int64         // event of the thread that made it runnable by which its put is over, none if not in sight
	putAt      int64         // event from which on it may have been in its ring, none if not known
	reason     events.Handle // of the last block
	stack      events.Handle // of the last block
	fromGlobal int32         // P whose take from the global queue moved it to its ring, nobody if none
	lastM      int32         // thread on which it ran last
	readyM     int32         // thread that made it runnable
	putBatch   int32         // number of the overflow that put it into the global queue last, 0 if it came alone
	taken      taken         // if isTaken

	passed   int8  // times that others were taken from behind it in the global queue
	fresh    bool  // direct start with a new time slice
	unsure   bool  // direct start that may be another one, or put that may have been another
	putAgain bool  // it was late, and its put has come
	lock     lock  // whether it is locked to its thread
	lockUses uint8 // times that lock, a conclusion only, was relied on
	hidden   bool  // its first event has not come yet: decisions do not know it
	seeded   bool  // was runnable before the trace began
}

// goroutine returns the index of a goroutine.
func (r *model) goroutine(id int64) int32 {
	if ix := r.gs.Find(id); ix != 0 {
		return ix
	}
	return r.addGoroutine(id)
}

func (r *model) addGoroutine(id int64) int32 {
	ix := r.gs.add(id)
	r.q.Grow(int(r.gs.Len()), 0)
	return ix
}

func (r *model) setClass(g *goroutine, class int32) {
	if class == g.class {
		return
	}
	g.class = class
	g.flags = r.cls.list[class].flags
	if r.sum.MainFunc == "" && g.id == 1 {
		r.sum.MainFunc = r.cls.list[class].start
	}
}

// remove forgets a goroutine that has ended, if its last event is being judged.
func (r *model) remove(ix int32, g *goroutine) {
	if g.pending > 1 {
		return
	}
	if r.ctx.g == ix {
		r.ctx.g, r.ctx.state = nobody, &noGoroutine
	}
	r.gs.Remove(g.id, ix)
}

// putGlobal puts x, alone, at the tail of the global queue.
func (r *model) putGlobal(x int32) {
	r.gs.At(x).putBatch = 0
	r.q.PutGlobal(x)
}

// pass goes on to the next event.
func (r *model) pass() {
	if r.q.GlobalLen() == 0 {
		r.noGlobal = r.now
	}
	r.win.tail++
}

// say emits a decision at the present time, with the queue lengths after it. It
// emits a copy, so that d need not be allocated.
func (r *model) say(d *reference.Decision) {
	if r.emit == nil {
		return
	}
	p := nobody
	if d.P >= 0 {
		p = r.pix.Find(int64(d.P))
	}
	r.weigh(d, p)
	draft := r.draft(p, nobody)
	d.Time, d.Local, d.Global = draft.Time, draft.Local, draft.Global
	*draft = *d
	r.told()
}

// draft begins a decision at the present time, with the queue lengths after it: of the
// P and the thread with these indices, nobody if there is none. It is to be filled in
// and told before another one is: for those that come most often, since a copy of what
// was just filled in costs more than filling it in.
func (r *model) draft(p, m int32) *reference.Decision {
	h := &r.hold
	if h.n >= BlockLen {
		return r.draftNext(p, m)
	}
	d := &h.block[h.n]
	h.n++
	h.held++
	*d = reference.Decision{}
	d.Time, d.P, d.M = r.time, reference.NoP, reference.NoM
	if px := uint(p); px < uint(len(r.ps)) {
		d.P, d.Local = r.ps[px].id, int32(r.q.ShownLen(p))
	}
	if mx := uint(m); mx < uint(len(r.ms)) {
		d.M = r.ms[mx].id
	}
	d.Global = int32(r.q.ShownGlobalLen())
	return d
}

// draftNext is draft where there is no block with room.
func (r *model) draftNext(p, m int32) *reference.Decision {
	if r.emit == nil {
		return &r.unheard
	}
	r.release(false)
	return r.draft(p, m)
}

// told says that a draft is filled in.
func (r *model) told() {
	if h := &r.hold; h.held >= h.due {
		r.answer(false)
	}
}

// move emits a Move of g to P to (nobody: the global queue) from P from.
func (r *model) move(ix, to, from int32, queue reference.Queue, why reference.Why) {
	basis := r.moved(ix, to, from, why)
	g := r.gs.At(ix)
	if g.hidden {
		return
	}
	d := r.draft(to, nobody)
	d.Kind, d.Why, d.Flags, d.Basis = reference.KindMove, why, g.flags, basis
	d.G, d.Class, d.Victim, d.To = g.id, g.class, r.pid(from), queue
	r.told()
}

// inHand records that p's thread has taken a goroutine, which the model had at a place,
// and will start it later.
func (r *model) inHand(ix, p int32, from reference.Place, t taken) {
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
	r.takenUnseen(ix, t, why, from)
}

// takenUnseen records that a goroutine has left its queue although its start
// comes later.
func (r *model) takenUnseen(ix int32, t taken, why reference.Why, from reference.Place) {
	g := r.gs.At(ix)
	if r.q.Place(ix).Queue != reference.QueueUnknown {
		r.q.Remove(ix)
	}
	g.taken, g.isTaken = t, true
	victim := nobody
	if from.Queue == reference.QueueLocal || from.Queue == reference.QueueRunnext {
		victim = from.P
	}
	r.move(ix, r.startP(ix), victim, reference.QueueDirect, why)
}

// forget takes a goroutine out of what the model thought of it.
func (r *model) forget(ix int32, g *goroutine) {
	if r.q.Place(ix).Queue != reference.QueueUnknown {
		r.q.Remove(ix)
		r.sum.Corrections++
	}
	g.readyAt, g.ready, g.start, g.isTaken, g.late = -1, none, none, false, false
}

// trim moves what p's ring cannot hold beside a batch, so cannot be there, to
// the global queue.
func (r *model) trim(p int32, room int) {
	for r.q.RingLen(p) > room {
		x := r.q.Tail(p)
		r.sum.Corrections++
		r.q.Remove(x)
		r.putGlobal(x)
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
}

// insert puts x into p's ring where its start says that it must stand.
func (r *model) insert(p, x int32) {
	after := r.q.Tail(p)
	start := r.gs.At(x).start
	for after != reference.None {
		g := r.gs.At(after)
		if s := r.win.at(g.start); s == nil || s.p != p || g.start < start {
			break
		}
		after = r.q.Prev(after)
	}
	r.q.InsertAfter(p, after, x)
	r.gs.At(x).putAt = none
}

// trade exchanges x, of a batch in p's ring, for y, of the global queue.
func (r *model) trade(x, y, p int32) {
	r.sum.Corrections++
	a, b := r.gs.At(x), r.gs.At(y)
	front, behind := r.q.Prev(x), r.q.Prev(y)
	r.q.Remove(x)
	r.q.Remove(y)
	if behind == reference.None {
		r.q.PutGlobalHead(x)
	} else {
		r.q.PutGlobalAfter(behind, x)
	}
	r.q.InsertAfter(p, front, y)
	a.fromGlobal, b.fromGlobal, b.putAt = nobody, p, a.putAt
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.move(y, p, nobody, reference.QueueLocal, reference.WhyCorrected)
}

// relocate moves a goroutine that cannot be where the model has it to where it
// will run, or to the global queue.
func (r *model) relocate(x, from int32) {
	r.sum.Corrections++
	to := r.startP(x)
	if to >= 0 && to != from {
		r.trim(to, r.rules.RingSize-1)
	}
	r.q.Remove(x)
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
	r.q.Remove(x)
	r.q.PutGlobalAfter(after, x)
	r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
}

// promote moves ix, and what came to the global queue together with it and stands
// behind it, to its head.
func (r *model) promote(ix int32) {
	last, n := ix, 0
	for x := r.q.Next(ix); x != reference.None && r.together(x, ix); x = r.q.Next(x) {
		last = x
		n++
	}
	// The last first: each goes to the head, which needs no room between two others.
	for x := last; ; {
		front := r.q.Prev(x)
		r.q.Promote(x)
		if x == ix {
			break
		}
		x = front
	}
	for x := r.q.Next(ix); n > 0; x = r.q.Next(x) {
		r.gs.At(x).doubt = true
		r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
		n--
	}
}

// exchange puts x, out of a batch, back to the head of the global queue, where it was
// by the overflow of that number, and y from there into its place.
func (r *model) exchange(x, y, overflow int32) {
	from, front := r.q.Place(x), r.q.Prev(x)
	p := nobody
	if from.Queue == reference.QueueLocal {
		p = from.P
	}
	a, b := r.gs.At(x), r.gs.At(y)
	r.q.Remove(x)
	r.q.PutGlobalHead(x)
	a.fromGlobal = nobody
	r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	r.q.Remove(y)
	if p == nobody {
		r.q.PutGlobalAfter(front, y)
		a.putBatch, b.putBatch = overflow, a.putBatch
	} else {
		r.q.InsertAfter(p, front, y)
		b.fromGlobal, b.putAt = p, a.putAt
	}
	r.move(y, p, nobody, from.Queue, reference.WhyCorrected)
}

// rehome tells that ix had been at the head of p's ring, and not in from's, and
// takes it from there.
func (r *model) rehome(ix, p, from int32) {
	r.trim(p, r.rules.RingSize-1)
	r.q.Remove(ix)
	r.q.InsertAfter(p, reference.None, ix)
	r.move(ix, p, from, reference.QueueLocal, reference.WhyCorrected)
	r.q.Remove(ix)
}

// putBack undoes the end of v's take from the global queue, from ix on.
func (r *model) putBack(ix, v int32) {
	r.sum.Corrections++
	x := ix
	for y := r.q.Next(x); y != reference.None && r.gs.At(y).fromGlobal == v; y = r.q.Next(y) {
		x = y
	}
	for {
		front := r.q.Prev(x)
		r.q.Remove(x)
		r.q.PutGlobalHead(x)
		r.gs.At(x).fromGlobal = nobody
		r.move(x, nobody, v, reference.QueueGlobal, reference.WhyCorrected)
		if x == ix {
			return
		}
		x = front
	}
}

// destroyAbove empties the queues of Ps that are no more to the head of the
// global queue (p.destroy).
func (r *model) destroyAbove(n int) {
	for i := range r.ps {
		p := &r.ps[i]
		if int(p.id) < n {
			continue
		}
		ix := int32(i)
		r.q.Destroy(ix, func(x int32) { r.move(x, nobody, ix, reference.QueueGlobal, reference.WhyProcs) })
	}
}

// hasOwn says that p's own queue holds something that p will run itself.
func (r *model) hasOwn(p int32) bool {
	if x := r.q.Runnext(p); x != reference.None && r.startP(x) == p {
		return true
	}
	for x := r.q.Head(p); x != reference.None; x = r.q.Next(x) {
		if r.startP(x) == p {
			return true
		}
	}
	return false
}

// staysLocal says that what p has queued next is what p will run next of it.
func (r *model) staysLocal(p int32) bool {
	x := r.q.Runnext(p)
	if x == reference.None {
		x = r.q.Head(p)
	}
	return x != reference.None && r.startP(x) == p
}

// oldest returns what is first in p's queue, or None.
func (r *model) oldest(p int32) int32 {
	if x := r.q.Runnext(p); x != reference.None {
		return x
	}
	return r.q.Head(p)
}

// stayed returns how many of v's ring were in it all the time in which the thread that
// starts a goroutine now can have looked.
func (r *model) stayed(v int32) int {
	since, n := r.win.at(r.now).prevM, 0
	for x := r.q.Head(v); x != reference.None; x = r.q.Next(x) {
		if g := r.gs.At(x); max(g.ready, g.putAt) < since {
			n++
		}
	}
	return n
}

// firstInFlight returns the first goroutine in front of ix in the global queue
// that is in flight to another P than taker, or None. The queue can be far
// longer than there are threads, so it looks at what these will do next.
func (r *model) firstInFlight(ix, taker int32) int32 {
	first := reference.None
	for m := range r.ms[:min(len(r.ms), farEnough)] {
		s := r.win.at(r.ms[m].next)
		if s == nil || s.ev.Kind != events.Go || s.p == taker {
			continue
		}
		if x := s.of; r.q.Place(x).Queue == reference.QueueGlobal && r.gs.At(x).start == r.ms[m].next && r.inFlight(x) &&
			r.q.AheadGlobal(x, ix) && (first == reference.None || r.q.AheadGlobal(x, first)) {
			first = x
		}
	}
	return first
}
