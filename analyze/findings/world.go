package findings

import (
	"math"
	"math/bits"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/reference"
)

// World follows the stream once for all watchers of a [Set]: the Ps, the
// goroutines, who waits in which queue, run intervals and time slices.
//
// When a Watcher's Add is called, the World has taken that decision. The
// functions given to OnStint, OnSlice and OnLeave are called in the middle: the
// interval is over, but its consequences have not happened yet.
//
// Memory follows the goroutines alive, and the Ps and classes told apart, which
// are bounded. A decision costs one look-up of its goroutine, and no loop.
type World struct {
	now      int64
	procs    *procs.Tracker
	maxProcs int32
	stw      bool

	gs ids.Table[Goroutine]
	d  int32      // slot of the decision's goroutine, 0 for none
	g  *Goroutine // the same, nil for none

	span  *span.Accumulator
	ran   Ran   // up to ranAt
	ranAt int64 // since then ranN run, as far as Ran counts
	ranN  int64
	use   Use
	lost  int64 // Lost
	idle  int64 // Ps, when lost was looked at last
	// Until a KindReady shows too many runnable goroutines: one has shown enough Ps.
	calm       bool
	slackNs    int64 // for how long there was Slack
	parallelNs int64 // for how long it was Parallel
	heldUp     HeldUp

	ps       []proc
	global   list
	nowhere  list // waiting, but in no queue, or an unknown one
	stealers stealable

	runnable, running int64   // goroutines of the program
	localStarts       int64   // starts of them out of a local queue
	hops              int64   // of them, those that inherited the slice
	localLen          int64   // of them, in local queues
	filled            int64   // local queues that hold any
	localWait         int64   // how long those of localStarts had waited, ns
	loadSum           float64 // integral of Load over time
	waking            int64   // Ps
	yielded           int64   // of the runnable, those that had asked to wait

	classes []Class
	classOf map[int32]int32
	recent  [64]struct{ class, i int32 }  // of those that were asked for
	all     struct{ Stints, RunNs int64 } // of all classes

	strain, busy int64 // ns

	loadN, loadU int64 // what load is of
	load         float64
	by           int64 // of the last KindReady
	byStack      int32
	first        bool  // of the last KindStart: OnFirst's
	ended        int32 // slot of the goroutine that ended last
	stops        int64 // of goroutines of the program
	stints       int64

	requests
	call    Syscall
	callers callers
	hand    Handover
	stws    int64 // stops of the world
	coming  int64 // Ps
	stay    Stay
}

// maxClasses is how many classes are told apart; further ones share an account.
const maxClasses = 4096

// Goroutine is one that the stream has shown and that has not ended. What most
// decisions touch comes first, so that it lies in two lines of the CPU's cache.
type Goroutine struct {
	ID       int64
	ReadyAt  int64 // since when it waits for a P; -1: it does not
	QueuedAt int64 // since when it is in its present queue
	StartAt  int64 // since when it runs; -1: it does not
	Wait     int64 // the wait before this run interval, or the last; -1 if unknown
	Class    int32 // handle
	P        int32 // whose queue it waits in (NoP: the global one, or none), or where it ran last
	Stack    int32 // where it stopped last

	next, prev int32
	list       int32   // P, or one of the constants below
	mark       int64   // localStarts when it was queued
	markWait   int64   // localWait then
	loadAt     float64 // loadSum when it became runnable
	wanted     int32   // goroutines that wanted a P when it became runnable
	usable     int32   // Ps then
	load       float32 // Stint.Load, if it is known
	class      int32   // index
	markLen    int32   // localLen when it was queued
	marks      Mark
	stealable  bool

	System   bool             // belongs to the runtime or the tracer
	Self     bool             // waits because it asked for it, by runtime.Gosched
	Locked   bool             // wired to a thread, as far as seen
	New      bool             // has not run yet
	Moved    bool             // its last run interval was on another P than the one before
	ReadyWhy reference.Why    // why it became runnable last
	Reason   reference.Reason // what it waits or waited for; none if it is new, was preempted, or came from a system call
	CallWhy  reference.Why    // how its last system call lost its P, as in Syscall.Why; WhyUnknown: it has not
	RunNs    int64            // all its run intervals so far, system calls that kept the P left out
	RunAt    int64            // its run interval before the last block began; -1 if unknown
	// Of the last block, and how it ended.
	BlockedAt int64 // since when it is blocked, or was before it became runnable; -1: unknown, or it has not
	BlockedNs int64 // how long it was blocked before it became runnable last; -1: it was not
	Waker     int64 // who made it runnable; NoG: no goroutine
	WakeStack int32 // where the waker was
	RanOn     int32 // P of its last run interval; NoP: it has not run
	M         int64 // thread of its last start
	CallAt    int64 // its last system call began; -1 if unknown
	Creator   int64 // who created it; NoG if that is unknown, or was no goroutine
	Stops     int64 // of its run intervals, by a KindStop other than its end
	slackAt   int64 // World.slackNs when it began to wait for others; -1: it has been woken since
	node      span.Node
}

const (
	inNone    = int32(-1)
	inGlobal  = int32(-2)
	inNowhere = int32(-3)
)

// list is a queue as the program's goroutines in it, the earliest first.
// Integrals are of their number over time: the waiting in it. They may wrap;
// only differences are taken.
type list struct {
	head, tail int32
	n, nself   int64
	at         int64
	sum, self  int64 // goroutine-ns; self: of those that asked for it
}

func (l *list) advance(now int64) {
	if dt := now - l.at; dt > 0 {
		l.sum += l.n * dt
		l.self += l.nself * dt
		l.at = now
	}
}

// proc is what is known of a P beyond its state.
type proc struct {
	queue list
	run   int32      // slot of the goroutine that runs or is in a system call, 0 for none
	stack int32      // of the system call
	g     *Goroutine // that of run, nil for none
	// The run interval.
	sysAt int64 // since when it is in a system call; -1: it is not
	sys   int64
	// The scheduler's turn after it.
	stopAt int64 // -1: the P has no thread, or something runs
	waking bool  // got a thread, and ran nothing since
	hand   hand
	// The slice.
	slice Slice
	turn  Turn
	stint Stint // the last
	last  bool  // there is one since the P got its thread
	began int64 // starts
	// The last start, and the last that began a slice.
	startAt, startRan, sliceAt int64
	fresh                      bool  // it got a thread, and no start came since
	ranTo                      int64 // time of the last KindStop; -1: none
	// How the run interval began.
	freeAt int64 // since when the P had a thread and ran nothing before it, or has
	src    reference.Source
	idle   int64 // Stint.IdleWait of it
	first  bool  // Stint.First of it
}

// Stint is one run interval of one goroutine on one P, system calls that kept
// the P included.
type Stint struct {
	G         int64
	From, To  int64
	SyscallNs int64 // of it, in system calls
	Wait      int64 // before it; -1 if unknown
	// Load is how many goroutines of the program wanted each usable P, at least
	// 1: when it became runnable, when it started, or the mean meanwhile,
	// whichever was most. It is known after waits of which [World.OnLongWait] tells.
	Load    float64
	P       int32
	Class   int32
	Stack   int32         // where it stopped; 0 if unknown
	Why     reference.Why // WhyRetakeSlow where the P was taken in a system call
	System  bool
	Counted bool // the wait before it was neither asked for nor the runtime's
	Open    bool // it ran when the trace ended
	// How it began. Src is where it was taken from; SrcUnknown too if it began by a
	// system call's return.
	First bool // its goroutine's first, as far as seen
	Moved bool // on another P than its last
	Src   reference.Source
	Nth   int32 // run interval of its time slice, from 1
	// IdleWait is the part of the wait before it in which the P had a thread and
	// nothing to run: it searched, or took its time, ns.
	IdleWait int64
}

// Ns is the length, system calls left out.
func (s *Stint) Ns() int64 { return s.To - s.From - s.SyscallNs }

// Slice is a chain of run intervals on one P that share a time slice, because
// each after the first inherited it through runnext.
type Slice struct {
	P         int32
	Stints    int32
	Created   int32         // of them, first ones of goroutines that were created meanwhile
	Why       reference.Why // of its last stop
	Stack     int32
	Open      bool // it ran when the trace ended
	System    bool // a goroutine of the runtime took part
	N         int8 // goroutines in Gs; 5 means more
	Gs        [4]int64
	Classes   [4]int32
	From, To  int64
	SyscallNs int64
}

// Ns is the length, system calls left out.
func (s *Slice) Ns() int64 { return s.To - s.From - s.SyscallNs }

// Stay is a stay of a goroutine of the program in one queue.
type Stay struct {
	G    *Goroutine
	P    int32 // NoP: the global queue
	From int64 // when it was put there
	To   int64
	// Later is how many goroutines of the program were started from local queues
	// meanwhile, less those that stood there before; LaterWait how long they had
	// waited, on average.
	Later     int64
	LaterWait int64
	Start     bool // it left to run
	Src       reference.Source
	Open      bool // it was there when the trace ended
}

// NewWorld returns a World that has seen nothing.
func NewWorld() *World {
	return &World{
		procs: procs.NewTracker(), requests: newRequests(), callers: newCallers(), span: span.New(),
		gs:      ids.NewTable[Goroutine](),
		by:      reference.NoG,
		classes: make([]Class, 1),
		classOf: map[int32]int32{},
	}
}

// Syscall is one system call, or the part of it until its P was taken.
type Syscall struct {
	G        int64
	From, To int64
	P        int32
	Class    int32
	Stack    int32
	// Why is WhyRetakeSlow where sysmon took the P, WhyRetakeReturn where another
	// thread that came back from a system call did, and WhySyscallExit where the
	// goroutine came back to its P. WhyUnknown: the P was given up otherwise.
	Why    reference.Why
	Local  int32 // goroutines of the program in the P's queue when it ended
	System bool
}

// callOver tells that the system call on P p is over, or goes on without it.
func (w *World) callOver(p *proc, why reference.Why) {
	if p.sysAt < 0 || p.run == 0 {
		return
	}
	g := p.g
	if why != reference.WhySyscallExit {
		g.CallWhy = why
	}
	if !g.System {
		w.classes[g.class].Calls++
	}
	w.callers.n[w.callers.find(p.stack)]++
	if !w.wantsSyscall(w.now-p.sysAt, why) {
		return
	}
	c := &w.call // field by field, as in endStint
	c.G, c.From, c.To, c.P, c.Class, c.Stack = g.ID, p.sysAt, w.now, p.slice.P, g.Class, p.stack
	c.Why, c.Local, c.System = why, int32(p.queue.n), g.System
	w.tellSyscall(c)
}

// ByID returns the goroutine with an ID, or nil.
func (w *World) ByID(id int64) *Goroutine {
	if i := w.find(id); i != 0 {
		return w.gs.At(i)
	}
	return nil
}

// find returns the slot of the goroutine with an ID, 0 if there is none.
func (w *World) find(id int64) int32 { return w.gs.Find(id) }

// Running returns the goroutine that runs on P p, or is in a system call that
// keeps it; nil if there is none.
func (w *World) Running(p int32) *Goroutine {
	if uint32(p) < uint32(len(w.ps)) {
		return w.ps[p].g
	}
	return nil
}

// InSyscall returns since when the goroutine on P p is in a system call; -1: it
// is not.
func (w *World) InSyscall(p int32) int64 {
	if pp := w.p(p); pp != nil && pp.run != 0 {
		return pp.sysAt
	}
	return -1
}

// Queued returns how many goroutines of the program stand in P p's queue, or in
// the global one for NoP.
func (w *World) Queued(p int32) int64 {
	if p < 0 {
		return w.global.n
	}
	if pp := w.p(p); pp != nil {
		return pp.queue.n
	}
	return 0
}

// QueuedLocally returns how many goroutines of the program stand in queues of
// Ps, and how many of these queues are not empty.
func (w *World) QueuedLocally() (n, queues int64) { return w.localLen, w.filled }

// QueuedNs is how long goroutines of the program have stood in P p's queue, ns.
func (w *World) QueuedNs(p int32) int64 {
	pp := w.p(p)
	if pp == nil {
		return 0
	}
	pp.queue.advance(w.now)
	return pp.queue.sum
}

// Runnable and RunningNow count the goroutines of the program that wait for a P
// and those that run.
func (w *World) Runnable() int64   { return w.runnable }
func (w *World) RunningNow() int64 { return w.running }

// Yielded returns how many of the runnable ones wait because they asked for it,
// by runtime.Gosched.
func (w *World) Yielded() int64 { return w.yielded }

// Now returns the time of the last decision.
func (w *World) Now() int64 { return w.now }

// Ps returns the states of the Ps and the lengths of the queues.
func (w *World) Ps() *procs.Tracker { return w.procs }

// Procs returns GOMAXPROCS, at least 1.
func (w *World) Procs() int64 { return max(1, int64(w.procs.Procs())) }

// Stopping reports whether a stop-the-world is in progress.
func (w *World) Stopping() bool { return w.stw }

// Stealable returns how many goroutines of the program stand in queues from
// which any idle P could take them: those wired to a thread, and those that
// yielded, left out. since is from when on there was at least one.
func (w *World) Stealable() (n, since int64) { return w.stealers.n, w.stealers.since }

// Goroutine returns that of the last decision, or nil.
func (w *World) Goroutine() *Goroutine {
	return w.g
}

// Slot is a small number for the goroutine of the last decision, by which a
// Watcher can keep what it knows of goroutines in a slice; 0: there is none, or
// it has just ended. A later goroutine may get the same one: compare the ID.
func (w *World) Slot() int32 { return w.d }

// Ended is the [World.Slot] of the goroutine that ended last, and what was known of
// it. Both are good until the next decision.
func (w *World) Ended() (int32, *Goroutine) { return w.ended, w.gs.At(w.ended) }

// Mark gives a mark of [World.OnMarked] to the goroutine with a slot, and Unmark
// takes it away.
func (w *World) Mark(slot int32, m Mark)   { w.gs.At(slot).marks |= m }
func (w *World) Unmark(slot int32, m Mark) { w.gs.At(slot).marks &^= m }

// Waker is who made a goroutine runnable last, and where it was; one that yields
// does so itself.
func (w *World) Waker() (g int64, stack int32) { return w.by, w.byStack }

// Stints is how many run intervals of the program's goroutines have ended, and
// Stops how many of them by a KindStop other than its end.
func (w *World) Stints() int64 { return w.stints }
func (w *World) Stops() int64  { return w.stops }

// LastStint returns the last run interval on P p; nil if there was none since the
// P got its thread. It is valid until the next decision.
func (w *World) LastStint(p int32) *Stint {
	if uint32(p) >= uint32(len(w.ps)) || !w.ps[p].last {
		return nil
	}
	return &w.ps[p].stint
}

// StoppedAt is when a goroutine stopped on P p last; -1: none did.
func (w *World) StoppedAt(p int32) int64 {
	if uint32(p) >= uint32(len(w.ps)) {
		return -1
	}
	return w.ps[p].ranTo
}

// Began is how many starts there were on P p.
func (w *World) Began(p int32) int64 {
	if uint32(p) >= uint32(len(w.ps)) {
		return 0
	}
	return w.ps[p].began
}

// Waiting calls f for the goroutines of the program in P's queue, or in the
// global one for NoP, the earliest first, until it returns false.
func (w *World) Waiting(p int32, f func(*Goroutine) bool) {
	l := &w.global
	if p >= 0 {
		if int(p) >= len(w.ps) {
			return
		}
		l = &w.ps[p].queue
	}
	for i := l.head; i != 0; i = w.gs.At(i).next {
		if !f(w.gs.At(i)) {
			return
		}
	}
}

// Everyone calls f for all goroutines of the program that wait, in the order of
// their slots, which depends on nothing but the stream.
func (w *World) Everyone(f func(*Goroutine)) {
	for i := int32(1); i < w.gs.Len(); i++ {
		if g := w.gs.At(i); g.ReadyAt >= 0 && !g.System {
			f(g)
		}
	}
}

// Load is how many goroutines of the program there are for each usable P, at
// least 1.
func (w *World) Load() float64 {
	n, usable := w.runnable+w.running, max(1, w.procs.Usable())
	if n <= usable {
		return 1
	}
	if n != w.loadN || usable != w.loadU {
		w.loadN, w.loadU, w.load = n, usable, float64(n)/float64(usable)
	}
	return w.load
}

// load is how many goroutines there are for each usable P, at least 1.
func load(n, usable int64) float64 {
	if usable = max(1, usable); n > usable {
		return float64(n) / float64(usable)
	}
	return 1
}

// loadBefore is Load when g became runnable.
func (g *Goroutine) loadBefore() float32 { return float32(load(int64(g.wanted), int64(g.usable))) }

// meanLoad is the mean of Load since g became runnable.
func (w *World) meanLoad(g *Goroutine) float32 {
	if dt := w.now - g.ReadyAt; dt > 0 {
		return float32((w.loadSum - g.loadAt) / float64(dt))
	}
	return 1
}

// LoadOf is the highest of the load when a waiting goroutine became runnable,
// the mean since, and the present one.
func (w *World) LoadOf(g *Goroutine) float64 {
	return max(float64(max(g.loadBefore(), w.meanLoad(g))), w.Load())
}

// Starts returns how many starts of the program's goroutines came out of local
// queues, and how many of them inherited the time slice.
func (w *World) Starts() (local, hops int64) { return w.localStarts, w.hops }

// Strained reports whether threads seem to have lacked CPUs: more than a tenth
// of the busy time lies in run intervals that are freaks of their class (over
// 1 ms, over 20 times its median, at most one in 50 that long, and not ended by
// a preemption), or in pauses
// of over 1 ms of Ps that had a thread and work. A P whose thread the operating
// system does not run looks just so.
func (w *World) Strained() bool {
	return w.strain >= 2_000_000 && float64(w.strain) > 0.1*float64(w.busy)
}

// Median is a typical run interval of a class, in ns; 0 if there is none.
func (w *World) Median(class int32) int64 { return w.classByHandle(class).Median() }

// ClassStat returns what is known of a class. The result is valid until the
// next decision.
func (w *World) ClassStat(class int32) *Class { return w.classByHandle(class) }

// MeanStint is the mean run interval of all goroutines of the program, in ns.
func (w *World) MeanStint() int64 { return w.all.RunNs / max(1, w.all.Stints) }

func (w *World) classByHandle(c int32) *Class {
	r := &w.recent[uint32(c)%uint32(len(w.recent))]
	if r.class != c || r.i == 0 {
		r.class, r.i = c, w.classOf[c]
	}
	return &w.classes[r.i]
}

func (w *World) classIndex(c int32) int32 {
	i, ok := w.classOf[c]
	if !ok {
		if len(w.classes) >= maxClasses {
			return 0
		}
		i = int32(len(w.classes))
		w.classes = append(w.classes, Class{ID: c})
		w.classOf[c] = i
	}
	return i
}

const notOfProgram = reference.FlagSystem | reference.FlagTracer | reference.FlagGC

// add takes the next decision.
func (w *World) add(d *reference.Decision) {
	if dt := d.Time - w.now; dt > 0 {
		if dt >= silenceNs {
			w.silent(d.Time)
		}
		w.pass(dt)
	}
	w.d, w.g = 0, nil
	// The ends of intervals come before the Ps change, the rest after.
	switch d.Kind {
	case reference.KindReady:
		w.procs.Apply(d)
		if d.G >= 0 {
			w.ready(d)
		}
		w.see(d, false)
		return
	case reference.KindStart:
		if d.G >= 0 {
			w.start(d)
		}
		w.procs.Apply(d)
		w.see(d, false)
		return
	case reference.KindStop:
		if d.G >= 0 {
			w.stop(d)
		}
		w.procs.Apply(d)
		w.see(d, false)
		return
	case reference.KindSyscall:
		w.syscall(d)
		w.procs.Apply(d)
		w.see(d, false)
		return
	case reference.KindSyscallExit:
		w.syscallExit(d)
		w.procs.Apply(d)
		w.see(d, false)
		if d.P < 0 {
			w.onReturn.call(d)
		}
		return
	case reference.KindMove:
		w.move(d)
		w.procs.Apply(d)
		w.seeLost(d, false)
		return
	case reference.KindPStart:
		if p := w.p(d.P); p != nil {
			p.stopAt, p.freeAt, p.fresh = -1, w.now, true
			w.setComing(p, false)
			w.setWaking(p, true)
		}
	case reference.KindPStop, reference.KindRetake:
		if p := w.p(d.P); p != nil {
			w.callOver(p, d.Why)
			w.endStint(p, w.whyLost(d), 0, false)
			w.endSlice(p, false)
			p.stopAt, p.last = -1, false
			w.setWaking(p, false)
			w.released(p, d)
		}
	case reference.KindHandoff:
		if p := w.p(d.P); p != nil {
			w.handedOff(p, d)
		}
	case reference.KindSTWBegin:
		w.stw = true
		w.stws++
	case reference.KindSTWEnd:
		w.stw = false
	case reference.KindProcs:
		w.maxProcs = max(w.maxProcs, d.Batch)
	case reference.KindSample:
		if d.G >= 0 && d.Flags&notOfProgram == 0 {
			w.setRan(w.running)
		}
	}
	w.procs.Apply(d)
	switch d.Kind {
	case reference.KindPStart, reference.KindPStop, reference.KindRetake, reference.KindSTWEnd, reference.KindProcs:
		w.see(d, true)
	case reference.KindHandoff, reference.KindSTWBegin:
		w.seeLost(d, true)
	}
}

// pass lets dt ns pass.
func (w *World) pass(dt int64) {
	w.loadSum += float64(w.Load() * float64(dt))
	w.now += dt
	w.span.Pass(w.now)
	if w.use.Slack {
		w.slackNs += dt
	}
	if w.use.Parallel {
		w.parallelNs += dt
	}
}

func (w *World) whyLost(d *reference.Decision) reference.Why {
	if d.Kind == reference.KindRetake {
		return reference.WhyRetakeSlow
	}
	return d.Why
}

func (w *World) setWaking(p *proc, on bool) {
	w.waking += b2i64(on) - b2i64(p.waking)
	p.waking = on
}

// Waking returns how many Ps have got a thread and run nothing since: each is on
// its way to take something.
func (w *World) Waking() int64 { return w.waking }

// Changes returns the changes of the Ps' states that the last decision meant.
func (w *World) Changes() []procs.Change { return w.procs.Changes() }

func (w *World) p(id int32) *proc {
	if uint32(id) < uint32(len(w.ps)) {
		return &w.ps[id]
	}
	return w.addP(id)
}

// addP returns a P that was not seen before; nil if there is none to be had.
func (w *World) addP(id int32) *proc {
	if id < 0 || id >= procs.MaxPs {
		return nil
	}
	for int(id) >= len(w.ps) {
		id := int32(len(w.ps))
		w.ps = append(w.ps, proc{sysAt: -1, stopAt: -1, ranTo: -1, startAt: -1, sliceAt: -1, hand: hand{at: -1}, slice: Slice{P: id}, turn: Turn{P: id}})
	}
	return &w.ps[id]
}

// goroutine returns the slot of d's goroutine, and takes over what d says of it.
func (w *World) goroutine(d *reference.Decision) (int32, *Goroutine) {
	i := w.find(d.G)
	if i == 0 {
		i = w.newGoroutine(d.G)
	}
	g := w.gs.At(i)
	w.seen(d, i, g)
	return i, g
}

// onP is goroutine for decisions about one that mostly runs on d's P.
func (w *World) onP(d *reference.Decision) (int32, *Goroutine) {
	if g := w.Running(d.P); g != nil && g.ID == d.G {
		i := w.ps[d.P].run
		w.seen(d, i, g)
		return i, g
	}
	return w.goroutine(d)
}

// waker is the goroutine that d names as such, nil if there is none.
func (w *World) waker(d *reference.Decision) *Goroutine {
	if d.By < 0 {
		return nil
	}
	if g := w.Running(d.P); g != nil && g.ID == d.By {
		return g
	}
	return w.ByID(d.By)
}

// seen takes over what d says of its goroutine.
func (w *World) seen(d *reference.Decision, i int32, g *Goroutine) {
	w.d, w.g = i, g
	if d.Class != g.Class || d.Flags&notOfProgram != 0 && !g.System {
		w.learn(d, g)
	}
}

// learn is for what d says that was not known.
func (w *World) learn(d *reference.Decision, g *Goroutine) {
	if d.Class != 0 && d.Class != g.Class {
		g.Class = d.Class
		g.class = w.classIndex(d.Class)
	}
	if d.Flags&notOfProgram != 0 && !g.System {
		w.uncount(g)
		w.leave(g)
		g.System = true
		w.span.Forget(&g.node)
	}
}

func (w *World) newGoroutine(id int64) int32 {
	i := w.gs.Add(id)
	*w.gs.At(i) = Goroutine{ID: id, ReadyAt: -1, StartAt: -1, Wait: -1, BlockedAt: -1, BlockedNs: -1, RunAt: -1, CallAt: -1, Waker: reference.NoG, Creator: reference.NoG, M: reference.NoM, P: reference.NoP, RanOn: reference.NoP, list: inNone, slackAt: -1}
	return i
}

func (w *World) uncount(g *Goroutine) {
	if g.System {
		return
	}
	if g.ReadyAt >= 0 {
		w.runnable--
	}
	if g.StartAt >= 0 {
		w.running--
	}
}

// setReady and setStart keep the counts of the program's goroutines.
func (w *World) setReady(g *Goroutine, at int64) {
	if !g.System {
		w.runnable += b2i64(at >= 0) - b2i64(g.ReadyAt >= 0)
	}
	g.ReadyAt = at
}

func (w *World) setStart(g *Goroutine, at int64) {
	if !g.System {
		w.running += b2i64(at >= 0) - b2i64(g.StartAt >= 0)
	}
	g.StartAt = at
}

func b2i64(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (w *World) ready(d *reference.Decision) {
	i, g := w.goroutine(d)
	if g.StartAt >= 0 { // its stop was not shown
		w.endRun(g, d.Why, 0)
	}
	w.leave(g)
	w.setReady(g, w.now)
	g.Self = d.Why == reference.WhyGosched
	by := w.waker(d)
	if d.Why == reference.WhyCreate {
		g.New, g.Creator = true, d.By
		if by != nil {
			w.classes[by.class].Creates++
		}
	}
	g.ReadyWhy, g.Waker, g.WakeStack = d.Why, d.By, d.Stack
	w.by, w.byStack = d.By, d.Stack
	if d.Why == reference.WhyGosched {
		w.by = d.G
	}
	g.BlockedNs = -1
	if g.Reason != reference.ReasonNone && g.BlockedAt >= 0 {
		g.BlockedNs = w.now - g.BlockedAt
	}
	g.wanted, g.usable, g.loadAt = int32(w.runnable+w.running), int32(w.procs.Usable()), w.loadSum
	w.enter(i, g, d.To, d.P)
	if !g.System {
		w.span.Ready(&g.node, g.Class)
		if by != nil && by != g && !by.System {
			w.span.Wake(&g.node, &by.node, by.Class, d.Stack)
		}
	}
	if d.By >= 0 && g.slackAt >= 0 {
		if ns := w.slackNs - g.slackAt; ns > 0 && by != nil && !g.System {
			w.heldUp = HeldUp{G: g, By: by, To: w.now, Ns: ns}
			w.onHeldUp.call(&w.heldUp)
		}
		g.slackAt = -1
	}
}

func (w *World) move(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	i := w.find(d.G)
	if i == 0 {
		return
	}
	g := w.gs.At(i)
	if g.ReadyAt < 0 {
		return
	}
	w.d, w.g = i, g
	w.stayOver(g, d, false)
	w.leave(g)
	w.enter(i, g, d.To, d.P)
}

// enter puts a waiting goroutine of the program into a queue.
func (w *World) enter(i int32, g *Goroutine, to reference.Queue, p int32) {
	g.QueuedAt = w.now
	if g.System {
		return
	}
	l := &w.nowhere
	g.list, g.P = inNowhere, reference.NoP
	switch to {
	case reference.QueueRunnext, reference.QueueLocal:
		if pp := w.p(p); pp != nil {
			l, g.list, g.P = &pp.queue, p, p
			w.localLen++
		}
	case reference.QueueGlobal:
		l, g.list = &w.global, inGlobal
	}
	g.mark, g.markLen, g.markWait = w.localStarts, int32(w.localLen), w.localWait
	l.advance(w.now)
	g.prev, g.next = l.tail, 0
	if l.tail != 0 {
		w.gs.At(l.tail).next = i
	} else {
		l.head = i
	}
	l.tail = i
	l.n++
	if g.list >= 0 {
		if l.n == 1 {
			w.filled++
		}
		w.lengthened(l.n)
	}
	if g.Self {
		l.nself++
		w.yielded++
	}
	if g.list != inNowhere && !g.Self && !g.Locked {
		g.stealable = true
		w.stealers.add(w.now, to == reference.QueueRunnext)
	}
}

// leave takes a goroutine out of the queue that it is in, if any.
func (w *World) leave(g *Goroutine) {
	if g.list != inNone {
		w.leaveQueue(g)
	}
}

func (w *World) leaveQueue(g *Goroutine) {
	var l *list
	switch {
	case g.list >= 0:
		l = &w.ps[g.list].queue
		w.localLen--
	case g.list == inGlobal:
		l = &w.global
	default:
		l = &w.nowhere
	}
	l.advance(w.now)
	if g.prev != 0 {
		w.gs.At(g.prev).next = g.next
	} else {
		l.head = g.next
	}
	if g.next != 0 {
		w.gs.At(g.next).prev = g.prev
	} else {
		l.tail = g.prev
	}
	l.n--
	if g.list >= 0 {
		if l.n == 0 {
			w.filled--
		}
		w.shortened(l.n)
	}
	if g.Self {
		l.nself--
		w.yielded--
	}
	if g.stealable {
		g.stealable = false
		w.stealers.n--
	}
	g.list, g.next, g.prev = inNone, 0, 0
}

// stayOver tells that a goroutine is about to leave its queue.
func (w *World) stayOver(g *Goroutine, d *reference.Decision, start bool) {
	if g.list == inNone || g.list == inNowhere || g.list >= 0 && w.onLeaveWhy[g.ReadyWhy&whyMask].on == 0 {
		return
	}
	w.stay = Stay{G: g, P: reference.NoP, From: g.QueuedAt, To: w.now, Start: start}
	if n := w.localStarts - g.mark; n > 0 {
		w.stay.Later = n - int64(g.markLen)
		w.stay.LaterWait = (w.localWait - g.markWait) / n
	}
	if g.list >= 0 {
		w.stay.P = g.list
	}
	if d == nil {
		w.stay.Open = true
	} else if start {
		w.stay.Src = d.Src
	}
	if g.list == inGlobal {
		w.onLeaveGlobal.call(&w.stay)
	}
	w.onLeaveWhy[g.ReadyWhy&whyMask].call(&w.stay)
}

func (w *World) start(d *reference.Decision) {
	w.first = false
	i, g := w.goroutine(d)
	if g.StartAt >= 0 { // its stop was not shown
		w.endRun(g, reference.WhyUnknown, 0)
	}
	p := w.p(d.P)
	inherits := d.Flags&reference.FlagInherits != 0 || d.Src == reference.SrcRunnext
	if p != nil {
		w.endStint(p, reference.WhyUnknown, 0, false)
		if !inherits {
			w.endSlice(p, false)
		}
	}
	w.stayOver(g, d, true)
	if p != nil && p.stopAt >= 0 {
		// The P had a thread and work, and yet nothing ran: a strained machine.
		if gap := w.now - p.stopAt; gap >= 1_000_000 && g.list == d.P && g.QueuedAt <= p.stopAt && !w.stw {
			w.strain += gap
			w.busy += gap
		}
	}
	if !g.System {
		switch d.Src {
		case reference.SrcRunnext, reference.SrcLocal, reference.SrcSteal, reference.SrcStealRunnext:
			w.localStarts++
			if g.ReadyAt >= 0 {
				w.localWait += w.now - g.ReadyAt
			}
			w.classes[g.class].Local++
			if inherits {
				w.hops++
			}
		}
	}
	w.leave(g)
	if p != nil && p.hand.at >= 0 {
		w.handOver(p, g, d)
	}
	g.Wait = -1
	if g.ReadyAt >= 0 && d.Wait >= 0 {
		g.Wait = w.now - g.ReadyAt
		if g.Wait >= w.longWait {
			g.load = max(g.loadBefore(), w.meanLoad(g), float32(w.Load()))
		}
	}
	if d.Flags&reference.FlagLocked != 0 {
		g.Locked = true
	}
	g.M = d.M
	idle := int64(0)
	if p != nil && g.Wait > 0 && (p.stopAt >= 0 || p.waking) {
		idle = w.now - max(g.ReadyAt, p.freeAt)
	}
	w.setReady(g, -1)
	w.setStart(g, w.now)
	w.run(i, g, p, d.P)
	if p != nil {
		p.src, p.idle = d.Src, idle
		p.began++
		w.first, p.fresh = p.fresh, false
		p.startAt, p.startRan = w.now, w.Ran().Ns
		if !inherits {
			p.sliceAt = w.now
		}
	}
	g.New = false
	w.setRan(w.running)
	if !g.System && d.P >= 0 {
		w.span.Run(&g.node, g.Class)
	}
}

// run lets goroutine i run on P p, which may be nil.
func (w *World) run(i int32, g *Goroutine, p *proc, id int32) {
	g.P = id
	first := g.RanOn < 0
	g.Moved = !first && g.RanOn != id
	g.RanOn = id
	if p == nil {
		return
	}
	p.first = first
	p.run, p.g, p.stopAt, p.sysAt, p.sys = i, g, -1, -1, 0
	p.src, p.idle = reference.SrcUnknown, 0
	w.setWaking(p, false)
	s := &p.slice
	if s.Stints == 0 {
		s.From, s.SyscallNs, s.Created, s.N, s.System = w.now, 0, 0, 0, false
	} else if g.New {
		s.Created++
	}
	s.Stints++
	s.Why, s.Stack = reference.WhyUnknown, 0
	s.System = s.System || g.System
	for k := range s.N {
		if int(k) < len(s.Gs) && s.Gs[k] == g.ID {
			return
		}
	}
	if int(s.N) < len(s.Gs) {
		s.Gs[s.N], s.Classes[s.N] = g.ID, g.Class
	}
	s.N = min(s.N+1, int8(len(s.Gs)+1))
}

// endRun ends the run interval of g, wherever it runs.
func (w *World) endRun(g *Goroutine, why reference.Why, stack int32) {
	if p := w.p(g.P); p != nil && p.g == g {
		w.endStint(p, why, stack, false)
		return
	}
	w.setStart(g, -1)
}

// endStint ends the run interval on P p, if there is one.
func (w *World) endStint(p *proc, why reference.Why, stack int32, open bool) {
	g := p.g
	if g == nil {
		return
	}
	p.hand.giver, p.hand.class, p.hand.stack = g.ID, g.Class, stack
	if p.sysAt >= 0 {
		p.sys += w.now - p.sysAt
		p.sysAt = -1
		p.hand.stack = p.stack
	}
	// Field by field: a literal would be made elsewhere and copied.
	s := &p.stint
	p.last = true
	s.G, s.From, s.To, s.SyscallNs, s.Wait, s.Load = g.ID, g.StartAt, w.now, p.sys, g.Wait, float64(g.load)
	s.P, s.Class, s.Stack, s.Why, s.System = p.slice.P, g.Class, stack, why, g.System
	s.Counted, s.Open = !g.System && !g.Self && g.Wait >= 0, open
	s.First, s.Moved, s.Src, s.Nth, s.IdleWait = p.first, g.Moved, p.src, p.slice.Stints, p.idle
	p.run, p.g = 0, nil
	w.addTurn(p, s)
	sl := &p.slice
	sl.To, sl.Why, sl.Stack, sl.Open = w.now, why, stack, open
	sl.SyscallNs += p.sys
	p.sys = 0
	ns := s.Ns()
	g.RunNs += ns
	if !s.System {
		w.stints++
		w.busy += ns
		c := &w.classes[g.class]
		if ns >= 1_000_000 && why != reference.WhySlice && c.Stints >= 10 && ns >= 20*c.Median() && 50*c.Over(1_000_000) <= c.Stints {
			w.strain += ns
		}
		if !open {
			w.all.Stints++
			w.all.RunNs += max(1, ns)
			c.add(ns, !s.First && !s.Moved && !(g.Locked && w.g == g), why)
		}
	}
	w.setRan(w.running - 1)
	w.tellStint(s)
	if why == reference.WhySlice {
		w.endTurn(p)
	}
	w.setStart(g, -1)
	g.Wait = -1
	if !open {
		p.stopAt, p.freeAt = w.now, w.now
	}
}

func (w *World) endSlice(p *proc, open bool) {
	s := &p.slice
	if s.Stints == 0 {
		return
	}
	s.Open = open
	w.endTurn(p)
	w.tellSlice(s)
	s.Stints, s.N = 0, 0
}

func (w *World) stop(d *reference.Decision) {
	i, g := w.onP(d)
	g.RunAt = g.StartAt
	if g.RunAt >= 0 && !g.System && d.Why != reference.WhyExit {
		w.stops++
		g.Stops++
	}
	if p := w.p(d.P); p != nil {
		p.ranTo = w.now
	}
	if g.StartAt >= 0 {
		w.endRun(g, d.Why, d.Stack)
	}
	g.BlockedAt, g.Reason = -1, reference.ReasonNone
	if d.Why == reference.WhyBlock {
		g.BlockedAt, g.Reason = w.now, d.Reason
		if forOthers>>d.Reason&1 != 0 {
			g.slackAt = w.slackNs
		}
	}
	if d.Stack != 0 {
		g.Stack = d.Stack
	}
	if !g.System {
		w.span.Stop(&g.node, g.Class, d.Stack)
	}
	if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
		w.span.Exit(&g.node)
		w.leave(g)
		w.setReady(g, -1)
		w.gs.Remove(d.G, i)
		w.d, w.g, w.ended = 0, nil, i
	}
}

func (w *World) syscall(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	i, g := w.onP(d)
	g.CallAt, g.CallWhy = w.now, reference.WhyUnknown
	if !g.System {
		w.span.Stop(&g.node, g.Class, d.Stack)
	}
	p := w.p(d.P)
	if p == nil {
		return
	}
	if p.run != i {
		w.endStint(p, reference.WhyUnknown, 0, false)
		w.setStart(g, w.now)
		w.run(i, g, p, d.P)
	}
	p.sysAt, p.stack = w.now, d.Stack
	if d.Stack != 0 {
		g.Stack = d.Stack
	}
}

func (w *World) syscallExit(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	i, g := w.onP(d)
	if !g.System && d.P >= 0 {
		w.span.Run(&g.node, g.Class)
	}
	p := w.p(d.P)
	if p == nil {
		return
	}
	if p.run == i {
		if p.sysAt >= 0 {
			w.callOver(p, reference.WhySyscallExit)
			p.sys += w.now - p.sysAt
			p.sysAt = -1
		}
		return
	}
	if g.ReadyAt >= 0 {
		return
	}
	if g.StartAt >= 0 {
		w.endRun(g, reference.WhyUnknown, 0)
	}
	w.endStint(p, reference.WhyUnknown, 0, false)
	w.setStart(g, w.now)
	w.run(i, g, p, d.P)
}

// finish ends what is open at the end of the trace.
func (w *World) finish(end int64) {
	if dt := end - w.now; dt > 0 {
		w.pass(dt)
	}
	for k := range w.ps {
		p := &w.ps[k]
		w.endStint(p, reference.WhyUnknown, 0, true)
		w.endSlice(p, true)
	}
	for i := int32(1); i < w.gs.Len(); i++ {
		if g := w.gs.At(i); g.list != inNone {
			w.stayOver(g, nil, false)
		}
	}
}

// nodes gives what the span keeps of the goroutines, in the order of their slots.
func (w *World) nodes(yield func(int32, *span.Node) bool) {
	for i := int32(1); i < w.gs.Len(); i++ {
		if g := w.gs.At(i); !yield(g.Class, &g.node) {
			return
		}
	}
}

// stealable counts goroutines that an idle P could take.
type stealable struct {
	n, since int64
}

// youngRunnext is how long a goroutine in runnext is left to its own P: a thief
// sleeps that long first (runqgrab).
const youngRunnext = 3_000

func (s *stealable) add(now int64, runnext bool) {
	if s.n == 0 {
		s.since = now
		if runnext {
			s.since += youngRunnext
		}
	} else if !runnext {
		s.since = min(s.since, now)
	}
	s.n++
}

// Class is the run intervals of the goroutines of one class.
type Class struct {
	ID     int32
	Stints int64
	RunNs  int64
	Local  int64 // starts out of local queues
	// Creates is how many goroutines its goroutines created.
	Creates int64
	Calls   int64 // system calls, as in World.OnSyscall
	// Of the run intervals on the same P as the last before, those of goroutines
	// known to be wired to a thread left out.
	Again, AgainNs int64
	bars           [bars]int64 // but those in kept
	kept           [bars]int64 // of Again, those that the goroutine ended itself
}

// Two bars for each power of two.
const bars = 96

func (c *Class) add(ns int64, again bool, why reference.Why) {
	bar := bar(max(1, ns))
	c.Stints++
	c.RunNs += max(1, ns)
	if again {
		c.Again++
		c.AgainNs += ns
		if why == reference.WhyBlock || why == reference.WhyExit || why == reference.WhyGosched {
			c.kept[bar]++
			return
		}
	}
	c.bars[bar]++
}

// Kept is the lengths of the run intervals of Again that the goroutine ended
// itself: it blocked, ended, or called runtime.Gosched.
func (c *Class) Kept() Lengths {
	l := Lengths{bars: c.kept}
	for _, n := range c.kept {
		l.N += n
	}
	return l
}

func bar(ns int64) int {
	e := bits.Len64(uint64(ns)) - 1
	b := 2 * e
	if e > 0 && ns>>uint(e-1)&1 == 1 {
		b++
	}
	return min(b, bars-1)
}

// Mean is the mean run interval in ns; 0 if there is none.
func (c *Class) Mean() int64 {
	if c.Stints == 0 {
		return 0
	}
	return c.RunNs / c.Stints
}

// Median is the median run interval in ns, within a quarter; 0 if there is none.
func (c *Class) Median() int64 {
	if c.Stints == 0 {
		return 0
	}
	need, seen := (c.Stints+1)/2, int64(0)
	for i, n := range c.bars {
		if seen += n + c.kept[i]; seen >= need {
			low := math.Ldexp(1+float64(i%2)/2, i/2)
			return int64(low * 1.25)
		}
	}
	return c.Mean()
}

// Classes calls f for all classes that are told apart, in the order in which the
// stream showed them.
func (w *World) Classes(f func(*Class)) {
	for i := range w.classes {
		if c := &w.classes[i]; c.Stints > 0 {
			f(c)
		}
	}
}

// Over returns how many run intervals were of at least ns, within a bar.
func (c *Class) Over(ns int64) int64 {
	var n int64
	for i := bar(ns); i < bars; i++ {
		n += c.bars[i] + c.kept[i]
	}
	return n
}
