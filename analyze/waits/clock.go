package waits

import "github.com/gmpscope/gmpscope/reference"

// mode is the state of the world as a waiting goroutine sees it. At each
// instant it is in exactly one.
type mode uint8

const (
	modeBusy     mode = iota // no usable P is idle
	modeIdle                 // a usable P is idle
	modeStopping             // a stop-the-world has begun, but some P still runs
	modeStopped              // the world is stopped
	numModes
)

// clocks holds, for each mode, how long the world has been in it. They sum to
// the time, so a time-stamp in all four is also a time-stamp. The time that an
// interval spent in one mode is a subtraction: nothing is ever told to those
// who wait when the mode changes.
type clocks [numModes]int64

func (c *clocks) time() int64 {
	return c[modeBusy] + c[modeIdle] + c[modeStopping] + c[modeStopped]
}

// service is the time in which goroutines that run count as being ahead of
// those that wait: neither is a P idle nor the world stopped.
func (c *clocks) service() int64 { return c[modeBusy] + c[modeStopping] }

// advance moves the time on to t, which must not be earlier. Moves of waiting
// goroutines between queues take effect here, so that a goroutine that is moved and
// started at one instant, as a stolen one is, counts as taken from the queue in which
// it waited.
func (a *Accumulator) advance(t int64) {
	t = min(t, maxTime)
	if t >= a.edge {
		a.cross(t)
	}
	if len(a.moved) > 0 && t > a.now {
		a.settleMoves()
	}
	a.clk[a.mode&3] += t - a.now
	a.now = t
}

// updateMode follows a change of the number of Ps, of those that are idle, or of
// the stop-the-world.
func (a *Accumulator) updateMode() {
	switch {
	case a.stw && a.busy == 0:
		a.setMode(modeStopped)
	case a.stw:
		a.setMode(modeStopping)
	case a.usable > a.busy:
		a.setMode(modeIdle)
	default:
		a.setMode(modeBusy)
	}
}

// stwBegin begins a stop-the-world. The P that asks for it serves no goroutine until
// the end (stopTheWorldWithSema sets its status to _Pgcstop), so it counts as
// stopped from here on.
func (a *Accumulator) stwBegin(d *reference.Decision) {
	if a.stw {
		return
	}
	a.stw, a.stwReason = true, a.reason(d.Label)
	a.holdAgain()
	if p := a.proc(d.P); p != nil && p.state != pIdle {
		a.stopperState, a.stopperG = p.state, p.runner()
		a.enter(p, pIdle, nil)
		a.stopper = p
	}
	a.updateMode()
}

func (a *Accumulator) stwEnd() {
	if !a.stw {
		return
	}
	a.stw = false
	a.holdAgain()
	if a.stopper != nil {
		var g *goroutine
		if a.stopperG != 0 {
			g = a.gors.At(a.stopperG)
		}
		a.enter(a.stopper, a.stopperState, g)
	}
	a.updateMode()
}

// setProcs sets GOMAXPROCS: Ps below n are usable. It happens only in a
// stop-the-world (procresize).
func (a *Accumulator) setProcs(n int64) {
	if n <= 0 {
		return
	}
	n = min(n, maxUsable)
	if a.procsKnown && n == a.usable {
		return
	}
	a.foldPool()
	a.procsKnown = true
	a.setUsable(n)
	for _, p := range a.procs {
		usable := int64(p.id) < n
		if usable == p.usable {
			continue
		}
		a.endHold(p)
		if usable {
			p.usable = true
			a.seen++
			a.joinPool(p)
			a.joinIdle(p)
		} else {
			a.leavePool(p)
			a.leaveIdle(p)
			p.usable = false
			a.seen--
		}
		a.beginHold(p)
		a.record(p)
	}
	a.updateMode()
}

// setUsable sets the number of usable Ps.
func (a *Accumulator) setUsable(n int64) {
	a.pool.all.add(n-a.usable, a.clk.service())
	a.usable = n
}
