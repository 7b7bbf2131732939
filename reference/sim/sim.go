package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gmpscope/gmpscope/reference"
)

// Options of a run. Policy and Procs are needed.
type Options struct {
	Policy Policy
	Costs  Costs
	Procs  int // GOMAXPROCS
	// Seed decides the order in which thieves visit the other Ps, which of the
	// measured costs are drawn, and how far each P is from its next 61st tick at
	// the beginning, if Ticks does not say; with 0 that is now, as in a program that has just begun.
	// Everything else is determined by the workload.
	Seed uint64
	// Ticks are, by P, the time slices that have passed on it at the beginning, modulo
	// Rules.GlobalPoll; less than 0 if that is not known.
	Ticks []int32
	// Until ends the run at this time, in ns; 0 is when nothing happens any more.
	Until int64
	// Budget is how many steps may still be taken, by this run and others that are given it:
	// events, steps of goroutines and decisions. The run ends with [ErrTooLong] if that does
	// not suffice. nil is no bound. Times may come from a damaged trace: a run of a year is a
	// run of sysmon's for a year.
	Budget *int64
	// Emit gets each decision, with times in ns since the beginning. It must not
	// keep d. May be nil.
	Emit func(d *reference.Decision)
	// Waited is called, in ideal fair sharing, which has no decisions, each time
	// that a goroutine blocks or ends: when, with which flags, and for how many ns
	// longer it was runnable than it computed. May be nil.
	Waited func(at int64, f reference.Flags, ns int64)
}

// maxProcs is the largest GOMAXPROCS.
const maxProcs = 1 << 14

// none is the index of no goroutine in a list, no thread, no P.
const none = int32(-1)

// noG is the index of no goroutine in gor.next and as a result: slot 0 of
// machine.gs is not used.
const noG = int32(0)

// gor is a goroutine. Slots are used again when it has ended.
type gor struct {
	id       int64
	script   Script
	left     int64 // ns of the current step that it has still to compute
	readyAt  int64
	began    int64 // of its run interval
	preempt  int64 // when it will yield, as asked; 0 if nobody asked
	class    int32
	next     int32 // in a waitq, or in the poller's list
	p        int32 // ran there last
	m        int32 // holds its P while it is blocked (Policy.HoldP); none
	lockedM  int32 // none
	worker   workerMode
	flags    reference.Flags
	runnable bool // in ideal fair sharing
}

// pstatus is the state of a P.
type pstatus uint8

const (
	pIdle    pstatus = iota // in the idle list
	pWaking                 // given to a thread that is waking up
	pRunning                // its thread runs a goroutine or the scheduler
	pSyscall                // its goroutine is in a system call
	pStopped                // stopped for a stop-the-world
)

// proc is a P.
type proc struct {
	status pstatus
	m      int32
	oldM   int32  // the last one
	tick   uint32 // time slices (p.schedtick)
	calls  uint32 // system calls and retakes (p.syscalltick)
	seen   struct {
		tick, calls   uint32
		when, callsAt int64
	} // by sysmon (p.sysmontick)
	slice    int64 // when the running one began
	timers   heap
	released reference.Why // why it is on its way to another thread
	since    int64         // when status or goroutine changed
	fraction int64         // ns of fractional mark worker in this cycle
	worker   int32         // its mark worker's goroutine; noG if there was none yet
}

// step is what a thread does when its event comes.
type step uint8

const (
	stParked  step = iota // in the idle list
	stDead                // went with its locked goroutine
	stLocked              // waits for its locked goroutine
	stStopper             // waits, with its P, until the world that its goroutine has stopped starts again
	stHold                // waits, with its P, for its blocked goroutine
	stWake                // starts with the P that it was given
	stFind                // looks for work
	stOwn                 // looks at its own queue, having woken others by timers
	stTick                // has the lock, at the 61st tick
	stGlobal              // has the lock, for a batch from the global queue
	stLook                // has polled the network
	stSteal               // ends a pass over the other Ps
	stBackoff             // has slept before it takes a runnext
	stPoll                // sleeps in the network poller
	stRun                 // its goroutine has computed, or must yield
	stSyscall             // its goroutine's system call is over
	stHeld                // its blocked goroutine was woken
	stTail                // its mark worker has ended the cycle
	stWorker              // its mark worker has done a piece
)

// thread is an M.
type thread struct {
	due       int64
	segment   int64 // when the piece of computing or marking under way began
	p         int32
	oldP      int32 // that it had before the system call, or is given with its wake-up
	g         int32 // that it runs
	lockedG   int32 // noG
	gen       uint32
	next      step
	waker     int32 // thread that is waking it up, or none
	born      int64 // when it can run first
	spinning  bool
	wasSpin   bool // before it slept in the poller
	looked    bool // has seen all Ps' timers
	pass      int8
	order     order
	victim    int32 // of the runnext that it waits for, and the runnext
	prey      int32
	startNext int32 // locked goroutine that it is woken for; noG
	take      take  // how that was taken
}

// machine is one run.
type machine struct {
	o   Options
	pol Policy
	r   reference.Rules
	c   Costs
	rnd *rand.PCG

	now    int64
	on     int32 // thread whose event it is, or none
	events heap
	seq    uint64
	end    int64 // when the last thing happened

	q     *reference.Queues
	gs    []gor
	freeG []int32
	auto  int64 // last ID given
	live  int

	ps       []proc
	idleP    []int32 // a stack
	ms       []*thread
	idleM    []int32 // a stack
	spinners int     // sched.nmspinning
	needSpin bool    // sched.needspinning
	coprimes []uint32

	lockFree int64 // when sched.lock is free

	load    Arrivals
	arrival Arrival // the next
	last    bool    // there is none

	netWaiters int
	sent       []packet
	ready      waitq // in the kernel, not yet polled
	nready     int
	poller     int32 // thread that sleeps in the poller
	pollUntil  int64
	broken     bool // that sleep was ended (netpollWakeSig)
	lastPoll   int64

	sysmon sysmon
	stw    world
	pTime  int64 // of all Ps, up to when their number changed last
	pSince int64
	gc     gc
	reader int32 // of the trace, for whom there is data; noG
	fluid  *fluid

	res Result
	d   reference.Decision
	err error

	ctx   context.Context
	steps int64 // taken; what is searched counts in part
	most  int64 // of them
	next  int64 // at so many ctx is looked at again
}

var errStuck = errors.New("no progress: the goroutines go on without using time")

// ErrTooLong means that a run would have taken more steps than its budget had.
var ErrTooLong = errors.New("it takes more steps than are allowed for a trace of that size: its times may be damaged")

// lookEvery is how many steps are taken between two looks at the context.
const lookEvery = 1 << 10

// searched is how many entries of a list can be looked at in the time of a step.
const searched = 16

// stuckAfter is how many events may happen at one instant.
const stuckAfter = 1 << 22

// Simulate runs a workload. The same options and workload give the same
// decisions and the same result. It ends early, with the error of ctx, when that
// is done.
func Simulate(ctx context.Context, o Options, load Arrivals) (*Result, error) {
	s, err := newMachine(o, load)
	if err != nil {
		return nil, err
	}
	err = s.loop(ctx)
	if o.Budget != nil {
		*o.Budget -= min(s.steps, *o.Budget)
	}
	if err != nil {
		return nil, fmt.Errorf("sim: %s at %d ns: %w", o.Policy.Name, s.now, err)
	}
	return s.finish(), nil
}

func newMachine(o Options, load Arrivals) (*machine, error) {
	switch {
	case o.Procs < 1 || o.Procs > maxProcs:
		return nil, fmt.Errorf("sim: %d Ps", o.Procs)
	case o.Policy.Rules.RingSize < 2:
		return nil, fmt.Errorf("sim: policy %q has no rules", o.Policy.Name)
	}
	s := &machine{o: o, pol: o.Policy, r: o.Policy.Rules, c: o.Costs, rnd: rand.NewPCG(o.Seed, 0), load: load, poller: none, gs: make([]gor, 1)}
	if s.pol.SharedQueue {
		s.r.GlobalBatchMax, s.r.GlobalPoll = 1, 0
	}
	s.q = reference.NewQueues(s.r)
	s.q.Grow(1, o.Procs)
	s.ps = make([]proc, o.Procs)
	for i := range s.ps {
		s.ps[i] = proc{m: none, oldM: none, status: pIdle}
		if o.Seed != 0 && s.r.GlobalPoll > 0 {
			s.ps[i].tick = uint32(s.rnd.Uint64() % uint64(s.r.GlobalPoll))
		}
		if i < len(o.Ticks) && o.Ticks[i] >= 0 {
			s.ps[i].tick = uint32(o.Ticks[i])
		}
	}
	for i := o.Procs - 1; i >= 0; i-- {
		s.idleP = append(s.idleP, int32(i))
	}
	s.coprimes = coprimes(uint32(o.Procs))
	s.res.Procs = o.Procs
	if s.pol.Fluid {
		s.fluid = &fluid{}
	} else {
		s.sysmonStart()
	}
	s.sayProcs()
	s.nextArrival()
	return s, nil
}

// ended counts a step, and reports whether the run has to end, for which s.err is the reason.
func (s *machine) ended() bool {
	if s.steps++; s.steps >= s.next && s.err == nil {
		s.next = s.steps + lookEvery
		switch {
		case s.ctx.Err() != nil:
			s.err = s.ctx.Err()
		case s.steps > s.most:
			s.err = ErrTooLong
		}
	}
	return s.err != nil
}

// search counts a search through n entries.
func (s *machine) search(n int) { s.steps += int64(n / searched) }

func (s *machine) loop(ctx context.Context) error {
	s.ctx, s.most = ctx, math.MaxInt64
	if s.o.Budget != nil {
		s.most = *s.o.Budget
	}
	at, n := int64(-1), 0
	for {
		if s.ended() {
			return s.err
		}
		if s.fluid != nil {
			if next, ok := s.fluidNext(); ok && (len(s.events) == 0 || next <= s.events[0].at) {
				if s.o.Until > 0 && next > s.o.Until {
					break
				}
				s.fluidAdvance(next)
				s.fluidDone()
				if s.live == 0 && s.last {
					return s.err
				}
				continue
			}
		}
		if len(s.events) == 0 {
			return nil
		}
		if s.o.Until > 0 && s.events[0].at > s.o.Until {
			break
		}
		e := s.events.pop()
		if s.fluid != nil {
			s.fluidAdvance(e.at)
		}
		s.now, s.on = e.at, none
		if s.now == at {
			if n++; n > stuckAfter {
				return errStuck
			}
		} else {
			at, n = s.now, 0
		}
		switch e.kind {
		case evThread:
			if t := s.ms[e.id]; t.gen == e.gen {
				s.end, s.on = s.now, e.id
				s.ms[e.id].waker = none
				s.step(e.id)
			}
		case evSysmon:
			if s.sysmon.gen == e.gen {
				if len(s.events) == 0 && s.nready == 0 && s.sysmon.wakes.head == noG {
					return nil // nothing else will ever happen
				}
				s.sysmonWake()
			}
		case evNetwork:
			if s.fluid != nil {
				s.fluidRun(e.id)
				break
			}
			s.netWaiters--
			s.netReady(e.id)
		case evSent:
			s.transmitted(e.id)
		case evArrival:
			s.end = s.now
			s.arrive()
		case evWorld:
			s.end = s.now
			if s.fluid != nil {
				s.fluidWorld()
				break
			}
			s.startWorld()
		}
		if s.live == 0 && s.last {
			s.end = s.now
			return s.err
		}
	}
	if s.fluid != nil {
		s.fluidAdvance(s.o.Until)
	}
	s.now = s.o.Until
	s.end = s.now
	return nil
}

// step has thread m do what it is about to.
func (s *machine) step(m int32) {
	t := s.ms[m]
	switch t.next {
	case stWake:
		s.woken(m)
	case stFind:
		s.find(m)
	case stOwn:
		s.findOwn(m)
	case stTick:
		s.findTick(m)
	case stGlobal:
		s.findGlobal(m)
	case stLook:
		s.look(m)
	case stSteal:
		s.stealPass(m)
	case stBackoff:
		s.stealRunnext(m)
	case stPoll:
		s.polled(m)
	case stRun:
		s.computed(m)
	case stSyscall:
		s.exitSyscall(m)
	case stHeld:
		s.start(m, t.prey, take{src: reference.SrcDirect, inherits: true})
	case stTail:
		s.leave(m, reference.WhyBlock)
		s.schedule(m)
	case stWorker:
		s.marked(m)
	}
}

// newG makes a goroutine that is in no state yet.
func (s *machine) newG(id int64, class int32, flags reference.Flags, script Script) int32 {
	var g int32
	if n := len(s.freeG); n > 0 {
		g = s.freeG[n-1]
		s.freeG = s.freeG[:n-1]
	} else {
		g = int32(len(s.gs))
		s.gs = append(s.gs, gor{})
		s.q.Grow(len(s.gs), 0)
	}
	if id == 0 {
		s.auto++
		id = s.auto
	}
	if p, ok := script.(*Program); ok {
		own := *p
		script = &own
	}
	s.gs[g] = gor{id: id, class: class, flags: flags, script: script, p: none, m: none, lockedM: none}
	s.live++
	s.res.Goroutines++
	s.res.MaxLive = max(s.res.MaxLive, s.live)
	s.class(class).Goroutines++
	return g
}

func (s *machine) endG(g int32) {
	s.live--
	s.gs[g] = gor{}
	s.freeG = append(s.freeG, g)
}
