// Package reconstruct is step 3 of the pipeline: from what the trace shows to
// what the scheduler did.
//
// It drives the run queues of package reference with the observed events. A
// put follows from the event that makes a goroutine runnable (ready.go); a
// take shows itself when the goroutine starts (start.go, global.go, steal.go).
// Between the take and its start the thread may lose its CPU, so others seem to
// pass over what has already left: a bounded look-ahead (window.go) tells which
// thread has it (early.go, resize.go), and what cannot be told is mended (repair.go,
// late.go).
//
// Every decision says how it is known.
//
// It serves this module and is not stable: see package gmpscope.
package reconstruct

import (
	"math"

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
	// Without are the hypotheses that the reconstruction does without.
	Without Set
	// Emit gets the decisions in order, BlockLen at a time, but fewer at the end. It
	// may keep them, and returns an empty slice for others that it had before, or nil.
	Emit func(ds []reference.Decision) []reference.Decision
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
	without Set
	emit    func([]reference.Decision) []reference.Decision

	annotated map[annotation]int64

	win window
	ctx newest
	q   reference.Queues
	gs  goroutines
	ps  []proc
	ms  []thread
	pix ids.Index
	mix ids.Index
	cls *classes
	stk stackTraits

	now      int64 // running number of the event under judgement
	time     int64 // its time
	due      int64 // event from which on something is to be settled
	procs    int   // GOMAXPROCS
	assumed  bool  // the trace has not said it yet
	stw      stwState
	gcOpen   bool
	young    bool // the program has hardly begun
	busy     int  // Ps that have a thread; a P that no event names yet has none
	idle     idlers
	inject   injection
	taker    int32   // P that took the last batch from the global queue
	again    []again // of that, what overflows have put back
	took     []again // room for tookLast
	wider    bool    // that batch may have been a larger one
	drifting int32   // P whose batches may be others than the model's, nobody if none
	fed      bool    // something was put into the global queue since that batch
	pause    pauses
	depth    int       // takes that are being settled
	noGlobal int64     // event at which the global queue was empty last
	late     []latePut // known to come later than their events
	open     []latePut // may come later
	spills   []spill   // overflows known to come later
	putBatch int32     // number of the last overflow
	drains   []drain   // Ps that run a dedicated mark worker
	thieves  []thief   // about to steal

	ends [maxThieves + 1]batchEnd // in firstTaken, that need not clear them

	globalDoubt int64 // event by which what is in the global queue was put in doubt

	visit    visit
	visitor  int32         // goroutine that was preempted in it, and goes on with it, nobody if none
	visits   []visitBefore // in the order of their ends
	visitTo  int64         // end of the first of them
	asked    reference.Why // for whom the last visit was
	askedAt  int64         // when it ended
	askedBy  int32         // thread that visited
	noSlice  int64         // when a goroutine was preempted last that had not had its time slice
	retaken  int64         // when sysmon took a P last
	marks    marking       // what the mark phase wants
	advances bool          // the tracer is about to begin a generation
	worker   int64         // newest stop of a mark worker for lack of work, at the head of the window
	newLost  int64         // newest gap, at the head of the window, none if none
	stops    bool          // a stop-the-world has begun at the head of the window

	trial trials
	room  room

	unheard reference.Decision // drafted in a trial
	hold    holding
	sum     Summary
	srcs    [32]int64
	bases   [256]int64
}

type proc struct {
	id      int32
	known   bool
	running bool
	busy    bool // running, and one of GOMAXPROCS
	unseen  bool // since a gap in the trace: the next event says anew what it does
	idler
	m        int32 // thread, -1 if none
	g        int32 // goroutine running or in a system call on it, -1
	syscall  bool
	came     int64    // when its thread came for it
	began    int64    // when g began to run
	worker   mark     // that g is
	wanted   int64    // for how many ns a dedicated worker had been wanted when it began
	ticks    [2]int64 // when the last two goroutines started that did not inherit the time slice
	phase    phase
	headAt   int64         // event before which the head of its ring had not become that
	released bool          // handed off (handoffp) to a thread that has not come yet
	told     bool          // as was said, the thread being in sight
	why      reference.Why // of its last release
	freed    int64         // and its time
	lastM    int32
	newest   int64 // its newest transition, at the head of the window
	doubt    doubt
	borrowed int64 // event by which a thread that only allocated another gives the P up
	handed   int64 // start of the locked goroutine that the P is handed to
}

type thread struct {
	id    int64
	last  int64 // newest event of the chain, at the head of the window
	next  int64 // oldest event of the chain that has not been judged, none if none
	g     int32
	lastG int32 // goroutine that ran on it last, nobody if none
}

// newest is the context of the event at the head of the window: the next one mostly has
// the same, which then need not be looked up.
type newest struct {
	thread  int64
	p       int32
	m, proc int32      // their indices
	at      *thread    // nil if there is none; good until another one is added
	g       int32      // index of the goroutine that runs
	state   *goroutine // and what is known of it, or noGoroutine
}

// noGoroutine is none that an event can name.
var noGoroutine = goroutine{id: events.None}

// room is memory that a function needs for as long as it runs, and that it need not
// get anew each time.
type room struct {
	ring   []int32 // of firstThief
	turned []int
	items  []int32 // of batchShown
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
		without:   o.Without,
		emit:      o.Emit,
		annotated: map[annotation]int64{},
		q:         *reference.NewQueues(o.Rules),
		pix:       ids.New(),
		mix:       ids.New(),
		cls:       newClasses(t),
		stk:       stackTraits{tables: t, known: []trait{traitSeen}},
		taker:     nobody,
		drifting:  nobody,
		inject:    injection{until: none},
		idle:      idlers{last: nobody},
		visit:     visit{m: nobody},
		visitor:   nobody,
		askedBy:   nobody,
		noSlice:   math.MinInt64,
		retaken:   math.MinInt64 / 2,
		hold:      noHolding(),
		ctx:       newest{thread: events.None, p: events.None, m: nobody, proc: nobody, g: nobody, state: &noGoroutine},
		visitTo:   math.MaxInt64,
		worker:    none,
		newLost:   none,
	}
	r.gs.Table = ids.NewTable[goroutine]()
	return r
}

// Classes returns how many classes there are: their handles are below it.
func (r *Reconstructor) Classes() int32 { return int32(len(r.cls.list)) }

// Class returns what is known of a class, by its handle. It may be more later.
func (r *Reconstructor) Class(id int32) Class { return r.cls.describe(id) }

// Add takes the next events.
func (r *Reconstructor) Add(evs []events.Event) {
	r.stk.grow()
	r.cls.grow()
	for i := range evs {
		r.enter(&evs[i])
		if r.win.head > lookahead { // then as many are judged as enter
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
	r.release(true)
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
	if e.M != r.ctx.thread || e.P != r.ctx.p {
		r.enterContext(e)
	}
	of, in := nobody, nobody
	var g *goroutine // of
	switch e.Kind {
	case events.Go:
		if e.G == e.Res && e.G >= 0 { // mostly
			in = r.running(e.G)
			g, of = r.ctx.state, in
		} else {
			if of = r.gs.Find(e.Res); of == 0 {
				of = r.addGoroutine(e.Res)
			}
			g = r.gs.At(of)
			if e.G >= 0 {
				in = r.running(e.G)
			}
		}
		g.pending++
		if e.TStack != 0 || e.From == events.NotExist {
			r.learnClass(g, e)
		}
	case events.Proc:
		of = r.proc(int32(e.Res))
		if e.G >= 0 && e.To == events.Idle {
			in = r.goroutine(e.G)
		}
	}
	i := r.win.head
	it := r.win.push()
	// Field by field: a whole item would be made elsewhere and copied.
	ev := &it.ev
	ev.Time, ev.Stack, ev.TStack, ev.Reason = e.Time, e.Stack, e.TStack, e.Reason
	ev.Kind, ev.From, ev.To, ev.mark = e.Kind, e.From, e.To, 0
	it.prevM, it.nextM, it.link = none, none, none
	it.m, it.p, it.of, it.g = r.ctx.m, r.ctx.proc, of, in
	switch e.Kind {
	case events.Go:
		switch e.To {
		case events.Running:
			if e.From == events.Runnable {
				r.linkStart(i, it, g)
			}
		case events.Runnable:
			r.linkReady(i, it, g)
		case events.Waiting:
			if e.From == events.Running {
				r.seeStop(i, it)
			}
		}
		if e.From == events.Undetermined && (e.To == events.Runnable || e.To == events.Waiting) {
			return // the status of a goroutine that does not run is nothing that the thread did
		}
	case events.Proc:
		p := &r.ps[of]
		if prev := r.win.at(p.newest); prev != nil {
			prev.link = i
		}
		p.newest = i
		if e.To == events.Running && e.From != events.Idle {
			return // the status of a P, which comes with the next thing that its thread does
		}
	default:
		r.enterOther(i, it, e)
		return
	}
	m := r.ctx.at
	if m == nil {
		return
	}
	last := m.last
	it.prevM = last
	if last >= r.win.first {
		r.win.there(last).nextM = i
	}
	m.last = i
	if m.next == none {
		m.next = i
	}
}

// enterContext looks up the thread and the P of an event, of which one at least is not
// that of the event before.
func (r *Reconstructor) enterContext(e *events.Event) {
	n := &r.ctx
	if e.M != n.thread {
		m, at := nobody, (*thread)(nil)
		if e.M >= 0 {
			if m = r.mix.Find(e.M); m == ids.None {
				m = r.addThread(e.M)
			}
			at = &r.ms[m]
		}
		n.thread, n.m, n.at = e.M, m, at
	}
	if e.P != n.p {
		p := nobody
		if e.P >= 0 {
			if p = r.pix.Find(int64(e.P)); p == ids.None {
				p = r.addProc(e.P)
			}
		}
		n.p, n.proc = e.P, p
	}
}

// running returns the index of the goroutine of the context.
func (r *Reconstructor) running(id int64) int32 {
	if id != r.ctx.state.id {
		r.enterGoroutine(id)
	}
	return r.ctx.g
}

// enterGoroutine looks up the goroutine of an event.
func (r *Reconstructor) enterGoroutine(id int64) {
	ix := r.gs.Find(id)
	if ix == 0 {
		ix = r.addGoroutine(id)
	}
	r.ctx.g, r.ctx.state = ix, r.gs.At(ix)
}

// enterOther is enter for what is no transition.
func (r *Reconstructor) enterOther(i int64, it *item, e *events.Event) {
	it.setIDs(e)
	switch e.Kind {
	case events.Label:
		if e.Reason < events.LabelDedicated || e.Reason > events.LabelIdle || it.m < 0 {
			return
		}
		if s := r.win.at(r.ms[it.m].last); s != nil && s.ev.Kind == events.Go && s.ev.To == events.Running {
			s.ev.mark |= markWorker
			if e.Reason == events.LabelDedicated {
				s.ev.mark |= markDedicated
			}
			s.ev.Reason = e.Reason // a start has none of its own
		}
	case events.STWBegin, events.Procs:
		r.seeSTW(i, it)
	case events.Lost:
		r.newLost = i
	}
}

// linkStart links a goroutine's start to what made it runnable.
func (r *Reconstructor) linkStart(i int64, it *item, g *goroutine) {
	if g.newReady < r.win.tail {
		g.start = i // it became runnable before the window, or the judge has passed it
	} else {
		r.win.there(g.newReady).link = i
	}
	it.link, g.newReady = g.newReady, none
	r.ctx.g, r.ctx.state = it.of, g
}

// linkReady notes what made a goroutine runnable, and the visit that ends with that.
func (r *Reconstructor) linkReady(i int64, it *item, g *goroutine) {
	switch from := it.ev.From; {
	case from == events.Runnable:
	case from == events.Undetermined && g.newReady > r.newLost:
		// A new generation says again what is known.
	default:
		g.newReady = i
		r.seeReady(i, it)
	}
}

// goroutine returns the index of a goroutine.
func (r *Reconstructor) goroutine(id int64) int32 {
	if ix := r.gs.Find(id); ix != 0 {
		return ix
	}
	return r.addGoroutine(id)
}

func (r *Reconstructor) addGoroutine(id int64) int32 {
	ix := r.gs.add(id)
	r.q.Grow(int(r.gs.Len()), 0)
	return ix
}

func (r *Reconstructor) addThread(id int64) int32 {
	ix := int32(len(r.ms))
	r.ms = append(r.ms, thread{id: id, g: nobody, last: none, next: none, lastG: nobody})
	r.mix.Add(id, ix)
	return ix
}

func (r *Reconstructor) proc(id int32) int32 {
	if ix := r.pix.Find(int64(id)); ix != ids.None {
		return ix
	}
	return r.addProc(id)
}

func (r *Reconstructor) addProc(id int32) int32 {
	ix := int32(len(r.ps))
	p := proc{id: id, m: nobody, g: nobody, lastM: nobody, newest: none, handed: none, borrowed: none, doubt: doubt{fits: fitting}, phase: newPhase(r.rules.GlobalPoll), ticks: [2]int64{-r.rules.Slice, -r.rules.Slice}}
	if r.young {
		p.phase = youngPhase(r.rules.GlobalPoll, distant)
	}
	r.ps = append(r.ps, p)
	r.pix.Add(int64(id), ix)
	r.q.Grow(0, len(r.ps))
	return ix
}

// judge decides on the oldest event that has not been judged.
func (r *Reconstructor) judge() { r.decide(r.win.there(r.win.tail)) }

// decide is judge, of that event.
func (r *Reconstructor) decide(it *item) {
	i := r.win.tail
	r.now, r.time = i, it.ev.Time
	if i >= r.due {
		r.settleDue(it)
	}
	if mx := uint(it.m); mx < uint(len(r.ms)) {
		if m := &r.ms[mx]; m.next == i {
			m.next = it.nextM
		}
	}
	if it.ev.Kind == events.Go {
		g := r.gs.At(it.of)
		switch e := &it.ev; { // what comes most often, at once; goEvent judges all
		case g.class == 0 || g.state != e.From:
			r.goEvent(it, g)
		case e.To == events.Running && e.From == events.Syscall:
			r.leaveSyscall(it, g)
		case e.To == events.Running && e.From == events.Runnable:
			r.start(it, g)
		case e.To == events.Syscall && e.From == events.Running:
			r.enterSyscall(it, g)
		case e.To == events.Runnable && e.From == events.Waiting:
			r.ready(it, g)
		default:
			r.goEvent(it, g)
		}
		if g.dead {
			r.remove(it.of, g)
		}
		g.pending--
	} else {
		r.judgeOther(it)
	}
	r.pass()
}

// remove forgets a goroutine that has ended, if its last event is being judged.
func (r *Reconstructor) remove(ix int32, g *goroutine) {
	if g.pending > 1 || r.trial.on {
		return
	}
	if r.ctx.g == ix {
		r.ctx.g, r.ctx.state = nobody, &noGoroutine
	}
	r.gs.Remove(g.id, ix)
}

// settleDue lets happen what comes later than the event that it belongs to, and is due,
// and ends the visits that are over. Before the first event, it begins.
func (r *Reconstructor) settleDue(it *item) {
	if r.now == 0 {
		r.begin()
		r.time = it.ev.Time
	}
	if len(r.late) > 0 {
		r.putsDue(r.now)
	}
	if len(r.spills) > 0 {
		r.spillsDue(r.now)
	}
	if len(r.drains) > 0 {
		if r.mayDrain(it) {
			r.drainsAtOnce()
			r.drainsDue(it)
		}
		if it.ev.From == events.Runnable {
			r.drainEarly(it)
		}
	}
	if len(r.thieves) > 0 {
		r.thievesTake()
	}
	if r.visitEnds(it) {
		r.leaveVisits(it)
	}
	r.due = r.visitTo
	if len(r.late)|len(r.spills)|len(r.drains)|len(r.thieves) != 0 || r.visit.m >= 0 {
		r.watch()
	}
}

// watch has what is due be settled before the next event.
func (r *Reconstructor) watch() { r.due = r.now }

// judgeOther judges what is no transition of a goroutine.
func (r *Reconstructor) judgeOther(it *item) {
	switch it.ev.Kind {
	case events.Proc:
		r.procEvent(it)
	case events.Procs:
		r.procsEvent(it)
	case events.STWBegin:
		r.stw = stwState{open: true, g: it.context(), why: r.tables.Name(it.ev.Reason)}
		r.say(&reference.Decision{Kind: reference.KindSTWBegin, G: it.context(), P: r.pid(it.p), M: r.mid(it.m), Why: reference.WhySTW,
			Stack: int32(it.ev.Stack), Label: int32(it.ev.Reason)})
	case events.STWEnd:
		r.endSTW(it)
	case events.GCBegin:
		if !r.gcOpen {
			r.gcOpen = true
			r.say(&reference.Decision{Kind: reference.KindGCBegin, G: it.context(), P: r.pid(it.p), M: r.mid(it.m)})
		}
	case events.GCEnd:
		if r.gcOpen {
			r.gcOpen = false
			r.say(&reference.Decision{Kind: reference.KindGCEnd, G: it.context(), P: r.pid(it.p), M: r.mid(it.m)})
		}
	case events.AssistBegin:
		r.aside(reference.KindAssistBegin, it)
	case events.AssistEnd:
		r.aside(reference.KindAssistEnd, it)
	case events.Sample:
		r.aside(reference.KindSample, it)
	case events.TaskBegin, events.TaskEnd, events.Region, events.RegionEnd, events.Log:
		if !r.trial.on {
			r.annotate(it)
		}
	case events.Lost:
		r.lost(it)
	}
}

// judged ends the judgement of an event where a story has judged it.
func (r *Reconstructor) judged(it *item) {
	r.takeAtOnce(it)
	r.pass()
}

// pass goes on to the next event.
func (r *Reconstructor) pass() {
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
	g := it.context()
	if it.res() >= 0 {
		g = it.res()
	}
	d := reference.Decision{Kind: k, G: g, P: r.pid(it.p), M: r.mid(it.m), Victim: reference.NoP, Stack: int32(it.ev.Stack),
		Basis: reference.Known(reference.Observed, reference.RuleNone)}
	if ix := r.goroutine(g); ix >= 0 {
		d.Class, d.Flags = r.gs.At(ix).class, r.gs.At(ix).flags
	}
	r.say(&d)
}

// say emits a decision at the present time, with the queue lengths after it. It
// emits a copy, so that d need not be allocated.
func (r *Reconstructor) say(d *reference.Decision) {
	if r.emit == nil {
		return
	}
	p := nobody
	if d.P >= 0 {
		p = r.pix.Find(int64(d.P))
	}
	r.weigh(d, p)
	draft := r.draft(p, nobody)
	d.Time, d.Local, d.Global = draft.Time, draft.Local, draft.Global
	*draft = *d
	r.told()
}

// draft begins a decision at the present time, with the queue lengths after it: of the
// P and the thread with these indices, nobody if there is none. It is to be filled in
// and told before another one is: for those that come most often, since a copy of what
// was just filled in costs more than filling it in.
func (r *Reconstructor) draft(p, m int32) *reference.Decision {
	h := &r.hold
	if h.n >= BlockLen {
		return r.draftNext(p, m)
	}
	d := &h.block[h.n]
	h.n++
	h.held++
	*d = reference.Decision{}
	d.Time, d.P, d.M = r.time, reference.NoP, reference.NoM
	if px := uint(p); px < uint(len(r.ps)) {
		d.P, d.Local = r.ps[px].id, int32(r.q.ShownLen(p))
	}
	if mx := uint(m); mx < uint(len(r.ms)) {
		d.M = r.ms[mx].id
	}
	d.Global = int32(r.q.ShownGlobalLen())
	return d
}

// draftNext is draft where there is no block with room.
func (r *Reconstructor) draftNext(p, m int32) *reference.Decision {
	if r.emit == nil {
		return &r.unheard
	}
	r.release(false)
	return r.draft(p, m)
}

// told says that a draft is filled in.
func (r *Reconstructor) told() {
	if h := &r.hold; h.held >= h.due {
		r.answer(false)
	}
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
