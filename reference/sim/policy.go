package sim

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// Policy is a scheduler: the rules of a Go version, and which mechanisms are
// there at all. Its zero value is not of use; start from [PolicyFor] or [Version].
type Policy struct {
	// Name is how the policy is called; for one of one's own making, too.
	Name string
	// Rules are the numbers. A GlobalPoll of 0 never looks at the global queue
	// first; NoRunnext puts those who were made runnable at the ring's tail.
	Rules reference.Rules

	// SharedQueue has one queue, the global one, for all Ps, as Go 1.0 had.
	SharedQueue bool
	// FreshSlice gives one that was taken from runnext a time slice of its own;
	// in Go it inherits the running one (runqget, execute).
	FreshSlice bool
	// Steal reports what a P without work takes from others.
	Steal Steal
	// Preempt reports who ends a time slice.
	Preempt Preempt
	// RequeueLocal puts goroutines that were preempted, or that yield, at the
	// tail of their P's ring, and not of the global queue (goschedImpl).
	RequeueLocal bool
	// Handoff reports when the P of a goroutine in a system call goes to others.
	Handoff Handoff
	// HoldP keeps the P of a goroutine that blocks, until it is woken: with
	// PreemptNever, goroutines run to completion. It cannot be combined with
	// stop-the-worlds.
	HoldP bool
	// NoSpinning has threads without work look around once and park; each wake-up of
	// a goroutine then wakes a thread for it, if a P is idle. In
	// Go it does not while a thread is spinning (wakep).
	NoSpinning bool
	// HomeQueue puts a goroutine that is woken into the queue of the P on which
	// it ran last, not into that of the waker.
	HomeQueue bool
	// ThreadPerG gives each goroutine a thread of its own: creation and every
	// wake-up cost what a thread's do.
	ThreadPerG bool
	// Fluid is ideal fair sharing (generalised processor sharing): at each
	// instant all n runnable goroutines run at once, each at the speed
	// min(1, Ps/n). There are no queues, costs and decisions. The garbage collector
	// has a quarter of the Ps while it marks, and what the goroutines leave.
	Fluid bool
}

// Steal specifies what a thief takes from a ring.
type Steal uint8

// The amounts that a thief may take.
const (
	StealHalf Steal = iota // the older half, and runnext if there is nothing else (runqgrab)
	StealOne               // the oldest, and runnext if there is nothing else
	StealNone              // nothing: a P only runs what its own queue and the global one have
)

// Preempt specifies who ends a time slice.
type Preempt uint8

// The ways to preempt.
const (
	PreemptSysmon Preempt = iota // sysmon, when it has seen a slice that is old enough (retake)
	PreemptExact                 // the P itself, exactly at its end, if others are queued
	PreemptNever                 // nobody: a goroutine runs until it stops by itself
)

// Handoff specifies when the P of a goroutine in a system call goes to others.
type Handoff uint8

// The times of a handoff.
const (
	HandoffRetake Handoff = iota // when sysmon retakes it (retake, handoffp)
	HandoffAtOnce                // when the system call begins
	HandoffNever                 // when it ends
)

// Version returns the scheduler of a Go release.
func Version(r reference.Rules) Policy { return Policy{Name: "go" + r.Release, Rules: r} }

// PolicyNames returns the names of the schedulers that [PolicyFor] has.
func PolicyNames() []string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = p.name
	}
	return names
}

// PolicyFor returns the scheduler with a name, the costs that go with it, and false if there
// is none of that name.
func PolicyFor(name string) (Policy, Costs, bool) {
	for _, p := range policies {
		if p.name == name {
			pol, c := Policy{Name: name, Rules: reference.RulesFor(26)}, DefaultCosts()
			p.change(&pol, &c)
			return pol, c, true
		}
	}
	return Policy{}, Costs{}, false
}

// About returns a description, in one line, of the policy with a name of [PolicyNames]; "" for
// another name.
func About(name string) string {
	for _, p := range policies {
		if p.name == name {
			return p.about
		}
	}
	return ""
}

// policies has a row for each named policy: what it changes of Go 1.26.
var policies = []struct {
	name, about string
	change      func(*Policy, *Costs)
}{
	{"go1.22", "the scheduler of Go 1.22 to 1.25", func(p *Policy, _ *Costs) { p.Rules = reference.RulesFor(22) }},
	{"go1.26", "the scheduler of Go 1.26 and 1.27", func(*Policy, *Costs) {}},
	{"go1.0", "one global queue behind one lock; no preemption; a system call frees its processor at once", func(p *Policy, _ *Costs) {
		p.SharedQueue, p.Steal, p.Preempt, p.Handoff = true, StealNone, PreemptNever, HandoffAtOnce
	}},
	{"go1.1-nopreempt", "local queues and stealing, without runnext and without preemption, as in Go 1.1", func(p *Policy, _ *Costs) {
		p.Rules.NoRunnext, p.Preempt = true, PreemptNever
	}},
	{"no-runnext", "go1.26 without runnext: who is made runnable goes to the tail", func(p *Policy, _ *Costs) { p.Rules.NoRunnext = true }},
	{"no-steal", "go1.26 without stealing", func(p *Policy, _ *Costs) { p.Steal = StealNone }},
	{"fifo", "one ideal global queue: first come, first served; no lock and no cost; slices end exactly", ideal},
	{"gps", "ideal fair sharing: all runnable goroutines run at once, at equal speed. The yardstick of fairness, not of the makespan: those with equal work end together, so what comes after them begins late", func(p *Policy, c *Costs) {
		ideal(p, c)
		p.Fluid = true
	}},
	{"beam", "reduction counting, as in Erlang: a queue per P, slices of 1 ms (4,000 reductions) that the P counts itself, the preempted to its tail, the woken where they ran last, steal one", func(p *Policy, _ *Costs) {
		p.Rules.NoRunnext, p.Rules.GlobalPoll, p.Rules.RingSize, p.Rules.Slice = true, 0, 1<<30, 1_000_000
		p.Preempt, p.RequeueLocal, p.Steal, p.HomeQueue, p.Handoff = PreemptExact, true, StealOne, true, HandoffAtOnce
	}},
	{"thread-per-goroutine", "a thread per goroutine, time-shared on as many cores as there would be Ps, in slices of 3 ms", func(p *Policy, c *Costs) {
		ideal(p, new(Costs))
		c.Lock, c.Preempt, c.Signal, c.Switch = 0, 0, 0, c.ThreadSwitch
		p.ThreadPerG, p.Rules.Slice = true, 3_000_000
	}},
}

// ideal makes it one queue, served in order without loss.
func ideal(p *Policy, c *Costs) {
	p.SharedQueue, p.Steal, p.Preempt, p.Handoff = true, StealNone, PreemptExact, HandoffAtOnce
	p.Rules.PollResolution = 0
	*c = Costs{}
}

// Costs are the times that the scheduler itself takes, in ns. The run times of
// a script are the goroutine's own and come on top.
type Costs struct {
	// Switch is the time from the end of one goroutine's run interval to its P's look at the
	// queues for the next.
	Switch int64
	// Look is the time that one look at another P's queue takes in a search (runqgrab).
	Look int64
	// ThreadWake is the time from the wake-up of a parked thread to its first step
	// (notewakeup, futex), ThreadStart the same for a new thread (newm, clone).
	ThreadWake, ThreadStart int64
	// Switches and ThreadWakes are measurements, in order of their times. If there are any,
	// one of them is drawn each time instead of Switch or ThreadWake, among those that were
	// made next to the time of the simulation: what a machine does to threads changes, and
	// late ones come together. A new thread takes at least ThreadStart. The slices must not be
	// modified.
	Switches, ThreadWakes []Sample
	// Yields are measurements from the end of a run interval by runtime.Gosched to the next
	// run interval of the P, taken from the global queue; without them Switch holds. Timers
	// are those of what it takes a P to wake a goroutine by a timer, Polls those from the end
	// of a run interval to the next one of a goroutine from the network poller (netpoll);
	// without them a timer, or a poll, costs nothing.
	Yields, Timers, Polls []Sample
	// ThreadSwitch is the time of the kernel's switch between two threads. Only the policy
	// thread-per-goroutine has it.
	ThreadSwitch int64
	// Slack is how much longer than asked for the kernel lets a thread sleep
	// (usleep, epoll_wait): sysmon's sleeps, the pause before runnext is stolen, and the
	// sleep in the network poller up to the time of a timer.
	Slack int64
	// Lock is how long one operation on the global queue or on the idle lists
	// holds sched.lock; others wait meanwhile.
	Lock int64
	// Preempt is the time from the request to yield to the goroutine's next safe point
	// (preemptM, a signal). A thread that asks several goroutines sends one signal after the
	// other, each of which takes Signal.
	Preempt, Signal int64
	// Syscall is what the return from a system call costs more if the P is gone
	// (exitsyscall).
	Syscall int64
	// Create and Ready are what a go statement and a wake-up cost the goroutine
	// that does them. The run times of a trace hold them already, so by default
	// they are 0.
	Create, Ready int64
}

// WithThreadWakes returns the costs with what the wake-up of a thread takes multiplied by
// times.
func (c Costs) WithThreadWakes(times int64) Costs {
	c.ThreadWake *= times
	c.ThreadWakes = slices.Clone(c.ThreadWakes)
	for i := range c.ThreadWakes {
		c.ThreadWakes[i].Ns *= times
	}
	return c
}

// Sample is one measurement of a cost: At is when it was made, Ns what it was, both in ns.
type Sample struct{ At, Ns int64 }

// nearAt is among how many measurements one is drawn.
const nearAt = 16

// DefaultCosts were measured on Linux, Xeon cores of 2024, Go 1.26: a Gosched
// loop and a ping-pong on one P (Switch), a ping-pong of two locked threads
// (ThreadWake), goroutines that lock a new thread each (ThreadStart),
// nanosleep(3 µs) with the kernel's usual timer slack of 50 µs (Slack), an
// uncontended lock (Lock). Look, Preempt and Signal are estimates.
func DefaultCosts() Costs {
	return Costs{
		Switch: 200, Look: 20, ThreadWake: 5_000, ThreadStart: 25_000, ThreadSwitch: 1_500,
		Slack: 55_000, Lock: 50, Preempt: 5_000, Signal: 1_000, Syscall: 500,
	}
}
