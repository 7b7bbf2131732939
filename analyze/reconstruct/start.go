package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A goroutine's start is the first event to show that its thread has dequeued it (schedule,
// findRunnable, execute): from the P's runnext or ring, from the global queue, from another P, or from
// no queue, if the thread that made it runnable runs it at once.

// dequeue is how a goroutine left its queue.
//
// OPT: in parts, for the same reason as enqueue.
type dequeue struct {
	victim int32
	batch  int32
	dequeueSource
	dequeueTick
}

// dequeueSource is where a goroutine was dequeued from, and how that is known.
type dequeueSource struct {
	src   reference.Source
	basis reference.Basis
	taint reference.Rule // why it is ambiguous nevertheless
}

// dequeueTick is what of a dequeue depends on the 61st tick.
type dequeueTick struct {
	missedTick bool   // it is ambiguous because one may have been missed before
	pending    bool   // it may have been one, and later evidence may show it
	candidate  uint16 // if so, the candidate
}

// dequeueFrom is a dequeue of batch from a source; victim is the P stolen from, nobody if it is none.
func dequeueFrom(src reference.Source, victim, batch int32, basis reference.Basis) dequeue {
	return dequeue{victim: victim, batch: batch, dequeueSource: dequeueSource{src: src, basis: basis}}
}

// start handles a goroutine's start: where it was dequeued from.
func (r *stepper) start(rec *record, gp *goroutine) {
	ahead := r.ahead
	waited := int64(-1)
	if gp.readyAt >= 0 {
		waited = max(ahead.time-gp.readyAt, 0)
	}
	flags := gp.flags
	if gp.isDequeued {
		flags |= reference.FlagTaken
	}
	var deq dequeue
	r.dequeueOf(rec, gp, &deq)
	if rec.mark&markWorker != 0 && deq.src != reference.SrcGCWorker {
		flags |= reference.FlagGC | reference.FlagSystem
	}
	inherits := deq.src == reference.SrcRunnext || deq.src == reference.SrcCoroutine ||
		deq.src == reference.SrcSyscallExit && !gp.fresh || gp.direct == reference.SrcDirect
	r.locks.learnLock(rec, gp)
	if pp := r.ps.procOf(rec.p); pp != nil && pp.handed == ahead.now {
		flags |= reference.FlagLocked
		inherits = false // stoplockedm returns to execute without inheritance
	}
	if inherits && rec.p >= 0 {
		flags |= reference.FlagInherits
	}
	gp.state = events.Running
	gp.readyAt, gp.ready, gp.start, gp.isDequeued = -1, none, none, false
	r.execute(rec, gp, inherits)
	if rec.mark&markDedicated != 0 && rec.p >= 0 && rec.m >= 0 && !ahead.reduced && len(r.workers.list) < farEnough {
		r.workers.expectDrain(rec)
	}
	if flags&reference.FlagTracer != 0 && ahead.classes.Advances(gp.class) {
		r.requests.advancerStarts(rec, gp.reason == events.ReasonChanReceive)
	}
	if rec.of == r.requests.suspendedAdvancer {
		// It was preempted in what seemed its forEachP, or waited: before that, it writes out the
		// tables of the old generation, and acquires worldsema, which the collector may hold
		// (traceAdvance, until Go 1.25).
		r.requests.beginForEachP(rec, reference.WhyGeneration, false)
		r.requests.suspendedAdvancer = nobody
	}
	gp.reason = events.ReasonNone
	if deq.pending && r.out.sink != nil {
		r.out.held.addPendingTick(rec.p, deq.candidate)
	} else {
		r.out.count(deq.src, deq.basis)
	}
	d := r.out.draftOf(gp, reference.KindStart, rec.p, rec.m)
	d.Flags, d.Basis = flags, deq.basis
	d.Src, d.Victim, d.Batch, d.Wait = deq.src, ahead.procID(deq.victim), deq.batch, waited
	if rec.mark&markWorker != 0 {
		d.Reason = reason(rec.Reason) // the worker's mode
	}
	r.out.commit()
}

// dequeueOf finds out where a goroutine that starts was dequeued from, and learns from it.
func (r *stepper) dequeueOf(rec *record, gp *goroutine, deq *dequeue) {
	switch {
	case gp.isDequeued:
		*deq = gp.dequeued
	case gp.direct != reference.SrcUnknown:
		*deq = dequeueFrom(gp.direct, nobody, 0, byAhead)
		if gp.unsure || gp.direct == reference.SrcSyscallExit && gp.fresh {
			deq.taint = reference.RuleLookahead // from a queue it might look the same
		}
	case r.ahead.reduced:
		*deq = dequeueFrom(reference.SrcUnknown, nobody, 0, 0)
	default:
		gp.start = r.ahead.now
		if rec.p >= 0 && r.queues.Runnext(rec.p) == rec.of { // often
			*deq = r.model.dequeueRunnext(rec.p)
		} else {
			*deq = r.dequeuer.dequeue(rec.of, rec.p)
		}
		if gp.unsure && deq.taint == reference.RuleNone && !r.ahead.fetched(rec, gp, deq.src) {
			deq.taint = reference.RuleLookahead
		}
		if r.queues.GlobalLen() > 0 || deq.src == reference.SrcGlobalTick { // else nothing shows
			r.ticks.learnTickFrom(rec.of, rec.p, deq, rec.prevM)
		}
	}
	if deq.missedTick && deq.taint == reference.RuleNone {
		deq.taint = reference.RuleTaint
	}
	if deq.taint != reference.RuleNone && (deq.basis.Level() > reference.Ambiguous || deq.pending) {
		deq.basis = reference.Known(reference.Ambiguous, deq.taint)
	}
}

// execute notes that a thread and its P run a goroutine (execute); inherits reports whether it goes on
// with the time slice of the one before, and does not count for the 61st tick.
func (r *stepper) execute(rec *record, gp *goroutine, inherits bool) {
	ahead := r.ahead
	if mx := uint(rec.m); mx < uint(len(ahead.mStates)) {
		mp := &ahead.mStates[mx]
		mp.g, mp.lastG = rec.of, rec.of
	}
	gp.lastM = rec.m
	pp := r.ps.procOf(rec.p)
	if pp == nil {
		return
	}
	r.ps.setRunning(pp, rec.of)
	pp.began = ahead.time
	if worker := rec.mark; worker != pp.worker {
		r.requests.works(pp, worker)
	}
	pp.wanted = r.requests.marks.wantedFor(ahead.time)
	pp.m = rec.m
	if !inherits {
		pp.tick.Next()
		pp.tickHeard = false
		pp.ticks = [2]int64{pp.ticks[1], ahead.time}
	}
	if gp.direct != reference.SrcUnknown && gp.unsure { // it may be the other way round
		by := 1
		if inherits {
			by = -1
		}
		pp.tick.Shift(by, slipped)
		r.out.held.recheckTicks()
	}
}

// fetched reports whether a goroutine which may have been put elsewhere was dequeued from the global
// queue by a thread that has come for its P since: one was woken for it.
func (r *lookahead) fetched(rec *record, gp *goroutine, src reference.Source) bool {
	global := src == reference.SrcGlobal || src == reference.SrcGlobalTick
	return global && rec.p >= 0 && rec.m != gp.readyM && r.ps.pStates[rec.p].came > gp.readyAt
}
