package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// A model that had to be corrected may be wrong in more than what showed it: the
// goroutines that were in the queues concerned are in doubt until they start,
// wherever they go. What is put there later is not. A take of what is in doubt
// is ambiguous, unless the P has run so much as the model foresaw since that
// its ring must be right.

const (
	// fitting is the number of starts in a row on a P, since its ring was
	// corrected, by which the ring is right again. Who comes and goes by steals
	// is right again by fittingSteal.
	fitting      = 64
	fittingSteal = 16
)

// doubt is what is uncertain of a P.
type doubt struct {
	since  int64 // event by which what is in its ring was put in doubt
	fits   int   // starts on it since
	missed bool  // it may have been at the 61st tick when it was judged to take a batch
}

// drifts puts in doubt what p may have got with another batch than that of size k, which
// it was judged to take from the global queue: more may have been there, or less. If
// nobody else takes what follows, that looks the same, and so do the batches after it.
func (r *model) drifts(p, k int32, less bool) {
	was := r.drifting == p
	r.drifting = nobody // another P finds another one at the head
	next := r.q.GlobalHead()
	if next == reference.None || r.startP(next) != p || !r.wider && (k == 1 || !less && !was) {
		return
	}
	r.drifting = p
	r.gs.At(next).doubt = true
	if last := r.q.Tail(p); last != reference.None {
		r.gs.At(last).doubt = true
	}
}

// missed says that p, which may have been at the 61st tick where it was judged to take a
// batch, still may: what the model has in its ring may then be in the global queue, and
// what the P goes on with looks the same for ever, until both are empty, or it is
// known when the tick comes.
func (r *model) missed(p int32) bool {
	ps := &r.ps[p]
	if ps.phase.most > certain*ps.phase.sum || r.q.Len(p)+r.q.GlobalLen() == 0 {
		ps.doubt.missed = false
	}
	return ps.doubt.missed
}

// doubtful says that the model may have ix in a queue, or at a place in it,
// where it is not.
func (r *model) doubtful(ix int32) bool { return r.inDoubt(r.gs.At(ix), r.q.Place(ix)) }

// inDoubt is doubtful for a goroutine that the model has at a place.
func (r *model) inDoubt(g *goroutine, place reference.Place) bool {
	switch place.Queue {
	case reference.QueueGlobal:
		return g.doubt || g.queued < r.globalDoubt
	case reference.QueueLocal:
		return g.doubt || g.queued < r.ps[place.P].doubt.since
	}
	return g.doubt
}

// corrected puts in doubt what is in p's ring, or for nobody in the global queue.
func (r *model) corrected(p int32) {
	if p < 0 {
		r.globalDoubt = r.now
		return
	}
	d := &r.ps[p].doubt
	d.since, d.fits = r.now, 0
}

// moved keeps the doubt of a goroutine that changes queues, and says how the
// move is known.
func (r *model) moved(ix, to, from int32, why reference.Why) reference.Basis {
	g := r.gs.At(ix)
	switch {
	case why == reference.WhyDisplaced:
		g.queued = r.now
		return byRule
	case why == reference.WhyCorrected && from < 0 && to < 0: // a put that came late
	case why == reference.WhyCorrected:
		r.corrected(from)
		r.corrected(to)
		g.doubt = true
	case from >= 0:
		g.doubt = g.doubt || g.queued < r.ps[from].doubt.since
	default:
		g.doubt = g.doubt || g.queued < r.globalDoubt
	}
	g.queued, g.moved = r.now, true
	if g.doubt {
		return reference.Known(reference.Ambiguous, reference.RuleDoubt)
	}
	return byRule
}

// weigh lowers the basis of a decision of P p about a queue that is in doubt.
func (r *model) weigh(d *reference.Decision, p int32) {
	if d.Basis.Level() < reference.Inferred {
		return
	}
	x := reference.None
	switch d.Kind {
	case reference.KindSteal, reference.KindGlobalBatch:
		x = r.gs.find(d.G)
	case reference.KindOverflow:
		if r.ps[p].doubt.fits <= fitting {
			x = r.q.Head(p)
		}
	}
	if x != reference.None && r.doubtful(x) {
		d.Basis = reference.Known(reference.Ambiguous, reference.RuleDoubt)
	}
}
