package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A goroutine that runs leaves its P by blocking (gopark), ending (goexit0), yielding or being
// preempted (goschedImpl), or it takes the P along into a system call (entersyscall), where sysmon may
// retake it.

// enterSyscall handles the begin of a system call.
func (r *stepper) enterSyscall(rec *record, gp *goroutine) {
	gp.state = events.Syscall
	d := r.out.draftOf(gp, reference.KindStop, rec.p, rec.m)
	d.Why, d.Basis, d.Stack = reference.WhySyscall, observed, int32(rec.TStack)
	if pp := r.ps.procOf(rec.p); pp != nil {
		r.ps.setRunning(pp, rec.of)
		pp.syscall = true
		d.Kind = reference.KindSyscall
	}
	r.out.commit()
}

// leaveSyscall handles the end of a system call that has kept its P.
func (r *stepper) leaveSyscall(rec *record, gp *goroutine) {
	gp.state = events.Running
	if pp := r.ps.procOf(rec.p); pp != nil {
		r.ps.setRunning(pp, rec.of)
	}
	r.ahead.bind(rec.m, rec.of)
	r.out.draftOf(gp, reference.KindSyscallExit, rec.p, rec.m)
	r.out.commit()
}

// adopt handles a state without the transitions that led to it.
func (r *stepper) adopt(rec *record, gp *goroutine) {
	state := rec.To
	if rec.From != events.Undetermined && rec.From != rec.To {
		state = rec.From
	}
	if state != events.Runnable || !gp.seeded {
		r.correct.forget(rec.of, gp)
	}
	if gp.hidden {
		gp.hidden = false
		r.queues.Unhide(rec.of)
	}
	gp.state = state
	switch state {
	case events.Runnable:
		gp.readyAt, gp.ready = r.ahead.time, r.ahead.now
		if rec.link != none {
			gp.start = rec.link
		}
		gp.direct = reference.SrcUnknown
		at, basis := reference.Place{P: nobody}, reference.Known(reference.Unknown, reference.RuleInitial)
		if place := r.queues.Place(rec.of); place.Queue != reference.QueueUnknown {
			at, basis = place, reference.Known(reference.Assumed, reference.RuleInitial)
		}
		r.out.emit(at.P, rec.m, reference.Decision{Kind: reference.KindReady, G: gp.id, Class: gp.class, By: reference.NoG, To: at.Queue, Flags: gp.flags | reference.FlagFirst, Basis: basis})
	case events.Running, events.Syscall:
		r.ahead.bind(rec.m, rec.of)
		if rec.m >= 0 && rec.p >= 0 {
			pp := &r.ps.pStates[rec.p]
			r.ps.setProcState(rec.p, true)
			pp.m = rec.m
			r.ps.setRunning(pp, rec.of)
			pp.began = r.ahead.time
			pp.syscall = state == events.Syscall
			r.out.emit(rec.p, rec.m, reference.Decision{Kind: reference.KindStart, G: gp.id, Class: gp.class, Wait: -1,
				Victim: reference.NoP, Src: reference.SrcUnknown, Flags: gp.flags | reference.FlagFirst, Basis: reference.Known(reference.Observed, reference.RuleInitial)})
			if pp.syscall {
				r.out.emit(rec.p, rec.m, reference.Decision{Kind: reference.KindSyscall, G: gp.id, Class: gp.class, Flags: gp.flags})
			}
		}
	case events.NotExist:
		gp.dead = true
	}
}

// whyStop returns why a running goroutine stopped, but for a system call.
func whyStop(rec *record) reference.Why {
	switch rec.To {
	case events.NotExist:
		return reference.WhyExit
	case events.Waiting:
		switch rec.Reason {
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

// block handles a running goroutine that blocks or ends.
func (r *stepper) block(rec *record, gp *goroutine) {
	r.stop(rec, gp, whyStop(rec))
	if rec.To == events.Waiting {
		gp.reason, gp.stack = rec.Reason, rec.TStack
	}
	r.dequeuer.dequeueEarly(rec)
}

// yield handles a running goroutine that yields or is preempted.
func (r *stepper) yield(rec *record, gp *goroutine) {
	r.ready(rec, gp)
	r.dequeuer.dequeueEarly(rec)
}

// exitInSyscall handles a goroutine that ends in a system call, as those do that come from C.
func (r *stepper) exitInSyscall(rec *record, gp *goroutine) {
	gp.state, gp.dead = events.NotExist, true
	if rec.m >= 0 && r.ahead.mStates[rec.m].g == rec.of {
		r.ahead.mStates[rec.m].g = nobody
	}
}

// stop ends a run interval, but for a system call.
func (r *stepper) stop(rec *record, gp *goroutine, why reference.Why) {
	gp.state = rec.To
	d := r.out.draftOf(gp, reference.KindStop, rec.p, rec.m)
	d.Why, d.Basis, d.Stack = why, observed, int32(rec.TStack)
	if why == reference.WhyBlock {
		d.Reason = reason(rec.Reason)
	}
	if pp := r.ps.procOf(rec.p); pp != nil {
		r.ps.setRunning(pp, nobody)
		if pp.worker != 0 {
			r.requests.works(pp, 0)
		}
		if gp.flags&reference.FlagTracer != 0 {
			r.out.summary.TracerNs += r.ahead.time - pp.began
		}
	}
	r.ahead.bind(rec.m, nobody)
	if rec.To == events.NotExist {
		gp.dead = true
	}
	r.out.commit()
}
