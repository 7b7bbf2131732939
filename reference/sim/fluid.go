package sim

import (
	"context"
	"fmt"
	"math"
)

// fluid is ideal fair sharing. All runnable goroutines compute at the same
// speed, so one clock of service counts for all of them, and the next to be
// done is the one whose work ends first on that clock.
//
// The garbage collector has a quarter of the Ps while it marks (mgcpacer.go:
// gcBackgroundUtilization), and what the goroutines do not need. While the world
// is stopped no goroutine computes.
type fluid struct {
	*workload
	ps      int     // Ps
	service float64 // ns that a goroutine has got that was always there
	active  heap    // at is the whole ns of service at which a goroutine is done, from 1 on
	queue   []int32 // goroutines to go on with, at this instant

	stopped bool
	until   int64   // when the world starts again
	marking bool    // mark is more than 0, and the world runs
	mark    float64 // ns of marking that are left, of the cycles that have begun
	marked  float64 // ns of marking that were done
	ns      int64   // of the stop-the-world at the end of the last of them
	begun   []Arrival
	wakes   []Wake // of the cycles that have begun
	procs   int    // GOMAXPROCS when the world starts again; 0 is no change
}

// fluidShare is the garbage collector's of the Ps.
const fluidShare = 0.25

func newFluid(w *workload) *fluid {
	f := &fluid{workload: w, ps: w.o.Procs}
	f.emitProcs(f.ps, 0)
	f.nextArrival()
	return f
}

func (f *fluid) loop(ctx context.Context) error {
	f.ctx = ctx
	for !f.ended() {
		next, busy := f.nextDone()
		comes := len(f.events) > 0 && (!busy || f.events[0].at < next)
		switch {
		case comes:
			next = f.events[0].at
		case !busy:
			return nil
		}
		if f.o.Until > 0 && next > f.o.Until {
			f.advance(f.o.Until)
			f.end = f.now
			return nil
		}
		f.advance(next)
		if comes {
			e := f.events.pop()
			if f.stuck() {
				return errStuck
			}
			f.event(e)
		} else {
			f.done()
		}
		if f.live == 0 && f.last {
			f.end = f.now
			return f.err
		}
	}
	return f.err
}

func (f *fluid) event(e event) {
	switch e.kind {
	case evNetwork:
		f.run(e.id)
	case evSent:
		f.send(f.arrived(e.id).to)
	case evArrival:
		f.end = f.now
		a := f.arrival
		f.nextArrival()
		switch a.Kind {
		case ArriveGo:
			f.run(f.newG(a.G, a.Class, a.Flags, a.Script))
		case ArriveSend:
			f.send(a.Chan)
		case ArriveSTW, ArriveGC:
			f.stop(&a)
		}
	case evWorld:
		f.end = f.now
		f.startTheWorld()
	}
}

// speed returns the speed of each goroutine, and that of marking.
func (f *fluid) speed() (each, mark float64) {
	if f.stopped {
		return 0, 0
	}
	procs, n := float64(f.ps), float64(len(f.active))
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

// nextDone returns when the next piece of work, or the marking, is done, and
// false if nothing is under way.
func (f *fluid) nextDone() (int64, bool) {
	each, mark := f.speed()
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
	return f.now + int64(max(0, math.Ceil(d))), true
}

// advance lets all compute up to a time.
func (f *fluid) advance(to int64) {
	each, mark := f.speed()
	d := float64(to - f.now)
	if len(f.active) > 0 {
		f.service += d * each
		f.end = to
	}
	if f.marking {
		f.mark -= d * mark
		f.marked += d * mark
	}
	if f.stopped {
		f.res.StoppedNs += int64(f.ps) * (to - f.now)
	}
	f.now = to
}

// stop stops the world, or lets it stand still for longer.
func (f *fluid) stop(req *Arrival) {
	f.res.STWs++
	f.until = max(f.until, f.now) + req.Ns
	f.stopped, f.marking = true, false
	if req.Kind == ArriveGC {
		f.begun = append(f.begun, *req)
	} else if req.Procs > 0 {
		f.procs = min(req.Procs, MaxProcs)
	}
	f.push(f.until, evWorld, 0, 0)
}

// startTheWorld starts the world again, if no other stop-the-world holds it.
func (f *fluid) startTheWorld() {
	if f.now < f.until {
		return
	}
	f.stopped = false
	f.resize(f.procs)
	f.procs = 0
	for _, req := range f.begun {
		f.mark, f.ns = f.mark+float64(req.Mark), req.Ns
		f.wakes = append(f.wakes, req.Wakes...)
	}
	f.begun = f.begun[:0]
	if f.marking = f.mark > 0; !f.marking {
		f.endCycle()
	}
}

// done goes on with all those whose work is done.
func (f *fluid) done() {
	if f.marking && f.mark < 0.5 {
		f.mark = 0
		f.stop(&Arrival{Kind: endGC, Ns: f.ns})
		f.endCycle()
	}
	for len(f.active) > 0 && float64(f.active.first()) <= f.service+0.5 {
		f.run(f.active.pop().id)
	}
}

// endCycle has those go on who waited for the end of the marking.
func (f *fluid) endCycle() {
	wakes := f.wakes
	f.wakes = nil
	for _, w := range wakes {
		f.send(w.Chan)
	}
}

// send makes a send from outside, and has the goroutine go on that it wakes.
func (f *fluid) send(c *Chan) {
	if g, _ := f.transfer(noG, c, true); g != noG {
		f.run(g)
	}
}

// resize changes the number of Ps.
func (f *fluid) resize(n int) {
	if n <= 0 || n == f.ps {
		return
	}
	f.addPTime(f.ps, f.now)
	f.ps = n
	f.emitProcs(f.ps, 0)
}

// run has a goroutine go on, and those that it wakes.
func (f *fluid) run(g int32) {
	f.queue = append(f.queue[:0], g)
	for i := 0; i < len(f.queue) && f.err == nil; i++ {
		f.stepsOf(f.queue[i])
	}
}

func (f *fluid) stepsOf(g int32) {
	x := &f.gs[g]
	if !x.runnable { // it was blocked
		x.runnable, x.readyAt, x.left = true, f.now, 0
	}
	for n := 0; n < maxSteps; n++ {
		if f.ended() {
			return
		}
		op := f.gs[g].script.Next(f.now)
		switch op.Kind {
		case OpRun:
			if op.Ns <= 0 {
				continue
			}
			x := &f.gs[g]
			x.left += op.Ns
			x.began = int64(math.Round(f.service)) + op.Ns
			f.seq++
			f.active.push(event{at: x.began, seq: f.seq, id: g})
			return
		case OpGo:
			f.queue = append(f.queue, f.newG(op.G, op.Class, op.Flags, op.Script))
		case OpSend, OpRecv:
			if op.Kind == OpSend && op.Chan.network {
				f.transmit(op.Chan, op.Ns, none)
				break
			}
			w, blocks := f.transfer(g, op.Chan, op.Kind == OpSend)
			if w != noG {
				f.queue = append(f.queue, w)
			}
			if blocks {
				f.block(g)
				return
			}
		case OpSleep, OpPoll, OpSyscall, OpSyscallBlock:
			f.block(g)
			f.push(f.now+op.Ns, evNetwork, g, 0)
			return
		case OpStop:
			f.stop(op.Stop)
		case OpGosched, OpGoyield, OpPreempt, OpLockThread, OpUnlockThread:
		case OpExit:
			f.block(g)
			f.endG(g)
			return
		default:
			f.err = fmt.Errorf("goroutine %d does step %d, which there is not", f.gs[g].id, op.Kind)
			return
		}
	}
	f.err = errStuck
}

// block books the time since a goroutine became runnable.
func (f *fluid) block(g int32) {
	x := &f.gs[g]
	x.runnable = false
	f.end = f.now
	c := f.class(x.class)
	wait := max(0, f.now-x.readyAt-x.left)
	c.Waits++
	c.WaitNs += wait
	c.MaxWaitNs = max(c.MaxWaitNs, wait)
	c.RunningNs += x.left
	f.res.BusyNs += x.left
	if f.o.Waited != nil {
		f.o.Waited(f.now, x.flags, wait)
	}
}

// finish books those that are runnable at the end, and closes the accounts.
func (f *fluid) finish() *Result {
	for _, e := range f.active {
		x := &f.gs[e.id]
		x.left -= int64(math.Round(float64(e.at) - f.service))
		f.block(e.id)
	}
	f.addPTime(f.ps, f.end)
	r := &f.res
	r.EndNs, r.Left = f.end, f.live
	r.GCNs = int64(math.Round(f.marked))
	r.IdleNs = f.pTime - r.BusyNs - r.GCNs - r.StoppedNs
	return r
}
