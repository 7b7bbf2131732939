// Package reconstruct is step 3 of the pipeline: from what the trace shows to
// what the scheduler did.
//
// It drives the run queues of package reference with the observed events. A
// put follows from the event that makes a goroutine runnable (ready.go); a
// take shows itself when the goroutine starts (start.go, global.go, steal.go).
// Between the take and its start the thread may lose its CPU, so others seem to
// pass over what has already left: a bounded look-ahead (window.go) tells which
// thread has it, and what cannot be told is mended (repair.go, late.go).
//
// Every decision says how it is known.
package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of a Reconstructor.
type Options struct {
	Rules reference.Rules
	// Reduced is for traces of Go 1.21 and older: they lack threads and the
	// reasons that the rules need, so queues are not rebuilt.
	Reduced bool
	// Emit gets every decision, in order; it must not keep the pointer.
	Emit func(d *reference.Decision)
}

// Summary counts what was reconstructed, and how well.
type Summary struct {
	Starts      int64
	Explained   int64 // one rule accounts for the start
	Ambiguous   int64 // several do, or the model was corrected by it
	Unexplained int64
	BySource    map[string]int64
	ByBasis     map[string]int64
	Corrections int64 // goroutines moved in the model against its rules
	Goroutines  int64
	Threads     int64
	TracerNs    int64
	Procs       int // largest GOMAXPROCS
	MainFunc    string
}

// Reconstructor turns events into decisions. It is not safe for concurrent
// use, and deterministic.
type Reconstructor struct {
	tables  *events.Tables
	rules   reference.Rules
	reduced bool
	emit    func(*reference.Decision)

	annotated map[annotation]int64

	win window
	q   *reference.Queues
	gs  goroutines
	ps  []proc
	ms  []thread
	pix ids.Index
	mix ids.Index
	cls *classes
	stk *stackTraits

	now      int64 // running number of the event under judgement
	time     int64 // its time
	procs    int   // GOMAXPROCS
	stw      stwState
	gcOpen   bool
	young    bool // the program has hardly begun
	busy     int  // Ps that have a thread; a P that no event names yet has none
	inject   injection
	taker    int32 // P that took the last batch from the global queue
	fed      bool  // something was put into the global queue since that
	pause    pauses
	depth    int       // takes that are being settled
	noGlobal int64     // event at which the global queue was empty last
	late     []latePut // known to come later than their events
	open     []latePut // may come later
	spills   []spill   // overflows known to come later
	putBatch int32     // number of the last overflow
	drains   []drain   // Ps that run a dedicated mark worker

	globalDoubt int64 // event by which what is in the global queue was put in doubt

	visit    visit
	visits   []visitBefore // in the order of their ends
	asked    reference.Why // for whom the last visit was
	askedAt  int64         // when it ended
	advances bool          // the tracer is about to begin a generation
	worker   int64         // newest stop of a mark worker for lack of work, at the head of the window
	newLost  int64         // newest gap, at the head of the window, none if none
	stops    bool          // a stop-the-world has begun at the head of the window

	spare  [2]*Reconstructor // for trials
	tried  int64             // events that were judged in them
	trying bool              // this is one
	wrong  int64             // if so, events that it had to be corrected for
	told   take              // and the story
	mend   mend              // as well

	said  reference.Decision // the one that is emitted
	hold  holding
	sum   Summary
	srcs  [32]int64
	bases [256]int64
}

type proc struct {
	id       int32
	known    bool
	running  bool
	m        int32 // thread, -1 if none
	g        int32 // goroutine running or in a system call on it, -1
	syscall  bool
	began    int64    // when g began to run
	ticks    [2]int64 // when the last two goroutines started that did not inherit the time slice
	phase    phase
	headAt   int64         // event before which the head of its ring had not become that
	released bool          // handed off (handoffp) to a thread that has not come yet
	told     bool          // as was said, the thread being in sight
	why      reference.Why // of that
	lastM    int32
	newest   int64 // its newest transition, at the head of the window
	doubt    doubt
	borrowed int64 // event by which a thread that only allocated another gives the P up
	handed   int64 // start of the locked goroutine that the P is handed to
}

type thread struct {
	id    int64
	g     int32
	last  int64 // newest event of the chain, at the head of the window
	next  int64 // oldest event of the chain that has not been judged, none if none
	lastG int32 // goroutine that ran on it last, nobody if none
}

type stwState struct {
	open bool
	g    int64 // who stops the world
	why  string
}

const nobody = int32(-1)

// New returns a Reconstructor for the events of one stream.
func New(t *events.Tables, o Options) *Reconstructor {
	r := &Reconstructor{
		tables:    t,
		rules:     o.Rules,
		reduced:   o.Reduced,
		emit:      o.Emit,
		annotated: map[annotation]int64{},
		q:         reference.NewQueues(o.Rules),
		pix:       ids.New(),
		mix:       ids.New(),
		cls:       newClasses(t),
		stk:       &stackTraits{tables: t},
		taker:     nobody,
		visit:     visit{m: nobody},
		worker:    none,
		newLost:   none,
	}
	r.gs.Table = ids.NewTable[goroutine]()
	return r
}

// Class returns the start function and the creator of a class handle.
func (r *Reconstructor) Class(id int32) (name, creator string) { return r.cls.names(id) }

// Add takes the next events.
func (r *Reconstructor) Add(evs []events.Event) {
	for i := range evs {
		r.enter(&evs[i])
		if r.win.head-r.win.tail > lookahead {
			r.judge()
		}
	}
}

// Finish judges what is left and returns the counts.
func (r *Reconstructor) Finish() Summary {
	for r.win.tail < r.win.head {
		r.judge()
	}
	r.answer(true)
	s := r.sum
	s.BySource = map[string]int64{}
	for i, n := range r.srcs {
		if n > 0 {
			s.BySource[reference.Source(i).String()] = n
		}
	}
	s.ByBasis = map[string]int64{}
	for i, n := range r.bases {
		if n > 0 {
			s.ByBasis[reference.Basis(i).String()] = n
		}
	}
	s.Goroutines = r.gs.seen
	s.Threads = int64(len(r.ms))
	return s
}

// enter puts an event into the window and links it.
func (r *Reconstructor) enter(e *events.Event) {
	i := r.win.head
	it := r.win.push()
	// Field by field: a whole item would be made elsewhere and copied.
	it.ev = *e
	it.prevM, it.nextM, it.link = none, none, none
	it.m, it.p, it.rp, it.g, it.rg = nobody, nobody, nobody, nobody, nobody
	it.mark = 0
	if e.M >= 0 {
		it.m = r.thread(e.M)
	}
	if e.P >= 0 {
		it.p = r.proc(e.P)
	}
	switch e.Kind {
	case events.Label:
		if e.Reason >= events.LabelDedicated && e.Reason <= events.LabelIdle && it.m >= 0 {
			if s := r.win.at(r.ms[it.m].last); s != nil && s.ev.Kind == events.Go && s.ev.To == events.Running {
				s.mark |= markWorker
				if e.Reason == events.LabelDedicated {
					s.mark |= markDedicated
				}
				s.ev.Reason = e.Reason // a start has none of its own
			}
		}
		return
	case events.Go:
		it.rg = r.gs.enter(e.Res)
		r.q.Grow(int(r.gs.Len()), 0)
		if e.G >= 0 {
			it.g = r.gs.find(e.G)
		}
		r.linkGo(i, it)
		r.seeVisits(i, it)
	case events.Proc:
		it.rp = r.proc(int32(e.Res))
		if e.G >= 0 && e.To == events.Idle {
			it.g = r.gs.find(e.G)
		}
		p := &r.ps[it.rp]
		if prev := r.win.at(p.newest); prev != nil {
			prev.link = i
		}
		p.newest = i
	case events.STWBegin, events.Procs:
		r.seeVisits(i, it)
		return
	case events.Lost:
		r.newLost = i
		return
	default:
		return
	}
	// The status of a goroutine that does not run is nothing that the thread did.
	status := e.Kind == events.Go && e.From == events.Undetermined && (e.To == events.Runnable || e.To == events.Waiting)
	if it.m >= 0 && !status {
		m := &r.ms[it.m]
		it.prevM = m.last
		if prev := r.win.at(m.last); prev != nil {
			prev.nextM = i
		}
		m.last = i
		if m.next == none {
			m.next = i
		}
	}
}

// linkGo links a start to what made the goroutine runnable.
func (r *Reconstructor) linkGo(i int64, it *item) {
	g := r.gs.At(it.rg)
	e := &it.ev
	switch {
	case e.To == events.Runnable && e.From == events.Undetermined && g.newReady > r.newLost:
		// A new generation says again what is known.
	case e.To == events.Runnable && e.From != events.Runnable:
		g.newReady = i
	case e.To == events.Running && e.From == events.Runnable:
		if g.newReady >= r.win.tail {
			if rd := r.win.at(g.newReady); rd != nil {
				rd.link = i
			}
		} else {
			g.start = i // it became runnable before the window, or the judge has passed it
		}
		it.link = g.newReady
		g.newReady = none
	}
}

func (r *Reconstructor) thread(id int64) int32 {
	if ix := r.mix.Find(id); ix != ids.None {
		return ix
	}
	ix := int32(len(r.ms))
	r.ms = append(r.ms, thread{id: id, g: nobody, last: none, next: none, lastG: nobody})
	r.mix.Add(id, ix)
	return ix
}

func (r *Reconstructor) proc(id int32) int32 {
	if ix := r.pix.Find(int64(id)); ix != ids.None {
		return ix
	}
	ix := int32(len(r.ps))
	p := proc{id: id, m: nobody, g: nobody, lastM: nobody, newest: none, handed: none, borrowed: none, doubt: doubt{fits: fitting}, phase: newPhase(), ticks: [2]int64{-r.rules.Slice, -r.rules.Slice}}
	if r.young {
		p.phase = youngPhase(distant)
	}
	r.ps = append(r.ps, p)
	r.pix.Add(int64(id), ix)
	r.q.Grow(0, len(r.ps))
	return ix
}

// judge decides on the oldest event that has not been judged.
func (r *Reconstructor) judge() {
	i := r.win.tail
	if i == 0 {
		r.begin()
	}
	r.now = i
	it := r.win.at(i)
	r.time = it.ev.Time
	if len(r.late) > 0 {
		r.putsDue(i)
	}
	if len(r.spills) > 0 {
		r.spillsDue(i)
	}
	if len(r.drains) > 0 {
		r.drainsDue(i)
	}
	r.leaveVisits(it)
	if it.m >= 0 && r.ms[it.m].next == i {
		r.ms[it.m].next = it.nextM
	}
	switch it.ev.Kind {
	case events.Go:
		r.goEvent(it)
		if !r.trying {
			r.gs.leave(it.rg)
		}
	case events.Proc:
		r.procEvent(it)
	case events.Procs:
		r.procsEvent(it)
	case events.STWBegin:
		r.stw = stwState{open: true, g: it.ev.G, why: r.tables.Name(it.ev.Reason)}
		r.say(&reference.Decision{Kind: reference.KindSTWBegin, G: it.ev.G, P: r.pid(it.p), M: it.ev.M, Why: reference.WhySTW,
			Stack: int32(it.ev.Stack), Label: int32(it.ev.Reason)})
	case events.STWEnd:
		r.endSTW(it)
	case events.GCBegin:
		if !r.gcOpen {
			r.gcOpen = true
			r.say(&reference.Decision{Kind: reference.KindGCBegin, G: it.ev.G, P: r.pid(it.p), M: it.ev.M})
		}
	case events.GCEnd:
		if r.gcOpen {
			r.gcOpen = false
			r.say(&reference.Decision{Kind: reference.KindGCEnd, G: it.ev.G, P: r.pid(it.p), M: it.ev.M})
		}
	case events.AssistBegin:
		r.aside(reference.KindAssistBegin, it)
	case events.AssistEnd:
		r.aside(reference.KindAssistEnd, it)
	case events.Sample:
		r.aside(reference.KindSample, it)
	case events.TaskBegin, events.Region:
		if !r.trying {
			r.annotate(it)
		}
	case events.Lost:
		r.lost(it)
	}
	r.judged()
}

// judged ends the judgement of an event.
func (r *Reconstructor) judged() {
	if r.q.GlobalLen() == 0 {
		r.noGlobal = r.now
	}
	r.win.tail++
}

// aside hands on what the scheduler has no part in, for those who explain it.
func (r *Reconstructor) aside(k reference.Kind, it *item) {
	if r.emit == nil {
		return
	}
	g := it.ev.G
	if it.ev.Res >= 0 {
		g = it.ev.Res
	}
	d := reference.Decision{Kind: k, G: g, P: r.pid(it.p), M: it.ev.M, Victim: reference.NoP, Stack: int32(it.ev.Stack),
		Basis: reference.Known(reference.Observed, reference.RuleNone)}
	if ix := r.gs.find(g); ix >= 0 {
		d.Class, d.Flags = r.gs.At(ix).class, r.gs.At(ix).flags
	}
	r.say(&d)
}

// say emits a decision at the present time, with the queue lengths after it. It
// emits a copy, so that d need not be allocated.
func (r *Reconstructor) say(d *reference.Decision) {
	draft := r.draft()
	*draft = *d
	r.tell(draft)
}

// draft returns an empty decision to be filled in and told before another one
// is: for those that come most often, since a copy of what was just filled in
// costs more than filling it in.
func (r *Reconstructor) draft() *reference.Decision {
	d := &r.said
	if len(r.hold.asks) > 0 {
		d = r.hold.push()
	}
	*d = reference.Decision{}
	return d
}

// tell emits a draft as say does.
func (r *Reconstructor) tell(d *reference.Decision) {
	if r.emit == nil {
		return
	}
	d.Time = r.time
	r.weigh(d)
	if d.P >= 0 {
		if ix := r.pix.Find(int64(d.P)); ix != ids.None {
			d.Local = int32(r.q.ShownLen(ix))
		}
	}
	d.Global = int32(r.q.ShownGlobalLen())
	if d != &r.said {
		r.answer(false)
		return
	}
	r.emit(d)
}

func (r *Reconstructor) pid(ix int32) int32 {
	if ix < 0 {
		return reference.NoP
	}
	return r.ps[ix].id
}

func (r *Reconstructor) mid(ix int32) int64 {
	if ix < 0 {
		return reference.NoM
	}
	return r.ms[ix].id
}
