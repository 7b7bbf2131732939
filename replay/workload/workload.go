package workload

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// Workload is what the goroutines of a run did, without what the scheduler made of it. It is
// read-only, and serves any number of simulations at once.
type Workload struct {
	// Procs is the GOMAXPROCS that held for the longest time, FirstProcs that at
	// the beginning. Those after it come with the stop-the-worlds that set them.
	Procs, FirstProcs int
	// ProcsChanged reports whether GOMAXPROCS changed.
	ProcsChanged bool
	// EndNs is the time up to which decisions were taken in, Omitted how many came after
	// that, because of Options.Until or Options.MaxSteps. Capped reports the latter.
	EndNs   int64
	Omitted int64
	Capped  bool
	// TailNs is the time from the last stop of a goroutine of the program to EndNs; 0 if one
	// was at work then.
	TailNs int64
	// StopperNs is for how long goroutines of the program ran that had stopped
	// the world, GCStopperNs the part of it for the garbage collector.
	StopperNs, GCStopperNs int64
	// Goroutines, Steps and Arrivals are the numbers of each in it.
	Goroutines, Steps, Arrivals int
	// Cycles is the number of cycles of the garbage collector, Stops that of other
	// stop-the-worlds.
	Cycles, Stops int
	// Network is the number of waits that the network ended; Sent of these, which a system
	// call of another goroutine may have ended; Peers of Sent, from the goroutine that
	// answered last time, or that waited for this one's own call.
	Network, Sent, Peers int
	// Meetings is the number of wake-ups on unbuffered channels.
	Meetings int
	MarkNs   int64 // P-time of mark workers, ns
	// SwitchNs is the typical time from one goroutine to the next in a P's own queue, and
	// ThreadWakeNs that from handing a P to a locked thread until it runs: values for
	// sim.Costs, 0 if the trace does not show them.
	SwitchNs, ThreadWakeNs int64
	// Switches and ThreadWakes are the measurements behind them: waits for the
	// kernel make their tails. Yields, Timers and Polls are those of three more costs. Empty if
	// there were too few.
	Switches, ThreadWakes, Yields, Timers, Polls []sim.Sample
	// Ticks are sim.Options.Ticks: when a P first looked at the global queue before its own
	// says how many slices had passed on it at the beginning.
	Ticks []int32
	// NoRunnext reports whether no goroutine was put into a runnext, though many were put
	// into local queues, as on wasm (runqput).
	NoRunnext bool
	// Odd counts decisions that contradict those before them, as in damaged traces.
	Odd int64

	gs    []goroutine
	ran   map[int64]bool // IDs of those that ran before the first decision
	steps slab
	outer []arrival
	// stops are the stop-the-worlds that are steps of goroutines, and cycles are those of
	// the garbage collector: of kind kCycle, or in outer.
	stops, cycles []arrival
	// marking has how the marking of each cycle was shared out, and tails what the worker
	// did that ended it.
	marking []sim.Marking
	tails   []tail
	polls   map[int32]bool // stacks at which goroutines slept in order to look again
}

// kind is what a step is.
type kind uint8

const (
	kRun kind = iota
	kGo
	kSend
	kNetSend  // to the goroutine arg, which waits for the network: Workload.talks
	kSendTail // as kSend, but at the tail of the P's ring
	kAsk      // as kSend, but sysmon is asked to do it
	kMeetSend // to the goroutine arg, when it is there to receive
	kMeetRecv // from any who meets this one
	kRecv
	kRecvGC // from the garbage collector
	kNetwork
	kSleep
	kSyscall
	kSyscallBlock
	kGosched
	kGoyield
	kPreempt // for the garbage collector, or a new generation of the trace: arg is why
	kLock
	kUnlock
	kExit
	kForever // blocks, and is not woken before the end
	kStop    // stops the world: arg is in Workload.stops
	kCycle   // begins a cycle of the garbage collector: arg is in Workload.cycles
)

// step is one step of a goroutine. There may be millions: no pointers.
type step struct {
	ns    int64
	next  int32 // of the same goroutine; none at the end
	arg   int32 // goroutine that is created or woken; kSleep: where time.Sleep was called, or none
	stack int32 // kSend, kRecv: where the receiver blocked on a semaphore; else 0
	kind  kind
}

// goroutine is what is left of one when the extraction is over.
type goroutine struct {
	id    int64
	class int32
	first int32 // step, or none
	flags reference.Flags
	never bool // it became runnable for the first time, and the trace ends before it runs
}

const none = int32(-1)

// arrival is something from outside.
type arrival struct {
	at     int64
	ns     int64 // of each stop-the-world
	mark   int64
	g      int32
	stack  int32 // ArriveSend: as in step
	by     int64 // ArriveSTW, ArriveGC: the goroutine that stops the world; 0: none
	procs  int   // ArriveSTW: GOMAXPROCS afterwards; 0 is no change
	cycle  int32 // ArriveGC: in Workload.marking
	kind   sim.ArrivalKind
	from   sim.Waker // ArriveSend
	net    bool      // ArriveSend: the network's
	sent   bool      // a kNetSend makes it, in its stead if Change.FixedProcs, or with it: Workload.talks
	queued int32     // ArriveGo: as sim.Arrival.Queued
	timer  bool      // ArriveGo: a timer's function creates it (time.AfterFunc)
}

// slab holds steps in pieces, so that it grows without being copied.
type slab struct {
	pieces [][]step
	n      int32
}

const (
	pieceBits = 14
	pieceSize = 1 << pieceBits
)

func (s *slab) at(i int32) *step { return &s.pieces[i>>pieceBits][i&(pieceSize-1)] }

func (s *slab) add(x step) int32 {
	if s.n&(pieceSize-1) == 0 {
		s.pieces = append(s.pieces, make([]step, 0, pieceSize))
	}
	i := s.n
	p := &s.pieces[i>>pieceBits]
	*p = append(*p, x)
	s.n++
	return i
}

// Change is how the work of one simulation differs from that of the trace. The zero value
// changes nothing.
type Change struct {
	// Speed is, by the handle of a class of goroutines, by what their computing time is divided;
	// 0 is 1.
	Speed map[int32]float64
	// Work is a factor on all computing and marking, Calls one on the time in system calls; 0
	// means 1.
	Work, Calls float64
	// FreeLocks are handles of stacks: a goroutine that blocked on a semaphore
	// there does not block.
	FreeLocks map[int32]bool
	// YieldNs is the computing time, in ns, after which the goroutines of a class, by its
	// handle, call runtime.Gosched.
	YieldNs map[int32]int64
	// AtOnce has timers of the program be due when they are set, where the schedule may
	// decide whether they are waited for: see timers.go.
	AtOnce bool
	// Unlocked unlocks all goroutines from their threads.
	Unlocked bool
	// FixedProcs leaves out that GOMAXPROCS changes, and is for another one than the
	// trace's: what the program sent to itself through the network comes when it is sent,
	// and not at the time of the trace if that is later.
	FixedProcs bool
	// NoGC omits the cycles of the garbage collector. Assists and sweeping are part of the
	// goroutines' work, and stay.
	NoGC bool
}

// Semaphores lists the handles of the stacks at which goroutines blocked on a
// semaphore, in rising order.
func (w *Workload) Semaphores() []int32 {
	seen := map[int32]bool{}
	for i := range w.steps.n {
		if s := w.steps.at(i).stack; s != 0 {
			seen[s] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// talks reports whether the program talks to itself through the network: most of what may
// have been sent was between peers. Then no answer comes before it is sent, however late
// the simulation is. Else system calls have nothing to do with answers, as far as is known.
func (w *Workload) talks() bool { return 2*w.Peers >= w.Sent }

// Load returns the work for one simulation. Goroutines keep their IDs and
// classes.
func (w *Workload) Load(c Change) sim.Arrivals {
	outer := w.outer
	if c.AtOnce {
		outer = w.functionsFirst()
	}
	return &load{w: w, c: c, outer: outer, wake: make([]*sim.Chan, len(w.gs)), meet: map[int32]*sim.Chan{}, net: map[int32]*sim.Chan{}, never: sim.NewChan(0)}
}

// Invents reports whether d, a decision of a simulation, says what the trace cannot have: that
// a goroutine is created which already ran when the trace began.
func (w *Workload) Invents(d *reference.Decision) bool {
	return d.Kind == reference.KindReady && d.Why == reference.WhyCreate && d.By == reference.NoG && w.ran[d.G]
}

// load is a Workload in one simulation.
type load struct {
	w     *Workload
	c     Change
	outer []arrival
	i     int
	wake  []*sim.Chan
	meet  map[int32]*sim.Chan // by the goroutine that receives
	net   map[int32]*sim.Chan
	never *sim.Chan
}

// times multiplies a time, in ns; 0 is by 1.
func times(ns int64, by float64) int64 {
	if by == 0 || by == 1 {
		return ns
	}
	return int64(float64(ns)*by + 0.5)
}

// piece returns the computing up to the next yield, or to its end.
func (s *script) piece() sim.Op {
	ns := s.left
	if s.yield > 0 {
		ns = min(ns, s.yield)
	}
	s.left -= ns
	return sim.Run(ns)
}

// Next returns the next arrival.
func (l *load) Next() (sim.Arrival, bool) {
	for ; l.i < len(l.outer); l.i++ {
		a := &l.outer[l.i]
		if a.kind == sim.ArriveGC && l.c.NoGC || a.kind == sim.ArriveGo && l.w.gs[a.g].never || a.kind == sim.ArriveSend && l.c.FreeLocks[a.stack] || a.sent && (l.c.FixedProcs || l.w.talks()) {
			continue
		}
		l.i++
		return l.arrival(a), true
	}
	return sim.Arrival{}, false
}

func (l *load) arrival(a *arrival) sim.Arrival {
	out := sim.Arrival{At: a.at, Kind: a.kind, Ns: a.ns, Mark: times(a.mark, l.c.Work)}
	switch a.kind {
	case sim.ArriveGo:
		g := &l.w.gs[a.g]
		out.Class, out.G, out.Flags, out.Script, out.Queued = g.class, g.id, g.flags, l.script(a.g), a.queued
	case sim.ArriveSTW:
		out.G = a.by
		if !l.c.FixedProcs {
			out.Procs = a.procs
		}
	case sim.ArriveGC:
		out.G = a.by
		if !l.c.FixedProcs { // else other Ps are idle
			out.Marking = l.w.marking[a.cycle]
		}
		out.Tail = l.w.tails[a.cycle].ns
		for _, x := range l.w.tails[a.cycle].wakes {
			out.Wakes = append(out.Wakes, sim.Wake{Chan: l.waker(x.g), Tail: x.tail})
		}
	case sim.ArriveSend:
		out.Chan, out.From = l.waker(a.g), a.from
		if a.net {
			out.Chan = l.network(a.g)
		}
	}
	return out
}

// stop returns the step that stops the world.
func (l *load) stop(a *arrival) sim.Op {
	out := l.arrival(a)
	return sim.Op{Kind: sim.OpStop, Stop: &out}
}

func (l *load) waker(g int32) *sim.Chan {
	if l.wake[g] == nil {
		l.wake[g] = sim.NewChan(sim.Unlimited)
	}
	return l.wake[g]
}

func (l *load) meeting(receiver int32) *sim.Chan {
	if l.meet[receiver] == nil {
		l.meet[receiver] = sim.NewChan(0)
	}
	return l.meet[receiver]
}

func (l *load) network(g int32) *sim.Chan {
	if l.net[g] == nil {
		l.net[g] = sim.NewNetwork()
	}
	return l.net[g]
}

func (l *load) script(g int32) sim.Script {
	x := &l.w.gs[g]
	return &script{l: l, g: g, at: x.first, work: cmp.Or(l.c.Work, 1) / cmp.Or(l.c.Speed[x.class], 1), yield: l.c.YieldNs[x.class]}
}

// script is what one goroutine does.
type script struct {
	l      *load
	g      int32
	at     int32
	work   float64 // by what its computing is multiplied; 0 is 1
	yield  int64   // as Change.YieldNs; 0: it does not
	left   int64   // of a computation that is interrupted by yields
	paused bool    // it has just yielded
}

// Next returns the goroutine's next step.
func (s *script) Next(int64) sim.Op {
	if s.left > 0 {
		if s.paused = !s.paused; s.paused {
			return sim.Gosched()
		}
		return s.piece()
	}
	var x *step
	for {
		if s.at == none {
			return sim.Op{}
		}
		x = s.l.w.steps.at(s.at)
		s.at = x.next
		if s.l.c.NoGC && (x.kind == kCycle || x.kind == kRecvGC && s.l.w.gs[s.g].flags == 0 || x.kind == kPreempt && reference.Why(x.arg) == reference.WhyGC) {
			continue
		}
		if x.kind == kNetSend && !s.l.c.FixedProcs && !s.l.w.talks() || x.kind == kGo && s.l.w.gs[x.arg].never || x.stack != 0 && s.l.c.FreeLocks[x.stack] || s.l.c.Unlocked && (x.kind == kLock || x.kind == kUnlock) {
			continue
		}
		break
	}
	switch x.kind {
	case kRun:
		s.left = times(x.ns, s.work)
		return s.piece()
	case kGo:
		g := &s.l.w.gs[x.arg]
		return sim.Op{Kind: sim.OpGo, Class: g.class, G: g.id, Flags: g.flags, Script: s.l.script(x.arg)}
	case kSend:
		return sim.Send(s.l.waker(x.arg))
	case kMeetSend:
		return sim.Send(s.l.meeting(x.arg))
	case kMeetRecv:
		return sim.Recv(s.l.meeting(s.g))
	case kNetSend:
		return sim.Op{Kind: sim.OpSend, Ns: x.ns, Chan: s.l.network(x.arg)}
	case kSendTail:
		return sim.Op{Kind: sim.OpSend, Chan: s.l.waker(x.arg), Tail: true}
	case kAsk:
		return sim.Op{Kind: sim.OpSend, Chan: s.l.waker(x.arg), Sysmon: true}
	case kRecv, kRecvGC:
		return sim.Recv(s.l.waker(s.g))
	case kNetwork:
		return sim.Recv(s.l.network(s.g))
	case kSleep:
		if s.l.c.AtOnce && s.l.w.races(s.g, x) {
			return sim.Sleep(0)
		}
		return sim.Sleep(x.ns)
	case kSyscall:
		return sim.Syscall(times(x.ns, s.l.c.Calls))
	case kSyscallBlock:
		return sim.Op{Kind: sim.OpSyscallBlock, Ns: times(x.ns, s.l.c.Calls)}
	case kGosched:
		return sim.Gosched()
	case kGoyield:
		return sim.Op{Kind: sim.OpGoyield}
	case kPreempt:
		return sim.Op{Kind: sim.OpPreempt, Why: reference.Why(x.arg)}
	case kLock:
		return sim.Op{Kind: sim.OpLockThread}
	case kUnlock:
		return sim.Op{Kind: sim.OpUnlockThread}
	case kStop:
		return s.l.stop(&s.l.w.stops[x.arg])
	case kCycle:
		return s.l.stop(&s.l.w.cycles[x.arg])
	case kForever:
		return sim.Recv(s.l.never)
	}
	return sim.Op{}
}
