package sim

import (
	"fmt"
	"math"
)

// fluid is ideal fair sharing. All runnable goroutines compute at the same
// speed, so one clock of service counts for all of them, and the next to be
// done is the one whose work ends first on that clock.
//
// The garbage collector has a quarter of the Ps while it marks (mgcpacer.go:
// gcBackgroundUtilization), and what the goroutines do not need. While the world
// is stopped nobody computes.
type fluid struct {
	service float64 // ns that a goroutine has got that was always there
	active  heap    // at is the whole ns of service at which a goroutine is done, from 1 on
	queue   []int32 // goroutines to go on with, at this instant

	stopped bool
	until   int64   // when the world starts again
	marking bool    // mark is more than 0, and the world runs
	mark    float64 // ns of marking that are left, of the cycles that have begun
	marked  float64 // ns of marking that were done
	ns      int64   // of the stop-the-world at the end of the last of them
	begun   []stopRequest
	wakes   []Wake // of the cycles that have begun
	procs   int    // GOMAXPROCS when the world starts again; 0 is no change
}

// fluidShare is the garbage collector's of the Ps.
const fluidShare = 0.25

// fluidSpeed returns the speed of each goroutine, and that of marking.
func (s *machine) fluidSpeed() (each, mark float64) {
	f := s.fluid
	if f.stopped {
		return 0, 0
	}
	procs, n := float64(len(s.ps)), float64(len(f.active))
	free := procs
	if f.marking {
		free -= fluidShare * procs
	}
	if n > 0 {
		each = min(1, free/n)
	}
	if f.marking {
		mark = procs - each*n
	}
	return each, mark
}

// fluidNext returns when the next piece of work, or the marking, is done, and
// false if nothing is under way.
func (s *machine) fluidNext() (int64, bool) {
	f := s.fluid
	each, mark := s.fluidSpeed()
	d, busy := math.Inf(1), false
	if each > 0 {
		d, busy = (float64(f.active.first())-f.service)/each, true
	}
	if mark > 0 {
		d, busy = min(d, f.mark/mark), true
	}
	if !busy {
		return 0, false
	}
	return s.now + int64(max(0, math.Ceil(d))), true
}

// fluidAdvance lets all compute up to a time.
func (s *machine) fluidAdvance(to int64) {
	f := s.fluid
	each, mark := s.fluidSpeed()
	d := float64(to - s.now)
	if len(f.active) > 0 {
		f.service += d * each
		s.end = to
	}
	if f.marking {
		f.mark -= d * mark
		f.marked += d * mark
	}
	if f.stopped {
		s.res.StoppedNs += int64(len(s.ps)) * (to - s.now)
	}
	s.now = to
}

// fluidStop stops the world, or lets it stand still for longer.
func (s *machine) fluidStop(req stopRequest) {
	f := s.fluid
	s.res.STWs++
	f.until = max(f.until, s.now) + req.ns
	if req.procs > 0 {
		f.procs = req.procs
	}
	f.stopped, f.marking = true, false
	if req.begins {
		f.begun = append(f.begun, req)
	}
	s.push(f.until, evWorld, 0, 0)
}

// fluidWorld starts the world again, if no other stop-the-world holds it.
func (s *machine) fluidWorld() {
	f := s.fluid
	if s.now < f.until {
		return
	}
	f.stopped = false
	s.resize(f.procs)
	f.procs = 0
	for _, req := range f.begun {
		f.mark, f.ns = f.mark+float64(req.mark), req.ns
		f.wakes = append(f.wakes, req.wakes...)
	}
	f.begun = f.begun[:0]
	if f.marking = f.mark > 0; !f.marking {
		s.fluidWakes()
	}
}

// fluidDone goes on with all those whose work is done.
func (s *machine) fluidDone() {
	if f := s.fluid; f.marking && f.mark < 0.5 {
		f.mark = 0
		s.fluidStop(stopRequest{ns: f.ns})
		s.fluidWakes()
	}
	for f := s.fluid; len(f.active) > 0 && float64(f.active.first()) <= f.service+0.5; {
		s.fluidRun(f.active.pop().id)
	}
}

// fluidWakes has those go on who waited for the end of the marking.
func (s *machine) fluidWakes() {
	wakes := s.fluid.wakes
	s.fluid.wakes = nil
	s.deliver(wakes)
}

// fluidRun has a goroutine go on, and those that it wakes.
func (s *machine) fluidRun(g int32) {
	f := s.fluid
	f.queue = append(f.queue[:0], g)
	for i := 0; i < len(f.queue) && s.err == nil; i++ {
		s.fluidSteps(f.queue[i])
	}
}

func (s *machine) fluidSteps(g int32) {
	f := s.fluid
	x := &s.gs[g]
	if !x.runnable { // it was blocked
		x.runnable, x.readyAt, x.left = true, s.now, 0
	}
	for n := 0; n < maxSteps; n++ {
		if s.ended() {
			return
		}
		op := s.gs[g].script.Next(s.now)
		switch op.Kind {
		case OpRun:
			if op.Ns <= 0 {
				continue
			}
			x := &s.gs[g]
			x.left += op.Ns
			x.began = int64(math.Round(f.service)) + op.Ns
			s.seq++
			f.active.push(event{at: x.began, seq: s.seq, id: g})
			return
		case OpGo:
			f.queue = append(f.queue, s.newG(op.G, op.Class, op.Flags, op.Script))
		case OpSend, OpRecv:
			if op.Kind == OpSend && op.Chan.network {
				s.transmit(op.Chan, op.Ns)
				break
			}
			w, blocks := s.transfer(g, op.Chan, op.Kind == OpSend)
			if w != noG {
				f.queue = append(f.queue, w)
			}
			if blocks {
				s.fluidBlock(g)
				return
			}
		case OpSleep, OpPoll, OpSyscall, OpSyscallBlock:
			s.fluidBlock(g)
			s.push(s.now+op.Ns, evNetwork, g, 0)
			return
		case OpStop:
			s.stop(op.Stop.stop(0))
		case OpGosched, OpGoyield, OpPreempt, OpLockThread, OpUnlockThread:
		case OpExit:
			s.fluidBlock(g)
			s.endG(g)
			return
		default:
			s.err = fmt.Errorf("goroutine %d does step %d, which there is not", s.gs[g].id, op.Kind)
			return
		}
	}
	s.err = errStuck
}

// fluidBlock books the time since a goroutine became runnable.
func (s *machine) fluidBlock(g int32) {
	x := &s.gs[g]
	x.runnable = false
	s.end = s.now
	c := s.class(x.class)
	wait := max(0, s.now-x.readyAt-x.left)
	c.Waits++
	c.WaitNs += wait
	c.MaxWaitNs = max(c.MaxWaitNs, wait)
	c.RunningNs += x.left
	s.res.BusyNs += x.left
	if s.o.Waited != nil {
		s.o.Waited(s.now, x.flags, wait)
	}
}

// fluidFinish books those that are runnable at the end.
func (s *machine) fluidFinish() {
	for _, e := range s.fluid.active {
		x := &s.gs[e.id]
		x.left -= int64(math.Round(float64(e.at) - s.fluid.service))
		s.fluidBlock(e.id)
	}
}
