package workload

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// costs measures what the machine takes for two things that sim.Costs has.
type costs struct {
	ps       []place
	threads  int // Ps that have a thread, and run nothing
	idle     int
	woken    int64 // when somebody was woken; 0 if nobody is under way
	switches samples
	wakes    samples
}

// place is what a P is at.
type place struct {
	state placeState
	since int64
}

type placeState uint8

const (
	unseen  placeState = iota
	idle               // without a thread, for lack of work
	looking            // has a thread, which looks for work
	busy               // runs something, or is in a system call
	between            // has stopped one goroutine, and has not started the next
	handed             // to a locked thread
	gone               // without a thread for any other reason
)

func (c *costs) set(p int32, s placeState, now int64) place {
	if p < 0 || p >= maxProcs {
		return place{}
	}
	for int(p) >= len(c.ps) {
		c.ps = append(c.ps, place{})
	}
	old := c.ps[p]
	c.ps[p] = place{s, now}
	for _, x := range [...]struct {
		s placeState
		n int
	}{{old.state, -1}, {s, 1}} {
		switch x.s {
		case idle:
			c.idle += x.n
		case looking:
			c.threads += x.n
		}
	}
	return old
}

// add looks at a decision: how long a P takes from one goroutine to the next in
// its own queue (schedule, execute); and how long from when a thread is woken to
// when it has its P (wakep, startm, acquirep), where nobody else could have been
// meant, or until a locked one runs (startlockedm).
func (c *costs) add(d *reference.Decision, now int64) {
	switch d.Kind {
	case reference.KindReady:
		// wakep does nothing where a thread is spinning already.
		if c.idle > 0 && c.threads == 0 && c.woken == 0 && (d.Why == reference.WhyCreate || d.Why == reference.WhyUnblock) && d.By >= 0 {
			c.woken = now
		}
	case reference.KindStart:
		old := c.set(d.P, busy, now)
		switch {
		case old.state == handed && d.Flags&reference.FlagLocked != 0:
			c.wakes.add(now - old.since)
		case old.state == between && (d.Src == reference.SrcRunnext || d.Src == reference.SrcLocal):
			c.switches.add(now - old.since)
		}
	case reference.KindStop:
		c.set(d.P, between, now)
	case reference.KindSyscall, reference.KindSyscallExit:
		c.set(d.P, busy, now)
	case reference.KindPStart:
		old := place{}
		if int(d.P) < len(c.ps) && d.P >= 0 {
			old = c.ps[d.P]
		}
		switch {
		case old.state == handed: // the thread that it is for has still to run
			return
		case old.state == idle && c.woken != 0:
			c.wakes.add(now - c.woken)
		}
		c.woken = 0
		c.set(d.P, looking, now)
	case reference.KindPStop:
		switch d.Why {
		case reference.WhyIdle:
			c.set(d.P, idle, now)
		case reference.WhyLocked:
			c.set(d.P, handed, now)
		default:
			c.set(d.P, gone, now)
		}
	case reference.KindRetake:
		c.set(d.P, gone, now)
	case reference.KindSTWBegin:
		c.woken = 0
	}
}

// samples are the first measurements of a cost, in ns.
type samples []int64

// Fewer samples say nothing, more than manySamples are not kept. Of wake-ups a few
// do: the default is much further off where the machine has not enough cores.
const (
	fewSwitches = 20
	fewWakes    = 5
	manySamples = 1 << 12
)

func (s *samples) add(ns int64) {
	if len(*s) < manySamples {
		*s = append(*s, ns)
	}
}

// finish returns the samples in rising order, and their median; nothing if there
// are fewer than that.
func (s samples) finish(few int) ([]int64, int64) {
	if len(s) < few {
		return nil, 0
	}
	slices.Sort(s)
	return s, s[len(s)/2]
}
