package sim

import (
	"fmt"
	"math"
)

// fluid is ideal fair sharing. All runnable goroutines compute at the same
// speed, so one clock of service counts for all of them, and the next to be
// done is the one whose work ends first on that clock.
type fluid struct {
	service float64 // ns that a goroutine has got that was always there
	active  heap    // at is the whole ns of service at which a goroutine is done, from 1 on
	queue   []int32 // goroutines to go on with, at this instant
}

func (s *machine) fluidSpeed() float64 {
	return min(1, float64(len(s.ps))/float64(len(s.fluid.active)))
}

// fluidNext returns when the next piece of work is done.
func (s *machine) fluidNext() int64 {
	d := math.Ceil((float64(s.fluid.active.first()) - s.fluid.service) / s.fluidSpeed())
	return s.now + int64(max(0, d))
}

// fluidAdvance lets all compute up to a time.
func (s *machine) fluidAdvance(to int64) {
	if f := s.fluid; len(f.active) > 0 {
		f.service += float64(to-s.now) * s.fluidSpeed()
		s.end = to
	}
	s.now = to
}

// fluidDone goes on with all those whose work is done.
func (s *machine) fluidDone() {
	for f := s.fluid; len(f.active) > 0 && float64(f.active.first()) <= f.service+0.5; {
		s.fluidRun(f.active.pop().id)
	}
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
		case OpGosched, OpGoyield, OpLockThread, OpUnlockThread:
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
}

// fluidFinish books those that are runnable at the end.
func (s *machine) fluidFinish() {
	for _, e := range s.fluid.active {
		x := &s.gs[e.id]
		x.left -= int64(math.Round(float64(e.at) - s.fluid.service))
		s.fluidBlock(e.id)
	}
}
