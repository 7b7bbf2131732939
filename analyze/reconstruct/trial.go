package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// Where the look-ahead does not tell which of two stories is true, and much hangs
// on it, both are tried: two copies of the model go on, one with each, and the one
// that needs fewer corrections is believed.

const (
	trialLen   = 1 << 14 // events that a story is tried for
	trialStep  = 1 << 8  // events after which the stories are compared
	trialTells = 8       // events more that contradict a story by which it is surely the worse one
	trialMost  = 1 << 16 // goroutines that a model to be copied has at most

	// Trials may cost as much as trialFirst events, and one more for trialShare that
	// are judged. A copy costs as much as an event for copyCost goroutines.
	trialFirst = 1 << 20
	trialShare = 2
	copyCost   = 4
)

// trials is the account of them, and, in a copy, what it is for.
type trials struct {
	spare   [2]*Reconstructor // to be copied to
	spent   int64             // events that were judged in them
	weights []float64         // of the phases of a copy's Ps
	on      bool              // the model is such a copy
	wrong   int64             // if so, events that it had to be corrected for, or that are odd
	odd     int64             // steals that no thief does
	take    take              // and what its story says
	holds   bool              // likewise: late overflows do not come before a take
	mends   [numMends]mend    // likewise: what is mended
}

// mayTry says that a trial is possible and affordable.
func (r *Reconstructor) mayTry() bool {
	return !r.without.has(hypForks) && !r.trial.on && r.depth == 0 && r.procs > 1 && r.gs.Len() <= trialMost && r.trial.spent < trialFirst+r.now/trialShare
}

// better tries two stories. Each is a function that brings a copy of the model to
// the state before the next event. It returns a number below 0 if a is better, above
// 0 if b is, and 0 if they are as good.
func (r *Reconstructor) better(a, b func(c *Reconstructor)) int { return r.betterIn(trialLen, a, b) }

// betterIn is better for trials of another length.
func (r *Reconstructor) betterIn(most int64, a, b func(c *Reconstructor)) int {
	x, y := r.copy(0), r.copy(1)
	a(x)
	b(y)
	diff := int64(0)
	first := x.win.tail
	for n := int64(0); n < most && first+n < r.win.head; n += trialStep {
		told, inX, inY := diff, x.trial.wrong, y.trial.wrong
		for _, c := range [...]*Reconstructor{x, y} {
			for c.win.tail < min(first+n+trialStep, r.win.head) {
				before := c.sum.Corrections + c.trial.odd
				c.judge()
				if c.sum.Corrections+c.trial.odd > before {
					c.trial.wrong++
				}
			}
		}
		if told != 0 && min(x.trial.wrong-inX, y.trial.wrong-inY) >= trialTells {
			diff = told // something else is wrong by now: what came before tells
			break
		}
		if diff = x.trial.wrong - y.trial.wrong; diff >= trialTells || diff <= -trialTells || x.meets(y) {
			break
		}
	}
	r.trial.spent += 2*(x.win.tail-first) + int64(r.gs.Len())/copyCost
	return int(diff)
}

// startAgain is a story in which the present event, a goroutine's start, is judged
// from its beginning, after tell has told what is to be believed.
func startAgain(tell func(c *Reconstructor)) func(c *Reconstructor) {
	return func(c *Reconstructor) {
		tell(c)
		it := c.win.at(c.now)
		c.start(it, c.gs.At(it.of))
		c.judged(it)
	}
}

// meets says that two models have the same in their queues: they go on alike.
func (r *Reconstructor) meets(o *Reconstructor) bool {
	if r.q.GlobalLen() != o.q.GlobalLen() || r.q.GlobalHead() != o.q.GlobalHead() || r.q.GlobalTail() != o.q.GlobalTail() ||
		len(r.spills)+len(r.late) != len(o.spills)+len(o.late) {
		return false
	}
	for p := range int32(len(r.ps)) {
		if r.q.Len(p) != o.q.Len(p) || r.q.Head(p) != o.q.Head(p) || r.q.Tail(p) != o.q.Tail(p) {
			return false
		}
	}
	for p := range int32(len(r.ps)) {
		if !r.alike(o, r.q.Head(p)) {
			return false
		}
	}
	return r.alike(o, r.q.GlobalHead())
}

// alike says that the same stands behind x in two models, in the same order: two
// overflows that came in another order change places only in the middle.
func (r *Reconstructor) alike(o *Reconstructor, x int32) bool {
	for ; x != reference.None; x = r.q.Next(x) {
		if r.q.Next(x) != o.q.Next(x) {
			return false
		}
	}
	return true
}

// copy returns a copy of the model, the i-th of two that there can be, which can
// judge on its own what is in the window.
func (r *Reconstructor) copy(i int) *Reconstructor {
	c := r.trial.spare[i]
	if c == nil {
		c = New(r.tables, Options{Rules: r.rules})
		r.trial.spare[i] = c
	}
	q, gs := c.q, c.gs.Table
	gs.CopyFrom(&r.gs.Table)
	q.CopyFrom(&r.q)
	ps, ms := append(c.ps[:0], r.ps...), append(c.ms[:0], r.ms...)
	late, open := append(c.late[:0], r.late...), append(c.open[:0], r.open...)
	spills, drains, again := append(c.spills[:0], r.spills...), append(c.drains[:0], r.drains...), append(c.again[:0], r.again...)
	took, thieves := c.took, append(c.thieves[:0], r.thieves...)
	own, weights := c.room, c.trial.weights[:0]
	for i := range ps {
		weights = append(weights, ps[i].phase.weight...)
	}
	for i, rest := 0, weights; i < len(ps); i++ {
		n := len(ps[i].phase.weight)
		ps[i].phase.weight, rest = rest[:n:n], rest[n:]
	}
	*c = *r
	c.room, c.trial.weights = own, weights
	c.q, c.gs.Table, c.ps, c.ms = q, gs, ps, ms
	c.late, c.open, c.spills, c.drains, c.again, c.took, c.thieves = late, open, spills, drains, again, took, thieves
	c.emit, c.hold, c.trial.on, c.trial.wrong = nil, noHolding(), true, 0
	return c
}
