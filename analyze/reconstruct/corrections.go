package reconstruct

import (
	"github.com/gmpscope/gmpscope/reference"
)

// corrections move goroutines in the model against its rules, where an event shows that it had
// them in the wrong place.
type corrections struct {
	*lookahead
	*model
	*output
}

// forget takes a goroutine out of what the model thought of it.
func (r *corrections) forget(g int32, gp *goroutine) {
	if r.queues.Place(g).Queue != reference.QueueUnknown {
		r.queues.Remove(g)
		r.summary.Corrections++
	}
	gp.readyAt, gp.ready, gp.start, gp.isDequeued, gp.deferred = -1, none, none, false, false
}

// trim moves what p's ring cannot hold beside a batch, so cannot be there, to
// the global queue.
func (r *corrections) trim(p int32, room int) {
	for r.queues.RingLen(p) > room {
		x := r.queues.Tail(p)
		r.summary.Corrections++
		r.queues.Remove(x)
		r.putGlobal(x)
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
}

// insert puts x into p's ring where its start says that it must stand.
func (r *corrections) insert(p, x int32) {
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
func (r *corrections) exchangeWithGlobal(x, y, p int32) {
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
func (r *corrections) relocate(x, from int32) {
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
func (r *corrections) requeue(x, after int32) {
	r.queues.Remove(x)
	r.queues.PutGlobalAfter(after, x)
	r.move(x, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
}

// promote moves g, and what came to the global queue together with it and stands
// behind it, to its head.
func (r *corrections) promote(g int32) {
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
func (r *corrections) exchange(x, y, overflow int32) {
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
func (r *corrections) rehome(g, p, from int32) {
	r.trim(p, r.rules.RingSize-1)
	r.queues.Remove(g)
	r.queues.InsertAfter(p, reference.None, g)
	r.move(g, p, from, reference.QueueLocal, reference.WhyCorrected)
	r.queues.Remove(g)
}

// undoBatchEnd undoes the end of v's take from the global queue, from g on.
func (r *corrections) undoBatchEnd(g, v int32) {
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

// purgeOwn takes what will run elsewhere out of p's own queue: p took from the
// global queue without being at the 61st tick, so its own was empty.
func (r *corrections) purgeOwn(p int32) {
	if x := r.queues.Runnext(p); x != reference.None {
		if to := r.startsOn(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
	}
	for x := r.queues.Head(p); x != reference.None; {
		next := r.queues.Next(x)
		if to := r.startsOn(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
		x = next
	}
}

// continuesGlobal reports whether p goes on with the goroutine behind g, the head of the
// global queue, before it runs what the model has in its own queue: that cannot
// have been there, for a P with an own queue takes only one, at the 61st tick.
func (r *corrections) continuesGlobal(g, p int32) bool {
	own := r.queues.Runnext(p)
	if own == reference.None {
		own = r.queues.Head(p)
	}
	succ := r.queues.Next(g)
	if own == reference.None || succ == reference.None || r.startsOn(succ) != p || r.pStates[p].tick.Is() {
		return false
	}
	// An overflow in between would take its own queue away.
	for i, n := r.startOf(g), 0; i != r.startOf(succ); n++ {
		rec := r.win.at(i)
		if rec == nil || n > 64 {
			return false
		}
		i = rec.nextM
	}
	for x := own; x != reference.None; {
		if r.startsOn(x) == p && r.startOf(x) < r.startOf(succ) {
			return false
		}
		if r.queues.Place(x).Queue == reference.QueueRunnext {
			x = r.queues.Head(p)
		} else {
			x = r.queues.Next(x)
		}
	}
	r.summary.Corrections++
	if x := r.queues.Runnext(p); x != reference.None {
		r.trim(p, r.rules.RingSize-1)
		r.queues.Remove(x)
		r.queues.PutTail(p, x)
		r.move(x, p, p, reference.QueueLocal, reference.WhyCorrected)
	}
	return true
}

// reorder moves g, and what came to the global queue together with it and stands
// behind it, to its head. What stands in front of g of its own overflow, the last
// P to take a batch has taken, instead of the last that it is thought to have.
func (r *corrections) reorder(g int32) {
	if !r.sameOverflow(r.queues.GlobalHead(), g) {
		r.lastBatchRoom = r.lastBatch(r.lastBatchRoom[:0], g)
		for _, x := range r.lastBatchRoom {
			y := r.queues.Prev(g)
			if !r.sameOverflow(y, g) {
				break
			}
			r.exchange(x.g, y, x.from)
		}
	}
	r.promote(g)
}
