package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// schedtick is what is known of when a P's schedtick is a multiple of 61
// ([reference.Rules].GlobalPoll), which is when it looks at the global queue
// first (proc.go: findRunnable). The value at the start of a trace is not
// recorded. Each of the 61 candidates has a probability, and evidence multiplies
// that of one of them. What the model takes for evidence can be wrong, and so can
// its count of the starts, so none is ever ruled out.
type schedtick struct {
	weight       []float64 // of: the tick comes when at is the index; empty if it never does
	sum          float64   // of the weights
	most         float64   // the largest of them
	at           uint16    // number of starts that did not inherit the time slice, modulo 61
	contradicted bool      // starts since at changed spoke against it: if the model is wrong for one, it is for all
}

const faint = 1e-5 // least probability of a candidate

// A P of a young process has few starts behind it, and most Ps none: who is woken
// gets the next P of a list that is in the order of their numbers (procresize,
// pidleget). behind is how often, of 1000, a P that is so many places from one
// that runs when the trace begins had 0, 1, 2… starts behind it then; measured
// against the runtime's own truth, in 500 programs of up to 8 Ps. For more
// starts n it is rest/n².
var behind = [...][7]float64{
	{130, 220, 240, 270, 90, 40, 5},
	{300, 280, 140, 200, 40, 30, 5},
	{700, 170, 80, 40, 5, 2, 1},
	{960, 20, 10, 5, 2, 1, 1},
}

const (
	rest    = 30
	distant = len(behind) - 1 // this many places and more

	// The only P has run all that began the program: n starts with a probability
	// like 1/(n+began)², and hardly more than many.
	alone = -1
	began = 3
	many  = 30
)

// Likelihood ratios: how much more often this shows itself at the tick than
// elsewhere. They were measured against the runtime's own truth, and are nearer
// to 1 than that.
const (
	unusual   = 0.02 // many starts behind it, for a young process
	plain     = 1000 // the global queue before an own one that holds several
	lone      = 100  // and before one that holds one, which may have left unseen
	odd       = 30   // the same, where another candidate stood out
	showing   = 200  // the next take shows that one was taken, not a batch
	ownFirst  = 0.02 // the own queue although the global one holds something
	batchMate = 0.1  // the same, where it came in a batch whose end is not sure
	several   = 0.02 // a batch
)

// slipped is how often a start is counted wrongly that was either an undone park,
// which inherits the time slice, or a poll, which does not.
const slipped = 0.1

// Probabilities from which on it is said.
const (
	perhaps = 0.002  // it may be the tick
	open    = 0.01   // it is worth a trial whether it is
	rival   = 0.1    // as much of the most likely candidate's
	likely  = 0.65   // it is
	certain = 0.999  // it is, for certain
	never   = 0.0003 // it is not, for certain
)

// newSchedtick returns the phase of a P of which nothing is known, where every
// poll-th slice is a tick.
func newSchedtick(poll int) schedtick {
	f := schedtick{weight: make([]float64, poll), sum: float64(poll), most: 1}
	for i := range f.weight {
		f.weight[i] = 1
	}
	return f
}

// youngSchedtick is the phase of a P of a young process, so many places from one that
// runs, or alone.
func youngSchedtick(poll, places int) schedtick {
	f := schedtick{weight: make([]float64, poll)}
	if poll == 0 {
		return f
	}
	for n := range poll {
		w := rest / float64(max(n*n, 1))
		if places == alone {
			w = 1 / float64((n+began)*(n+began))
			if n > many {
				w *= unusual
			}
		} else if often := &behind[min(places, distant)]; n < len(often) {
			w = often[n]
		}
		f.weight[(poll-n)%poll] = w
		f.sum += w
	}
	f.most = slices.Max(f.weight)
	return f
}

// next counts a start that does not inherit the time slice.
func (f *schedtick) next() {
	f.contradicted = false
	if f.at++; int(f.at) >= len(f.weight) {
		f.at = 0
	}
}

// chance is the probability of a candidate.
func (f *schedtick) chance(at uint16) float64 {
	if int(at) >= len(f.weight) {
		return 0
	}
	return f.weight[at] / f.sum
}

func (f *schedtick) isTick() bool { return f.chance(f.at) > likely }

// maybeTick reports whether the tick may be now, and that none is by far more likely.
func (f *schedtick) maybeTick() bool {
	return f.chance(f.at) > perhaps && f.weight[f.at] > rival*f.most
}

// learn notes evidence for or against the tick being now.
func (f *schedtick) learn(ratio float64) {
	if len(f.weight) == 0 {
		return
	}
	old := f.weight[f.at]
	w := max(old*ratio, f.sum*faint)
	f.sum += w - old
	f.weight[f.at] = w
	if w >= f.most {
		f.most = w
	} else if old == f.most {
		f.most = slices.Max(f.weight)
	}
	if f.sum < 1e6 && f.sum > 1e-6 {
		return
	}
	sum := 0.0
	for i := range f.weight {
		f.weight[i] = max(f.weight[i]/f.sum, faint)
		sum += f.weight[i]
	}
	f.sum, f.most = sum, slices.Max(f.weight)
}

// shift notes that the last start was counted wrongly with some probability: the
// tick then comes by starts later.
func (f *schedtick) shift(by int, chance float64) {
	n := len(f.weight)
	if n == 0 {
		return
	}
	for i, w := range append(make([]float64, 0, 64), f.weight...) { // on the stack for the usual 61
		f.weight[(i+by+n)%n] += chance * w
		f.weight[i] -= chance * w
	}
	f.most = slices.Max(f.weight)
}

// learnTick notes evidence for or against the tick of p being now.
func (r *explainer) learnTick(pp *proc, ratio float64) {
	if r.without.has(hypLearnedTick) {
		return
	}
	pp.tick.learn(ratio)
	r.held.recheckTicks()
}

// learnTickFrom draws the tick's phase from a take of g on p, which began after
// event before: a P that takes from its own queue although the global one holds
// something is not at the 61st tick.
func (r *explainer) learnTickFrom(g, p int32, t *dequeue, before int64) {
	if p < 0 || t.basis != byRule {
		return
	}
	pp := &r.pStates[p]
	f := &pp.tick
	switch t.src {
	case reference.SrcGlobalTick:
		if t.batch == 1 {
			if r.queues.Len(p) > 1 {
				r.learnTick(pp, plain)
			} else {
				r.learnTick(pp, lone)
			}
		}
	case reference.SrcRunnext, reference.SrcLocal:
		switch {
		case f.contradicted || t.taint != reference.RuleNone || !r.globalSurelyHolds(before):
			return
		case r.gStates.At(g).fromGlobal != p:
			r.learnTick(pp, ownFirst)
		case f.maybeTick():
			r.learnTick(pp, batchMate)
		}
		f.contradicted = true
	}
}

// tickSource says what the chance of the 61st tick amounts to.
func tickSource(chance float64) (reference.Source, reference.Basis) {
	switch {
	case chance > certain:
		return reference.SrcGlobalTick, reference.Known(reference.Inferred, reference.RulePhase)
	case chance < never:
		return reference.SrcGlobal, byRule
	case chance > likely:
		return reference.SrcGlobalTick, reference.Known(reference.Ambiguous, reference.RuleTick)
	}
	return reference.SrcGlobal, reference.Known(reference.Ambiguous, reference.RuleTick)
}

const (
	// stale is how long, in ns, a goroutine waits in a short global queue at most
	// without suspicion that it was taken unseen.
	stale = 300_000
	// long is a length of the global queue that leaves no doubt that it holds
	// something.
	long = 3
)

// globalSurelyHolds reports whether the global queue surely held something when a take
// began, after event since: it is long; or what was put there before, not long ago,
// is not in anybody's hands.
func (r *model) globalSurelyHolds(since int64) bool {
	x := r.queues.GlobalHead()
	if x == reference.None {
		return false
	}
	before := r.win.at(since)
	if before == nil || r.tainted(x) {
		return false
	}
	if r.queues.GlobalLen() >= long {
		return true
	}
	for ; x != reference.None; x = r.queues.Next(x) {
		gp := r.gStates.At(x)
		if r.inFlight(x) || gp.readyAt > before.ev.Time {
			return false
		}
		if gp.readyAt < before.ev.Time-stale || gp.deferred || gp.start == none {
			continue
		}
		// What the poller made runnable may be in a ring instead (injectglist).
		if put := r.win.at(gp.ready); put != nil && put.ev.From != events.Waiting {
			return true
		}
	}
	return false
}
