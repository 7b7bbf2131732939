package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// corrections move goroutines in the model against its rules, where an event shows that it had them in
// the wrong place.
type corrections struct {
	view
	out  *output
	room []returned // for model.lastBatch
}

// forget removes a goroutine from its queue and ends its wait.
func (r *corrections) forget(g int32, gp *goroutine) {
	if r.queues.Place(g).Queue != reference.QueueUnknown {
		r.queues.Remove(g)
		r.out.summary.Corrections++
	}
	gp.readyAt, gp.ready, gp.start, gp.isDequeued, gp.deferred = -1, none, none, false, false
}

// trim moves to the global queue what p's ring cannot hold beside a batch.
func (r *corrections) trim(p int32, room int) {
	for r.queues.RingLen(p) > room {
		g := r.queues.Tail(p)
		r.out.summary.Corrections++
		r.queues.Remove(g)
		r.model.putGlobal(g)
		r.out.corrected(g, p)
	}
}

// insert puts g into p's ring where its start says that it must stand.
func (r *corrections) insert(p, g int32) {
	after := r.queues.Tail(p)
	start := r.ahead.gStates.At(g).start
	for after != reference.None {
		gp := r.ahead.gStates.At(after)
		if first := r.ahead.win.at(gp.start); first == nil || first.p != p || gp.start < start {
			break
		}
		after = r.queues.Prev(after)
	}
	r.queues.InsertAfter(p, after, g)
	r.ahead.gStates.At(g).ringSince = none
}

// relocate moves a goroutine that cannot be where the model has it to the P that starts it, or to the
// global queue.
func (r *corrections) relocate(g, from int32) {
	r.out.summary.Corrections++
	r.queues.Remove(g)
	if to := r.ahead.startsOn(g); to >= 0 && to != from {
		r.trim(to, r.ahead.rules.RingSize-1)
		r.insert(to, g)
		r.out.corrected(g, from)
		return
	}
	r.model.putGlobal(g)
	r.ahead.gStates.At(g).fromGlobal = nobody
	r.out.corrected(g, from)
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
	r.out.corrected(g, nobody)
}

// promote moves g, and what came by the same overflow and stands behind it, to the head of the global
// queue.
func (r *corrections) promote(g int32) {
	last := g
	for other := r.queues.Next(g); other != reference.None && r.ahead.sameOverflow(other, g); other = r.queues.Next(other) {
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
		r.ahead.gStates.At(other).tainted = true
		r.out.corrected(other, nobody)
	}
}

// exchange moves g, of a batch, back to the head of the global queue, where it was by the overflow of
// that number, and other from there into its place.
func (r *corrections) exchange(g, other, overflow int32) {
	from, front := r.queues.Place(g), r.queues.Prev(g)
	a, b := r.ahead.gStates.At(g), r.ahead.gStates.At(other)
	r.queues.Remove(g)
	r.queues.PutGlobalHead(g)
	a.fromGlobal = nobody
	r.out.corrected(g, from.P)
	r.queues.Remove(other)
	if from.Queue == reference.QueueGlobal {
		r.queues.PutGlobalAfter(front, other)
		a.overflowID, b.overflowID = overflow, a.overflowID
	} else {
		r.queues.InsertAfter(from.P, front, other)
		b.fromGlobal, b.ringSince = from.P, a.ringSince
	}
	r.out.corrected(other, nobody)
}

// rehome emits that g was at the head of p's ring and not in from's, and dequeues it.
func (r *corrections) rehome(g, p, from int32) {
	r.trim(p, r.ahead.rules.RingSize-1)
	r.queues.Remove(g)
	r.queues.InsertAfter(p, reference.None, g)
	r.out.corrected(g, from)
	r.queues.Remove(g)
}

// undoBatchEnd returns the end of victim's batch, from g on, to the global queue.
func (r *corrections) undoBatchEnd(g, victim int32) {
	r.out.summary.Corrections++
	other := g
	for y := r.queues.Next(other); y != reference.None && r.ahead.gStates.At(y).fromGlobal == victim; y = r.queues.Next(y) {
		other = y
	}
	for {
		front := r.queues.Prev(other)
		r.queues.Remove(other)
		r.queues.PutGlobalHead(other)
		r.ahead.gStates.At(other).fromGlobal = nobody
		r.out.corrected(other, victim)
		if other == g {
			return
		}
		other = front
	}
}

// purgeOwn moves what starts elsewhere out of p's own queue: p dequeued globally without being at the
// 61st tick, so its own was empty.
func (r *corrections) purgeOwn(p int32) {
	for g := range r.queues.Local(p) {
		if to := r.ahead.startsOn(g); to >= 0 && to != p {
			r.relocate(g, p)
		}
	}
}

// undisturbed is how many events of a thread are too few for an overflow of its ring, for which half of
// it must be enqueued. Half: nothing; twice, or 256: ll of a tree falls from 100 to 77.6.
const undisturbed = 64

// continuesGlobal reports whether p starts the goroutine behind g, the head of the global queue, before
// what the model has in p's own queue: that cannot have been there, for a P with an own queue dequeues
// only one, at the 61st tick.
func (r *corrections) continuesGlobal(g, p int32) bool {
	succ := r.queues.Next(g)
	if r.queues.Len(p) == 0 || succ == reference.None || r.ahead.startsOn(succ) != p || r.ps.pStates[p].tick.Is() {
		return false
	}
	// Farther on, an overflow in between would have emptied its own queue.
	for i, n := r.ahead.startOf(g), 0; i != r.ahead.startOf(succ); n++ {
		rec := r.ahead.win.at(i)
		if rec == nil || n > undisturbed {
			return false
		}
		i = rec.nextM
	}
	for other := range r.queues.Local(p) {
		if r.ahead.startsOn(other) == p && r.ahead.startOf(other) < r.ahead.startOf(succ) {
			return false
		}
	}
	r.out.summary.Corrections++
	if other := r.queues.Runnext(p); other != reference.None {
		r.trim(p, r.ahead.rules.RingSize-1)
		r.queues.Remove(other)
		r.queues.PutTail(p, other)
		r.out.corrected(other, p)
	}
	return true
}

// reorder promotes g. What stands in front of it of its own overflow was in the last batch, in place of
// the last goroutines that the model has in that.
func (r *corrections) reorder(g int32) {
	if !r.ahead.sameOverflow(r.queues.GlobalHead(), g) {
		r.room = r.model.lastBatch(r.room[:0], g)
		for _, x := range r.room {
			other := r.queues.Prev(g)
			if !r.ahead.sameOverflow(other, g) {
				break
			}
			r.exchange(x.g, other, x.from)
		}
	}
	r.promote(g)
}
