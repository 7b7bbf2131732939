package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// start judges a goroutine's start: where it was taken from.
func (r *Reconstructor) start(it *item, g *goroutine) {
	wait := int64(-1)
	if g.readyAt >= 0 {
		wait = max(r.time-g.readyAt, 0)
	}
	var t taken
	flags := g.flags
	switch {
	case g.isTaken:
		t = g.taken
		flags |= reference.FlagTaken
		if t.src == reference.SrcGlobal && t.batch > 1 {
			r.learnPause(it, &t)
		}
	case g.direct != reference.SrcUnknown:
		t = taken{src: g.direct, victim: nobody, basis: byAhead}
		if g.unsure || g.direct == reference.SrcSyscallExit && g.fresh {
			t.doubt = reference.RuleLookahead // from a queue it might look the same
		}
	case r.reduced:
		t = taken{src: reference.SrcUnknown, victim: nobody}
	default:
		g.start = r.now
		if r.inRunnext(it.of, it.p, g) { // often
			t = r.takesRunnext(it.p)
		} else {
			t = r.takes(it.of, it.p)
		}
		if g.unsure && t.doubt == reference.RuleNone && !r.fetched(it, g, t.src) {
			t.doubt = reference.RuleLookahead
		}
		if r.q.GlobalLen() > 0 || t.src == reference.SrcGlobalTick { // else nothing shows
			r.learnPhase(it.of, it.p, &t, it.prevM)
		}
		if t.src != reference.SrcRunnext {
			r.learnPause(it, &t)
		}
	}
	if t.missed && t.doubt == reference.RuleNone {
		t.doubt = reference.RuleDoubt
	}
	if t.doubt != reference.RuleNone && (t.basis.Level() > reference.Ambiguous || t.open) {
		t.basis = reference.Known(reference.Ambiguous, t.doubt)
	}
	if it.ev.mark&markWorker != 0 && t.src != reference.SrcGCWorker {
		flags |= reference.FlagGC | reference.FlagSystem
	}
	inherits := t.src == reference.SrcRunnext || t.src == reference.SrcCoroutine ||
		t.src == reference.SrcSyscallExit && !g.fresh || g.direct == reference.SrcDirect
	r.learnLock(it, g)
	var p *proc
	if px := uint(it.p); px < uint(len(r.ps)) {
		p = &r.ps[px]
	}
	if p != nil && p.handed == r.now {
		flags |= reference.FlagLocked
		inherits = false // stoplockedm returns to execute without inheritance
	}
	g.state = events.Running
	g.readyAt, g.ready, g.start, g.isTaken = -1, none, none, false
	if mx := uint(it.m); mx < uint(len(r.ms)) {
		m := &r.ms[mx]
		m.g, m.lastG = it.of, it.of
	}
	g.lastM = it.m
	if p != nil {
		r.runs(p, it.of)
		p.began, p.syscall = r.time, false
		if worker := it.ev.mark; worker != p.worker {
			r.works(p, worker)
		}
		p.wanted = r.marks.wantedFor(r.time)
		p.m = it.m
		if inherits {
			flags |= reference.FlagInherits
		} else {
			p.phase.next()
			p.ticks = [2]int64{p.ticks[1], r.time}
		}
		switch {
		case g.direct == reference.SrcUnknown || !g.unsure:
		case inherits:
			p.phase.slip(-1, slipped)
			r.hold.stir()
		default:
			p.phase.slip(1, slipped)
			r.hold.stir()
		}
	}
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
		r.hold.ask(it.p, t.at)
	} else {
		r.count(t.src, t.basis)
	}
	d := r.draft(it.p, it.m)
	d.Kind, d.Flags, d.Basis = reference.KindStart, flags, t.basis
	d.G, d.Class = g.id, g.class
	d.Src, d.Victim, d.Batch, d.Wait, d.Reason = t.src, r.pid(t.victim), t.batch, wait, mode(it)
	r.told()
}

// fetched says that a goroutine which may have been put elsewhere was taken from the
// global queue by a thread that has come for its P since: one was woken for it.
func (r *Reconstructor) fetched(it *item, g *goroutine, src reference.Source) bool {
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

func (r *Reconstructor) count(src reference.Source, basis reference.Basis) {
	r.sum.Starts++
	r.srcs[src]++
	r.bases[basis]++
	switch {
	case src == reference.SrcUnknown:
		r.sum.Unexplained++
	case basis.Level() >= reference.Inferred:
		r.sum.Explained++
	default:
		r.sum.Ambiguous++
	}
}

// startP is the P on which a queued goroutine will start, or nobody.
func (r *Reconstructor) startP(ix int32) int32 {
	s := r.win.at(r.gs.At(ix).start)
	if s == nil {
		return nobody
	}
	return s.p
}

// inFlight says that the thread that will start a goroutine has done nothing
// else since before now: it may have taken it already.
func (r *Reconstructor) inFlight(ix int32) bool {
	g := r.gs.At(ix)
	if g.start <= r.now || r.depth > maxDepth {
		return false
	}
	s := r.win.at(g.start)
	return s != nil && s.p >= 0 && (s.prevM < r.now || r.pickedFor(s) != nil)
}

// firstInFlight returns the first goroutine in front of ix in the global queue
// that is in flight to another P than taker, or None. The queue can be far
// longer than there are threads, so it looks at what these will do next.
func (r *Reconstructor) firstInFlight(ix, taker int32) int32 {
	first := reference.None
	for m := range r.ms[:min(len(r.ms), farEnough)] {
		s := r.win.at(r.ms[m].next)
		if s == nil || s.ev.Kind != events.Go || s.p == taker {
			continue
		}
		if x := s.of; r.q.Place(x).Queue == reference.QueueGlobal && r.gs.At(x).start == r.ms[m].next && r.inFlight(x) &&
			r.q.AheadGlobal(x, ix) && (first == reference.None || r.q.AheadGlobal(x, first)) {
			first = x
		}
	}
	return first
}

// takenUnseen records that a goroutine has left its queue although its start
// comes later.
func (r *Reconstructor) takenUnseen(ix int32, t taken, why reference.Why, from reference.Place) {
	g := r.gs.At(ix)
	if r.q.Place(ix).Queue != reference.QueueUnknown {
		r.q.Remove(ix)
	}
	g.taken, g.isTaken = t, true
	victim := nobody
	if from.Queue == reference.QueueLocal || from.Queue == reference.QueueRunnext {
		victim = from.P
	}
	r.move(ix, r.startP(ix), victim, reference.QueueDirect, why)
}

// maxDepth bounds how many takes may ask for one another: in a damaged trace
// they may do so in a circle.
const maxDepth = 64

// settle makes the take of a goroutine happen now whose start comes later.
func (r *Reconstructor) settle(ix int32) {
	from, p := r.q.Place(ix), r.startP(ix)
	r.depth++
	t := r.takes(ix, p)
	r.depth--
	if t.basis.Rule() == reference.RuleQueue {
		t.basis = reference.Known(t.basis.Level(), reference.RulePassed)
	}
	r.inHand(ix, p, from, t)
}

// inHand records that p's thread has taken a goroutine, which the model had at a place,
// and will start it later.
func (r *Reconstructor) inHand(ix, p int32, from reference.Place, t taken) {
	why := reference.WhySteal
	switch t.src {
	case reference.SrcGlobal, reference.SrcGlobalTick:
		why = reference.WhyGlobalBatch
		from = reference.Place{Queue: reference.QueueGlobal, P: reference.NoP}
	case reference.SrcRunnext, reference.SrcLocal:
		why = reference.WhyUnknown
		from = reference.Place{Queue: reference.QueueLocal, P: p}
	case reference.SrcSteal, reference.SrcStealRunnext:
		from = reference.Place{Queue: reference.QueueLocal, P: t.victim}
	}
	r.takenUnseen(ix, t, why, from)
}

// take removes a goroutine from where it is, as its P's thread did, with all
// that the take moves. ix is then in no queue.
func (r *Reconstructor) take(ix, p int32) taken {
	if r.gs.At(ix).late {
		r.putNow(ix)
	}
	place := r.q.Place(ix)
	if p < 0 {
		if place.Queue != reference.QueueUnknown {
			r.q.Remove(ix)
		}
		return taken{src: reference.SrcUnknown, victim: nobody}
	}
	switch {
	case place.Queue == reference.QueueUnknown:
		return taken{src: reference.SrcUnknown, victim: nobody, basis: reference.Known(reference.Unknown, reference.RuleInitial)}
	case place.Queue == reference.QueueRunnext && place.P == p:
		r.q.Remove(ix)
		return taken{src: reference.SrcRunnext, victim: nobody, basis: byRule}
	case place.Queue == reference.QueueLocal && place.P == p:
		return r.takeLocal(ix, p)
	case place.Queue == reference.QueueGlobal:
		return r.takeGlobal(ix, p)
	case place.Queue == reference.QueueLocal:
		return r.steal(ix, p, place.P)
	default:
		return r.stealRunnext(ix, p, place.P)
	}
}

// takeLocal takes from the own ring. Those in front have been stolen by
// threads that have not started them yet.
func (r *Reconstructor) takeLocal(ix, p int32) taken {
	// A P that passes over what it then runs itself is at the 61st tick: what
	// it took had not been in the last batch from the global queue.
	if r.gs.At(ix).fromGlobal == p && r.ps[p].phase.maybeTick() {
		for x := r.q.Prev(ix); x != reference.None; x = r.q.Prev(x) {
			if r.startP(x) == p {
				r.putBack(ix, p)
				return r.takeGlobal(ix, p)
			}
		}
	}
	if r.ps[p].phase.chance(r.ps[p].phase.at) > certain && r.swap(ix, p) {
		return r.takeGlobal(ix, p)
	}
	basis := r.clearAhead(ix, p)
	if r.q.Place(ix) != (reference.Place{Queue: reference.QueueLocal, P: p}) {
		return r.take(ix, p)
	}
	if x := r.q.Runnext(p); x != reference.None {
		if r.inFlight(x) && r.startP(x) != p {
			r.settle(x)
		} else {
			basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
	}
	r.q.Remove(ix)
	r.ps[p].headAt = max(r.ps[p].headAt, r.freeSince(ix))
	return taken{src: reference.SrcLocal, victim: nobody, basis: basis}
}
