package work

import (
	"cmp"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of an [Accumulator]. Handles are small numbers: the Stack, Class and Label of a
// [reference.Decision].
type Options struct {
	// Frames returns the stack with a handle, innermost frame first, valid until it is called
	// again. It is called in Add. A frame that several stacks have should be the same *Frame.
	Frames func(stack int32) []*Frame
	// Class returns what is known of the class with a handle.
	Class func(class int32) Class
	// Label returns the type of tasks or regions with a handle.
	Label func(label int32) string
	// IsHome, if set, reports whether goroutines with the start function start wait for the next
	// unit of work in the given function. Where it returns true, that is taken in place of what
	// the trace shows.
	IsHome func(start, function string) bool
	// Part is what is counted. A unit belongs to the window in which it ends: From < end ≤ To.
	ledger.Part
	// OnUnit, if set, is called with each whole unit, in the order in which they are found.
	OnUnit func(Unit)
	Limits
}

// Class is what is known of a class of goroutines. Unknown fields are empty.
type Class struct {
	Name    string // name in reports
	Start   string // start function
	Does    string // function that Start was given to run
	Creator string // function that executed the go statement
	// Call is set where Start is a literal of a library, as that of sync.(*WaitGroup).Go, and Creator
	// the program's function that gave it what it runs: which of its calls did, from 1.
	Call int
}

// Limits bound the memory of an [Accumulator]. A field that is zero means its default.
type Limits struct {
	Slowest   int   // number of slowest units of a kind that are kept with their paths; default DefaultSlowest
	Intervals int64 // number of latest intervals of goroutines in which paths are looked for, a power of two; default DefaultIntervals
	Octaves   bool  // latencies, by which typical and slow units are told apart, have one bin for each power of two instead of four
}

// Defaults of [Limits].
const (
	DefaultSlowest   = 5       // units of a kind
	DefaultIntervals = 1 << 18 // intervals, of 48 bytes each
)

// Accumulator finds the units of work in a stream of decisions, and sums up how long they took and
// where their time went. It is not safe for concurrent use.
type Accumulator struct {
	opt           Options
	places        places
	lives         ids.Parts[life] // from 1 on
	made          int32           // how many there are
	free          []int32
	bySlot        []int32 // lives, by the ledger's slot
	classes       []*class
	byKey         map[classKey]int32
	byStart       map[int32]int32 // the first class with a start function
	byHandle      []int32         // classes, plus 1
	events        int             // kept by classes that are undecided
	spare         [][]event       // logs of classes that are decided
	limit         int             // of events
	enough        int             // blocks that decide a class
	annotations   annotations
	onP           []int32 // by P: life that runs on it
	stopper       int32   // life that stopped the world
	over          []stretch
	sent          [keptSends]sent // the last writes to the network
	sends         int64           // how many there were
	resources     []resource
	resourceAt    []int32 // by site, plus 1
	lastRun       benchRun
	procs         int32               // GOMAXPROCS
	subTests      map[int64][]subTest // by goroutine
	keptSubTests  int
	way           map[way]int32 // of ways, at the end
	now           int64
	recordedSince int64            // the last gap
	ended         waits.EndedWaits // of the block, that were not taken yet
	ring          ring
	walk          walk
	raw           Names // as the trace has them
	kinds         []*kind
	byKind        map[kindKey]*kind
}

// New returns an empty Accumulator.
func New(o Options) *Accumulator {
	o.Slowest, o.Intervals = cmp.Or(o.Slowest, DefaultSlowest), cmp.Or(o.Intervals, DefaultIntervals)
	a := &Accumulator{
		opt: o, places: newPlaces(o.Frames), byKey: map[classKey]int32{}, byStart: map[int32]int32{}, byKind: map[kindKey]*kind{},
		limit: maxEvents, enough: enoughBlocks, ring: newRing(o.Intervals), subTests: map[int64][]subTest{},
		annotations: annotations{tasks: map[int64]*task{}, regions: map[int32][]annotation{}},
		classes:     []*class{{how: none, tree: newTree()}},
	}
	a.lives.Make(0)
	a.walk = newWalk(&a.ring)
	a.raw = Names{Function: func(name string) string { return name }, Class: func(class int32) string { return o.Class(class).Name }, Label: o.Label}
	return a
}

// Add processes the next block of the stream, with the waits that ended in it, in order. It
// does not retain them.
func (a *Accumulator) Add(b *ledger.Block, ended []waits.EndedWait) {
	a.ended = ended
	a.bySlot = grown(a.bySlot, int(b.Slots))
	a.lackedCPU(b.CPUs.Off)
	for i := range b.Decisions {
		d, n := &b.Decisions[i], &b.Notes[i]
		a.now = max(a.now, d.Time)
		if len(a.over) > 0 && a.over[0].To <= a.now {
			a.passOver()
		}
		switch {
		case d.Kind.Annotates():
			if at := a.bySlot[n.G]; at != 0 {
				a.annotate(d, a.lives.At(at), at)
			}
		case n.Changed&ledger.Turned == 0:
			a.rare(d)
		case n.OfProgram():
			a.turned(b, i, d, n)
		}
	}
	a.ended = nil
}

// turned follows a goroutine of the program that does something else from decision number i of the
// block on.
func (a *Accumulator) turned(b *ledger.Block, i int, d *reference.Decision, n *ledger.Note) {
	switch {
	case n.Changed&ledger.Returned != 0:
		a.back(d, n)
	case n.Now == ledger.Runnable:
		a.ready(d, n, b.Waker(i))
	case n.Now == ledger.Running:
		a.start(d, n, i)
	case n.Now == ledger.InSyscall:
		a.call(d, n)
	default:
		a.stop(d, n)
	}
}

// rare follows decisions by which no goroutine does something else.
func (a *Accumulator) rare(d *reference.Decision) {
	switch d.Kind {
	case reference.KindAssistBegin:
		a.turn(d, assist)
	case reference.KindAssistEnd:
		a.turn(d, running)
	case reference.KindSTWBegin:
		a.stopWorld(d)
	case reference.KindSTWEnd:
		a.startWorld()
	case reference.KindProcs:
		a.procs = d.Batch
	case reference.KindLost:
		a.gap(d.Time + max(0, d.Wait))
	}
}

// life returns the life of a decision's goroutine, and its number.
func (a *Accumulator) life(d *reference.Decision, n *ledger.Note) (at int32, l *life) {
	if at = a.bySlot[n.G]; at == 0 {
		at = a.newLife(d.G, n.G)
	}
	l = a.lives.At(at)
	if d.Class != 0 {
		l.handle = d.Class
	}
	if l.class == 0 && d.Class != 0 {
		a.classify(l, d.Class, 0)
	}
	return at, l
}

func (a *Accumulator) newLife(id int64, slot int32) int32 {
	var at int32
	if k := len(a.free); k > 0 {
		at, a.free = a.free[k-1], a.free[:k-1]
	} else {
		a.made++
		at = a.made
		a.lives.Make(at)
	}
	*a.lives.At(at) = life{id: id, slot: slot, seen: a.now, since: a.now}
	a.bySlot[slot] = at
	return at
}

// ready follows a goroutine that becomes runnable.
func (a *Accumulator) ready(d *reference.Decision, n *ledger.Note, waker int32) {
	by := int32(0)
	if waker != 0 {
		by = a.bySlot[waker]
	}
	if d.Why == reference.WhyCreate && n.Was == ledger.Unseen {
		a.create(d, n, by)
		return
	}
	at, l := a.life(d, n)
	if !l.blocked || n.Was != ledger.Waiting {
		if l.doing != runnable && l.yieldedAt == 0 {
			a.mark(l)
			l.doing = runnable
		}
		return
	}
	l.blocked = false
	m := &l.pending
	m.waker, m.by, m.source, m.wakerUnit = by, 0, sources[d.Why], noUnit
	if by != 0 {
		w := a.lives.At(by)
		m.asked = m.asked || l.woken[0] == by || l.woken[1] == by
		w.woken[0], w.woken[1] = at, w.woken[0]
		m.by, m.wakerUnit = w.class, a.unitOf(w)
		if a.act(by, w, d.Stack, true); d.Stack != 0 && a.places.at(d.Stack).traits&inServer != 0 {
			m.source, a.classOf(l).served = sourceServer, true
		}
	}
	a.handOver(l, by)
	m.to = a.wake(l, m, by)
	l.doing = runnable
}

// sources are what begins a unit, by why its goroutine became runnable.
var sources = [1 << 8]source{
	reference.WhyNetwork: sourceNetwork, reference.WhyTimer: sourceTimer,
	reference.WhyUnblock: sourceGoroutine, reference.WhyCreate: sourceGoroutine,
}

// create follows a goroutine that begins.
func (a *Accumulator) create(d *reference.Decision, n *ledger.Note, by int32) {
	at := a.newLife(d.G, n.G)
	l := a.lives.At(at)
	l.born = true
	l.handle = d.Class
	m := event{life: at, what: created, source: sources[d.Why], waker: by, wakerUnit: noUnit}
	a.classify(l, d.Class, 0)
	if by != 0 {
		w := a.lives.At(by)
		m.by, m.wakerUnit = w.class, a.unitOf(w)
		if a.act(by, w, d.Stack, false); a.serves(w, d.Stack) {
			m.source, a.classOf(l).served = sourceServer, true
		}
	}
	m.to = a.bear(l, by)
	m.from, l.doing = m.to, runnable
	a.notify(l, &m)
}

// serves reports whether a goroutine that creates another at a stack has just accepted a
// connection, or begins a goroutine for each request.
func (a *Accumulator) serves(l *life, stack int32) bool {
	return l.pending.traits&inAccept != 0 || stack != 0 && a.places.at(stack).traits&inServer != 0
}

// start follows a goroutine that runs. What it was blocked for is over.
func (a *Accumulator) start(d *reference.Decision, n *ledger.Note, i int) {
	at, l := a.life(d, n)
	a.runsOn(d.P, at)
	w := a.ended.Next(i)
	if l.yieldedAt > 0 && a.poll(l) {
		return
	}
	if w != nil {
		a.waited(l, w)
	}
	now := a.mark(l)
	l.doing = running
	m := &l.pending
	if m.what != blocked || l.blocked {
		return
	}
	m.ran = now
	if m.family == write {
		l.wrote = m.to
	}
	a.notify(l, m)
	if m.what = 0; m.family != lock {
		l.wroteSinceWait, l.woken = m.family == write, [2]int32{}
	}
}

// stop follows a goroutine that stops running.
func (a *Accumulator) stop(d *reference.Decision, n *ledger.Note) {
	at, l := a.life(d, n)
	switch d.Why {
	case reference.WhyExit:
		a.end(at, l)
	case reference.WhyBlock:
		f := a.place(l, d.Class, d.Stack)
		f.waits++
		now := a.mark(l)
		l.blocked, l.doing, l.site = true, waitsFor(familyOf(d.Reason, f.traits), f.traits), f.site
		l.pending = event{
			life: at, what: blocked, family: familyOf(d.Reason, f.traits), traits: f.traits, node: f.node, handler: f.handler,
			asked: l.wroteSinceWait, from: now,
		}
		a.queueUp(l)
	case reference.WhyLost:
		a.lose(at, l, a.now)
		a.end(at, l)
	default:
		// A goroutine that is preempted may show the innermost frames only.
		f := a.places.at(d.Stack)
		if l.handler == 0 && f.root == a.classOf(l).name {
			l.handler = f.handler
		}
		if d.Why == reference.WhyGosched && l.doing == running {
			l.yieldedAt = a.now
			return
		}
		a.mark(l)
		l.site = f.site
		switch d.Why {
		case reference.WhySuspend:
			l.doing = assist
		case reference.WhyCoroutine:
			l.doing = onCoroutine
		default:
			l.doing = runnable
		}
	}
}

// call follows a goroutine that calls the operating system, back one that is back.
func (a *Accumulator) call(d *reference.Decision, n *ledger.Note) {
	at, l := a.life(d, n)
	f := a.place(l, d.Class, d.Stack)
	f.waits++
	l.pending = event{life: at, what: acted, wakerUnit: noUnit, traits: f.traits, node: f.node, handler: f.handler, from: a.mark(l)}
	if l.writes = f.traits&inWrite != 0; l.writes {
		a.send(l, l.pending.from)
	}
	if l.doing, l.site = syscall, f.site; f.traits&inChild != 0 {
		l.doing = child
	}
}

func (a *Accumulator) back(d *reference.Decision, n *ledger.Note) {
	at := a.bySlot[n.G]
	if at == 0 {
		return
	}
	l := a.lives.At(at)
	m, now := &l.pending, a.mark(l)
	if l.doing = running; d.P < 0 {
		l.doing = runnable
	} else {
		a.runsOn(d.P, at)
	}
	if m.what != acted {
		return
	}
	m.to = now
	if l.writes {
		l.writes, l.wroteSinceWait, l.wrote = false, true, m.to
	}
	a.notify(l, m)
	m.what = 0
}

// act follows a running goroutine that wakes or creates another, at a stack.
func (a *Accumulator) act(at int32, l *life, stack int32, wakes bool) {
	now := a.mark(l)
	if stack == 0 {
		return
	}
	f := a.place(l, 0, stack)
	a.notify(l, &event{life: at, what: acted, wakes: wakes, wakerUnit: noUnit, traits: f.traits, node: f.node, handler: f.handler, from: now, to: now})
}

// runsOn notes which life a P runs.
func (a *Accumulator) runsOn(p, at int32) {
	if uint(p) >= ledger.MaxPs {
		return
	}
	if n := int(p) + 1 - len(a.onP); n > 0 {
		a.onP = append(a.onP, make([]int32, n)...)
	}
	a.onP[p] = at
	a.lives.At(at).p = p
}

// turn has the goroutine that runs on the P of a decision do something else.
func (a *Accumulator) turn(d *reference.Decision, to activity) {
	if at := a.runs(d); at != 0 {
		l := a.lives.At(at)
		a.mark(l)
		l.doing = to
	}
}

// runs returns the life that a decision names, which runs on its P; 0 if it does not.
func (a *Accumulator) runs(d *reference.Decision) int32 {
	if uint(d.P) >= uint(len(a.onP)) || a.lives.At(a.onP[d.P]).id != d.G {
		return 0
	}
	return a.onP[d.P]
}

// stopWorld follows a stop of the world, startWorld its end.
func (a *Accumulator) stopWorld(d *reference.Decision) {
	if a.stopper = 0; d.Stack != 0 {
		a.stopper = a.runs(d)
	}
	if at := a.stopper; at != 0 {
		l := a.lives.At(at)
		f := a.place(l, d.Class, d.Stack)
		a.stopping(l, f, a.mark(l))
		l.doing, l.site = stopping, f.site
	}
}

func (a *Accumulator) startWorld() {
	if at := a.stopper; at != 0 {
		l := a.lives.At(at)
		a.started(l, a.mark(l))
		if l.doing == stopping {
			l.doing = running
		}
	}
	a.stopper = 0
}

// gap follows a gap in the trace, until a time: nothing that is under way has a known length.
func (a *Accumulator) gap(until int64) {
	a.stopper, a.recordedSince = 0, until
	a.leaveTasks()
	a.annotations.missed = true
	for _, at := range a.bySlot {
		if at != 0 {
			a.lose(at, a.lives.At(at), until)
		}
	}
}

// lose is for a life of which the trace misses what it does until a time.
func (a *Accumulator) lose(at int32, l *life, until int64) {
	a.leaveRegions(l, at)
	now := a.mark(l)
	a.notify(l, &event{life: at, what: lost, from: now, to: now, ran: mark{at: until}})
	l.blocked, l.pending, l.bench, l.benchStarts = false, event{}, mark{}, false
	l.born = false
	l.head, l.since, l.doing, l.yieldedAt, l.yielded = 0, until, notKnown, 0, 0
}

// end is for a goroutine that has ended.
func (a *Accumulator) end(at int32, l *life) {
	a.leaveRegions(l, at)
	a.bySlot[l.slot] = 0
	if a.stopper == at {
		a.stopper = 0
	}
	kept := a.classes[l.class].how == undecided // then the replay of its events releases it
	l.ended = true
	now := a.mark(l)
	a.notify(l, &event{life: at, what: exited, from: now, to: now})
	if !kept {
		a.release(at)
	}
}

// release gives the record of a life that has ended to another.
func (a *Accumulator) release(at int32) {
	l := a.lives.At(at)
	a.keptSubTests -= len(a.subTests[l.id])
	delete(a.subTests, l.id)
	*l = life{}
	a.free = append(a.free, at)
}
