package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A goroutine that becomes runnable is put into runnext, from where it displaces the one before it to
// the ring (runqput); into the ring, of which half goes to the global queue if it is full
// (runqputslow); or into the global queue (globrunqput). The event shows the thread and the P;
// enqueue_target.go decides which of these follows.

// ready handles a goroutine that became runnable: where it was put.
func (r *stepper) ready(rec *record, gp *goroutine) {
	ahead := r.ahead
	from := rec.From
	r.becomesRunnable(rec, gp)
	enq := r.targets.target(rec, gp)
	if enq.p < 0 && (enq.to == reference.QueueLocal || enq.to == reference.QueueRunnext) {
		enq.to = reference.QueueGlobal // a damaged trace: whose queue it was is lost
	}
	if enq.batch && enq.to == reference.QueueLocal && r.queues.Full(enq.p) {
		enq.to = reference.QueueGlobal
	}
	if rec.of == r.requests.suspendedAdvancer && from == events.Waiting && (rec.g < 0 || ahead.gStates.At(rec.g).flags&reference.FlagTracer != 0) {
		r.requests.suspendedAdvancer = nobody // the reader has read the old generation: the forEachP is over
	}
	if ahead.now <= r.targets.inject.until {
		if last := ahead.win.at(r.targets.inject.until); last != nil && last.m == rec.m {
			gp.enqueuedBy = last.nextM // a list is put when all of it has been made runnable
		}
	}
	r.endRunInterval(rec, gp, &enq)
	gp.state = events.Runnable
	if gp.class == 0 && rec.g >= 0 && rec.g != rec.of && !r.engine.on {
		r.out.setClass(gp, ahead.classes.Woken(ahead.gStates.At(rec.g).class))
	}
	if from != events.Running && enq.to != reference.QueueDirect && rec.p >= 0 && ahead.now >= r.targets.inject.until && r.ps.idle.searching < 2 { // else others search
		r.ps.wakep(rec.p)
	}
	if ahead.reduced && enq.to != reference.QueueDirect {
		enq.to, enq.p, enq.basis = reference.QueueUnknown, nobody, reference.Known(reference.Unknown, reference.RuleNone)
	}
	gp.unsure = enq.unsure
	r.enqueue(rec, gp, &enq)
}

// becomesRunnable makes what is known of a goroutine new.
func (r *stepper) becomesRunnable(rec *record, gp *goroutine) {
	ahead := r.ahead
	// OPT: a goroutine that is new in the model is in no queue, and to look there is a miss of the
	// cache.
	if (gp.readyAt >= 0 || gp.hidden) && r.queues.Place(rec.of).Queue != reference.QueueUnknown {
		r.correct.forget(rec.of, gp)
	}
	gp.start = rec.link
	gp.readyAt, gp.ready = ahead.time, ahead.now
	gp.direct = reference.SrcUnknown
	gp.isDequeued = false
	gp.fromGlobal = nobody
	gp.deferred, gp.wasDeferred, gp.passedOver = false, false, 0
	gp.readyM, gp.enqueuedBy = rec.m, rec.nextM
	gp.tainted, gp.moved, gp.queued = false, false, ahead.now
}

// endRunInterval emits what a goroutine that ran, or was in a system call, has ended by becoming
// runnable.
func (r *stepper) endRunInterval(rec *record, gp *goroutine, enq *enqueue) {
	switch rec.From {
	case events.Running:
		if enq.cause != 0 {
			r.out.emit(rec.p, rec.m, reference.Decision{Kind: reference.KindPreempt, G: gp.id, Class: gp.class, Why: enq.why,
				Stack: int32(rec.TStack), Flags: gp.flags, Basis: enq.cause})
		}
		r.stop(rec, gp, enq.why)
	case events.Syscall:
		if rec.m >= 0 && r.ahead.mStates[rec.m].g == rec.of {
			r.ahead.mStates[rec.m].g = nobody
		}
		if rec.p >= 0 && r.ps.pStates[rec.p].g == rec.of {
			r.ps.setRunning(&r.ps.pStates[rec.p], nobody)
		}
		r.out.emit(nobody, rec.m, reference.Decision{Kind: reference.KindSyscallExit, G: gp.id, Class: gp.class, Flags: gp.flags})
	}
}

// enqueue puts a goroutine where enq says, and emits that.
func (r *stepper) enqueue(rec *record, gp *goroutine, enq *enqueue) {
	switch enq.to {
	case reference.QueueUnknown:
		r.out.emitReady(rec, gp, enq)
	case reference.QueueDirect:
		gp.direct = enq.direct
		gp.fresh = enq.fresh
		r.out.emitReady(rec, gp, enq)
	case reference.QueueGlobal:
		enq.p = nobody
		r.enqueuer.catchUp()
		r.enqueuer.enqueueBefore(rec.of)
		tail := r.queues.GlobalTail()
		r.model.putGlobal(rec.of)
		r.enqueuer.noteEnqueue(rec.of, gp.enqueuedBy)
		r.out.emitReady(rec, gp, enq)
		if rec.p >= 0 && (r.ahead.rules.GlobalBatch(r.queues.GlobalLen(), r.ps.gomaxprocs) >= longBatch && r.model.comesLater(tail, rec.of, gp.enqueuedBy) || r.enqueuer.testDeferEnqueue(rec, gp)) {
			r.enqueuer.deferEnqueue(rec.of)
		}
	case reference.QueueLocal:
		if r.enqueuer.overflows(enq.p, rec.of, true) {
			// The newcomer goes to the global queue together with half of the ring.
			p := enq.p
			enq.to, enq.p = reference.QueueGlobal, nobody
			r.enqueuer.overflow(p, rec.of, nobody, func() { r.out.emitReady(rec, gp, enq) })
			return
		}
		r.model.putTail(enq.p, rec.of)
		r.out.emitReady(rec, gp, enq)
	case reference.QueueRunnext:
		out := r.queues.PutRunnext(enq.p, rec.of)
		r.out.emitReady(rec, gp, enq)
		if out != reference.None {
			r.enqueuer.displace(enq.p, out)
		}
	}
}

// emitReady emits that a goroutine became runnable.
func (r *output) emitReady(rec *record, gp *goroutine, enq *enqueue) {
	d := r.draftOf(gp, reference.KindReady, enq.p, rec.m)
	d.To, d.Why, d.Basis, d.Stack, d.By = enq.to, enq.why, enq.basis, int32(rec.Stack), reference.NoG
	if rec.p < 0 {
		d.Flags |= reference.FlagNoP
	}
	if rec.g >= 0 && rec.g != rec.of {
		d.By = r.ahead.gStates.At(rec.g).id
	}
	r.commit()
}
