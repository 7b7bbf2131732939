// Package procstest makes random streams of decisions, and the truth about
// them, for the tests of the accumulators.
//
// The streams obey the grammar of [reference.Decision] but no policy: a random
// P takes random work. The truth is kept the slow way, as a list of all
// [Moment]s with everything that held in them, so a test can compute what an
// accumulator should find by looking at each nanosecond's state, without
// sharing any code with it.
package procstest

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Options select what stream [Generate] makes. The zero value means the defaults in
// parentheses.
type Options struct {
	Ps      int  // most Ps at any time (5)
	Steps   int  // actions; each is one to a few dozen decisions (200)
	Ring    int  // capacity of a local queue (6)
	Live    int  // goroutines alive at a time, roughly (20)
	MaxStep int  // most ns between two actions (1000)
	NoTruth bool // leave Moments empty
	Gaps    bool // now and then the stream has a gap
}

// Stream is a random stream of decisions together with the state of the scheduler at each
// time, by which a test checks an accumulator.
type Stream struct {
	Decisions []reference.Decision
	Moments   []Moment // consecutive, from 0 to End
	Known     []bool   // by P: whether the stream named it by its end
	End       int64    // ns, the end of the stream
}

// Moment is an interval in which nothing changed.
type Moment struct {
	From, To int64          // ns
	Procs    int            // GOMAXPROCS
	States   []ledger.State // by P; Unused for those that were never known
	Known    []bool         // by P: whether the stream has named it
	Local    []int          // by P: length of its local run queue
	Global   int            // length of the global run queue
	Gs       []G            // alive
	Gap      bool           // nothing of it is recorded
}

// G is a goroutine in a Moment.
type G struct {
	ID       int64 // as in the decisions
	Class    int32 // handle, as in the decisions
	Life     int   // tells apart goroutines that had the same ID one after the other
	User     bool  // it belongs to the program, not to the runtime
	Runnable bool
	Running  bool
}

type status uint8

const (
	blocked status = iota
	runnable
	running
	syscall
)

type gor struct {
	id      int64
	class   int32
	flags   reference.Flags
	status  status
	life    int
	readyAt int64
}

type proc struct {
	state   ledger.State
	known   bool
	cur     *gor
	runnext *gor
	ring    []*gor
}

func (p *proc) len() int {
	if p.runnext != nil {
		return len(p.ring) + 1
	}
	return len(p.ring)
}

type gen struct {
	intn    func(n int) int
	o       Options
	out     Stream
	now     int64
	n       int
	ps      []proc
	global  []*gor
	gs      []*gor
	nextID  int64
	created int
	inGC    bool
	inGap   bool
}

// Generate makes a stream. intn returns a number in [0, n); all chance comes
// from it.
func Generate(intn func(n int) int, o Options) Stream {
	def := func(v *int, d int) { *v = cmp.Or(*v, d) }
	def(&o.Ps, 5)
	def(&o.Steps, 200)
	def(&o.Ring, 6)
	def(&o.Live, 20)
	def(&o.MaxStep, 1000)
	x := &gen{intn: intn, o: o, ps: make([]proc, o.Ps)}
	for i := range x.ps {
		x.ps[i].state = ledger.Unused
	}
	x.resize(1 + intn(o.Ps))
	for i := range x.ps[:x.n] {
		switch intn(3) {
		case 0:
			x.pstart(i, reference.FlagFirst)
		case 1:
			x.emit(reference.Decision{Kind: reference.KindPStop, P: int32(i), Why: reference.WhyIdle, Flags: reference.FlagFirst})
		}
	}
	for range intn(4) {
		g := x.create()
		g.status, g.readyAt = runnable, x.now
		x.global = append(x.global, g)
		x.emit(reference.Decision{Kind: reference.KindReady, G: g.id, Class: g.class, P: reference.NoP, To: reference.QueueGlobal, Flags: g.flags | reference.FlagFirst})
	}
	for range o.Steps {
		x.tick()
		if o.Gaps && intn(30) == 0 {
			x.gap()
		}
		x.step()
	}
	x.tick()
	for i := range x.ps {
		x.out.Known = append(x.out.Known, x.ps[i].known)
	}
	x.out.End = x.now
	return x.out
}

// tick lets time pass, or not.
func (x *gen) tick() {
	var dt int64
	switch x.intn(4) {
	case 0:
		return
	case 1:
		dt = int64(x.intn(8))
	default:
		dt = int64(x.intn(x.o.MaxStep))
	}
	if dt == 0 {
		return
	}
	if !x.o.NoTruth {
		m := Moment{From: x.now, To: x.now + dt, Procs: x.n, Global: len(x.global), Gap: x.inGap}
		for i := range x.ps {
			m.States = append(m.States, x.ps[i].state)
			m.Known = append(m.Known, x.ps[i].known)
			m.Local = append(m.Local, x.ps[i].len())
		}
		for _, g := range x.gs {
			m.Gs = append(m.Gs, G{
				ID: g.id, Class: g.class, Life: g.life, User: g.flags == 0,
				Runnable: g.status == runnable, Running: g.status == running,
			})
		}
		x.out.Moments = append(x.out.Moments, m)
	}
	x.now += dt
}

// emit completes a decision. Queue lengths are filled in only where they mean
// something.
func (x *gen) emit(d reference.Decision) {
	d.Time = x.now
	switch d.Kind {
	case reference.KindReady, reference.KindMove, reference.KindStart:
		d.Global = int32(len(x.global))
		if d.P >= 0 {
			d.Local = int32(x.ps[d.P].len())
		}
	}
	if d.Kind != reference.KindMove && d.Kind != reference.KindSteal && d.Kind != reference.KindStart {
		d.Victim = reference.NoP
	}
	x.out.Decisions = append(x.out.Decisions, d)
}

func (x *gen) create() *gor {
	// Now and then an ID is used again, as those of cgo callbacks are.
	id := x.nextID + 1
	if x.nextID > 0 && x.intn(8) == 0 {
		old := 1 + int64(x.intn(int(x.nextID)))
		if !slices.ContainsFunc(x.gs, func(g *gor) bool { return g.id == old }) {
			id = old
		}
	}
	x.nextID = max(x.nextID, id)
	x.created++
	g := &gor{id: id, class: int32(x.intn(4)), life: x.created}
	if x.intn(10) == 0 {
		g.flags = reference.FlagSystem
	}
	x.gs = append(x.gs, g)
	return g
}

// pick returns a random P in one of the states, or -1.
func (x *gen) pick(states ...ledger.State) int {
	var fit []int
	for i := range x.ps[:x.n] {
		if slices.Contains(states, x.ps[i].state) {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return -1
	}
	return fit[x.intn(len(fit))]
}

func (x *gen) pickG(s status) *gor {
	if len(x.gs) == 0 {
		return nil
	}
	at := x.intn(len(x.gs))
	for i := range x.gs {
		if g := x.gs[(at+i)%len(x.gs)]; g.status == s {
			return g
		}
	}
	return nil
}

func (x *gen) step() {
	switch x.intn(16) {
	case 0, 1: // a go statement, or a wake-up
		p := x.pick(ledger.User)
		g := x.pickG(blocked)
		if p < 0 {
			return
		}
		why := reference.WhyUnblock
		if g == nil || len(x.gs) < x.o.Live && x.intn(2) == 0 {
			g, why = x.create(), reference.WhyCreate
		}
		x.ready(g, p, why, x.ps[p].cur.id, x.intn(4) > 0)
	case 2: // a wake-up from outside
		if g := x.pickG(blocked); g != nil {
			x.readyGlobal(g, reference.WhyNetwork)
		} else if len(x.gs) < x.o.Live {
			x.readyGlobal(x.create(), reference.WhyCreate)
		}
	case 3: // a wake-up that runs at once
		p := x.pick(ledger.Sched)
		g := x.pickG(blocked)
		if p < 0 || g == nil {
			return
		}
		g.status, g.readyAt = runnable, x.now
		x.emit(reference.Decision{Kind: reference.KindReady, G: g.id, Class: g.class, Flags: g.flags, P: int32(p), To: reference.QueueDirect, Why: reference.WhyNetwork})
		x.start(g, p, reference.SrcNetpoll, reference.NoP)
	case 4, 5: // a run interval ends
		if p := x.pick(ledger.User, ledger.System, ledger.GC, ledger.Tracer); p >= 0 {
			x.stop(p)
		}
	case 6, 7, 8:
		if p := x.pick(ledger.Sched); p >= 0 {
			x.find(p)
		}
	case 9:
		if p := x.pick(ledger.Idle, ledger.NotRecorded); p >= 0 {
			x.emit(reference.Decision{Kind: reference.KindHandoff, P: int32(p), M: 1, Why: reference.WhyRetakeSlow})
			x.pstart(p, 0)
		}
	case 10:
		if p := x.pick(ledger.User, ledger.System); p >= 0 {
			g := x.ps[p].cur
			g.status = syscall
			x.ps[p].state = ledger.Syscall
			x.emit(reference.Decision{Kind: reference.KindSyscall, G: g.id, Class: g.class, Flags: g.flags, P: int32(p)})
		}
	case 11:
		p := x.pick(ledger.Syscall)
		if p < 0 {
			if g := x.pickG(syscall); g != nil { // its P was retaken
				x.emit(reference.Decision{Kind: reference.KindSyscallExit, G: g.id, Class: g.class, Flags: g.flags, P: reference.NoP})
				x.readyGlobal(g, reference.WhySyscallExit)
			}
			return
		}
		g := x.ps[p].cur
		if x.intn(2) == 0 {
			x.ps[p].state, x.ps[p].cur = ledger.Idle, nil
			x.emit(reference.Decision{Kind: reference.KindRetake, P: int32(p), Why: reference.WhyRetakeSlow})
			return
		}
		g.status = running
		x.ps[p].state = stateOf(g.flags)
		x.emit(reference.Decision{Kind: reference.KindSyscallExit, G: g.id, Class: g.class, Flags: g.flags, P: int32(p)})
	case 12:
		x.inGC = !x.inGC
		k := reference.KindGCEnd
		if x.inGC {
			k = reference.KindGCBegin
		}
		x.emit(reference.Decision{Kind: k})
	case 13: // a goroutine of the runtime
		p := x.pick(ledger.Sched)
		if p < 0 {
			return
		}
		g := x.create()
		g.flags = []reference.Flags{reference.FlagGC, reference.FlagTracer, reference.FlagSystem}[x.intn(3)]
		g.status, g.readyAt = runnable, x.now
		x.emit(reference.Decision{Kind: reference.KindReady, G: g.id, Class: g.class, Flags: g.flags, P: int32(p), To: reference.QueueDirect})
		x.start(g, p, reference.SrcGCWorker, reference.NoP)
	case 14:
		if x.intn(4) == 0 {
			x.stw()
		}
	case 15: // park
		if p := x.pick(ledger.Sched); p >= 0 {
			x.ps[p].state = ledger.Idle
			x.emit(reference.Decision{Kind: reference.KindPStop, P: int32(p), Why: reference.WhyIdle})
		}
	}
}

func stateOf(f reference.Flags) ledger.State {
	switch {
	case f&reference.FlagGC != 0:
		return ledger.GC
	case f&reference.FlagTracer != 0:
		return ledger.Tracer
	case f&reference.FlagSystem != 0:
		return ledger.System
	}
	return ledger.User
}

func (x *gen) pstart(p int, f reference.Flags) {
	x.ps[p].state = ledger.Sched
	x.emit(reference.Decision{Kind: reference.KindPStart, P: int32(p), Flags: f})
}

// ready puts g into p's local queue.
func (x *gen) ready(g *gor, p int, why reference.Why, by int64, next bool) {
	g.status, g.readyAt = runnable, x.now
	pp := &x.ps[p]
	d := reference.Decision{Kind: reference.KindReady, G: g.id, Class: g.class, Flags: g.flags, By: by, P: int32(p), Why: why, To: reference.QueueLocal}
	if !next {
		pp.ring = append(pp.ring, g)
		x.emit(d)
		x.overflow(p)
		return
	}
	old := pp.runnext
	pp.runnext = g
	if old != nil {
		pp.ring = append(pp.ring, old)
	}
	d.To = reference.QueueRunnext
	x.emit(d)
	if old != nil {
		x.emit(reference.Decision{Kind: reference.KindMove, G: old.id, Class: old.class, P: int32(p), Victim: int32(p), To: reference.QueueLocal, Why: reference.WhyDisplaced})
	}
	x.overflow(p)
}

func (x *gen) overflow(p int) {
	pp := &x.ps[p]
	if len(pp.ring) <= x.o.Ring {
		return
	}
	n := x.o.Ring/2 + 1
	x.emit(reference.Decision{Kind: reference.KindOverflow, P: int32(p), Batch: int32(n)})
	x.toGlobal(p, n, reference.WhyOverflow)
}

// toGlobal moves the first n of p's ring to the global queue.
func (x *gen) toGlobal(p, n int, why reference.Why) {
	pp := &x.ps[p]
	for range n {
		g := pp.ring[0]
		pp.ring = pp.ring[1:]
		x.global = append(x.global, g)
		x.emit(reference.Decision{Kind: reference.KindMove, G: g.id, Class: g.class, P: reference.NoP, Victim: int32(p), To: reference.QueueGlobal, Why: why})
	}
}

func (x *gen) readyGlobal(g *gor, why reference.Why) {
	g.status, g.readyAt = runnable, x.now
	x.global = append(x.global, g)
	x.emit(reference.Decision{Kind: reference.KindReady, G: g.id, Class: g.class, Flags: g.flags, P: reference.NoP, To: reference.QueueGlobal, Why: why})
}

func (x *gen) start(g *gor, p int, src reference.Source, victim int32) {
	g.status = running
	x.ps[p].cur = g
	x.ps[p].state = stateOf(g.flags)
	x.emit(reference.Decision{
		Kind: reference.KindStart, G: g.id, Class: g.class, Flags: g.flags,
		P: int32(p), Victim: victim, Src: src, Wait: x.now - g.readyAt,
	})
}

// stop ends the run interval on p.
func (x *gen) stop(p int) {
	g := x.ps[p].cur
	x.ps[p].cur, x.ps[p].state = nil, ledger.Sched
	g.status = blocked
	d := reference.Decision{Kind: reference.KindStop, G: g.id, Class: g.class, Flags: g.flags, P: int32(p)}
	how := x.intn(4)
	switch {
	case how == 0 || g.flags&^reference.FlagSystem != 0:
		d.Why = reference.WhyExit
		x.emit(d)
		x.gs = slices.DeleteFunc(x.gs, func(o *gor) bool { return o == g })
	case how == 1:
		x.emit(reference.Decision{Kind: reference.KindPreempt, G: g.id, P: int32(p), Why: reference.WhySlice})
		d.Why = reference.WhySlice
		x.emit(d)
		x.readyGlobal(g, reference.WhySlice)
	default:
		d.Why = reference.WhyBlock
		x.emit(d)
	}
}

// find looks for work in random places.
func (x *gen) find(p int) {
	pp := &x.ps[p]
	victim := x.intn(x.n)
	switch x.intn(4) {
	case 0:
		if len(x.global) == 0 {
			return
		}
		n := 1 + x.intn(min(len(x.global), x.o.Ring-min(x.o.Ring-1, len(pp.ring))))
		x.emit(reference.Decision{Kind: reference.KindGlobalBatch, P: int32(p), Batch: int32(n)})
		first := x.global[0]
		x.global = x.global[1:]
		for range n - 1 {
			g := x.global[0]
			x.global = x.global[1:]
			pp.ring = append(pp.ring, g)
			// The one that runs is still in the model's queue for its last moment.
			x.global = append(x.global, first)
			x.emit(reference.Decision{Kind: reference.KindMove, G: g.id, Class: g.class, P: int32(p), Victim: reference.NoP, To: reference.QueueLocal, Why: reference.WhyGlobalBatch})
			x.global = x.global[:len(x.global)-1]
		}
		x.start(first, p, reference.SrcGlobal, reference.NoP)
	case 1:
		if victim == p || len(x.ps[victim].ring) == 0 || len(pp.ring) > 0 {
			return
		}
		v := &x.ps[victim]
		n := len(v.ring) - len(v.ring)/2
		x.emit(reference.Decision{Kind: reference.KindSteal, P: int32(p), Victim: int32(victim), Batch: int32(n)})
		for range n - 1 {
			g := v.ring[0]
			v.ring = v.ring[1:]
			pp.ring = append(pp.ring, g)
			x.emit(reference.Decision{Kind: reference.KindMove, G: g.id, Class: g.class, P: int32(p), Victim: int32(victim), To: reference.QueueLocal, Why: reference.WhySteal})
		}
		g := v.ring[0]
		v.ring = v.ring[1:]
		x.start(g, p, reference.SrcSteal, int32(victim))
	default:
		if g := pp.runnext; g != nil {
			pp.runnext = nil
			x.start(g, p, reference.SrcRunnext, reference.NoP)
		} else if len(pp.ring) > 0 {
			g := pp.ring[0]
			pp.ring = pp.ring[1:]
			x.start(g, p, reference.SrcLocal, reference.NoP)
		}
	}
}

// stw stops the world, perhaps changes GOMAXPROCS, and starts some Ps again.
func (x *gen) stw() {
	by := x.pick(ledger.User)
	if by < 0 {
		return
	}
	x.emit(reference.Decision{Kind: reference.KindSTWBegin, Why: reference.WhyGC})
	for i := range x.ps[:x.n] {
		p := &x.ps[i]
		if i == by || p.state == ledger.Idle || p.state == ledger.NotRecorded {
			continue
		}
		x.tick()
		if p.state.Running() {
			g := p.cur
			p.cur, p.state = nil, ledger.Sched
			x.emit(reference.Decision{Kind: reference.KindPreempt, G: g.id, P: int32(i), Why: reference.WhySTW})
			g.status = blocked
			x.emit(reference.Decision{Kind: reference.KindStop, G: g.id, Class: g.class, Flags: g.flags, P: int32(i), Why: reference.WhySTW})
			x.ready(g, i, reference.WhySTW, reference.NoG, x.intn(2) == 0)
		}
		p.cur, p.state = nil, ledger.Stopped
		x.emit(reference.Decision{Kind: reference.KindPStop, P: int32(i), Why: reference.WhySTW})
	}
	x.tick()
	if x.intn(3) == 0 {
		n := by + 1 + x.intn(x.o.Ps-by)
		for i := n; i < x.n; i++ {
			if g := x.ps[i].runnext; g != nil {
				x.ps[i].runnext = nil
				x.ps[i].ring = append([]*gor{g}, x.ps[i].ring...)
			}
			x.toGlobal(i, len(x.ps[i].ring), reference.WhyProcs)
		}
		x.resize(n)
	}
	for i := range x.ps[:x.n] {
		if x.ps[i].state == ledger.Stopped && x.intn(2) == 0 {
			x.tick()
			x.pstart(i, 0)
		}
	}
	for i := range x.ps {
		if x.ps[i].state == ledger.Stopped {
			x.ps[i].state = ledger.Idle
		}
	}
	x.emit(reference.Decision{Kind: reference.KindSTWEnd})
}

func (x *gen) resize(n int) {
	x.n = n
	for i := range x.ps {
		switch {
		case i >= n:
			x.ps[i].state = ledger.Unused
		case x.ps[i].state == ledger.Unused:
			x.ps[i].state, x.ps[i].known = ledger.Idle, true
		}
	}
	x.emit(reference.Decision{Kind: reference.KindProcs, Batch: int32(n)})
}

// gap loses the stream for a while. Who was runnable or ran is gone after it; some Ps
// are seen again right after it, others later.
func (x *gen) gap() {
	x.gs = slices.DeleteFunc(x.gs, func(g *gor) bool {
		if g.status == blocked {
			return false
		}
		d := reference.Decision{Kind: reference.KindStop, G: g.id, Class: g.class, Flags: g.flags, P: reference.NoP, Why: reference.WhyLost}
		for i := range x.ps {
			if x.ps[i].cur == g {
				d.P = int32(i)
			}
		}
		x.emit(d)
		return true
	})
	x.global = nil
	for i := range x.ps {
		p := &x.ps[i]
		p.cur, p.runnext, p.ring = nil, nil, nil
		if p.state != ledger.Unused {
			p.state = ledger.NotRecorded
		}
	}
	at, i := x.now, len(x.out.Decisions)
	x.emit(reference.Decision{Kind: reference.KindLost})
	x.inGap = true
	x.tick()
	x.inGap = false
	x.out.Decisions[i].Wait = x.now - at
	for i := range x.ps[:x.n] {
		switch x.intn(3) {
		case 0:
			x.pstart(i, reference.FlagFirst)
		case 1:
			x.ps[i].state, x.ps[i].known = ledger.Idle, true
			x.emit(reference.Decision{Kind: reference.KindPStop, P: int32(i), Why: reference.WhyIdle, Flags: reference.FlagFirst})
		}
		x.tick()
	}
}
