package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// Evidence for the tick being now. How much more often each shows itself at the tick than elsewhere was
// measured against the runtime's own truth; the evidence is less than that, for the model may be wrong
// where it sees this. They are the logarithms of 1000, 100, 30, 200, 1/50, 1/10 and 1/50: with fewer
// digits one trace has other bases. Half or twice of one changes what is uncertain, of a workload by up
// to 1 point (tickPastOwn; tickNotBatch twice: 1.9 less of mixed); what is right, of gosched alone:
// half of tickUnlikely takes 1.2 from its ll, twice of tickShown 0.2.
const (
	tickPastOwn   evidence.Nats = 6.907755  // the global queue before an own one that holds several
	tickPastOne   evidence.Nats = 4.605170  // and before one that holds one, which may have left unseen
	tickUnlikely  evidence.Nats = 3.401197  // the same, where another candidate stood out
	tickShown     evidence.Nats = 5.298317  // the next dequeue shows that it was one, not a batch
	tickNotOwn    evidence.Nats = -3.912023 // the own queue although the global one holds something
	tickBatchMate evidence.Nats = -2.302586 // the same, where it came in a batch whose end is not sure
	tickNotBatch  evidence.Nats = -3.912023 // a batch
)

// slipped is how often a start is counted wrongly that was either an undone park, which inherits the
// time slice, or a poll, which does not. Half or twice: nothing.
const slipped = 0.1

// ticks learns when the 61st tick of each P comes.
type ticks struct {
	view
	out *output
}

// learnTick notes evidence for the tick of p being now.
func (r *ticks) learnTick(pp *proc, e evidence.Nats) {
	if r.ahead.without.has(hypLearnedTick) {
		return
	}
	pp.tick.Learn(e)
	r.out.held.recheckTicks()
}

// learnTickFrom notes what a dequeue of g on p, after event before, shows of the tick: a P that
// dequeues from its own queue although the global one holds something is not at the 61st tick.
func (r *ticks) learnTickFrom(g, p int32, deq *dequeue, before int64) {
	if p < 0 || deq.basis != byRule {
		return
	}
	pp := &r.ps.pStates[p]
	switch deq.src {
	case reference.SrcGlobalTick:
		if r.queues.Len(p) > 1 {
			r.learnTick(pp, tickPastOwn)
		} else {
			r.learnTick(pp, tickPastOne)
		}
	case reference.SrcRunnext, reference.SrcLocal:
		switch {
		case pp.tickHeard || deq.taint != reference.RuleNone || !r.model.globalSurelyHolds(before):
			return
		case r.ahead.gStates.At(g).fromGlobal != p:
			r.learnTick(pp, tickNotOwn)
		case pp.tick.May():
			r.learnTick(pp, tickBatchMate)
		}
		pp.tickHeard = true
	}
}

// tickSource returns the source, and its basis, that a probability of the 61st tick amounts to.
func tickSource(chance float64) (reference.Source, reference.Basis) {
	switch {
	case chance > schedtick.Certain:
		return reference.SrcGlobalTick, reference.Known(reference.Inferred, reference.RuleSchedtick)
	case chance < schedtick.Never:
		return reference.SrcGlobal, byRule
	case chance > schedtick.Likely:
		return reference.SrcGlobalTick, byTick
	}
	return reference.SrcGlobal, byTick
}

const (
	// stale is how long, in ns, a goroutine waits in a short global queue at most before an unseen
	// dequeue is suspected. Half makes 0.8 points more of bbolt uncertain, twice: nothing.
	stale = 300_000
	// long is a length of the global queue that surely holds something. Half makes 0.5 points more of
	// bbolt uncertain, twice: nothing.
	long = 3
)
