package sim

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gmpscope/gmpscope/reference"
)

// Options are the scheduler, its costs and the number of Ps of a run. Policy and Procs are
// needed.
type Options struct {
	Policy Policy
	Costs  Costs
	Procs  int // GOMAXPROCS at the beginning
	// Seed decides the order in which thieves visit the other Ps, which of the
	// measured costs are drawn, and how far each P is from its next 61st tick at
	// the beginning, if Ticks does not say; with 0 that is now, as in a program that has just begun.
	// Everything else is determined by the workload.
	Seed uint64
	// Ticks are, by P, the time slices that have passed on it at the beginning, modulo
	// Rules.GlobalPoll; less than 0 if that is not known.
	Ticks []int32
	// Until ends the run at this time, in ns since its beginning; 0 means when nothing happens
	// any more.
	Until int64
	// Budget is the number of steps left for this run and others that share it: events, steps
	// of goroutines and decisions. The run ends with [ErrTooLong] when it is used up. nil
	// means no bound. Times may come from a damaged trace: a run of a year is a run of
	// sysmon's for a year.
	Budget *int64
	// Emit, if set, is called with each decision, with times in ns since the beginning of the
	// run. It must not retain d.
	Emit func(d *reference.Decision)
	// Waited is called with Policy.Fluid, which has no decisions, each time that a
	// goroutine blocks or ends: at, in ns since the beginning, with the goroutine's
	// flags f, and the time ns by which it was runnable for longer than it computed.
	// May be nil.
	Waited func(at int64, f reference.Flags, ns int64)
}

// MaxProcs is the largest number of Ps, GOMAXPROCS, of a simulation.
const MaxProcs = 1 << 14

// none is the index of no goroutine in a list, no thread, no P.
const none = reference.None

// noG is the index of no goroutine in gor.next and as a result: slot 0 of
// workload.gs is not used.
const noG = int32(0)

// gor is a goroutine. Slots are used again when it has ended.
type gor struct {
	id       int64
	script   Script
	left     int64 // ns of the current step that it has still to compute
	readyAt  int64
	began    int64 // of its run interval
	preempt  int64 // when it will yield, as asked; 0 if it was not asked
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

// scheduler is one run under the queues and threads of Go. Functions that are
// named as the runtime's do what those do, with it in the place of sched and allp.
type scheduler struct {
	*workload
	pol Policy
	r   reference.Rules
	c   costs
	on  int32 // thread whose event it is, or none

	q        *reference.Queues
	ps       []proc
	idleP    []int32 // a stack
	ms       []*thread
	idleM    []int32 // a stack
	spinners int     // sched.nmspinning
	needSpin bool    // sched.needspinning
	coprimes []uint32
	lockFree int64 // when sched.lock is free

	net    netpoller
	sysmon sysmon
	stw    world
	gc     gcController
	reader int32 // of the trace, if there is data for it; noG

	d reference.Decision
}

// Simulate runs a workload. The same options and workload give the same
// decisions and the same result. It ends early, with the error of ctx, when that
// is done.
func Simulate(ctx context.Context, o Options, load Arrivals) (*Result, error) {
	var run interface {
		loop(ctx context.Context) error
		finish() *Result
	}
	w, err := newWorkload(o, load)
	if err != nil {
		return nil, err
	}
	if o.Policy.Fluid {
		run = newFluid(w)
	} else {
		run = newScheduler(w)
	}
	err = run.loop(ctx)
	if o.Budget != nil {
		*o.Budget -= min(w.steps, *o.Budget)
	}
	if err != nil {
		return nil, fmt.Errorf("sim: %s at %d ns: %w", o.Policy.Name, w.now, err)
	}
	return run.finish(), nil
}

func newScheduler(w *workload) *scheduler {
	o := w.o
	s := &scheduler{workload: w, pol: o.Policy, r: o.Policy.Rules, c: costs{o.Costs, rand.NewPCG(o.Seed, 0)}}
	s.net.poller = none
	if s.pol.SharedQueue {
		s.r.GlobalBatchMax, s.r.GlobalPoll = 1, 0
	}
	s.q = reference.NewQueues(s.r)
	s.q.Grow(1, o.Procs)
	s.ps = make([]proc, o.Procs)
	for i := range s.ps {
		s.ps[i] = proc{m: none, oldM: none, status: pIdle}
		if o.Seed != 0 && s.r.GlobalPoll > 0 {
			s.ps[i].tick = uint32(s.c.rnd.Uint64() % uint64(s.r.GlobalPoll))
		}
		if i < len(o.Ticks) && o.Ticks[i] >= 0 {
			s.ps[i].tick = uint32(o.Ticks[i])
		}
	}
	for i := o.Procs - 1; i >= 0; i-- {
		s.idleP = append(s.idleP, int32(i))
	}
	s.coprimes = coprimes(uint32(o.Procs))
	s.sysmon.start(s)
	s.emitProcs(len(s.ps), s.q.GlobalLen())
	s.nextArrival()
	return s
}

func (s *scheduler) loop(ctx context.Context) error {
	s.ctx = ctx
	for !s.ended() {
		if len(s.events) == 0 {
			return nil
		}
		if s.o.Until > 0 && s.events[0].at > s.o.Until {
			s.now, s.end = s.o.Until, s.o.Until
			return nil
		}
		e := s.events.pop()
		s.now, s.on = e.at, none
		if s.stuck() {
			return errStuck
		}
		switch e.kind {
		case evThread:
			if t := s.ms[e.id]; t.gen == e.gen {
				s.end, s.on = s.now, e.id
				t.waker = none
				s.step(e.id)
			}
		case evSysmon:
			if s.sysmon.gen == e.gen {
				if len(s.events) == 0 && s.net.nready == 0 && s.sysmon.wakes.head == noG {
					return nil // nothing else will ever happen
				}
				s.sysmon.pass(s)
			}
		case evNetwork:
			s.netWaiters--
			s.net.answer(s, e.id)
		case evSent:
			p := s.arrived(e.id)
			s.on = p.by
			if g, _ := s.transfer(noG, p.to, true); g != noG {
				s.net.answer(s, g)
			}
		case evArrival:
			s.end = s.now
			s.arrive()
		case evWorld:
			s.end = s.now
			s.stw.startTheWorld(s)
		}
		if s.live == 0 && s.last {
			s.end = s.now
			return s.err
		}
	}
	return s.err
}

// step has thread m do what it is about to.
func (s *scheduler) step(m int32) {
	t := s.ms[m]
	switch t.next {
	case stWake:
		woken(s, m)
	case stFind:
		findRunnable(s, m)
	case stOwn:
		findLocal(s, m)
	case stTick:
		findTick(s, m)
	case stGlobal:
		findGlobal(s, m)
	case stLook:
		afterPoll(s, m)
	case stSteal:
		stealWork(s, m)
	case stBackoff:
		stealRunnext(s, m)
	case stPoll:
		polled(s, m)
	case stRun:
		computed(s, m)
	case stSyscall:
		exitsyscall(s, m)
	case stHeld:
		execute(s, m, t.prey, take{src: reference.SrcDirect, inherits: true})
	case stTail:
		endRun(s, m, reference.WhyBlock)
		schedule(s, m)
	case stWorker:
		s.gc.marked(s, m)
	}
}

// newG makes a goroutine, with a node in the queues.
func (s *scheduler) newG(id int64, class int32, flags reference.Flags, script Script) int32 {
	g := s.workload.newG(id, class, flags, script)
	s.q.Grow(len(s.gs), 0)
	return g
}
