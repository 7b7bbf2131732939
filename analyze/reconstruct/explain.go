package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// explainer finds out how goroutines came from one queue to the next. What the rules alone
// do not tell, it asks the hypotheses.
type explainer struct {
	lookahead
	output
	model
	requests

	whole   *judge // of which this is a part
	rows    []Hypothesis
	without Set
	pause   pauses
	late    []latePut // known to come later than their events
	open    []latePut // may come later
	spills  []spill   // overflows known to come later
	drains  []drain   // Ps that run a dedicated mark worker
	thieves []thief   // about to steal

	ends  [maxThieves + 1]batchEnd // in firstTaken, that need not clear them
	forks forks
	room  room
}

// room is memory that a function needs for as long as it runs, and that it need not
// get anew each time.
type room struct {
	ring   []int32 // of firstThief
	turned []int
	items  []int32 // of batchShown
}

// maxDepth bounds how many takes may ask for one another: in a damaged trace
// they may do so in a circle.
const maxDepth = 64

// takes is take, and says what is in doubt of it.
func (r *explainer) takes(ix, p int32) taken {
	if p < 0 {
		return r.take(ix, p)
	}
	g := r.gs.At(ix)
	if r.inRunnext(ix, p, g) {
		return r.takesRunnext(p)
	}
	place, d := r.q.Place(ix), &r.ps[p].doubt
	in, moved := r.inDoubt(g, place), g.moved
	n, less := r.q.GlobalLen(), false
	if place.Queue == reference.QueueGlobal {
		less = r.rules.GlobalBatch(n-r.unsure(ix), r.procs) < r.rules.GlobalBatch(n, r.procs)
	}
	t := r.take(ix, p)
	d.fits++
	missed := d.missed && r.missed(p)
	switch t.src {
	case reference.SrcRunnext:
	case reference.SrcLocal:
		in = in && moved && (r.drifting == p || d.fits <= fitting)
		t.missed = missed
	case reference.SrcSteal:
		in = in || n > 0 || min(d.fits, r.ps[t.victim].doubt.fits) <= fittingSteal
	case reference.SrcGlobal:
		t.missed = missed
		r.drifts(p, t.batch, less)
	}
	if in && t.src != reference.SrcRunnext {
		t.doubt = reference.RuleDoubt
	}
	if rule := t.basis.Rule(); t.basis.Level() < reference.Inferred && (rule == reference.RulePhase || rule == reference.RuleRepair || rule == reference.RuleReorder) {
		r.corrected(p)
		if place.Queue != reference.QueueUnknown {
			r.corrected(place.P)
		}
	}
	return t
}

// inRunnext says that P p finds ix in its runnext.
func (r *model) inRunnext(ix, p int32, g *goroutine) bool {
	return p >= 0 && r.q.Runnext(p) == ix && !g.late
}

// takesRunnext is takes for what is in p's runnext: nothing is in doubt.
func (r *model) takesRunnext(p int32) taken {
	r.q.TakeRunnext(p)
	d := &r.ps[p].doubt
	if d.fits++; d.missed {
		r.missed(p)
	}
	return taken{src: reference.SrcRunnext, victim: nobody, basis: byRule}
}

// take removes a goroutine from where it is, as its P's thread did, with all
// that the take moves. ix is then in no queue.
func (r *explainer) take(ix, p int32) taken {
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
func (r *explainer) takeLocal(ix, p int32) taken {
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

// settle makes the take of a goroutine happen now whose start comes later.
func (r *explainer) settle(ix int32) {
	from, p := r.q.Place(ix), r.startP(ix)
	r.depth++
	t := r.takes(ix, p)
	r.depth--
	if t.basis.Rule() == reference.RuleQueue {
		t.basis = reference.Known(t.basis.Level(), reference.RulePassed)
	}
	r.inHand(ix, p, from, t)
}

// clearAhead settles what stands in front of ix in its queue, and moves ix to
// the front of what cannot be settled. taker is the P that takes ix.
func (r *explainer) clearAhead(ix, taker int32) reference.Basis {
	basis := byRule
	place := r.q.Place(ix)
	for n := 0; r.q.Prev(ix) != reference.None; n++ {
		if r.q.Place(ix) != place {
			return basis // what was settled took ix along
		}
		x := reference.None
		if place.Queue == reference.QueueGlobal {
			x = r.firstInFlight(ix, taker) // the first to have been taken
		} else {
			x = r.firstTaken(place.P, ix, taker)
		}
		if x == reference.None || n > 512 {
			return r.passOver(ix, taker)
		}
		r.settle(x)
		basis = reference.Known(reference.Inferred, reference.RulePassed)
	}
	return basis
}

// clearGone settles what the model still has in p's own queue although p took
// from elsewhere: others have it in hand.
func (r *explainer) clearGone(p int32) {
	for n := 0; n <= r.rules.RingSize; n++ {
		x := r.firstTaken(p, reference.None, p)
		if x == reference.None {
			break
		}
		r.settle(x)
	}
	if x := r.q.Runnext(p); x != reference.None && r.q.RingLen(p) == 0 && r.inFlight(x) && r.startP(x) != p {
		r.settle(x)
	}
}

// passOver takes ix to the front of its queue although others stand there
// that nobody seems to have in hand. In the global queue, the last batch was
// larger than the model thought: they have been in its taker's ring since. Or
// two puts came in another order than their events.
func (r *explainer) passOver(ix, taker int32) reference.Basis {
	r.sum.Corrections++
	place := r.q.Place(ix)
	if place.Queue == reference.QueueGlobal {
		// Whose thread has lost its CPU at the put has not come yet.
		for x := r.q.Prev(ix); x != reference.None && r.stalls(x) && r.putLate(x); x = r.q.Prev(ix) {
		}
		if r.q.Prev(ix) == reference.None {
			return reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
		if r.misordered(ix, taker) {
			r.reorder(ix)
			return reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
		for n := 0; n < 2; n++ {
			x := r.q.Prev(ix)
			if x == reference.None {
				return reference.Known(reference.Ambiguous, reference.RuleRepair)
			}
			if r.delay(x, ix) || r.putLate(x) {
				continue
			}
			to := r.taker
			if g := r.gs.At(x); g.passed < 2 {
				g.passed++
				if r.near(x, ix) && !r.wider {
					break
				}
				if to < 0 || r.startP(x) != to && !r.wentWithLast(x, ix) {
					break
				}
			} else if to = r.startP(x); to < 0 || to == taker {
				break // passed over again and again: only where it runs can tell
			}
			if !r.fitsRing(to, x) {
				break
			}
			r.trim(to, r.rules.RingSize-1)
			r.q.Remove(x)
			r.insert(to, x)
			r.wider = false
			r.move(x, to, nobody, reference.QueueLocal, reference.WhyCorrected)
		}
	}
	if place.Queue == reference.QueueLocal {
		for x := r.q.Prev(ix); x != reference.None; {
			y := r.q.Prev(x)
			if to := r.startP(x); to >= 0 && to != place.P && !r.turned(x, ix) {
				r.relocate(x, place.P)
			}
			x = y
		}
	}
	front := r.q.Prev(ix)
	if front == reference.None {
		return reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	r.q.Promote(ix)
	if front != reference.None && r.near(front, ix) {
		return reference.Known(reference.Ambiguous, reference.RuleReorder)
	}
	return reference.Known(reference.Ambiguous, reference.RuleRepair)
}
