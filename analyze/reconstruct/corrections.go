package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// corrections move goroutines in the model against its rules, where an event shows that it had
// them in the wrong place.
type corrections struct{ *output }

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
		g := r.queues.Tail(p)
		r.summary.Corrections++
		r.queues.Remove(g)
		r.putGlobal(g)
		r.corrected(g, p)
	}
}

// insert puts g into p's ring where its start says that it must stand.
func (r *corrections) insert(p, g int32) {
	after := r.queues.Tail(p)
	start := r.gStates.At(g).start
	for after != reference.None {
		gp := r.gStates.At(after)
		if first := r.win.at(gp.start); first == nil || first.p != p || gp.start < start {
			break
		}
		after = r.queues.Prev(after)
	}
	r.queues.InsertAfter(p, after, g)
	r.gStates.At(g).ringSince = none
}

// exchangeWithGlobal exchanges g, of a batch in a P's ring, for other, the head of the global queue.
func (r *corrections) exchangeWithGlobal(g, other int32) {
	r.summary.Corrections++
	r.exchange(g, other, 0)
}

// relocate moves a goroutine that cannot be where the model has it to where it
// will run, or to the global queue.
func (r *corrections) relocate(g, from int32) {
	r.summary.Corrections++
	r.queues.Remove(g)
	if to := r.startsOn(g); to >= 0 && to != from {
		r.trim(to, r.rules.RingSize-1)
		r.insert(to, g)
		r.corrected(g, from)
		return
	}
	r.putGlobal(g)
	r.gStates.At(g).fromGlobal = nobody
	r.corrected(g, from)
}

// vacate moves what the model has in p's own queue to where it can be: p found nothing there.
func (r *corrections) vacate(p int32) {
	for r.queues.Len(p) > 0 {
		g := r.queues.Head(p)
		if g == reference.None {
			g = r.queues.Runnext(p)
		}
		r.relocate(g, p)
	}
}

// requeue moves g, in the global queue, behind after.
func (r *corrections) requeue(g, after int32) {
	r.queues.Remove(g)
	r.queues.PutGlobalAfter(after, g)
	r.corrected(g, nobody)
}

// promote moves g, and what came to the global queue together with it and stands
// behind it, to its head.
func (r *corrections) promote(g int32) {
	last := g
	for other := r.queues.Next(g); other != reference.None && r.sameOverflow(other, g); other = r.queues.Next(other) {
		last = other
	}
	// The last first: each goes to the head, which needs no room between two others.
	for other := last; ; {
		front := r.queues.Prev(other)
		r.queues.Promote(other)
		if other == g {
			break
		}
		other = front
	}
	for other := g; other != last; {
		other = r.queues.Next(other)
		r.gStates.At(other).tainted = true
		r.corrected(other, nobody)
	}
}

// exchange puts g, out of a batch, back to the head of the global queue, where it was
// by the overflow of that number, and other from there into its place.
func (r *corrections) exchange(g, other, overflow int32) {
	from, front := r.queues.Place(g), r.queues.Prev(g)
	a, b := r.gStates.At(g), r.gStates.At(other)
	r.queues.Remove(g)
	r.queues.PutGlobalHead(g)
	a.fromGlobal = nobody
	r.corrected(g, from.P)
	r.queues.Remove(other)
	if from.Queue == reference.QueueGlobal {
		r.queues.PutGlobalAfter(front, other)
		a.overflowID, b.overflowID = overflow, a.overflowID
	} else {
		r.queues.InsertAfter(from.P, front, other)
		b.fromGlobal, b.ringSince = from.P, a.ringSince
	}
	r.corrected(other, nobody)
}

// rehome tells that g had been at the head of p's ring, and not in from's, and
// takes it from there.
func (r *corrections) rehome(g, p, from int32) {
	r.trim(p, r.rules.RingSize-1)
	r.queues.Remove(g)
	r.queues.InsertAfter(p, reference.None, g)
	r.corrected(g, from)
	r.queues.Remove(g)
}

// undoBatchEnd undoes the end of victim's take from the global queue, from g on.
func (r *corrections) undoBatchEnd(g, victim int32) {
	r.summary.Corrections++
	other := g
	for y := r.queues.Next(other); y != reference.None && r.gStates.At(y).fromGlobal == victim; y = r.queues.Next(y) {
		other = y
	}
	for {
		front := r.queues.Prev(other)
		r.queues.Remove(other)
		r.queues.PutGlobalHead(other)
		r.gStates.At(other).fromGlobal = nobody
		r.corrected(other, victim)
		if other == g {
			return
		}
		other = front
	}
}

// purgeOwn takes what will run elsewhere out of p's own queue: p took from the
// global queue without being at the 61st tick, so its own was empty.
func (r *corrections) purgeOwn(p int32) {
	for g := range r.queues.Local(p) {
		if to := r.startsOn(g); to >= 0 && to != p {
			r.relocate(g, p)
		}
	}
}

// undisturbed is how many events of a thread are too few for an overflow of its ring, which takes more
// puts than half of that. Half: nothing; twice, or 256: ll of a tree falls from 100 to 77.6.
const undisturbed = 64

// continuesGlobal reports whether p goes on with the goroutine behind g, the head of the
// global queue, before it runs what the model has in its own queue: that cannot
// have been there, for a P with an own queue takes only one, at the 61st tick.
func (r *corrections) continuesGlobal(g, p int32) bool {
	succ := r.queues.Next(g)
	if r.queues.Len(p) == 0 || succ == reference.None || r.startsOn(succ) != p || r.pStates[p].tick.Is() {
		return false
	}
	// Farther on, an overflow in between would have taken its own queue away.
	for i, n := r.startOf(g), 0; i != r.startOf(succ); n++ {
		rec := r.win.at(i)
		if rec == nil || n > undisturbed {
			return false
		}
		i = rec.nextM
	}
	for other := range r.queues.Local(p) {
		if r.startsOn(other) == p && r.startOf(other) < r.startOf(succ) {
			return false
		}
	}
	r.summary.Corrections++
	if other := r.queues.Runnext(p); other != reference.None {
		r.trim(p, r.rules.RingSize-1)
		r.queues.Remove(other)
		r.queues.PutTail(p, other)
		r.corrected(other, p)
	}
	return true
}

// reorder promotes g. What stands in front of it of its own overflow, the last P to take a
// batch has taken, instead of the last that it is thought to have.
func (r *corrections) reorder(g int32) {
	if !r.sameOverflow(r.queues.GlobalHead(), g) {
		r.lastBatchRoom = r.lastBatch(r.lastBatchRoom[:0], g)
		for _, x := range r.lastBatchRoom {
			other := r.queues.Prev(g)
			if !r.sameOverflow(other, g) {
				break
			}
			r.exchange(x.g, other, x.from)
		}
	}
	r.promote(g)
}
