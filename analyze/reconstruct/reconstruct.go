package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/class"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// Options select how a [Reconstructor] reads the events and where its decisions go.
type Options struct {
	// Rules are those of the Go release that wrote the trace.
	Rules reference.Rules
	// Reduced is for traces of Go 1.21 and older: they lack threads and the reasons that the rules
	// need, so queues are not rebuilt.
	Reduced bool
	// Without are the hypotheses that the reconstruction does without.
	Without Set
	// Answered, if set, is called with each Answer: how it was decided what happened where the
	// trace leaves that open.
	Answered func(Answer)
	// Emit is called with the decisions in order, BlockLen at a time, fewer at the end. It may retain
	// them, and returns a slice for reuse, or nil.
	Emit func(ds []reference.Decision) []reference.Decision
}

// Summary counts what was reconstructed, and how well.
type Summary struct {
	Starts      int64            // times that a goroutine went from runnable to running
	Explained   int64            // one rule accounts for the start
	Ambiguous   int64            // several do, or the model was corrected by it
	Unexplained int64            // no rule does
	BySource    map[string]int64 // starts, by the name of a reference.Source
	ByBasis     map[string]int64 // starts, by the text of a reference.Basis
	Corrections int64            // goroutines moved in the model against its rules
	Violations  int64            // times that the model contradicted itself: it was built again from the events, or a hypothesis given up
	Goroutines  int64            // how many were seen
	Threads     int64            // how many were seen
	TracerNs    int64            // running time of the tracer's goroutines
	Procs       int              // largest GOMAXPROCS
	MainFunc    string           // start function of goroutine 1; empty if unknown
}

// Reconstructor turns the events of a trace into the decisions of the scheduler, which Options.Emit gets.
// It is deterministic, and not safe for concurrent use. [Reconstructor.Add] takes the events, and
// [Reconstructor.Finish] ends them.
//
// Its linker enters events at the head of a window of 65,536; its stepper handles those at the tail.
type Reconstructor struct {
	link linker
	step *stepper
}

const nobody = reference.None

// New returns a Reconstructor for the events of one stream.
func New(t *events.Tables, o Options) *Reconstructor {
	s := newStepper(o.Emit)
	s.state = state{
		model: model{
			ahead: lookahead{
				rules: o.Rules, without: o.Without, reduced: o.Reduced,
				tables: t, classes: class.NewTable(t), traits: stacks.New(t),
				ps: processors{idle: idlers{last: nobody}}, gStates: ids.NewTable[goroutine](),
			},
			queues: *reference.NewQueues(o.Rules), lastBatchP: nobody, driftingP: nobody,
		},
		requests: requested{
			current: forEachP{m: nobody}, suspendedAdvancer: nobody, endedBy: nobody, worker: none,
			noSlice: math.MinInt64, retaken: math.MinInt64 / 2,
		},
		inject: injection{until: none},
	}
	s.annotated = &counts{all: map[annotation]*int64{}}
	s.engine.rows, s.engine.answered = hypotheses[:], o.Answered
	r := &Reconstructor{step: s, link: linker{
		view: s.view, requests: &s.requests, out: &s.out,
		newest: newest{thread: events.None, p: events.None, m: nobody, proc: nobody, g: nobody, state: &noGoroutine},
		pix:    ids.New(), mix: ids.New(), newLost: none,
	}}
	s.newest = &r.link.newest
	return r
}

// Classes returns the number of classes of goroutines so far. Their handles, the Class of decisions, are
// the numbers below it.
func (r *Reconstructor) Classes() int32 { return r.step.ahead.classes.Len() }

// Class returns what is known so far of the class whose handle is id; the zero value for a number that
// is no handle.
func (r *Reconstructor) Class(id int32) class.Class { return r.step.ahead.classes.Describe(id) }

// Add processes the next events of the stream, in their order. It holds back the latest 65,536, since what
// comes later decides what an event means, and decides about those before.
func (r *Reconstructor) Add(evs []events.Event) {
	r.step.ahead.traits.Grow()
	r.step.ahead.classes.Grow()
	for len(evs) > 0 {
		evs = r.add(evs)
	}
}

// add adds events up to one at which the stepper panics, and returns those behind it.
func (r *Reconstructor) add(evs []events.Event) (rest []events.Event) {
	defer r.step.survive()
	for i := range evs {
		rest = evs[i+1:]
		r.link.enter(&evs[i])
		if r.step.ahead.win.head > aheadLen { // then as many are handled as enter
			r.step.next()
		}
	}
	return rest
}

// Step processes up to n of the events that [Reconstructor.Add] has held back, and reports whether
// some are left. Add holds back the latest 65,536 events, its window, since what comes later decides
// what an event means; Step processes them as if no more came. It is to be called after the last Add,
// until nothing is left, by a caller that may have to give up in between; [Reconstructor.Finish] alone
// does the same at once. The decisions go to Options.Emit.
func (r *Reconstructor) Step(n int) (more bool) {
	for end := min(r.step.ahead.win.tail+int64(n), r.step.ahead.win.head); r.step.ahead.win.tail < end; {
		r.stepTo(end)
	}
	return r.step.ahead.win.tail < r.step.ahead.win.head
}

// stepTo handles the events before one, up to one at which the stepper panics.
func (r *Reconstructor) stepTo(end int64) {
	defer r.step.survive()
	for win := &r.step.ahead.win; win.tail < end; {
		r.step.next()
	}
}

// Finish processes the events that are still held back, and returns the counts. The last decisions go
// to Options.Emit. Events must not be added afterwards.
func (r *Reconstructor) Finish() Summary {
	for r.Step(aheadLen) {
	}
	r.step.out.settleTicks(true)
	r.step.out.flush(true)
	s := r.step.out.summary
	s.BySource, s.ByBasis = map[string]int64{}, map[string]int64{}
	for src, n := range r.step.out.starts {
		if n > 0 {
			s.Starts += n
			s.BySource[reference.Source(src).String()] = n
		}
	}
	for basis, n := range r.step.out.bases {
		if basis := reference.Basis(basis); n > 0 {
			s.ByBasis[basis.String()] = n
			if basis.Level() >= reference.Inferred {
				s.Explained += n
			}
		}
	}
	s.Unexplained = r.step.out.starts[reference.SrcUnknown]
	s.Ambiguous = s.Starts - s.Explained - s.Unexplained
	s.Goroutines = r.step.ahead.seen
	s.Threads = int64(len(r.step.ahead.mStates))
	return s
}

// Holding is the number of things that a reconstruction keeps in memory, for bounds on it: a damaged
// trace can name any number.
type Holding struct {
	Goroutines, Ps, Threads int // the most of each that were followed at one time
	Classes                 int // classes of goroutines known so far
}

// Held returns the current counts of what takes memory.
func (r *Reconstructor) Held() Holding {
	return Holding{Goroutines: int(r.step.ahead.gStates.Len()) - 1, Ps: len(r.step.ps.pStates), Threads: len(r.step.ahead.mStates), Classes: int(r.step.ahead.classes.Len())}
}
