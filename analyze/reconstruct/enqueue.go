package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A goroutine is put into a queue by whoever makes it runnable: into runnext, from where it
// displaces the one before it to the ring (runqput); into the ring, of which half goes to the
// global queue if it is full (runqputslow); or into the global queue (globrunqput). The
// event shows who and where; enqueue_target.go says which of these follows.

// ready judges a goroutine that became runnable: where it was put.
func (r *judge) ready(rec *record, gp *goroutine) {
	from := rec.From
	r.becomesRunnable(rec, gp)
	enq := r.targets.target(rec, gp)
	if enq.p < 0 && (enq.to == reference.QueueLocal || enq.to == reference.QueueRunnext) {
		enq.to = reference.QueueGlobal // a damaged trace: whose queue it was is lost
	}
	if enq.batch && enq.to == reference.QueueLocal && r.queues.Full(enq.p) {
		enq.to = reference.QueueGlobal
	}
	if rec.of == r.suspendedAdvancer && from == events.Waiting && (rec.g < 0 || r.gStates.At(rec.g).flags&reference.FlagTracer != 0) {
		r.suspendedAdvancer = nobody // the reader has read the old generation: the visit is over
	}
	if r.now <= r.targets.inject.until {
		if last := r.win.at(r.targets.inject.until); last != nil && last.m == rec.m {
			gp.enqueuedBy = last.nextM // a list is put when all of it has been made runnable
		}
	}
	r.endRunInterval(rec, gp, &enq)
	gp.state = events.Runnable
	if gp.class == 0 && rec.g >= 0 && rec.g != rec.of && !r.engine.on {
		r.setClass(gp, r.classes.Woken(r.gStates.At(rec.g).class))
	}
	if from != events.Running && enq.to != reference.QueueDirect && rec.p >= 0 && r.now >= r.targets.inject.until && r.idle.searching < 2 { // else others search
		r.wakep(rec.p)
	}
	if r.reduced && enq.to != reference.QueueDirect {
		enq.to, enq.p, enq.basis = reference.QueueUnknown, nobody, reference.Known(reference.Unknown, reference.RuleNone)
	}
	gp.unsure = enq.unsure
	r.enqueue(rec, gp, &enq)
}

// becomesRunnable makes what is known of a goroutine new.
func (r *judge) becomesRunnable(rec *record, gp *goroutine) {
	// OPT: who is new in the model is in no queue, and to look there is a miss of the cache.
	if (gp.readyAt >= 0 || gp.hidden) && r.queues.Place(rec.of).Queue != reference.QueueUnknown {
		r.forget(rec.of, gp)
	}
	gp.start = rec.link
	gp.readyAt, gp.ready = r.time, r.now
	gp.direct = reference.SrcUnknown
	gp.isDequeued = false
	gp.fromGlobal = nobody
	gp.deferred, gp.wasDeferred, gp.passedOver = false, false, 0
	gp.readyM, gp.enqueuedBy = rec.m, rec.nextM
	gp.tainted, gp.moved, gp.queued = false, false, r.now
}

// endRunInterval tells what a goroutine that ran, or was in a system call, has ended with becoming
// runnable.
func (r *judge) endRunInterval(rec *record, gp *goroutine, enq *enqueue) {
	switch rec.From {
	case events.Running:
		if enq.cause != 0 {
			r.emit(rec.p, rec.m, reference.Decision{Kind: reference.KindPreempt, G: gp.id, Class: gp.class, Why: enq.why,
				Stack: int32(rec.TStack), Flags: gp.flags, Basis: enq.cause})
		}
		r.stop(rec, gp, enq.why)
	case events.Syscall:
		if rec.m >= 0 && r.mStates[rec.m].g == rec.of {
			r.mStates[rec.m].g = nobody
		}
		if rec.p >= 0 && r.pStates[rec.p].g == rec.of {
			r.setRunning(&r.pStates[rec.p], nobody)
		}
		r.emit(nobody, rec.m, reference.Decision{Kind: reference.KindSyscallExit, G: gp.id, Class: gp.class, Flags: gp.flags})
	}
}

// enqueue puts a goroutine where enq says, and tells it.
func (r *judge) enqueue(rec *record, gp *goroutine, enq *enqueue) {
	switch enq.to {
	case reference.QueueUnknown:
		r.emitReady(rec, gp, enq)
	case reference.QueueDirect:
		gp.direct = enq.direct
		gp.fresh = enq.fresh
		r.emitReady(rec, gp, enq)
	case reference.QueueGlobal:
		enq.p = nobody
		r.catchUp()
		r.deferred.enqueueBefore(rec.of)
		tail := r.queues.GlobalTail()
		r.putGlobal(rec.of)
		r.deferred.noteEnqueue(rec.of, gp.enqueuedBy)
		r.emitReady(rec, gp, enq)
		if rec.p >= 0 && (r.rules.GlobalBatch(r.queues.GlobalLen(), r.procs) >= longBatch && r.comesLater(tail, rec.of, gp.enqueuedBy) || r.deferred.testDeferEnqueue(rec, gp)) {
			r.deferred.deferEnqueue(rec.of)
		}
	case reference.QueueLocal:
		if r.overflows(enq.p, rec.of, true) {
			// The newcomer goes to the global queue together with half of the ring.
			p := enq.p
			enq.to, enq.p = reference.QueueGlobal, nobody
			r.overflow(p, rec.of, nobody, func() { r.emitReady(rec, gp, enq) })
			return
		}
		r.putTail(enq.p, rec.of)
		r.emitReady(rec, gp, enq)
	case reference.QueueRunnext:
		out := r.queues.PutRunnext(enq.p, rec.of)
		r.emitReady(rec, gp, enq)
		if out != reference.None {
			r.displace(enq.p, out)
		}
	}
}

// emitReady tells that a goroutine became runnable.
func (r *output) emitReady(rec *record, gp *goroutine, enq *enqueue) {
	d := r.draftOf(gp, reference.KindReady, enq.p, rec.m)
	d.To, d.Why, d.Basis, d.Stack, d.By = enq.to, enq.why, enq.basis, int32(rec.Stack), reference.NoG
	if rec.p < 0 {
		d.Flags |= reference.FlagNoP
	}
	if rec.g >= 0 && rec.g != rec.of {
		d.By = r.gStates.At(rec.g).id
	}
	r.commit()
}

// displace puts the old runnext at the tail of its P's ring.
func (r *explainer) displace(p, g int32) {
	if r.overflows(p, g, true) {
		later := r.deferred.overflowsLater(p, g)
		if r.deferred.mayHaveLostCPU() && !r.gStates.At(g).deferred {
			q := question{g: g, p: p}
			if later {
				q.likely = yes
			}
			later = r.engine.says(hypDeferredOverflow, q)
		}
		if later {
			r.deferred.deferOverflow(p, g)
		} else {
			r.overflow(p, g, p, nil)
		}
		return
	}
	r.putTail(p, g)
	r.move(g, p, p, reference.QueueLocal, reference.WhyDisplaced)
}

// overflows reports whether a put of newcomer at the tail of p's ring finds it full. A
// thief whose take shows itself later may have emptied half of it: its goroutine
// is among the first and in flight. What comes late and is due by now may do so, too.
// now reports whether the put ends the judgement of the present event.
func (r *explainer) overflows(p, newcomer int32, now bool) bool {
	if r.queues.Full(p) {
		r.catchUp()
	}
	for r.queues.Full(p) {
		thief := r.steals.thiefOfFullRing(p)
		if !now || thief == reference.None || !r.engine.says(hypEarlyThief, question{g: newcomer, p: p, other: thief}) {
			return true
		}
		r.settle(thief)
	}
	return false
}

// overflow moves half of p's ring and then the newcomer to the global queue
// (runqputslow). ready says the newcomer's Ready decision; it is nil if it was
// displaced from runnext: of P from, or nobody's if that was before.
func (r *explainer) overflow(p, newcomer, from int32, ready func()) {
	basis := byRule
	if r.pStates[p].taint.fits <= fitting {
		basis = r.lower(basis, r.queues.Head(p))
	}
	r.emitBatch(reference.KindOverflow, newcomer, p, nobody, r.rules.Overflow(), basis)
	r.pStates[p].headAt = r.now
	r.deferred.enqueueBefore(r.queues.Head(p))
	r.lastOverflow++
	r.gStates.At(newcomer).overflowID = r.lastOverflow
	r.queues.Overflow(p, newcomer, func(g int32) {
		r.noteReturn(g, p)
		r.move(g, nobody, p, reference.QueueGlobal, reference.WhyOverflow)
	})
	if ready != nil {
		ready()
		return
	}
	r.move(newcomer, nobody, from, reference.QueueGlobal, reference.WhyOverflow)
}
