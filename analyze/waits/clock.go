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
	t = min(t, reference.MaxTime)
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
func (m *machine) updateMode() {
	switch {
	case m.stw && m.busy == 0:
		m.setMode(modeStopped)
	case m.stw:
		m.setMode(modeStopping)
	case m.usable > m.busy:
		m.setMode(modeIdle)
	default:
		m.setMode(modeBusy)
	}
}

// stwBegin begins a stop-the-world. The P that asks for it serves no goroutine until
// the end (stopTheWorldWithSema sets its status to _Pgcstop), so it counts as
// stopped from here on.
func (m *machine) stwBegin(d *reference.Decision) {
	if m.stw {
		return
	}
	m.stw, m.stwReason = true, m.reason(d.Label)
	m.holdAgain()
	if p := m.proc(d.P); p != nil && p.state != pIdle {
		m.stopperState, m.stopperG = p.state, p.runner()
		m.enter(p, pIdle, nil)
		m.stopper = p
	}
	m.updateMode()
}

func (m *machine) stwEnd() {
	if !m.stw {
		return
	}
	m.stw = false
	m.holdAgain()
	if m.stopper != nil {
		var g *goroutine
		if m.stopperG != 0 {
			g = m.gors.At(m.stopperG)
		}
		m.enter(m.stopper, m.stopperState, g)
	}
	m.updateMode()
}

// setProcs sets GOMAXPROCS: Ps below n are usable. It happens only in a
// stop-the-world (procresize).
func (m *machine) setProcs(n int64) {
	if n <= 0 {
		return
	}
	n = min(n, maxUsable)
	if m.procsKnown && n == m.usable {
		return
	}
	m.foldPool()
	m.procsKnown = true
	m.setUsable(n)
	for _, p := range m.procs {
		usable := int64(p.id) < n
		if usable == p.usable {
			continue
		}
		m.endHold(p)
		if usable {
			p.usable = true
			m.seen++
			m.joinPool(p)
			m.joinIdle(p)
		} else {
			m.leavePool(p)
			m.leaveIdle(p)
			p.usable = false
			m.seen--
		}
		m.beginHold(p)
		m.record(p)
	}
	m.updateMode()
}

// setUsable sets the number of usable Ps.
func (m *machine) setUsable(n int64) {
	m.pool.all.add(n-m.usable, m.clk.service())
	m.usable = n
}
