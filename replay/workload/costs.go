package workload

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// costs measures what the machine takes for things that sim.Costs has.
type costs struct {
	ps       []place
	threads  int // Ps that have a thread, and run nothing
	idle     int
	woken    int64 // when somebody was woken; 0 if nobody is under way
	stopped  bool  // the world: nobody is woken
	procs    int32 // GOMAXPROCS; 0 if it is not known
	switches samples
	wakes    samples
	yields   samples
	timers   samples
	polls    samples
}

// place is what a P is at.
type place struct {
	state placeState
	since int64
	// yielded records that the goroutine which has stopped called runtime.Gosched. fired is
	// how many the P has woken by timers since, the first of them at firedAt.
	yielded bool
	slept   bool // the P was idle before it began to look for work
	fired   int32
	firedAt int64
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
	if p < 0 || p >= sim.MaxProcs {
		return place{}
	}
	for int(p) >= len(c.ps) {
		c.ps = append(c.ps, place{})
	}
	old := c.ps[p]
	c.ps[p] = place{state: s, since: now}
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
// its own queue (schedule, execute), to one whom the network poller gave (netpoll), and from one that has yielded to the head of the
// global queue; how long from when it wakes a goroutine by a timer to when it runs
// something, which is mostly the wake-up of another thread (time.go: timers.run, ready,
// wakep); and how long from when a thread is woken to when it has its P (wakep, startm,
// acquirep), where nobody else could have been meant, or until a locked one runs
// (startlockedm).
func (c *costs) add(d *reference.Decision, now int64) {
	switch d.Kind {
	case reference.KindReady:
		if d.Why == reference.WhyTimer {
			c.fire(d.P, now)
		}
		// wakep does nothing where a thread is spinning already.
		if !c.stopped && c.idle > 0 && c.threads == 0 && c.woken == 0 && (d.Why == reference.WhyCreate || d.Why == reference.WhyUnblock) && d.By >= 0 {
			c.woken = now
		}
	case reference.KindStart:
		old := c.set(d.P, busy, now)
		switch {
		case old.state == handed && d.Flags&reference.FlagLocked != 0:
			c.wakes.add(now, now-old.since)
		case old.fired > 0 && d.Flags&reference.FlagGC == 0:
			c.timers.add(now, (now-old.firedAt)/int64(old.fired))
		case old.state == between && (d.Src == reference.SrcRunnext || d.Src == reference.SrcLocal):
			c.switches.add(now, now-old.since)
		case old.state == between && d.Src == reference.SrcNetpoll:
			c.polls.add(now, now-old.since)
		case old.yielded && (d.Src == reference.SrcGlobal || d.Src == reference.SrcGlobalTick):
			c.yields.add(now, now-old.since)
		}
	case reference.KindStop:
		c.set(d.P, between, now)
		if d.P >= 0 && int(d.P) < len(c.ps) {
			c.ps[d.P].yielded = d.Why == reference.WhyGosched
		}
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
			c.wakes.add(now, now-c.woken)
		}
		c.woken = 0
		c.set(d.P, looking, now)
		if d.P >= 0 && int(d.P) < len(c.ps) {
			c.ps[d.P].slept = old.state == idle
		}
	case reference.KindPStop:
		switch {
		case d.Why == reference.WhyIdle && (c.procs == 0 || d.P < c.procs): // else it goes away
			c.set(d.P, idle, now)
		case d.Why == reference.WhyLocked:
			c.set(d.P, handed, now)
		default:
			c.set(d.P, gone, now)
		}
	case reference.KindRetake:
		c.set(d.P, gone, now)
	case reference.KindSTWBegin:
		c.stopped, c.woken = true, 0
	case reference.KindSTWEnd:
		c.stopped = false
	case reference.KindProcs:
		c.procs = d.Batch
		for p := max(d.Batch, 0); int(p) < len(c.ps); p++ {
			c.set(p, unseen, now)
		}
	}
}

// fire notes that a P which runs nothing wakes a goroutine by a timer.
func (c *costs) fire(p int32, now int64) {
	if p < 0 || int(p) >= len(c.ps) {
		return
	}
	x := &c.ps[p]
	if x.state != looking && x.state != between {
		return
	}
	if x.fired == 0 {
		x.firedAt = now
	}
	x.fired++
}

// slept reports whether a P was idle up to when it began the search for work that it is
// at: its thread has come out of the network poller, or was woken.
func (c *costs) slept(p int32) bool {
	return p >= 0 && int(p) < len(c.ps) && c.ps[p].state == looking && c.ps[p].slept
}

// samples are measurements of a cost, spread over the time in which there were
// any.
type samples struct {
	all  []sim.Sample
	skip int // of that many, one is kept
	n    int // seen since the last that was kept
}

// Fewer samples say nothing; of more than manySamples, every second is kept. Of
// wake-ups a few do: the default is much further off where the machine has not
// enough cores.
const (
	fewSwitches = 20
	fewWakes    = 5
	manySamples = 1 << 13
)

func (s *samples) add(now, ns int64) {
	if s.n++; s.n < s.skip {
		return
	}
	s.n = 0
	if len(s.all) == manySamples {
		for i := range manySamples / 2 {
			s.all[i] = s.all[2*i]
		}
		s.all = s.all[:manySamples/2]
		s.skip = max(2, 2*s.skip)
	}
	s.all = append(s.all, sim.Sample{At: now, Ns: ns})
}

// finish returns the samples in the order of their times, and their median;
// nothing if there are fewer than that.
func (s *samples) finish(few int) ([]sim.Sample, int64) {
	if len(s.all) < few {
		return nil, 0
	}
	ns := make([]int64, len(s.all))
	for i, x := range s.all {
		ns[i] = x.Ns
	}
	slices.Sort(ns)
	return s.all, ns[len(ns)/2]
}
