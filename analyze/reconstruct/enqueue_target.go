package reconstruct

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// enqueue is where and why a goroutine became runnable.
//
// OPT: with at most four fields in each part the compiler has it in registers. One in memory is written
// field by field and copied whole, which has the copy wait for all that was written before.
type enqueue struct {
	enqueueTo
	enqueueStart
	batch  bool // one of a list: what the ring cannot hold goes to the global queue (runqputbatch)
	unsure bool // another direct start, or the global queue, would look the same
}

// enqueueTo is the queue into which a goroutine is put, and why.
type enqueueTo struct {
	p     int32
	to    reference.Queue
	why   reference.Why
	basis reference.Basis
}

// enqueueStart is how a goroutine starts that needs no queue, and how it stopped before.
type enqueueStart struct {
	direct reference.Source
	fresh  bool            // a direct start that gets a new time slice nevertheless
	cause  reference.Basis // how why is known of a preemption, 0 if it is none
}

// putTo is an enqueue into the queue to, of P p.
func putTo(to reference.Queue, p int32, why reference.Why, basis reference.Basis) enqueue {
	return enqueue{enqueueTo: enqueueTo{p: p, to: to, why: why, basis: basis}}
}

// startsAt is an enqueue of what starts on P p without a queue.
func startsAt(p int32, why reference.Why, direct reference.Source) enqueue {
	enq := putTo(reference.QueueDirect, p, why, byAhead)
	enq.direct = direct
	return enq
}

// targets finds out into which queue a goroutine was put that became runnable.
type targets struct {
	ps       *processors
	ahead    *lookahead
	requests *requests
	inject   *injection
}

// target applies the rules of what goes where: newproc, ready, goready, goschedImpl, goyield_m,
// exitsyscall and injectglist in runtime/proc.go, and their callers.
func (r *targets) target(rec *record, gp *goroutine) enqueue {
	switch rec.From {
	case events.NotExist:
		if rec.p < 0 {
			return putTo(reference.QueueGlobal, nobody, reference.WhyCreate, byRule)
		}
		return r.runnext(rec.p, reference.WhyCreate)
	case events.Running:
		return r.yielded(rec)
	case events.Syscall:
		return r.leftSyscall(rec)
	}
	if why, direct, unsure := r.startsAtOnce(rec, gp); direct != reference.SrcUnknown {
		enq := startsAt(rec.p, why, direct)
		enq.unsure = unsure
		return enq
	}
	switch {
	case rec.p < 0:
		why := reference.WhySystem
		if gp.reason == events.ReasonNetwork {
			why = reference.WhyNetwork
		}
		r.ps.claim()
		return putTo(reference.QueueGlobal, nobody, why, byRule)
	case rec.g < 0:
		return r.foundReady(rec, gp)
	case gp.reason == events.ReasonAssist, r.injectedInSTW(rec, gp):
		// gcFlushBgCredit and gcWakeAllAssists never use runnext.
		enq := putTo(reference.QueueLocal, rec.p, reference.WhySystem, byRule)
		enq.batch = gp.reason != events.ReasonAssist || r.ahead.traits.Has(rec.Stack, stacks.Inject)
		return enq
	}
	return r.runnext(rec.p, reference.WhyUnblock)
}

// leftSyscall is target for a goroutine that comes out of a system call without its P (exitsyscall): an
// idle one may turn up at once (exitsyscallNoP).
func (r *targets) leftSyscall(rec *record) enqueue {
	if rec.p >= 0 {
		return startsAt(rec.p, reference.WhySyscallExit, reference.SrcSyscallExit)
	}
	next := r.ahead.win.at(rec.nextM)
	if next == nil || next.Kind != events.Proc || next.To != events.Running || next.nextM != rec.link || rec.link == none {
		return putTo(reference.QueueGlobal, nobody, reference.WhySyscallExit, byRule)
	}
	if r.queuedAtExit(rec, next) {
		enq := putTo(reference.QueueGlobal, nobody, reference.WhySyscallExit, byAhead)
		enq.unsure = true
		return enq
	}
	enq := startsAt(next.of, reference.WhySyscallExit, reference.SrcSyscallExit)
	enq.fresh = true
	return enq
}

// startsAtOnce returns why a blocked goroutine became runnable that the same thread starts next,
// without a queue, how it starts, and whether that is unsure; SrcUnknown if it does not.
func (r *targets) startsAtOnce(rec *record, gp *goroutine) (why reference.Why, direct reference.Source, unsure bool) {
	next := r.ahead.win.at(rec.nextM)
	if next == nil {
		return
	}
	if rec.g >= 0 {
		if rec.Stack == 0 && r.coroutine(rec, next) {
			return reference.WhyCoroutine, reference.SrcCoroutine, false
		}
		return
	}
	if rec.nextM != rec.link || rec.p < 0 {
		return
	}
	switch {
	case gp.flags&reference.FlagTracer != 0 && r.ahead.classes.ReadsTrace(gp.class):
		next.mark &^= markWorker | markDedicated // the P was in a worker's mode already
		return reference.WhySystem, reference.SrcTraceReader, false
	case gp.flags&reference.FlagGC != 0 || next.mark&markWorker != 0:
		if gp.flags&reference.FlagGC == 0 {
			gp.flags |= reference.FlagGC | reference.FlagSystem
		}
		return reference.WhySystem, reference.SrcGCWorker, false
	case gp.reason == events.ReasonNetwork:
		unsure = r.parkedLast(rec)
		if unsure && r.ahead.time-r.ahead.win.at(rec.prevM).Time < pollTime {
			return reference.WhyUnblock, reference.SrcDirect, true
		}
		return reference.WhyNetwork, reference.SrcNetpoll, unsure
	case r.ahead.traits.Has(gp.stack, stacks.Bubble) && r.parkedLast(rec):
		return reference.WhyUnblock, reference.SrcDirect, false
	}
	return
}

// foundReady is target for a blocked goroutine that a P's thread makes runnable while it looks for
// work: by the poller, or as a timer's.
func (r *targets) foundReady(rec *record, gp *goroutine) enqueue {
	switch st := r.ahead.traits.Of(gp.stack); {
	case gp.reason == events.ReasonNetwork:
		return r.injected(rec, reference.WhyNetwork)
	case gp.reason == events.ReasonSystem && st&stacks.Finalizer == 0, st&stacks.Scavenger != 0: // its sleep, too (scavengerState.wake)
		return r.injected(rec, reference.WhySystem)
	}
	return r.runnext(rec.p, reference.WhyTimer)
}

// injectedInSTW reports whether the runtime itself makes a goroutine runnable with injectglist, which
// finds no idle P while the world is stopped.
func (r *targets) injectedInSTW(rec *record, gp *goroutine) bool {
	if !r.ahead.traits.Has(rec.Stack, stacks.SysStack) {
		return false
	}
	switch st := r.ahead.traits.Of(gp.stack); {
	case gp.reason == events.ReasonPreempted: // suspended, not asleep (resumeG)
		return false
	case gp.reason == events.ReasonNone && r.ahead.traits.Has(rec.Stack, stacks.FinishSweep): // the scavenger, which blocked before the trace
		return true
	case gp.reason == events.ReasonSystem && st&stacks.Finalizer == 0, st&stacks.Scavenger != 0:
		return true
	}
	return gp.reason == events.ReasonNetwork || gp.reason == events.ReasonGCEnds || strings.HasPrefix(r.ahead.tables.Name(gp.reason), "GC weak")
}

// runnext is the target of what goready, newproc and timers make runnable: runqput with next, which
// puts into runnext, or into the ring where the platform has no runnext.
func (r *targets) runnext(p int32, why reference.Why) enqueue {
	return putTo(r.ahead.rules.Local(true), p, why, byRule)
}

// parkedLast reports whether the goroutine that becomes runnable blocked just before on the same
// thread. Two unlock functions can undo a park, and then it goes on without a queue (park_m):
// netpollblockcommit, if the poller came first, and synctestidle_c, of a bubble's root. Otherwise the
// thread's search for work made it runnable: by a timer as a rule, or by the poller.
func (r *targets) parkedLast(rec *record) bool {
	prev := r.ahead.win.at(rec.prevM)
	return prev != nil && prev.Kind == events.Go && prev.of == rec.of && prev.To == events.Waiting && prev.From == events.Running
}

// pollTime is how long after its park a goroutine is made runnable at the earliest if the same thread
// polls the network for it, in ns: that is a system call. Half or twice: nothing.
const pollTime = 1_200

// coroutine reports whether a wake-up is the first of the three events of a coroutine switch
// (coroswitch_m): the running goroutine stops without a reason, and the woken one starts.
func (r *targets) coroutine(rec, next *record) bool {
	if next.Kind != events.Go || next.of != rec.g || next.From != events.Running || next.Reason != events.ReasonNone {
		return false
	}
	return next.nextM == rec.link && rec.link != none
}

// injection is a list of goroutines that injectglist puts into the queues together.
type injection struct {
	until int64 // event after which it is over
	left  int   // goroutines that still go to the global queue
}

// injected applies injectglist: as many as there are idle Ps go to the global queue, one for each of
// them; the rest to the local tail.
func (r *targets) injected(rec *record, why reference.Why) enqueue {
	if r.ahead.now > r.inject.until {
		last := r.ahead.now
		for i, n := rec, 0; n < nearEnough; n++ {
			next := r.ahead.win.at(i.nextM)
			direct := i.nextM == i.link && i.link != none // the head of the poller's list runs at once
			if next == nil || direct || next.Kind != events.Go || next.From != events.Waiting || next.To != events.Runnable || next.g >= 0 {
				break
			}
			last = i.nextM
			i = next
		}
		*r.inject = injection{until: last, left: r.ps.npidle()}
	}
	if r.inject.left > 0 {
		r.inject.left--
		r.ps.claim()
		enq := putTo(reference.QueueGlobal, nobody, why, byRule)
		enq.unsure = true
		return enq
	}
	enq := putTo(reference.QueueLocal, rec.p, why, byRule)
	enq.batch = true
	if r.ps.busy < r.ps.gomaxprocs { // all the same, if some P has not been claimed
		enq.unsure, enq.basis = true, reference.Known(reference.Ambiguous, reference.RuleLookahead)
	}
	return enq
}

// A goroutine that comes back from a system call without a P gets an idle one at once, or is put into
// the global queue (exitsyscall0; exitsyscallNoP from Go 1.26). Its thread then goes to sleep, and as
// the last to do so it is the first to be woken (mput, mget): it gets a P and finds the goroutine. Both
// look the same but for where that P had been.

// handsOn is for how long a P that forEachP took from a thread in a system call is not idle, in ns:
// until handoffp has found nothing to do for it. Half or twice: nothing.
const handsOn = 20_000

// queuedAtExit reports whether the goroutine of rec was in the global queue before its thread got a P
// with event next: that P was not idle when it looked for one.
func (r *targets) queuedAtExit(rec, next *record) bool {
	stopped := r.ps.stw.open
	queued := stopped // all idle Ps stop, too (stopTheWorldWithSema)
	switch pp := &r.ps.pStates[next.of]; pp.why {
	case reference.WhyRetakeSlow:
		// sysmon calls handoffp, which looks at the global queue before it calls a P idle.
		queued = true
	case reference.WhyGC, reference.WhyGeneration:
		queued = queued || r.ahead.time-pp.freed < handsOn
	}
	for i := r.ahead.now + 1; i < rec.nextM && i < r.ahead.now+farEnough; i++ {
		switch x := r.ahead.win.at(i); {
		case x.Kind == events.STWBegin:
			stopped = true
		case x.Kind == events.STWEnd, x.Kind == events.Procs:
			stopped = false
		case x.Kind == events.Proc && x.of == next.of && x.To == events.Idle:
			// Its thread finds the goroutine before it calls the P idle (findRunnable), if that was
			// enqueued before.
			queued = stopped || x.p != x.of
		}
	}
	return queued
}
