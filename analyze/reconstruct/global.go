package reconstruct

import (
	"github.com/gmpscope/gmpscope/reference"
)

// takeGlobal takes from the head of the global queue: one at the 61st tick,
// else a batch, of which the first runs.
func (r *explainer) takeGlobal(ix, p int32) taken {
	switch {
	case r.wrongBatch(ix, p):
		r.sum.Corrections++
		r.rebatch(ix, p)
		return r.take(ix, p)
	case r.stoodInRing(ix, p):
		return r.takeLocal(ix, p)
	}
	basis := r.clearAhead(ix, p)
	if r.q.Place(ix).Queue != reference.QueueGlobal {
		return r.take(ix, p)
	}
	shown := r.clearOwn(p)
	if r.q.Place(ix).Queue != reference.QueueGlobal {
		return r.take(ix, p) // a thread that had taken of p's ring first took ix, too
	}
	behind := r.goesOn(ix, p)
	if r.q.Len(p) > 0 && !behind {
		return r.takePastOwn(ix, p, basis, shown)
	}
	r.putsReach(ix, p)
	k, tick := r.sizeTaken(ix, p, basis)
	if k == atTick {
		return r.takeAtTick(ix, tick)
	}
	at := r.ps[p].phase.at
	src, open, basis := r.batchSource(p, k, basis)
	k = r.makeRoom(p, k)
	r.takeBatch(ix, p, k, behind, basis)
	if behind {
		basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	return taken{src: src, victim: nobody, batch: int32(k), basis: basis, open: open, at: at}
}

// stoodInRing says that ix, the head of the global queue, was in p's ring instead of the head
// of that, which others run, and exchanges the two.
func (r *explainer) stoodInRing(ix, p int32) bool {
	own := r.q.Head(p)
	return ix == r.q.GlobalHead() && own != reference.None && r.startP(own) >= 0 && r.startP(own) != p &&
		r.q.Runnext(p) == reference.None && !r.ps[p].phase.isTick() && r.swap(own, p)
}

// clearOwn takes out of p's own queue what others run, unless p runs some of it itself:
// p takes from the global queue, so the rest is gone. Where there is too much for that to be
// wrong, p is at its 61st tick, and clearOwn says so.
func (r *explainer) clearOwn(p int32) (shown bool) {
	if r.hasOwn(p) {
		return false
	}
	r.clearGone(p)
	phase := &r.ps[p].phase
	shown = r.q.RingLen(p) >= longBatch && phase.most < certain*phase.sum
	if !phase.maybeTick() && !shown {
		r.purge(p)
	}
	return shown
}

// takePastOwn is takeGlobal for a P that has something in its own queue, which it passes over
// only at the 61st tick; shown says that this was seen.
func (r *explainer) takePastOwn(ix, p int32, basis reference.Basis, shown bool) taken {
	ps := &r.ps[p]
	if basis == byRule && !r.staysLocal(p) {
		basis = reference.Known(reference.Ambiguous, reference.RuleQueue)
	}
	if !ps.phase.maybeTick() && basis == byRule {
		r.saw(ps, odd)
	}
	switch {
	case ps.phase.maybeTick(), shown:
		return r.takeAtTick(ix, basis)
	case r.yieldedHere(ix, p):
		r.vacate(p)
		return r.takeGlobal(ix, p)
	case r.tradeIn(ix, p): // it is not the tick: the model had it in the wrong queue
		return r.takeLocal(ix, p)
	}
	r.rehome(ix, p, nobody)
	return taken{src: reference.SrcLocal, victim: nobody, basis: reference.Known(reference.Ambiguous, reference.RulePhase)}
}

// takeAtTick takes ix alone, at the 61st tick.
func (r *explainer) takeAtTick(ix int32, basis reference.Basis) taken {
	r.q.Remove(ix)
	return taken{src: reference.SrcGlobalTick, victim: nobody, batch: 1, basis: basis}
}

// putsReach lets those puts happen that come later than their events, but before p's take of
// ix, and holds back those that come after it.
func (r *explainer) putsReach(ix, p int32) {
	r.findLate(ix, p)
	if r.q.GlobalLen() <= r.rules.GlobalBatchMax && r.precedes(ix) {
		r.putsNext() // the batch may reach them
	}
	r.delayInBatch(ix, p, r.rules.GlobalBatch(r.q.GlobalLen(), r.procs))
}

// batchSource says how a take of k by p, from the global queue with its own empty, is known:
// one may have been picked at the 61st tick, and then it may be open whether it was.
func (r *explainer) batchSource(p int32, k int, basis reference.Basis) (src reference.Source, open bool, by reference.Basis) {
	ps := &r.ps[p]
	chance := ps.phase.chance(ps.phase.at)
	maybe := chance > never && chance < certain
	switch {
	case k == 1:
		src, by = tickBy(chance)
		if basis != byRule && (basis.Level() < reference.Inferred || !maybe) {
			by = basis
		}
		return src, maybe, by
	case chance > never:
		ps.doubt.missed = true
		if basis.Level() >= reference.Inferred {
			basis = reference.Known(reference.Ambiguous, reference.RuleTick)
		}
	}
	return reference.SrcGlobal, false, basis
}

// makeRoom makes room in p's ring for a batch of k, and returns its size: what had to leave
// the ring stood in the global queue before.
func (r *explainer) makeRoom(p int32, k int) int {
	if k > 1 && k == r.rules.GlobalBatch(r.q.GlobalLen(), r.procs) {
		r.trim(p, r.rules.RingSize-k+1)
		k = r.rules.GlobalBatch(r.q.GlobalLen(), r.procs)
	}
	r.trim(p, r.rules.RingSize-k+1)
	return k
}

// takeBatch takes k from the global queue: ix, and what goes into p's ring. behind says
// that what the model has in p's own queue came there later, if at all.
func (r *explainer) takeBatch(ix, p int32, k int, behind bool, basis reference.Basis) {
	if k > 1 {
		ps := &r.ps[p]
		r.say(&reference.Decision{Kind: reference.KindGlobalBatch, G: r.gs.At(ix).id, P: ps.id, M: r.mid(ps.m), Batch: int32(k), Basis: basis})
	}
	since := r.freeSince(ix)
	r.wider = r.widerThan(ix, k)
	r.taker, r.fed, r.again = p, false, r.again[:0]
	last := r.q.Tail(p)
	if behind {
		last = reference.None
	}
	r.q.TakeBatch(p, ix, k, last, func(x int32) {
		last = x
		g := r.gs.At(x)
		g.fromGlobal, g.putAt = p, since
		r.move(x, p, nobody, reference.QueueLocal, reference.WhyGlobalBatch)
	})
	if behind && last != reference.None {
		for x := r.q.Next(last); x != reference.None; x = r.q.Next(x) {
			r.move(x, p, p, reference.QueueLocal, reference.WhyCorrected)
		}
	}
}

// vacate moves what the model has in p's own queue to where it can be: p took
// from the global queue, so its own was empty.
func (r *explainer) vacate(p int32) {
	for r.q.Len(p) > 0 {
		x := r.q.Head(p)
		if x == reference.None {
			x = r.q.Runnext(p)
		}
		if r.gs.At(x).fromGlobal == p && r.putLate(x) {
			r.sum.Corrections++
			continue
		}
		if r.startP(x) == p {
			r.sum.Corrections++
			r.q.Remove(x)
			r.putGlobal(x)
			r.gs.At(x).fromGlobal = nobody
			r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
			continue
		}
		r.relocate(x, p)
	}
}
