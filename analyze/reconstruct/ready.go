package reconstruct

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// enterSyscall judges the begin of a system call.
func (r *judge) enterSyscall(it *item, g *goroutine) {
	g.state = events.Syscall
	d := r.draft(it.p, it.m)
	d.Kind, d.Why, d.Flags, d.Basis = reference.KindStop, reference.WhySyscall, g.flags, reference.Known(reference.Observed, reference.RuleNone)
	d.G, d.Class, d.Stack = g.id, g.class, int32(it.ev.TStack)
	if px := uint(it.p); px < uint(len(r.ps)) {
		p := &r.ps[px]
		p.syscall = true
		r.runs(p, it.of)
		d.Kind = reference.KindSyscall
	}
	r.told()
}

// leaveSyscall judges the end of a system call that has kept its P.
func (r *judge) leaveSyscall(it *item, g *goroutine) {
	g.state = events.Running
	if px := uint(it.p); px < uint(len(r.ps)) {
		p := &r.ps[px]
		p.syscall = false
		r.runs(p, it.of)
	}
	r.bind(it.m, it.of)
	d := r.draft(it.p, it.m)
	d.Kind, d.Flags = reference.KindSyscallExit, g.flags
	d.G, d.Class = g.id, g.class
	r.told()
}

// status judges what a generation says of a goroutine that it had not named
// yet. For a goroutine that is known it is no news.
func (r *judge) status(it *item, g *goroutine) {
	e := &it.ev
	if g.state == events.Undetermined || g.state != e.To {
		if g.state == e.To {
			return
		}
		r.adopt(it, g)
	}
}

// adopt takes over a state without the transitions that led to it.
func (r *judge) adopt(it *item, g *goroutine) {
	e := &it.ev
	state := e.To
	if e.From != events.Undetermined && e.From != e.To {
		state = e.From
	}
	if g.state == state {
		return
	}
	if state != events.Runnable || !g.seeded {
		r.forget(it.of, g)
	}
	if g.hidden {
		g.hidden = false
		r.q.Unhide(it.of)
	}
	g.state = state
	switch state {
	case events.Runnable:
		g.readyAt, g.ready = r.time, r.now
		if it.link != none {
			g.start = it.link
		}
		g.direct = reference.SrcUnknown
		d := reference.Decision{Kind: reference.KindReady, G: g.id, Class: g.class, P: reference.NoP, M: r.mid(it.m), By: reference.NoG,
			To: reference.QueueUnknown, Flags: g.flags | reference.FlagFirst, Basis: reference.Known(reference.Unknown, reference.RuleInitial)}
		if pl := r.q.Place(it.of); pl.Queue != reference.QueueUnknown {
			d.To, d.Basis = pl.Queue, reference.Known(reference.Assumed, reference.RuleInitial)
			if pl.P >= 0 {
				d.P = r.pid(pl.P)
			}
		}
		r.say(&d)
	case events.Running, events.Syscall:
		if it.m >= 0 && it.p >= 0 {
			r.bind(it.m, it.of)
			p := &r.ps[it.p]
			r.pKnown(it.p, true)
			p.m = it.m
			r.runs(p, it.of)
			p.began = r.time
			p.syscall = state == events.Syscall
			r.say(&reference.Decision{Kind: reference.KindStart, G: g.id, Class: g.class, P: p.id, M: r.mid(it.m), Wait: -1,
				Victim: reference.NoP, Src: reference.SrcUnknown, Flags: g.flags | reference.FlagFirst, Basis: reference.Known(reference.Observed, reference.RuleInitial)})
			if p.syscall {
				r.say(&reference.Decision{Kind: reference.KindSyscall, G: g.id, Class: g.class, P: p.id, M: r.mid(it.m), Flags: g.flags})
			}
		} else if it.m >= 0 {
			r.ms[it.m].g = it.of
		}
	case events.NotExist:
		g.dead = true
	}
}

// whyStop says why a running goroutine stopped, but for a system call.
func whyStop(it *item) reference.Why {
	e := &it.ev
	switch e.To {
	case events.NotExist:
		return reference.WhyExit
	case events.Waiting:
		switch e.Reason {
		case events.ReasonPreempted:
			return reference.WhySuspend
		case events.ReasonNone:
			return reference.WhyCoroutine
		}
	}
	return reference.WhyBlock
}

// reason is what a blocked goroutine waits for, or a mark worker's mode.
func reason(h events.Handle) reference.Reason {
	if h > 0 && int(h) < len(reasons) {
		return reasons[h]
	}
	return reference.ReasonOther
}

var reasons = [...]reference.Reason{
	events.ReasonPreempted:   reference.ReasonPreempted,
	events.ReasonGosched:     reference.ReasonOther,
	events.ReasonNetwork:     reference.ReasonNetwork,
	events.ReasonSleep:       reference.ReasonSleep,
	events.ReasonSystem:      reference.ReasonSystem,
	events.ReasonAssist:      reference.ReasonAssist,
	events.ReasonSync:        reference.ReasonSync,
	events.ReasonSelect:      reference.ReasonSelect,
	events.ReasonChanReceive: reference.ReasonChanReceive,
	events.ReasonChanSend:    reference.ReasonChanSend,
	events.LabelDedicated:    reference.ReasonDedicated,
	events.LabelFractional:   reference.ReasonFractional,
	events.LabelIdle:         reference.ReasonIdle,
	events.ReasonForever:     reference.ReasonForever,
	events.ReasonCond:        reference.ReasonCond,
	events.ReasonGCEnds:      reference.ReasonGCEnds,
	events.ReasonSynctest:    reference.ReasonSynctest,
}

// block judges a running goroutine that blocks or ends.
func (r *judge) block(it *item, g *goroutine) {
	r.stop(it, g, whyStop(it))
	if it.ev.To == events.Waiting {
		g.reason, g.stack = it.ev.Reason, it.ev.TStack
	}
	r.takeAtOnce(it)
}

// yield judges a running goroutine that yields or is preempted.
func (r *judge) yield(it *item, g *goroutine) {
	r.ready(it, g)
	r.takeAtOnce(it)
}

// exitInSyscall judges a goroutine that ends in a system call, as those do that come from C.
func (r *judge) exitInSyscall(it *item, g *goroutine) {
	g.state, g.dead = events.NotExist, true
	if it.m >= 0 && r.ms[it.m].g == it.of {
		r.ms[it.m].g = nobody
	}
}

// stop ends a run interval, but for a system call.
func (r *judge) stop(it *item, g *goroutine, why reference.Why) {
	e := &it.ev
	g.state = e.To
	d := r.draft(it.p, it.m)
	d.Kind, d.Why, d.Flags, d.Basis = reference.KindStop, why, g.flags, reference.Known(reference.Observed, reference.RuleNone)
	d.G, d.Class, d.Stack = g.id, g.class, int32(e.TStack)
	if why == reference.WhyBlock {
		d.Reason = reason(e.Reason)
	}
	if px := uint(it.p); px < uint(len(r.ps)) {
		p := &r.ps[px]
		r.runs(p, nobody)
		p.syscall = false
		if p.worker != 0 {
			r.works(p, 0)
		}
		if g.flags&reference.FlagTracer != 0 {
			r.sum.TracerNs += r.time - p.began
		}
	}
	r.bind(it.m, nobody)
	if e.To == events.NotExist {
		g.dead = true
	}
	r.told()
}

// ready judges a goroutine that became runnable: where it was put.
func (r *judge) ready(it *item, g *goroutine) {
	e := &it.ev
	if r.q.Place(it.of).Queue != reference.QueueUnknown {
		r.forget(it.of, g)
	}
	from := e.From
	g.start = it.link
	g.readyAt, g.ready = r.time, r.now
	g.direct = reference.SrcUnknown
	g.isTaken = false
	g.fromGlobal = nobody
	g.late, g.putAgain, g.passed = false, false, 0
	g.readyM, g.putBy = it.m, it.nextM
	g.doubt, g.moved, g.queued = false, false, r.now
	t := r.target(it, g)
	if t.p < 0 && (t.to == reference.QueueLocal || t.to == reference.QueueRunnext) {
		t.to = reference.QueueGlobal // a damaged trace: whose queue it was is lost
	}
	if t.batch && t.to == reference.QueueLocal && r.q.Full(t.p) {
		t.to = reference.QueueGlobal
	}
	if it.of == r.visitor && from == events.Waiting && (it.g < 0 || r.gs.At(it.g).flags&reference.FlagTracer != 0) {
		r.visitor = nobody // the reader has read the old generation: the visit is over
	}
	if r.now <= r.inject.until {
		if last := r.win.at(r.inject.until); last != nil && last.m == it.m {
			g.putBy = last.nextM // a list is put when all of it has been made runnable
		}
	}
	if from == events.Running {
		if t.preempt {
			r.say(&reference.Decision{Kind: reference.KindPreempt, G: g.id, Class: g.class, P: r.pid(it.p), M: r.mid(it.m), Why: t.why,
				Stack: int32(e.TStack), Flags: g.flags, Basis: t.cause})
		}
		r.stop(it, g, t.why)
	} else if from == events.Syscall {
		if it.m >= 0 && r.ms[it.m].g == it.of {
			r.ms[it.m].g = nobody
		}
		if it.p >= 0 && r.ps[it.p].g == it.of {
			r.runs(&r.ps[it.p], nobody)
			r.ps[it.p].syscall = false
		}
		r.say(&reference.Decision{Kind: reference.KindSyscallExit, G: g.id, Class: g.class, P: reference.NoP, M: r.mid(it.m), Flags: g.flags})
	}
	g.state = events.Runnable
	if g.class == 0 && it.g >= 0 && it.g != it.of && !r.forks.on {
		r.setClass(g, r.cls.woken(r.gs.At(it.g).class))
	}
	if from != events.Running && t.to != reference.QueueDirect && it.p >= 0 && r.now >= r.inject.until && r.idle.searching < 2 { // else others search
		r.wakep(it.p)
	}
	if r.reduced && t.to != reference.QueueDirect {
		t.to, t.p, t.basis = reference.QueueUnknown, nobody, reference.Known(reference.Unknown, reference.RuleNone)
	}
	g.unsure = t.unsure
	switch t.to {
	case reference.QueueUnknown:
		r.sayReady(it, g, &t)
	case reference.QueueDirect:
		g.direct = t.direct
		g.fresh = t.fresh
		r.sayReady(it, g, &t)
	case reference.QueueGlobal:
		t.p = nobody
		r.putsNext()
		r.putsBefore(it.of)
		tail := r.q.GlobalTail()
		r.putGlobal(it.of)
		r.openPut(it.of, g.putBy)
		r.sayReady(it, g, &t)
		if it.p >= 0 && (r.rules.GlobalBatch(r.q.GlobalLen(), r.procs) >= longBatch && r.comesLater(tail, it.of, g.putBy) || r.tryPutLate(it, g)) {
			r.putLate(it.of)
		}
	case reference.QueueLocal:
		if r.overflows(t.p, it.of, true) {
			// The newcomer goes to the global queue together with half of the ring.
			p := t.p
			t.to, t.p = reference.QueueGlobal, nobody
			r.overflow(p, it.of, nobody, func() { r.sayReady(it, g, &t) })
			return
		}
		r.q.PutTail(t.p, it.of)
		g.putAt = r.now
		r.sayReady(it, g, &t)
	case reference.QueueRunnext:
		out := r.q.PutRunnext(t.p, it.of)
		r.sayReady(it, g, &t)
		if out == reference.None {
			return
		}
		r.displace(t.p, out)
	}
}

// sayReady tells that a goroutine became runnable.
func (r *model) sayReady(it *item, g *goroutine, t *put) {
	e := &it.ev
	d := r.draft(t.p, it.m)
	d.Kind, d.To, d.Why, d.Flags, d.Basis = reference.KindReady, t.to, t.why, g.flags, t.basis
	if it.p < 0 {
		d.Flags |= reference.FlagNoP
	}
	d.G, d.Class, d.Stack = g.id, g.class, int32(e.Stack)
	d.By = reference.NoG
	if it.g >= 0 && it.g != it.of {
		d.By = r.gs.At(it.g).id
	}
	r.told()
}

// displace puts the old runnext at the tail of its P's ring.
func (r *explainer) displace(p, g int32) {
	if r.overflows(p, g, true) {
		later := r.spillsLater(p, g)
		if r.lostCPU() && !r.gs.At(g).late {
			q := question{g: g, p: p}
			if later {
				q.likely = yes
			}
			later = r.says(hypLateOverflow, q)
		}
		if later {
			r.spill(p, g)
		} else {
			r.overflow(p, g, p, nil)
		}
		return
	}
	r.q.PutTail(p, g)
	r.gs.At(g).putAt = r.now
	r.move(g, p, p, reference.QueueLocal, reference.WhyDisplaced)
}

// overflows says that a put of newcomer at the tail of p's ring finds it full. A
// thief whose take shows itself later may have emptied half of it: its goroutine
// is among the first and in flight. What comes late and is due by now may do so, too.
// now says that the put ends the judgement of the present event.
func (r *explainer) overflows(p, newcomer int32, now bool) bool {
	if r.q.Full(p) {
		r.putsNext()
	}
	for r.q.Full(p) {
		thief, rival := r.firstThief(p, newcomer)
		if thief == reference.None {
			if !now || rival == reference.None || !r.says(hypEarlyThief, question{g: newcomer, p: p, other: rival}) {
				return true
			}
			thief = rival
		}
		r.settle(thief)
	}
	return false
}

// overflow moves half of p's ring and then the newcomer to the global queue
// (runqputslow). ready says the newcomer's Ready decision; it is nil if it was
// displaced from runnext: of P from, or nobody's if that was before.
func (r *explainer) overflow(p, newcomer, from int32, ready func()) {
	basis := reference.Known(reference.Inferred, reference.RuleQueue)
	r.say(&reference.Decision{Kind: reference.KindOverflow, G: r.gs.At(newcomer).id, P: r.ps[p].id, M: r.mid(r.ps[p].m), Batch: int32(r.rules.Overflow()), Basis: basis})
	r.ps[p].headAt = r.now
	r.putsBefore(r.q.Head(p))
	r.putBatch++
	r.gs.At(newcomer).putBatch = r.putBatch
	r.q.Overflow(p, newcomer, func(g int32) {
		r.putAgain(g, p)
		r.move(g, nobody, p, reference.QueueGlobal, reference.WhyOverflow)
	})
	if ready != nil {
		ready()
		return
	}
	r.move(newcomer, nobody, from, reference.QueueGlobal, reference.WhyOverflow)
}

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
	e := &it.ev
	next := r.win.at(it.nextM)
	startsNext := it.nextM == it.link && it.link != none && next != nil
	switch e.From {
	case events.NotExist:
		if it.p < 0 {
			return put{to: reference.QueueGlobal, p: nobody, why: reference.WhyCreate, basis: byRule}
		}
		return r.runnext(it.p, reference.WhyCreate)
	case events.Running:
		return r.yielded(it)
	case events.Syscall:
		if it.p >= 0 {
			return put{to: reference.QueueDirect, p: it.p, why: reference.WhySyscallExit, direct: reference.SrcSyscallExit, basis: byAhead}
		}
		// Without a P: an idle one may turn up at once (exitsyscallNoP).
		if next != nil && next.ev.Kind == events.Proc && next.ev.To == events.Running && next.nextM == it.link && it.link != none {
			if r.queuedAtExit(it, next) {
				return put{to: reference.QueueGlobal, p: nobody, why: reference.WhySyscallExit, basis: byAhead, unsure: true}
			}
			return put{to: reference.QueueDirect, p: next.of, why: reference.WhySyscallExit, direct: reference.SrcSyscallExit, basis: byAhead, fresh: true}
		}
		return put{to: reference.QueueGlobal, p: nobody, why: reference.WhySyscallExit, basis: byRule}
	}
	// Waiting -> Runnable.
	if startsNext && it.p >= 0 && it.g < 0 {
		switch {
		case g.flags&reference.FlagTracer != 0 && isTraceReader(r.cls.list[g.class].start):
			next.ev.mark &^= markWorker | markDedicated // the P was in a worker's mode already
			return put{to: reference.QueueDirect, p: it.p, why: reference.WhySystem, direct: reference.SrcTraceReader, basis: byAhead}
		case g.flags&reference.FlagGC != 0 || next.ev.mark&markWorker != 0:
			if g.flags&reference.FlagGC == 0 {
				g.flags |= reference.FlagGC | reference.FlagSystem
			}
			return put{to: reference.QueueDirect, p: it.p, why: reference.WhySystem, direct: reference.SrcGCWorker, basis: byAhead}
		case g.reason == events.ReasonNetwork:
			t := put{to: reference.QueueDirect, p: it.p, why: reference.WhyNetwork, direct: reference.SrcNetpoll, basis: byAhead}
			if r.parkedLast(it) {
				t.unsure = true
				if r.time-r.win.at(it.prevM).ev.Time < pollTime {
					t.why, t.direct = reference.WhyUnblock, reference.SrcDirect
				}
			}
			return t
		case r.stk.of(g.stack)&traitBubble != 0 && r.parkedLast(it):
			return put{to: reference.QueueDirect, p: it.p, why: reference.WhyUnblock, direct: reference.SrcDirect, basis: byAhead}
		}
	}
	if next != nil && it.g >= 0 && e.Stack == 0 && r.coroutine(it, next) {
		return put{to: reference.QueueDirect, p: it.p, why: reference.WhyCoroutine, direct: reference.SrcCoroutine, basis: byAhead}
	}
	if it.p < 0 {
		why := reference.WhySystem
		if g.reason == events.ReasonNetwork {
			why = reference.WhyNetwork
		}
		r.claim()
		return put{to: reference.QueueGlobal, p: nobody, why: why, basis: byRule}
	}
	if it.g < 0 {
		switch st := r.stk.of(g.stack); {
		case g.reason == events.ReasonNetwork:
			return r.injected(it, reference.WhyNetwork)
		case g.reason == events.ReasonSystem && st&traitFinalizer == 0, st&traitScavenger != 0: // its sleep, too (scavengerState.wake)
			return r.injected(it, reference.WhySystem)
		}
		return r.runnext(it.p, reference.WhyTimer)
	}
	if g.reason == events.ReasonAssist {
		// gcFlushBgCredit and gcWakeAllAssists never use runnext.
		return put{to: reference.QueueLocal, p: it.p, why: reference.WhySystem, basis: byRule, batch: r.stk.of(e.Stack)&traitInject != 0}
	}
	if r.stk.of(e.Stack)&traitSysStack != 0 {
		switch st := r.stk.of(g.stack); {
		case g.reason == events.ReasonPreempted: // suspended, not asleep (resumeG)
		case g.reason == events.ReasonNone && r.stk.of(e.Stack)&traitFinishSweep != 0, // the scavenger, which blocked before the trace
			g.reason == events.ReasonNetwork, g.reason == events.ReasonSystem && st&traitFinalizer == 0, st&traitScavenger != 0,
			g.reason == events.ReasonGCEnds, strings.HasPrefix(r.tables.Name(g.reason), "GC weak"):
			// injectglist during a stop-the-world finds no idle P.
			return put{to: reference.QueueLocal, p: it.p, why: reference.WhySystem, basis: byRule, batch: true}
		}
	}
	return r.runnext(it.p, reference.WhyUnblock)
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
