package reconstruct

import (
	"cmp"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
)

// Where neither the rules nor the look-ahead decide, and much hangs on it, the engine tests the choices
// that a hypothesis proposes: a fork of the state goes on with each, and the one that the following
// events contradict least is believed. All forks are made here.

const (
	// forkLen is for how many events a fork goes on, if its hypothesis has no horizon of its own. Half
	// or twice: nothing.
	forkLen = 1 << 14
	// longFork is the same for what a worker drains, which often waits long in the global queue. Half
	// or twice: nothing.
	longFork = 4 * forkLen
	// forkStep is after how many events two choices are compared. Half or twice: nothing.
	forkStep = 1 << 8
	// forkMostGs is the most goroutines of a state to be copied: each takes about 150 bytes.
	forkMostGs = 1 << 16

	// contradiction is what an event for which a fork has to be corrected is evidence against its
	// choice. It is not as unlikely as it seems, for a model that is wrong in something else
	// contradicts itself, too. Half or twice: nothing, but 0.5 in ll of an uneven (twice).
	contradiction evidence.Nats = 1
	// forkSure is by how much the better choice is surely so. Half or twice: nothing.
	forkSure evidence.Nats = 8

	// Forks may cost as much as forkFirst events, and one more for forkShare events of the trace: of a
	// long trace, a third of all. A quarter of forkFirst: recall of steals falls by 8, ll by 6 for a
	// fanout of 155,000 starts, and analyses of short traces take 3 to 7 % less CPU time; twice:
	// nothing. forkShare, half or twice: nothing.
	forkFirst = 1 << 20
	forkShare = 2
	// copyCost is for how many goroutines a copy costs as much as an event. Half, which makes a copy
	// dearer: ll of thousand falls by 0.9; twice: nothing.
	copyCost = 4
)

// question is what a hypothesis has to answer about the present event: about a goroutine that is
// enqueued or dequeued, and what the hypothesis needs beside it.
type question struct {
	g, p   int32 // the goroutine, and the P that enqueues or dequeues it
	other  int32 // another goroutine, or the number of a drain
	sizes  []int // how many may have been dequeued, or kept
	likely int   // what is believed if there can be no fork
}

// choice is one answer to a question, and what it makes of a copy of the model.
type choice struct {
	is    int    // the answer: yes and no, or a number that its hypothesis explains
	says  string // the same in words
	apply func(fork *stepper)
	then  then
}

// Answer is how the reconstruction decided what happened where a trace leaves it open: copies of its
// state each went on with one [Choice], and the one with the most evidence was kept. Options.Answered
// gets the answers.
type Answer struct {
	Hypothesis string   // name of the Hypothesis that proposed the choices
	Time       int64    // time of the event that raised the question, ns since the first event of the trace
	Choices    []Choice // in the order in which they were proposed
	Chosen     int      // index in Choices
}

// Choice is one of the answers that a hypothesis proposed.
type Choice struct {
	Says string        // what would have happened, in words
	Lead evidence.Nats // how much more evidence it has than the best choice before it; 0 for the first
}

// then is what is left to do of the present event when a choice has been applied.
type then uint8

const (
	thenStep   then = iota // all of it: the question comes before the event is handled
	thenFinish             // nothing but to finish it
	thenRepeat             // to handle it, the start of a goroutine, from its beginning
)

const (
	no  = 0
	yes = 1
)

// given is the choice of a fork for the present event. The hypothesis that it belongs to looks for it
// before it decides the same question again.
type given struct {
	by hypothesis
	at int64 // the event
	is int
}

// engine decides among the choices that hypotheses propose, and keeps account of the forks that it
// makes.
type engine struct {
	*forkState
	whole    *stepper // which it copies
	rows     []Hypothesis
	answered func(Answer) // nil if nobody wants to know
	spare    [2]*stepper  // to be copied to
	spent    int64        // events that were handled in them
}

// forkState is what a fork knows of itself.
type forkState struct {
	on      bool          // there is one
	refuted bool          // it contradicted itself, and does not go on
	against evidence.Nats // what speaks against it: events that it had to be corrected for, or that are odd
	odd     int64         // steals that no thief does
	given   given         // what it was made for
}

// mayFork reports whether a fork is possible and affordable.
func (r *engine) mayFork() bool {
	ahead := r.whole.ahead
	if ahead.gStates.Len() > forkMostGs {
		clear(r.spare[:]) // which will not be needed again
		return false
	}
	return !ahead.without.has(hypForks) && !r.on && ahead.depth == 0 && ahead.ps.gomaxprocs > 1 && r.spent < forkFirst+ahead.now/forkShare
}

// decide returns the choice of a hypothesis that is contradicted least, the first of them if others are
// contradicted as much. lead is how much more evidence there is for it than for what it was compared
// with last.
func (r *engine) decide(h hypothesis, q question) (answer int, lead evidence.Nats) {
	if r.on && r.given.by == h && r.given.at == r.whole.ahead.now {
		return r.given.is, forkSure
	}
	if r.whole.ahead.without.has(h) || !r.mayFork() {
		return q.likely, 0
	}
	row := &r.rows[h]
	choices := row.propose(r.whole, q)
	best, report := 0, Answer{Hypothesis: row.Name, Time: r.whole.ahead.time}
	for i, c := range choices {
		if i > 0 {
			lead = r.compare(h, choices[best], c, cmp.Or(row.horizon, forkLen))
		}
		report.Choices = append(report.Choices, Choice{Says: c.says, Lead: lead})
		if lead > 0 {
			best = i
		}
	}
	if report.Chosen = best; r.answered != nil {
		r.answered(report)
	}
	return choices[best].is, max(lead, -lead)
}

// holds reports whether a hypothesis, which proposes yes and no, answers yes.
func (r *engine) holds(h hypothesis, q question) bool {
	answer, _ := r.decide(h, q)
	return answer == yes
}

// compare returns how much more speaks for b than for a, by the events within the horizon.
func (r *engine) compare(h hypothesis, a, b choice, horizon int64) evidence.Nats {
	x, y := r.fork(0, h, a), r.fork(1, h, b)
	says := evidence.Nats(0)
	first := x.ahead.win.tail
	for n := int64(0); n < horizon && first+n < x.ahead.win.head; n += forkStep {
		said, until := says, min(first+n+forkStep, x.ahead.win.head)
		againstX, againstY := x.engine.stepUntil(until), y.engine.stepUntil(until)
		if said != 0 && min(againstX, againstY) >= forkSure {
			says = said // something else is wrong by now: what came before counts
			break
		}
		if says = x.engine.against - y.engine.against; says >= forkSure || says <= -forkSure || x.engine.refuted || y.engine.refuted || x.state.meets(&y.state) {
			break
		}
	}
	if x.engine.refuted || y.engine.refuted {
		r.whole.out.summary.Violations++
	}
	r.spent += 2*(x.ahead.win.tail-first) + int64(r.whole.ahead.gStates.Len())/copyCost
	return says
}

// stepUntil has a fork go on to an event, and returns the evidence against it from there.
func (r *engine) stepUntil(end int64) (against evidence.Nats) {
	before := r.against
	defer func() { against = r.against - before }()
	defer r.refute()
	for fork := r.whole; fork.ahead.win.tail < end && !r.refuted; {
		wrong := fork.out.summary.Corrections + r.odd
		fork.next()
		if fork.out.summary.Corrections+r.odd > wrong {
			r.against += contradiction
		}
	}
	return 0
}

// fork returns the i-th of two forks, which has handled the present event with a choice, or is about
// to.
func (r *engine) fork(i int, h hypothesis, with choice) *stepper {
	fork := r.copy(i)
	fork.engine.given = given{by: h, at: fork.ahead.now, is: with.is}
	fork.choose(with)
	return fork
}

// choose applies a choice to a fork, and does what it leaves of the present event.
func (fork *stepper) choose(c choice) {
	defer fork.engine.refute()
	if c.apply != nil {
		c.apply(fork)
	}
	rec := fork.ahead.win.at(fork.ahead.now)
	if c.then == thenRepeat {
		fork.start(rec, fork.ahead.gStates.At(rec.of))
	}
	if c.then != thenStep {
		fork.dequeuer.dequeueEarly(rec)
		fork.model.pass()
	}
}

// copy returns the i-th of two copies of the whole stepper, which can go on alone with what is in the
// window.
func (r *engine) copy(i int) *stepper {
	if r.spare[i] == nil {
		r.spare[i] = newStepper(nil)
		r.spare[i].ahead.gStates = ids.NewTable[goroutine]() // without ids
	}
	r.spare[i].state.copyFrom(&r.whole.state)
	return r.spare[i]
}
