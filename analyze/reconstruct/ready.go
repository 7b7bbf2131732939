package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// ready judges a goroutine that became runnable: where it was put.
func (r *judge) ready(it *item, g *goroutine) {
	from := it.ev.From
	r.becomesRunnable(it, g)
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
	r.endRun(it, g, &t)
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
	r.enqueue(it, g, &t)
}

// becomesRunnable makes what is known of a goroutine new.
func (r *judge) becomesRunnable(it *item, g *goroutine) {
	if r.q.Place(it.of).Queue != reference.QueueUnknown {
		r.forget(it.of, g)
	}
	g.start = it.link
	g.readyAt, g.ready = r.time, r.now
	g.direct = reference.SrcUnknown
	g.isTaken = false
	g.fromGlobal = nobody
	g.late, g.putAgain, g.passed = false, false, 0
	g.readyM, g.putBy = it.m, it.nextM
	g.doubt, g.moved, g.queued = false, false, r.now
}

// endRun tells what a goroutine that ran, or was in a system call, has ended with becoming
// runnable.
func (r *judge) endRun(it *item, g *goroutine, t *put) {
	switch it.ev.From {
	case events.Running:
		if t.preempt {
			r.say(&reference.Decision{Kind: reference.KindPreempt, G: g.id, Class: g.class, P: r.pid(it.p), M: r.mid(it.m), Why: t.why,
				Stack: int32(it.ev.TStack), Flags: g.flags, Basis: t.cause})
		}
		r.stop(it, g, t.why)
	case events.Syscall:
		if it.m >= 0 && r.ms[it.m].g == it.of {
			r.ms[it.m].g = nobody
		}
		if it.p >= 0 && r.ps[it.p].g == it.of {
			r.runs(&r.ps[it.p], nobody)
			r.ps[it.p].syscall = false
		}
		r.say(&reference.Decision{Kind: reference.KindSyscallExit, G: g.id, Class: g.class, P: reference.NoP, M: r.mid(it.m), Flags: g.flags})
	}
}

// enqueue puts a goroutine where t says, and tells it.
func (r *judge) enqueue(it *item, g *goroutine, t *put) {
	switch t.to {
	case reference.QueueUnknown:
		r.sayReady(it, g, t)
	case reference.QueueDirect:
		g.direct = t.direct
		g.fresh = t.fresh
		r.sayReady(it, g, t)
	case reference.QueueGlobal:
		t.p = nobody
		r.putsNext()
		r.putsBefore(it.of)
		tail := r.q.GlobalTail()
		r.putGlobal(it.of)
		r.openPut(it.of, g.putBy)
		r.sayReady(it, g, t)
		if it.p >= 0 && (r.rules.GlobalBatch(r.q.GlobalLen(), r.procs) >= longBatch && r.comesLater(tail, it.of, g.putBy) || r.tryPutLate(it, g)) {
			r.putLate(it.of)
		}
	case reference.QueueLocal:
		if r.overflows(t.p, it.of, true) {
			// The newcomer goes to the global queue together with half of the ring.
			p := t.p
			t.to, t.p = reference.QueueGlobal, nobody
			r.overflow(p, it.of, nobody, func() { r.sayReady(it, g, t) })
			return
		}
		r.q.PutTail(t.p, it.of)
		g.putAt = r.now
		r.sayReady(it, g, t)
	case reference.QueueRunnext:
		out := r.q.PutRunnext(t.p, it.of)
		r.sayReady(it, g, t)
		if out != reference.None {
			r.displace(t.p, out)
		}
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
