package textbook

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// program is a row of the table: a program, run with one mechanism off and on.
type program struct {
	id, title string
	about     string
	off, on   variant
	load      func() sim.Arrivals
	procs     int
	until     time.Duration // 0: to the end
	bars      *bars         // what the picture compares; nil: what the Ps do over time
	classes   []string      // names, from class 1 on, for the picture's key
}

// variant is the scheduler of one side.
type variant struct {
	name   string
	policy sim.Policy
	costs  sim.Costs
	says   func(*sim.Result) string
}

// bars compares a figure of the two sides.
type bars struct {
	unit string
	of   func(*sim.Result) float64
}

// outcome is a program with what came of it.
type outcome struct {
	program
	without, with side
}

// side is what one variant did.
type side struct {
	result *sim.Result
	lanes  lanes
}

func (p program) run() (outcome, error) {
	o := outcome{program: p}
	for _, x := range []struct {
		v *variant
		s *side
	}{{&p.off, &o.without}, {&p.on, &o.with}} {
		opt := sim.Options{Policy: x.v.policy, Costs: x.v.costs, Procs: p.procs, Until: int64(p.until)}
		rec := newRecorder(p.procs)
		if p.bars == nil {
			opt.Emit = rec.add
		}
		r, err := sim.Simulate(context.Background(), opt, p.load())
		if err != nil {
			return o, fmt.Errorf("%s, %s: %w", p.id, x.v.name, err)
		}
		x.s.result, x.s.lanes = r, rec.finish(r.EndNs)
	}
	return o, nil
}

// with changes a named policy.
func with(name, called string, change func(*sim.Policy), says func(*sim.Result) string) variant {
	p, c, ok := sim.PolicyFor(name)
	if !ok {
		panic("no policy " + name)
	}
	if change != nil {
		change(&p)
	}
	return variant{called, p, c, says}
}

const (
	µs = int64(time.Microsecond)
	ms = int64(time.Millisecond)
)

// unbounded is a ring that never overflows: what does not fit would go to the
// global queue, and so to other Ps without any stealing.
const unbounded = 1 << 30

func programs() []program {
	return []program{
		{
			id: "one", title: "1 goroutine", procs: 4,
			about: "One goroutine works for 1 µs. Whether it gets a thread of its own, or a thread of the pool is started for it: the start of the thread is what takes the time. Nothing is gained yet.",
			load:  func() sim.Arrivals { return one(sim.Steps(sim.Run(1 * µs))) },
			off:   with("thread-per-goroutine", "a thread per goroutine", nil, startCost),
			on:    with("go1.26", "threads of a pool", nil, startCost),
			bars:  &bars{"µs, of which one is work", func(r *sim.Result) float64 { return float64(r.EndNs) / 1e3 }},
		},
		{
			id: "thousand", title: "1,000 goroutines", procs: 4,
			about: "One goroutine starts 1,000 others, each of which works for 30 ms. With a thread for each, 1,000 threads are made, and contend for 4 cores in the kernel's slices. With Ps, 4 goroutines run at a time, on threads that are used again.",
			load:  func() sim.Arrivals { return one(sim.Times(1000, sim.Go(2, sim.Steps(sim.Run(30*ms))))) },
			off:   with("thread-per-goroutine", "a thread per goroutine", nil, threads),
			on:    with("go1.26", "4 Ps, threads used again", nil, threads),
			bars:  &bars{"threads", func(r *sim.Result) float64 { return float64(r.Threads) }},
		},
		{
			id: "million", title: "1,000 × 1,000 goroutines", procs: 4,
			about: "1,000 goroutines start 1,000 others each, of 1 µs. With one global queue every start takes its lock twice: to put and to take. With local queues the lock is for what overflows, and for batches.",
			load: func() sim.Arrivals {
				return one(sim.Times(1000, sim.Go(2, sim.Times(1000, sim.Go(3, sim.Steps(sim.Run(1*µs)))))))
			},
			off:  with("go1.26", "one global queue", func(p *sim.Policy) { p.SharedQueue = true }, lockTraffic),
			on:   with("go1.26", "local queues", nil, lockTraffic),
			bars: &bars{"operations under the lock per start", locksPerStart},
		},
		{
			id: "spawner", title: "1 spawner of 1,000", procs: 4, classes: []string{"the spawner", "workers"},
			about: "One goroutine starts 1,000 others, of 100 µs, all into the queue of its own P. Without stealing the other Ps have nothing to do. (The ring is unbounded here, on both sides: what overflows a ring of 256 would go to the global queue, and so to other Ps.)",
			load:  func() sim.Arrivals { return one(sim.Times(1000, sim.Go(2, sim.Steps(sim.Run(100*µs))))) },
			off:   with("no-steal", "no stealing", func(p *sim.Policy) { p.Rules.RingSize = unbounded }, utilisation),
			on:    with("go1.26", "stealing", func(p *sim.Policy) { p.Rules.RingSize = unbounded }, utilisation),
		},
		{
			id: "blocked", title: "1,000 × (one put, three takes)", procs: 4, classes: []string{"puts", "takes"},
			about: "1,000 times: a put computes 1,000 units of 1 µs and then sends to three takes, each of which receives and computes one unit. If a goroutine that blocks keeps its P, the three takes hold three Ps while the put works: (1,000 + 3)/(4 · 1,000) of the P-time is used. The queue is the ideal one, on both sides.",
			load:  puts,
			off: with("fifo", "blocked goroutines hold their P", func(p *sim.Policy) { p.HoldP, p.Preempt = true, sim.PreemptNever },
				utilisation),
			on: with("fifo", "blocked goroutines are parked", nil, utilisation),
		},
		{
			id: "syscalls", title: "1,000 system calls of 100 ms", procs: 4,
			about: "1,000 goroutines each make one system call of 100 ms. If a P waits for its goroutine to come back, the calls are made four at a time: 1,000 · 100 ms / 4 = 25 s. With handoff sysmon takes the Ps out of the calls and gives them to further threads.",
			load:  func() sim.Arrivals { return one(sim.Times(1000, sim.Go(2, sim.Steps(sim.Syscall(100*ms))))) },
			off:   with("go1.26", "no handoff", func(p *sim.Policy) { p.Handoff = sim.HandoffNever }, took),
			on:    with("go1.26", "handoff", nil, tookThreads),
			bars:  &bars{"seconds", func(r *sim.Result) float64 { return float64(r.EndNs) / 1e9 }},
		},
		{
			id: "forever", title: "5 forever goroutines", procs: 4, until: 2 * time.Second, classes: hogs,
			about: "Five goroutines compute for ever on 4 Ps, here for 2 s. Without preemption the fifth never runs. With it each gets 4/5 of a P, and waits no longer than a few slices.",
			load:  func() sim.Arrivals { return forever(5) },
			off:   with("go1.26", "no preemption", func(p *sim.Policy) { p.Preempt = sim.PreemptNever }, shares),
			on:    with("go1.26", "preemption", nil, shares),
		},
		{
			id: "tick", title: "A pair that keeps its P busy, and one in the global queue", procs: 1, until: 50 * time.Millisecond, classes: []string{"the pair", "the waiter"},
			about: "Two goroutines hand a value to and fro, 100 µs of work each time, and take turns in the queue of the one P, which never gets empty. Each turn is a new slice, so preemption does not see them. After 1 ms a third one, of 10 ms of work, comes by the global queue. With the 61st tick it gets in. (Without runnext, on both sides: through runnext the pair is one slice, see the next program.)",
			load:  func() sim.Arrivals { return pairAndWaiter() },
			off:   with("no-runnext", "the global queue only when the own is empty", func(p *sim.Policy) { p.Rules.GlobalPoll = 0 }, waited),
			on:    with("no-runnext", "at every 61st slice first", nil, waited),
		},
		{
			id: "inherit", title: "A pair in runnext, and one in the ring", procs: 1, until: 50 * time.Millisecond, classes: []string{"the pair", "the waiter"},
			about: "The same pair, through runnext: whoever is woken runs next, before the ring. The third is in the ring. If each hop begins a new slice, no slice ever gets old, and the third never runs, nor does the 61st tick help: it looks at the global queue. If a hop inherits the slice, sysmon ends it: 10 ms and up to two of its sleeps.",
			load:  func() sim.Arrivals { return pairAndNeighbour() },
			off:   with("go1.26", "a new slice at each hop", func(p *sim.Policy) { p.FreshSlice = true }, waited),
			on:    with("go1.26", "the slice is inherited", nil, waited),
		},
		{
			id: "requeue", title: "5 forever goroutines, preempted", procs: 4, until: 2 * time.Second, classes: hogs,
			about: "Five goroutines compute for ever on 4 Ps. If the preempted go to the tail of their own P's queue, no P ever runs out of work: the fifth, in the global queue, has to wait for a 61st tick, and then shares one P with one other, while three have a P for themselves and nobody ever steals. In the global queue the next free P takes them.",
			load:  func() sim.Arrivals { return forever(5) },
			off:   with("go1.26", "to the tail of the local queue", func(p *sim.Policy) { p.RequeueLocal = true }, shares),
			on:    with("go1.26", "to the global queue", nil, shares),
		},
		{
			id: "half", title: "1 spawner of 1,000, a thief's share", procs: 4,
			about: "One goroutine starts 1,000 others, of 10 µs. A thief that takes one comes back for each; one that takes half lives on it for a while, and others can steal from it. (The ring is unbounded, on both sides.)",
			load:  func() sim.Arrivals { return one(sim.Times(1000, sim.Go(2, sim.Steps(sim.Run(10*µs))))) },
			off:   with("go1.26", "steal one", func(p *sim.Policy) { p.Rules.RingSize, p.Steal = unbounded, sim.StealOne }, thefts),
			on:    with("go1.26", "steal half", func(p *sim.Policy) { p.Rules.RingSize = unbounded }, thefts),
			bars:  &bars{"thefts", func(r *sim.Result) float64 { return float64(r.Steals) }},
		},
	}
}

var hogs = []string{"first", "second", "third", "fourth", "fifth"}

func one(s sim.Script) sim.Arrivals {
	return sim.List(sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: s})
}

func puts() sim.Arrivals {
	var list []sim.Arrival
	for range 1000 {
		c := sim.NewChan(0)
		list = append(list, sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: sim.Steps(sim.Run(1000*µs), sim.Send(c), sim.Send(c), sim.Send(c))})
		for range 3 {
			list = append(list, sim.Arrival{Kind: sim.ArriveGo, Class: 2, Script: sim.Steps(sim.Recv(c), sim.Run(1*µs))})
		}
	}
	return sim.List(list...)
}

func forever(n int) sim.Arrivals {
	var list []sim.Arrival
	for i := range n {
		list = append(list, sim.Arrival{Kind: sim.ArriveGo, Class: int32(i + 1), Script: sim.Steps(sim.Run(sim.Forever))})
	}
	return sim.List(list...)
}

func pairAndWaiter() sim.Arrivals {
	a, b := sim.NewChan(0), sim.NewChan(0)
	return sim.List(
		sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: sim.Times(math.MaxInt, sim.Run(100*µs), sim.Send(a), sim.Recv(b))},
		sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: sim.Times(math.MaxInt, sim.Recv(a), sim.Run(100*µs), sim.Send(b))},
		sim.Arrival{At: 1 * ms, Kind: sim.ArriveGo, Class: 2, Script: sim.Steps(sim.Run(10 * ms))},
	)
}

// pairAndNeighbour has one of the pair start the third, so that its next send
// displaces it from runnext into the ring.
func pairAndNeighbour() sim.Arrivals {
	a, b := sim.NewChan(0), sim.NewChan(0)
	turns := 0
	var next []sim.Op
	ping := sim.Func(func(int64) sim.Op {
		if len(next) == 0 {
			next = []sim.Op{sim.Run(100 * µs), sim.Send(a), sim.Recv(b)}
			if turns++; turns == 6 {
				next = append([]sim.Op{sim.Go(2, sim.Steps(sim.Run(10*ms)))}, next...)
			}
		}
		op := next[0]
		next = next[1:]
		return op
	})
	return sim.List(
		sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: sim.Times(math.MaxInt, sim.Recv(a), sim.Run(100*µs), sim.Send(b))},
		sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: ping},
	)
}

// What a side says about itself in the table.

func startCost(r *sim.Result) string {
	return fmt.Sprintf("%s, of which 1 µs is its work (%s)", quantity.Duration(r.EndNs), quantity.FinePercent(1000/float64(r.EndNs)))
}

func threads(r *sim.Result) string {
	return fmt.Sprintf("%s threads, %s starts, %s", quantity.Count(int64(r.Threads)), quantity.Count(r.TotalStarts()), quantity.Duration(r.EndNs))
}

func locksPerStart(r *sim.Result) float64 { return float64(r.Locks) / float64(r.TotalStarts()) }

func lockTraffic(r *sim.Result) string {
	return fmt.Sprintf("%s operations under the lock per start, %s in all, %s waited for it, %s", quantity.Number(locksPerStart(r)), quantity.Count(r.Locks), quantity.Duration(r.LockWaitNs), quantity.Duration(r.EndNs))
}

func utilisation(r *sim.Result) string {
	return fmt.Sprintf("%s of the P-time is used, %s", quantity.FinePercent(r.Utilisation()), quantity.Duration(r.EndNs))
}

func took(r *sim.Result) string { return quantity.Duration(r.EndNs) }

func tookThreads(r *sim.Result) string {
	return fmt.Sprintf("%s; %s threads", quantity.Duration(r.EndNs), quantity.Count(int64(r.Threads)))
}

func shares(r *sim.Result) string {
	s := ""
	worst := int64(0)
	for i, c := range r.Classes[1:] {
		if i > 0 {
			s += ", "
		}
		s += quantity.FinePercent(float64(c.RunningNs) / float64(r.EndNs))
		worst = max(worst, c.MaxWaitNs)
	}
	s += " of a P"
	if r.Classes[len(r.Classes)-1].Waits == 0 {
		return s + "; the fifth waits for ever"
	}
	return s + "; longest wait " + quantity.Duration(worst)
}

func waited(r *sim.Result) string {
	if len(r.Classes) < 3 || r.Classes[2].Waits == 0 {
		return "it never runs"
	}
	return "it waits " + quantity.Duration(r.Classes[2].MaxWaitNs)
}

func thefts(r *sim.Result) string {
	return fmt.Sprintf("%s thefts of %s, %s", quantity.Count(r.Steals), quantity.Amount(quantity.Ratio(r.Stolen, r.Steals), "goroutine", "goroutines"), quantity.Duration(r.EndNs))
}
