package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// stepper handles one event after the other: what it did to Ps, threads and goroutines. A fork is
// another stepper, which goes on alone with what is in the window.
type stepper struct {
	state state

	// The parts. Each calls those above it only, but for two cycles: an enqueue may show a dequeue, and
	// the reverse; and the engine makes forks of the whole stepper.
	view
	requests  requests
	out       output
	correct   corrections
	ticks     ticks
	resize    resizer
	beginning beginning
	engine    engine
	steals    unseenSteals
	workers   workerDrains
	sizes     batchSizes
	enqueuer  enqueuer
	dequeuer  dequeuer
	waking    wakingThieves
	locks     locks
	targets   targets

	newest     *newest // of the linker, which must not go on with a goroutine that is removed; nil in a fork
	annotated  *counts
	before     effort
	rebuilding int64 // goroutines that were looked at to build the model again
}

// newStepper returns a stepper for a state to be filled in. Each part gets those that it calls.
func newStepper(sink func([]reference.Decision) []reference.Decision) *stepper {
	s := &stepper{}
	m := &s.state.model
	s.view = view{&m.ahead.ps, &m.ahead, &m.queues, m}
	s.requests = requests{&s.state.requests, s.ps, s.ahead}
	s.out = output{tally: &s.state.tally, view: s.view, sink: sink, held: noHolding()}
	s.correct = corrections{view: s.view, out: &s.out}
	s.ticks = ticks{s.view, &s.out}
	s.resize = resizer{s.view, &s.out}
	s.beginning = beginning{s.view, &s.out, &s.resize}
	s.engine = engine{forkState: &s.state.fork, whole: s}
	s.steals = unseenSteals{view: s.view}
	s.workers = workerDrains{&s.state.drains, s.view, &s.out, &s.engine}
	s.sizes = batchSizes{s.view, &s.ticks, &s.engine, &s.state.deferred}
	s.enqueuer = enqueuer{&s.state.deferred, s.view, &s.out, &s.correct, &s.engine, &s.steals, &s.workers, &s.dequeuer}
	s.dequeuer = dequeuer{s.view, &s.out, &s.correct, &s.ticks, &s.engine, &s.steals, &s.sizes, &s.enqueuer}
	s.waking = wakingThieves{&s.state.thieves, s.view, &s.dequeuer}
	s.locks = locks{s.view, &s.ticks, &s.dequeuer}
	s.targets = targets{s.ps, s.ahead, &s.requests, &s.state.inject}
	return s
}

// transitions are the handlers of goroutines' transitions, by the states from and to; byKind are those
// of other events, by kind. What has no entry changes the state of the goroutine and nothing else, or
// has no part in scheduling. They are filled in when the program starts, since what they name uses
// them: a fork goes on with them.
var (
	transitions [8][8]func(*stepper, *record, *goroutine)
	byKind      [256]func(*stepper, *record)
)

func init() {
	for from := range transitions {
		to := &transitions[from]
		to[events.Runnable] = (*stepper).ready
		to[events.Running] = (*stepper).leaveSyscall
	}
	transitions[events.Runnable][events.Running] = (*stepper).start
	for to := range transitions[events.Running] {
		transitions[events.Running][to] = (*stepper).block
	}
	transitions[events.Running][events.Runnable] = (*stepper).yield
	transitions[events.Running][events.Syscall] = (*stepper).enterSyscall
	transitions[events.Syscall][events.NotExist] = (*stepper).exitInSyscall

	for kind, handle := range map[events.Kind]func(*stepper, *record){
		events.Proc:        (*stepper).procEvent,
		events.Procs:       (*stepper).procsEvent,
		events.STWBegin:    (*stepper).beginSTW,
		events.STWEnd:      (*stepper).endSTW,
		events.GCBegin:     (*stepper).markPhase,
		events.GCEnd:       (*stepper).markPhase,
		events.AssistBegin: (*stepper).passThrough,
		events.AssistEnd:   (*stepper).passThrough,
		events.Sample:      (*stepper).passThrough,
		events.TaskBegin:   (*stepper).annotate,
		events.TaskEnd:     (*stepper).annotate,
		events.Region:      (*stepper).annotate,
		events.RegionEnd:   (*stepper).annotate,
		events.Log:         (*stepper).annotate,
		events.Lost:        (*stepper).lost,
	} {
		byKind[kind] = handle
	}
}

// next handles the oldest event that has not been handled.
func (r *stepper) next() {
	ahead := r.ahead
	i := ahead.win.tail
	rec := ahead.win.there(i)
	ahead.now, ahead.time, r.out.stepping = i, rec.Time, true
	if i >= ahead.due {
		r.settleDue(rec)
	}
	if mx := uint(rec.m); mx < uint(len(ahead.mStates)) {
		if mp := &ahead.mStates[mx]; mp.next == i {
			mp.next = rec.nextM
		}
	}
	if rec.Kind == events.Go {
		gp := ahead.gStates.At(rec.of)
		r.transition(rec, gp)
		if gp.dead && !r.engine.on {
			r.remove(rec.of, gp)
		}
		gp.pending--
	} else if handle := byKind[rec.Kind]; handle != nil {
		handle(r, rec)
	}
	r.model.pass()
	if checked {
		r.check()
	}
	r.out.stepping = false
}

// remove forgets a goroutine that has ended, with its last event.
func (r *stepper) remove(g int32, gp *goroutine) {
	if gp.pending > 1 {
		return
	}
	if r.newest.g == g {
		r.newest.g, r.newest.state = nobody, &noGoroutine
	}
	r.ahead.gStates.Remove(gp.id, g)
}

// transition handles a goroutine's transition, or the status of a goroutine that its generation had not
// named yet.
func (r *stepper) transition(rec *record, gp *goroutine) {
	switch {
	case rec.From == events.Undetermined || rec.From == rec.To:
		if gp.state != rec.To { // else it is no news
			r.adopt(rec, gp)
		}
		r.dequeuer.dequeueEarly(rec)
		return
	case rec.From == events.NotExist:
		gp.dead = false
		gp.lastM = nobody
	case gp.state != rec.From:
		r.adopt(rec, gp) // lost in a damaged generation
	}
	if handle := transitions[rec.From&7][rec.To&7]; handle != nil {
		handle(r, rec, gp)
		return
	}
	gp.state = rec.To
}

// settleDue does what is due and comes later than its event, and ends the forEachPs that are over.
// Before the first event, it begins.
func (r *stepper) settleDue(rec *record) {
	ahead := r.ahead
	if ahead.now == 0 {
		r.beginning.begin()
		ahead.time = rec.Time
	}
	r.enqueuer.enqueuesDue(ahead.now)
	r.workers.drainsDue(rec)
	r.workers.drainEarly(rec)
	if len(r.waking.list) > 0 {
		r.waking.wakingThievesSteal()
	}
	r.requests.endForEachPs(rec)
	ahead.due = math.MaxInt64
	if len(r.requests.forEachPsAhead) > 0 {
		ahead.due = r.requests.forEachPsAhead[0].to
	}
	if len(r.enqueuer.list)|len(r.workers.list)|len(r.waking.list) != 0 || r.requests.current.m >= 0 {
		ahead.settleSoon()
	}
}

// markPhase handles the begin of a mark phase, which a generation may repeat, or its end.
func (r *stepper) markPhase(rec *record) {
	begins, kind := rec.Kind == events.GCBegin, reference.KindGCEnd
	if begins {
		kind = reference.KindGCBegin
	}
	if begins != r.requests.gcOpen {
		r.requests.gcOpen = begins
		r.out.emit(rec.p, rec.m, reference.Decision{Kind: kind, G: rec.context()})
	}
}

var asides = [...]reference.Kind{
	events.AssistBegin: reference.KindAssistBegin, events.AssistEnd: reference.KindAssistEnd, events.Sample: reference.KindSample,
}

// passThrough passes on what the scheduler has no part in.
func (r *stepper) passThrough(rec *record) {
	if r.engine.on {
		return
	}
	g := rec.context()
	if rec.res() >= 0 {
		g = rec.res()
	}
	gp := r.ahead.gStates.At(r.model.goroutine(g))
	r.out.emit(rec.p, rec.m, reference.Decision{Kind: asides[rec.Kind], G: g, Class: gp.class, Flags: gp.flags, Victim: reference.NoP, Stack: int32(rec.Stack), Basis: observed})
}
