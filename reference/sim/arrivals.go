package sim

import "github.com/gmpscope/gmpscope/reference"

// Arrivals is the input of [Simulate]: each [Arrival] of a workload, in order of
// time. It is asked for one at a time, so that a long workload need not be in
// memory. [Start] and [List] return one.
type Arrivals interface {
	Next() (a Arrival, ok bool) // the next one; not ok after the last
}

// ArrivalKind specifies what an [Arrival] is: a goroutine ([ArriveGo]), a send on a channel
// ([ArriveSend]), a stop-the-world ([ArriveSTW]) or a garbage collection ([ArriveGC]).
type ArrivalKind uint8

// The kinds of arrivals: the values of Arrival.Kind. The fields that they name are those of [Arrival].
const (
	// ArriveGo is a goroutine that is runnable from now on: main, or one that
	// was there before a trace began. It is put into the global queue, or where Queued says.
	ArriveGo ArrivalKind = iota
	// ArriveSend is a send on Chan by the runtime, which wakes a goroutine that waits to
	// receive: by the network poller if NewNetwork made Chan, else by From.
	ArriveSend
	// ArriveSTW stops the world for Ns, counted from when all Ps have stopped.
	ArriveSTW
	// ArriveGC is a cycle of the garbage collector: a stop-the-world of Ns, Mark
	// ns of P-time in mark workers, another stop-the-world of Ns.
	ArriveGC
	endGC // the second stop-the-world of an ArriveGC
)

// Arrival is an event that does not follow from what simulated goroutines do. Kind is [ArriveGo] for a
// goroutine that becomes runnable, [ArriveSend] for a message from the network or the runtime,
// [ArriveSTW] for a stop-the-world, [ArriveGC] for a garbage collection. At, Ns, Mark and Tail are in ns.
type Arrival struct {
	At    int64       // when it comes, ns since the beginning of the run
	Kind  ArrivalKind // decides which other fields are used
	Class int32       // of an ArriveGo: the goroutine's class, its index in Result.Classes
	// G is, of an ArriveGo, the ID of the goroutine; 0 has the simulator count from 1 on. Of an
	// ArriveSTW or ArriveGC it is the ID of the goroutine that asks for it: if it runs then, it
	// keeps its P, and goes on afterwards; 0 is none.
	G      int64
	Flags  reference.Flags // of an ArriveGo: flags of the goroutine's decisions, FlagSystem and FlagTracer
	Script Script          // of an ArriveGo: what the goroutine does
	// Queued of an ArriveGo is the number of the P, counted from 1, at the tail of whose ring
	// it is; 0, or more than there are Ps, is the global queue.
	Queued int32
	Chan   *Chan // of an ArriveSend: the channel that is sent on
	From   Waker // of an ArriveSend: who sends, unless NewNetwork made Chan
	Ns     int64 // length of an ArriveSTW, or of each stop-the-world of an ArriveGC
	Mark   int64 // of an ArriveGC: P-time that mark workers mark
	// Tail of an ArriveGC is for how long the worker that ends the cycle keeps its P after
	// the second stop-the-world (gcMarkTermination); it makes each of Wakes
	// before. 0: it gives the P up before that.
	Tail  int64
	Wakes []Wake
	// Marking reports how Mark was shared out in the run that it is from; the zero
	// value leaves that to the pacer's rules.
	Marking Marking
	// Procs of an ArriveSTW is GOMAXPROCS from when the world starts again on, at
	// most 1<<14; 0 leaves it as it is.
	Procs int
}

// Wake is a send on Chan that the worker which ends a cycle of the garbage collector makes.
type Wake struct {
	Chan *Chan
	Tail bool // who is woken goes to the tail of the P's ring, and not into runnext
}

// Waker specifies what part of the runtime makes an [ArriveSend]. This decides into which queue the
// goroutine goes that is woken.
type Waker uint8

// The parts of the runtime that may make an [ArriveSend], a send that wakes a goroutine: the values of
// Arrival.From.
const (
	// WakerNoP is a thread without a P: the goroutine goes into the global queue (injectglist).
	WakerNoP Waker = iota
	// WakerMark is a mark worker that has marked enough for a goroutine in an assist: the
	// goroutine goes to the tail of the ring of the worker's P (mgcmark.go: gcFlushBgCredit).
	// If no worker marks then, the next that does wakes it.
	WakerMark
	// WakerTrace is the tracer, which has data for its reader: the next P that looks for work
	// runs the reader before all else (trace.go: traceReader).
	WakerTrace
	// WakerSysmon is sysmon, in its next pass, before it looks for slices that are over
	// (sysmon: the scavenger, forced collections); at once while it sleeps for want of
	// anything to watch.
	WakerSysmon
)

// Marking is what those mark workers do in one cycle of the garbage collector that run only on Ps
// without other work (gcMarkWorkerIdleMode). How much they get is decided by how much others mark,
// and by how idle the Ps are.
type Marking struct {
	Known bool  // whether the trace shows the whole cycle
	Idle  int64 // ns that idle workers mark in the cycle, at most
}

// Start returns the arrival of goroutines of class 0, one for each script, at time 0.
func Start(scripts ...Script) Arrivals {
	list := make([]Arrival, len(scripts))
	for i, s := range scripts {
		list[i] = Arrival{Kind: ArriveGo, Script: s}
	}
	return List(list...)
}

// List returns arrivals that the caller has sorted by time.
func List(list ...Arrival) Arrivals {
	l := arrivals(list)
	return &l
}

type arrivals []Arrival

func (l *arrivals) Next() (Arrival, bool) {
	if len(*l) == 0 {
		return Arrival{}, false
	}
	a := (*l)[0]
	*l = (*l)[1:]
	return a, true
}

// arrive processes the arrival that is due, and asks for the next.
func (s *scheduler) arrive() {
	a := s.arrival
	s.nextArrival()
	switch a.Kind {
	case ArriveGo:
		g := s.newG(a.G, a.Class, a.Flags, a.Script)
		if s.pol.ThreadPerG {
			s.gs[g].left = s.c.ThreadStart // at the cost of no goroutine of the model
		}
		if p := a.Queued - 1; p >= 0 && int(p) < len(s.ps) && !s.q.Full(p) && !s.pol.SharedQueue && !s.stw.waiting {
			runqput(s, p, g, none, noG, false, reference.WhyCreate)
			if s.ps[p].status == pIdle {
				takeIdle(s, p)
				startm(s, p, false)
			}
			break
		}
		injectglist(s, s.batchOf(g), none, none, reference.WhyCreate)
	case ArriveSend:
		g, _ := s.transfer(noG, a.Chan, true)
		switch {
		case g == noG:
		case a.Chan.network:
			s.net.answer(s, g)
		case resumeHeld(s, g, noG, reference.WhySystem):
		case a.From == WakerMark && s.gc.marking:
			s.gc.credit(s, g)
		case a.From == WakerTrace && s.reader == noG:
			s.reader = g
		case a.From == WakerSysmon && !s.sysmon.deep:
			s.enqueue(&s.sysmon.wakes, g)
		default:
			injectglist(s, s.batchOf(g), none, none, reference.WhySystem)
		}
	case ArriveSTW, ArriveGC:
		s.stw.request(s, a)
	}
}
