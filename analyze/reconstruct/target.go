package reconstruct

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// put is where and why a goroutine became runnable.
type put struct {
	to      reference.Queue
	p       int32
	why     reference.Why
	direct  reference.Source
	basis   reference.Basis
	preempt bool
	batch   bool            // one of a list: what the ring cannot hold goes to the global queue (runqputbatch)
	cause   reference.Basis // of why, for a preemption
	fresh   bool            // a direct start that gets a new time slice nevertheless
	unsure  bool            // another direct start, or the global queue, would look the same
}

var (
	byRule  = reference.Known(reference.Inferred, reference.RuleQueue)
	byAhead = reference.Known(reference.Inferred, reference.RuleLookahead)
)

// target applies the rules of who puts a goroutine where: runtime/proc.go
// newproc, ready, goready, goschedImpl, goyield_m, exitsyscall, injectglist,
// and their callers.
func (r *judge) target(it *item, g *goroutine) put {
	switch it.ev.From {
	case events.NotExist:
		if it.p < 0 {
			return put{to: reference.QueueGlobal, p: nobody, why: reference.WhyCreate, basis: byRule}
		}
		return r.runnext(it.p, reference.WhyCreate)
	case events.Running:
		return r.yielded(it)
	case events.Syscall:
		return r.leftSyscall(it)
	}
	if why, direct, unsure := r.startsAtOnce(it, g); direct != reference.SrcUnknown {
		return put{to: reference.QueueDirect, p: it.p, why: why, direct: direct, basis: byAhead, unsure: unsure}
	}
	switch {
	case it.p < 0:
		why := reference.WhySystem
		if g.reason == events.ReasonNetwork {
			why = reference.WhyNetwork
		}
		r.claim()
		return put{to: reference.QueueGlobal, p: nobody, why: why, basis: byRule}
	case it.g < 0:
		return r.foundReady(it, g)
	case g.reason == events.ReasonAssist:
		// gcFlushBgCredit and gcWakeAllAssists never use runnext.
		return put{to: reference.QueueLocal, p: it.p, why: reference.WhySystem, basis: byRule, batch: r.stk.of(it.ev.Stack)&traitInject != 0}
	case r.injectedInSTW(it, g):
		return put{to: reference.QueueLocal, p: it.p, why: reference.WhySystem, basis: byRule, batch: true}
	}
	return r.runnext(it.p, reference.WhyUnblock)
}

// leftSyscall is target for a goroutine that comes out of a system call without its P
// (exitsyscall): an idle one may turn up at once (exitsyscallNoP).
func (r *judge) leftSyscall(it *item) put {
	if it.p >= 0 {
		return put{to: reference.QueueDirect, p: it.p, why: reference.WhySyscallExit, direct: reference.SrcSyscallExit, basis: byAhead}
	}
	next := r.win.at(it.nextM)
	if next == nil || next.ev.Kind != events.Proc || next.ev.To != events.Running || next.nextM != it.link || it.link == none {
		return put{to: reference.QueueGlobal, p: nobody, why: reference.WhySyscallExit, basis: byRule}
	}
	if r.queuedAtExit(it, next) {
		return put{to: reference.QueueGlobal, p: nobody, why: reference.WhySyscallExit, basis: byAhead, unsure: true}
	}
	return put{to: reference.QueueDirect, p: next.of, why: reference.WhySyscallExit, direct: reference.SrcSyscallExit, basis: byAhead, fresh: true}
}

// startsAtOnce says whether the same thread starts a blocked goroutine next, without a queue,
// why it became runnable then, and whether that may have been otherwise; SrcUnknown if not.
func (r *judge) startsAtOnce(it *item, g *goroutine) (why reference.Why, direct reference.Source, unsure bool) {
	next := r.win.at(it.nextM)
	if next == nil {
		return
	}
	if it.g >= 0 {
		if it.ev.Stack == 0 && r.coroutine(it, next) {
			return reference.WhyCoroutine, reference.SrcCoroutine, false
		}
		return
	}
	if it.nextM != it.link || it.p < 0 {
		return
	}
	switch {
	case g.flags&reference.FlagTracer != 0 && isTraceReader(r.cls.list[g.class].start):
		next.ev.mark &^= markWorker | markDedicated // the P was in a worker's mode already
		return reference.WhySystem, reference.SrcTraceReader, false
	case g.flags&reference.FlagGC != 0 || next.ev.mark&markWorker != 0:
		if g.flags&reference.FlagGC == 0 {
			g.flags |= reference.FlagGC | reference.FlagSystem
		}
		return reference.WhySystem, reference.SrcGCWorker, false
	case g.reason == events.ReasonNetwork:
		unsure = r.parkedLast(it)
		if unsure && r.time-r.win.at(it.prevM).ev.Time < pollTime {
			return reference.WhyUnblock, reference.SrcDirect, true
		}
		return reference.WhyNetwork, reference.SrcNetpoll, unsure
	case r.stk.of(g.stack)&traitBubble != 0 && r.parkedLast(it):
		return reference.WhyUnblock, reference.SrcDirect, false
	}
	return
}

// foundReady is target for a blocked goroutine that a P's thread makes runnable while it
// looks for work: by the poller, or as a timer's.
func (r *judge) foundReady(it *item, g *goroutine) put {
	switch st := r.stk.of(g.stack); {
	case g.reason == events.ReasonNetwork:
		return r.injected(it, reference.WhyNetwork)
	case g.reason == events.ReasonSystem && st&traitFinalizer == 0, st&traitScavenger != 0: // its sleep, too (scavengerState.wake)
		return r.injected(it, reference.WhySystem)
	}
	return r.runnext(it.p, reference.WhyTimer)
}

// injectedInSTW says that the runtime itself makes a goroutine runnable with injectglist, which
// finds no idle P while the world is stopped.
func (r *judge) injectedInSTW(it *item, g *goroutine) bool {
	if r.stk.of(it.ev.Stack)&traitSysStack == 0 {
		return false
	}
	switch st := r.stk.of(g.stack); {
	case g.reason == events.ReasonPreempted: // suspended, not asleep (resumeG)
		return false
	case g.reason == events.ReasonNone && r.stk.of(it.ev.Stack)&traitFinishSweep != 0: // the scavenger, which blocked before the trace
		return true
	case g.reason == events.ReasonSystem && st&traitFinalizer == 0, st&traitScavenger != 0:
		return true
	}
	return g.reason == events.ReasonNetwork || g.reason == events.ReasonGCEnds || strings.HasPrefix(r.tables.Name(g.reason), "GC weak")
}

func (r *lookahead) runnext(p int32, why reference.Why) put {
	return put{to: r.rules.Local(true), p: p, why: why, basis: byRule}
}

// parkedLast says that the goroutine that becomes runnable blocked just before
// on the same thread. Two unlock functions can undo a park, and then it goes on
// without a queue (park_m): netpollblockcommit, if the poller came first, and
// synctestidle_c, of a bubble's root. Otherwise the thread's search for work
// made it runnable: by a timer as a rule, or by the poller.
func (r *lookahead) parkedLast(it *item) bool {
	prev := r.win.at(it.prevM)
	return prev != nil && prev.ev.Kind == events.Go && prev.of == it.of && prev.ev.To == events.Waiting && prev.ev.From == events.Running
}

// pollTime is how long after its park a goroutine is made runnable at the
// earliest if the same thread polls the network for it, in ns: that is a system
// call.
const pollTime = 1_200

// coroutine says that a wake-up is the first of the three events of a
// coroutine switch (coroswitch_m): the running goroutine stops without a
// reason, and the woken one starts.
func (r *lookahead) coroutine(it, next *item) bool {
	if next.ev.Kind != events.Go || next.of != it.g || next.ev.From != events.Running || next.ev.Reason != events.ReasonNone {
		return false
	}
	return next.nextM == it.link && it.link != none
}

// injection is a list of goroutines that injectglist puts into the queues
// together.
type injection struct {
	until int64 // event after which it is over
	left  int   // goroutines that still go to the global queue
}

// injected applies injectglist: as many as there are idle Ps go to the global
// queue, one for each to take; the rest to the local tail.
func (r *judge) injected(it *item, why reference.Why) put {
	if r.now > r.inject.until {
		last := r.now
		for i, n := it, 0; n < 512; n++ {
			next := r.win.at(i.nextM)
			direct := i.nextM == i.link && i.link != none // the head of the poller's list runs at once
			if next == nil || direct || next.ev.Kind != events.Go || next.ev.From != events.Waiting || next.ev.To != events.Runnable || next.g >= 0 {
				break
			}
			last = i.nextM
			i = next
		}
		r.inject = injection{until: last, left: r.npidle()}
	}
	if r.inject.left > 0 {
		r.inject.left--
		r.claim()
		return put{to: reference.QueueGlobal, p: nobody, why: why, basis: byRule, unsure: true}
	}
	t := put{to: reference.QueueLocal, p: it.p, why: why, basis: byRule, batch: true}
	if r.busy < r.procs { // all the same, if some P has not been claimed
		t.unsure, t.basis = true, reference.Known(reference.Ambiguous, reference.RuleLookahead)
	}
	return t
}
