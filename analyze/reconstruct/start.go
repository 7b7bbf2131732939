package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// start judges a goroutine's start: where it was taken from.
func (r *judge) start(it *item, g *goroutine) {
	wait := int64(-1)
	if g.readyAt >= 0 {
		wait = max(r.time-g.readyAt, 0)
	}
	flags := g.flags
	if g.isTaken {
		flags |= reference.FlagTaken
	}
	var t taken
	r.takenFrom(it, g, &t)
	if it.ev.mark&markWorker != 0 && t.src != reference.SrcGCWorker {
		flags |= reference.FlagGC | reference.FlagSystem
	}
	inherits := t.src == reference.SrcRunnext || t.src == reference.SrcCoroutine ||
		t.src == reference.SrcSyscallExit && !g.fresh || g.direct == reference.SrcDirect
	r.learnLock(it, g)
	if px := uint(it.p); px < uint(len(r.ps)) && r.ps[px].handed == r.now {
		flags |= reference.FlagLocked
		inherits = false // stoplockedm returns to execute without inheritance
	}
	if inherits && it.p >= 0 {
		flags |= reference.FlagInherits
	}
	g.state = events.Running
	g.readyAt, g.ready, g.start, g.isTaken = -1, none, none, false
	r.execute(it, g, inherits)
	if it.ev.mark&markDedicated != 0 && it.p >= 0 && it.m >= 0 && !r.reduced && len(r.drains) < farEnough {
		r.expectDrain(it)
	}
	if flags&reference.FlagTracer != 0 && r.cls.list[g.class].advancer {
		r.advancerStarts(it, g.reason == events.ReasonChanReceive)
	}
	if it.of == r.visitor {
		r.visitorStarts(it)
	}
	g.reason = events.ReasonNone
	if t.open && r.emit != nil {
		r.hold.leaveOpen(it.p, t.at)
	} else {
		r.count(t.src, t.basis)
	}
	d := r.draft(it.p, it.m)
	d.Kind, d.Flags, d.Basis = reference.KindStart, flags, t.basis
	d.G, d.Class = g.id, g.class
	d.Src, d.Victim, d.Batch, d.Wait, d.Reason = t.src, r.pid(t.victim), t.batch, wait, mode(it)
	r.told()
}

// takenFrom finds out where a goroutine that starts was taken from, and learns from it.
func (r *judge) takenFrom(it *item, g *goroutine, t *taken) {
	switch {
	case g.isTaken:
		*t = g.taken
		if t.src == reference.SrcGlobal && t.batch > 1 {
			r.learnPause(it, t)
		}
	case g.direct != reference.SrcUnknown:
		*t = taken{src: g.direct, victim: nobody, basis: byAhead}
		if g.unsure || g.direct == reference.SrcSyscallExit && g.fresh {
			t.doubt = reference.RuleLookahead // from a queue it might look the same
		}
	case r.reduced:
		*t = taken{src: reference.SrcUnknown, victim: nobody}
	default:
		g.start = r.now
		if r.inRunnext(it.of, it.p, g) { // often
			*t = r.takesRunnext(it.p)
		} else {
			*t = r.takes(it.of, it.p)
		}
		r.learnTake(it, g, t)
	}
	if t.missed && t.doubt == reference.RuleNone {
		t.doubt = reference.RuleDoubt
	}
	if t.doubt != reference.RuleNone && (t.basis.Level() > reference.Ambiguous || t.open) {
		t.basis = reference.Known(reference.Ambiguous, t.doubt)
	}
}

// learnTake draws from the take of a goroutine that starts what it tells of others.
func (r *judge) learnTake(it *item, g *goroutine, t *taken) {
	if g.unsure && t.doubt == reference.RuleNone && !r.fetched(it, g, t.src) {
		t.doubt = reference.RuleLookahead
	}
	if r.q.GlobalLen() > 0 || t.src == reference.SrcGlobalTick { // else nothing shows
		r.learnPhase(it.of, it.p, t, it.prevM)
	}
	if t.src != reference.SrcRunnext {
		r.learnPause(it, t)
	}
}

// execute notes that a thread and its P run a goroutine (execute); inherits says that it goes
// on with the time slice of the one before, and does not count for the 61st tick.
func (r *judge) execute(it *item, g *goroutine, inherits bool) {
	if mx := uint(it.m); mx < uint(len(r.ms)) {
		m := &r.ms[mx]
		m.g, m.lastG = it.of, it.of
	}
	g.lastM = it.m
	px := uint(it.p)
	if px >= uint(len(r.ps)) {
		return
	}
	p := &r.ps[px]
	r.runs(p, it.of)
	p.began, p.syscall = r.time, false
	if worker := it.ev.mark; worker != p.worker {
		r.works(p, worker)
	}
	p.wanted = r.marks.wantedFor(r.time)
	p.m = it.m
	if !inherits {
		p.phase.next()
		p.ticks = [2]int64{p.ticks[1], r.time}
	}
	if g.direct != reference.SrcUnknown && g.unsure { // it may be the other way round
		by := 1
		if inherits {
			by = -1
		}
		p.phase.slip(by, slipped)
		r.hold.stir()
	}
}

// fetched says that a goroutine which may have been put elsewhere was taken from the
// global queue by a thread that has come for its P since: one was woken for it.
func (r *lookahead) fetched(it *item, g *goroutine, src reference.Source) bool {
	global := src == reference.SrcGlobal || src == reference.SrcGlobalTick
	return global && it.p >= 0 && it.m != g.readyM && r.ps[it.p].came > g.readyAt
}

// mode is that of a mark worker that starts.
func mode(it *item) reference.Reason {
	if it.ev.mark&markWorker == 0 {
		return reference.ReasonNone
	}
	return reason(it.ev.Reason)
}
