package reconstruct

import (
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
