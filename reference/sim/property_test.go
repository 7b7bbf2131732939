package sim

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/reference"
)

// simulate runs a workload under a policy with its own costs.
func simulate(t testing.TB, o Options, load Arrivals) *Result {
	t.Helper()
	r, err := Simulate(t.Context(), o, load)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func named(t testing.TB, name string, procs int) Options {
	t.Helper()
	pol, costs, ok := PolicyFor(name)
	if !ok {
		t.Fatalf("no policy %q", name)
	}
	return Options{Policy: pol, Costs: costs, Procs: procs}
}

// task is a fork-join computation: it works, forks children, works, and joins
// them all.
type task struct {
	before, after int64
	children      []*task
}

func drawTask(t *rapid.T, depth int) *task {
	x := &task{before: rapid.Int64Range(1, 50_000).Draw(t, "before"), after: rapid.Int64Range(0, 5_000).Draw(t, "after")}
	if depth > 0 {
		for range rapid.IntRange(0, 5).Draw(t, "children") {
			x.children = append(x.children, drawTask(t, depth-1))
		}
	}
	return x
}

// work is T1, span T∞; goroutines are counted, and levels of the tree.
func (x *task) work() (work, span int64, goroutines, levels int) {
	goroutines = 1
	for _, c := range x.children {
		w, s, n, l := c.work()
		work += w
		span = max(span, s)
		goroutines += n
		levels = max(levels, l)
	}
	return work + x.before + x.after, span + x.before + x.after, goroutines, levels + 1
}

func (x *task) script(done *Chan) Script {
	join := NewChan(Unlimited)
	step, i := 0, 0
	return Func(func(int64) Op {
		for {
			switch step {
			case 0:
				step++
				return Run(x.before)
			case 1:
				if i < len(x.children) {
					i++
					return Op{Kind: OpGo, Class: 1, Script: x.children[i-1].script(join)}
				}
				step++
			case 2:
				if i > 0 {
					i--
					return Recv(join)
				}
				step++
			case 3:
				step++
				return Run(x.after)
			case 4:
				step++
				if done != nil {
					return Send(done)
				}
			default:
				return Op{}
			}
		}
	})
}

// TestBound holds T_P against the bound of Brent for a schedule that leaves no
// processor idle, T1/P + T∞, where a policy promises that without cost; and
// against that of Blumofe and Leiserson for work stealing, T1/P + O(T∞): here
// each goroutine may cost what its starts cost, and each level of the tree the
// wake-up of a thread with a fruitless search before it.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTask(t, 4)
		work, span, n, levels := x.work()
		procs := rapid.IntRange(1, 9).Draw(t, "procs")
		for _, name := range []string{"fifo", "gps", "go1.22", "go1.26", "no-runnext", "beam"} {
			pol, c, _ := PolicyFor(name)
			r, err := Simulate(t.Context(), Options{Policy: pol, Costs: c, Procs: procs, Seed: rapid.Uint64().Draw(t, "seed")}, Start(x.script(nil)))
			if err != nil {
				t.Fatal(err)
			}
			if r.BusyNs < work || r.BusyNs > work+int64(n)*2*(c.Lock*int64(procs)+c.Ready+1) {
				t.Errorf("%s, %d Ps: busy for %d ns, the work is %d ns", name, procs, r.BusyNs, work)
			}
			search := 4*max(1, c.Look*int64(procs)) + c.Slack + pol.Rules.StealBackoff
			if pol.SharedQueue {
				search = 0
			}
			starts := int64(2*n) * (c.Switch + (c.Lock+1)*int64(procs))
			level := 2 * (c.ThreadStart + search + c.Switch)
			bound := (work+starts)/int64(procs) + span + int64(levels)*level
			if name == "fifo" || name == "gps" {
				bound = work/int64(procs) + span + int64(n) // gps rounds up to whole ns
			}
			if r.EndNs > bound || r.EndNs < span || r.EndNs*int64(procs) < work {
				t.Errorf("%s, %d Ps: %d ns; T1 is %d, T∞ %d, the bound %d", name, procs, r.EndNs, work, span, bound)
			}
			if r.Left > 0 || r.Goroutines != n {
				t.Errorf("%s: %d goroutines of %d, %d left", name, r.Goroutines, n, r.Left)
			}
		}
	})
}

// TestNoBoundWithoutStealing shows that the bound is due to stealing: a spawner
// keeps its children, however many Ps there are.
func TestNoBoundWithoutStealing(t *testing.T) {
	x := &task{before: 1}
	for range 200 {
		x.children = append(x.children, &task{before: 100_000})
	}
	work, span, _, _ := x.work()
	with := simulate(t, named(t, "go1.26", 8), Start(x.script(nil)))
	without := simulate(t, named(t, "no-steal", 8), Start(x.script(nil)))
	if with.EndNs > work/8+20*span {
		t.Errorf("with stealing: %d ns for %d ns of work, T∞ %d", with.EndNs, work, span)
	}
	if without.EndNs < work*9/10 {
		t.Errorf("without stealing: %d ns for %d ns of work on 8 Ps", without.EndNs, work)
	}
}

// drawLoad draws goroutines that do a bit of everything.
func drawLoad(t *rapid.T, world bool) Arrivals {
	network := NewNetwork()
	var answers int
	tokens := NewChan(Unlimited)
	ns := func(most int64) int64 { return rapid.Int64Range(1, most).Draw(t, "ns") }
	var body func(depth int) Script
	body = func(depth int) Script {
		var ops []Op
		locked := false
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			switch rapid.IntRange(0, 11).Draw(t, "step") {
			case 0, 1:
				ops = append(ops, Run(ns(100_000)))
			case 2:
				ops = append(ops, Run(ns(40_000_000)))
			case 3, 4:
				if depth > 0 {
					ops = append(ops, Go(int32(depth), body(depth-1)))
				}
			case 5:
				ops = append(ops, Sleep(ns(3_000_000)))
			case 6:
				ops = append(ops, Poll(ns(3_000_000)))
			case 7:
				ops = append(ops, Syscall(ns(500_000)))
			case 8:
				ops = append(ops, Gosched())
			case 9:
				ops = append(ops, Send(tokens), Run(1), Recv(tokens))
			case 10:
				if !locked {
					locked = true
					ops = append(ops, Op{Kind: OpLockThread})
				}
			case 11:
				c := NewChan(rapid.IntRange(0, 2).Draw(t, "cap"))
				ops = append(ops, Go(5, &Program{ops: []Op{Run(ns(10_000)), Recv(c), Run(ns(1000))}, n: 1}), Send(c))
			}
		}
		return Steps(ops...)
	}
	var load []Arrival
	at := int64(0)
	for range rapid.IntRange(1, 30).Draw(t, "arrivals") {
		a := Arrival{At: at, Kind: ArriveGo, Class: 4, Script: body(2)}
		switch k := rapid.IntRange(0, 9).Draw(t, "arrival"); {
		case k == 0 && world:
			a = Arrival{At: at, Kind: ArriveSTW, Ns: ns(100_000)}
		case k == 1 && world:
			a = Arrival{At: at, Kind: ArriveGC, Ns: ns(100_000), Mark: ns(10_000_000)}
		case k == 2:
			answers++
			a.Script = Steps(Recv(network), Run(ns(1000)))
		}
		load = append(load, a)
		at += rapid.Int64Range(0, 2_000_000).Draw(t, "gap")
	}
	for range answers {
		load = append(load, Arrival{At: at, Kind: ArriveSend, Chan: network})
	}
	return List(load...)
}

// follower checks on a stream of decisions that no goroutine is lost, or in two
// places.
type follower struct {
	t        rapid.TB
	state    map[int64]reference.Kind
	on       map[int32]int64 // goroutine by P
	time     int64
	queued   int
	starts   int64
	maxQueue int
}

func (f *follower) add(d *reference.Decision) {
	if d.Time < f.time {
		f.t.Fatalf("time goes back to %d ns", d.Time)
	}
	f.time = d.Time
	was := f.state[d.G]
	bad := func() { f.t.Fatalf("at %d ns: %v of goroutine %d, which is at %v", d.Time, d.Kind, d.G, was) }
	switch d.Kind {
	case reference.KindReady:
		if was == reference.KindReady || was == reference.KindStart {
			bad()
		}
		f.state[d.G] = d.Kind
		f.queued++
	case reference.KindStart:
		if was != reference.KindReady {
			bad()
		}
		if g, ok := f.on[d.P]; ok {
			f.t.Fatalf("at %d ns: %d starts on P%d, where %d runs", d.Time, d.G, d.P, g)
		}
		f.state[d.G], f.on[d.P] = d.Kind, d.G
		f.queued--
		f.starts++
	case reference.KindStop, reference.KindSyscall:
		if was != reference.KindStart || f.on[d.P] != d.G {
			bad()
		}
		f.state[d.G] = d.Kind
		if d.Kind == reference.KindStop {
			delete(f.on, d.P)
		}
	case reference.KindRetake, reference.KindPStop:
		if g, ok := f.on[d.P]; ok && f.state[g] != reference.KindSyscall {
			f.t.Fatalf("at %d ns: P%d is taken from %d", d.Time, d.P, g)
		}
		delete(f.on, d.P)
	case reference.KindSyscallExit:
		if was != reference.KindSyscall {
			bad()
		}
		if d.P >= 0 {
			f.state[d.G] = reference.KindStart
		}
	}
	f.maxQueue = max(f.maxQueue, f.queued)
}

// variant is a policy, or one with a mechanism changed.
type variant struct {
	name   string
	policy Policy
	costs  Costs
}

func variants() []variant {
	var out []variant
	for _, name := range PolicyNames() {
		if name != "gps" { // which has no decisions
			pol, c, _ := PolicyFor(name)
			out = append(out, variant{name, pol, c})
		}
	}
	for _, x := range []struct {
		name   string
		change func(*Policy)
	}{
		{"fresh slice", func(p *Policy) { p.FreshSlice = true }},
		{"steal one", func(p *Policy) { p.Steal = StealOne }},
		{"exact slices", func(p *Policy) { p.Preempt = PreemptExact }},
		{"requeue local", func(p *Policy) { p.RequeueLocal = true }},
		{"handoff at once", func(p *Policy) { p.Handoff = HandoffAtOnce }},
		{"no handoff", func(p *Policy) { p.Handoff = HandoffNever }},
		{"no spinning", func(p *Policy) { p.NoSpinning = true }},
		{"home queues", func(p *Policy) { p.HomeQueue = true }},
		{"small ring", func(p *Policy) { p.Rules.RingSize = 2 }},
	} {
		pol := Version(reference.RulesFor(26))
		x.change(&pol)
		out = append(out, variant{x.name, pol, DefaultCosts()})
	}
	return out
}

// nothingLost checks of a run of a drawn workload that each goroutine that is
// made ready is started once, runs in one place, and ends, and that the times of
// the Ps add up.
func (v variant) nothingLost(t *rapid.T) {
	pol, c := v.policy, v.costs
	f := &follower{t: t, state: map[int64]reference.Kind{}, on: map[int32]int64{}}
	o := Options{Policy: pol, Costs: c, Procs: rapid.IntRange(1, 6).Draw(t, "procs"), Seed: rapid.Uint64().Draw(t, "seed"), Emit: f.add}
	r, err := Simulate(t.Context(), o, drawLoad(t, true))
	if err != nil {
		t.Fatal(err)
	}
	if r.Left != 0 || f.queued != 0 || f.starts != r.TotalStarts() {
		t.Errorf("%d goroutines left, %d queued; %d starts told, %d counted", r.Left, f.queued, f.starts, r.TotalStarts())
	}
	sum := r.BusyNs + r.GCNs + r.SyscallNs + r.IdleNs + r.StoppedNs + r.SchedNs
	if sum != r.EndNs*int64(r.Procs) || min(r.BusyNs, r.GCNs, r.SyscallNs, r.IdleNs, r.StoppedNs, r.SchedNs) < 0 {
		t.Errorf("the times of the Ps are not those of the run: %+v", r)
	}
}

// TestNothingLost: in every policy, and with every mechanism changed.
func TestNothingLost(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) { rapid.Check(t, v.nothingLost) })
	}
}

// FuzzSimulate is TestNothingLost for as long as one likes.
func FuzzSimulate(f *testing.F) {
	all := variants()
	f.Add([]byte(nil))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		rapid.SampledFrom(all).Draw(t, "variant").nothingLost(t)
	}))
}

// TestSameWork: what the goroutines compute does not depend on the policy.
func TestSameWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTask(t, 3)
		work, _, _, _ := x.work()
		for _, name := range []string{"fifo", "gps"} {
			pol, c, _ := PolicyFor(name)
			r, err := Simulate(t.Context(), Options{Policy: pol, Costs: c, Procs: 3}, Start(x.script(nil)))
			if err != nil || r.BusyNs != work {
				t.Errorf("%s: %v, %d ns instead of %d", name, err, r.BusyNs, work)
			}
		}
	})
}

// TestDeterminism: the same options give the same decisions, and other seeds
// others.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64) (string, string) {
		h := uint64(14695981039346656037)
		o := named(t, "go1.26", 5)
		o.Seed = seed
		o.Emit = func(d *reference.Decision) {
			for _, v := range []int64{d.Time, int64(d.Kind), d.G, int64(d.P), d.M, int64(d.Victim), int64(d.Batch), int64(d.Local), int64(d.Global)} {
				h = (h ^ uint64(v)) * 1099511628211
			}
		}
		r := simulate(t, o, Start(Times(4, Go(1, Times(20, Go(2, Steps(Run(30_000))), Run(500))))))
		return fmt.Sprint(h), fmt.Sprintf("%+v", r)
	}
	h1, r1 := run(1)
	h2, r2 := run(1)
	if h1 != h2 || r1 != r2 {
		t.Errorf("two runs of one seed differ: %s %s\n%s\n%s", h1, h2, r1, r2)
	}
	other := false
	for seed := uint64(2); seed < 10; seed++ {
		h, _ := run(seed)
		other = other || h != h1
	}
	if !other {
		t.Error("the seed does not matter")
	}
}

// conserving follows how long some P was without a thread while goroutines
// were queued.
type conserving struct {
	procs   int
	idle    map[int32]bool
	queued  map[int64]bool
	since   int64 // -1: not so now
	longest int64
}

func (c *conserving) add(d *reference.Decision) {
	if c.since >= 0 {
		c.longest = max(c.longest, d.Time-c.since)
	}
	switch d.Kind {
	case reference.KindReady:
		c.queued[d.G] = true
	case reference.KindStart:
		delete(c.queued, d.G)
	case reference.KindPStart:
		c.idle[d.P] = false
	case reference.KindPStop, reference.KindRetake:
		c.idle[d.P] = true
	}
	n := 0
	for p := range c.procs {
		if c.idle[int32(p)] {
			n++
		}
	}
	switch is := n > 0 && len(c.queued) > 0; {
	case is && c.since < 0:
		c.since = d.Time
	case !is:
		c.since = -1
	}
}

func newConserving(procs int) *conserving {
	c := &conserving{procs: procs, idle: map[int32]bool{}, queued: map[int64]bool{}, since: -1}
	for p := range procs {
		c.idle[int32(p)] = true
	}
	return c
}

// TestWorkConservation: in the ideal queue no P is idle at any time while a
// goroutine waits. Go promises it but for the time of a search and a wake-up
// of a thread (the comments on worker threads in proc.go), since while one
// thread spins it wakes no other.
func TestWorkConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTask(t, 4)
		procs := rapid.IntRange(2, 8).Draw(t, "procs")
		for _, name := range []string{"fifo", "go1.0", "go1.22", "go1.26"} {
			pol, costs, _ := PolicyFor(name)
			c := newConserving(procs)
			_, err := Simulate(t.Context(), Options{Policy: pol, Costs: costs, Procs: procs, Seed: 1, Emit: c.add}, Start(x.script(nil)))
			if err != nil {
				t.Fatal(err)
			}
			search := 4*max(1, costs.Look*int64(procs)) + costs.Slack + pol.Rules.StealBackoff + costs.Switch
			bound := int64(procs) * (costs.ThreadStart + search)
			if name == "fifo" {
				bound = 0
			}
			if c.longest > bound {
				t.Errorf("%s, %d Ps: a P was idle and a goroutine waited for %d ns, the bound is %d", name, procs, c.longest, bound)
			}
		}
	})
}

// TestNoConservationWithoutStealing shows the contrary.
func TestNoConservationWithoutStealing(t *testing.T) {
	o := named(t, "no-steal", 4)
	c := newConserving(4)
	o.Emit = c.add
	simulate(t, o, Start(Times(100, Go(1, Steps(Run(100_000))))))
	if c.longest < 1_000_000 {
		t.Errorf("a P was idle and goroutines waited for only %d ns", c.longest)
	}
}

// TestBoundedWait: with preemption and the 61st tick every goroutine gets to
// run. The bound: each of the n others may be in front, with one slice, which
// sysmon notices up to two of its sleeps late.
func TestBoundedWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "hogs")
		procs := rapid.IntRange(1, 4).Draw(t, "procs")
		name := rapid.SampledFrom([]string{"go1.22", "go1.26", "no-runnext", "beam"}).Draw(t, "policy")
		pol, c, _ := PolicyFor(name)
		load := []Arrival{}
		for i := range n {
			load = append(load, Arrival{Kind: ArriveGo, Class: int32(i + 1), Script: Steps(Run(Forever))})
		}
		a, b := NewChan(0), NewChan(0)
		load = append(load,
			Arrival{Kind: ArriveGo, Class: int32(n + 1), Script: Times(math.MaxInt, Run(30_000), Send(a), Recv(b))},
			Arrival{Kind: ArriveGo, Class: int32(n + 1), Script: Times(math.MaxInt, Recv(a), Run(30_000), Send(b))})
		r, err := Simulate(t.Context(), Options{Policy: pol, Costs: c, Procs: procs, Until: 700_000_000}, List(load...))
		if err != nil {
			t.Fatal(err)
		}
		bound := int64(n+2) * (pol.Rules.Slice + 2*(pol.Rules.SysmonMax+c.Slack) + c.Preempt)
		for i, class := range r.Classes[1:] {
			if class.RunningNs == 0 || class.MaxWaitNs > bound {
				t.Errorf("%s, %d Ps: class %d ran for %d ns and waited up to %d, the bound is %d", name, procs, i+1, class.RunningNs, class.MaxWaitNs, bound)
			}
		}
	})
}

// TestUnboundedWait shows that each of the two is needed.
func TestUnboundedWait(t *testing.T) {
	second := int64(1_000_000_000)
	t.Run("no preemption", func(t *testing.T) {
		o := named(t, "go1.26", 1)
		o.Policy.Preempt, o.Until = PreemptNever, second
		r := simulate(t, o, Start(Steps(Run(Forever)), Times(1, Go(1, Steps(Run(1))), Run(1))))
		if r.Left != 2 || r.Preemptions != 0 {
			t.Errorf("somebody besides the first has run: %+v", r)
		}
	})
	for _, poll := range []int{61, 0} {
		t.Run(fmt.Sprintf("global queue first at every %dth tick", poll), func(t *testing.T) {
			o := named(t, "no-runnext", 1)
			o.Policy.Rules.GlobalPoll, o.Until = poll, second
			r := simulate(t, o, pairAndWaiter())
			ran := r.Classes[2].Goroutines == 1 && r.Classes[2].RunningNs > 0
			if want := poll > 0; ran != want {
				t.Errorf("the waiter has run: %v", ran)
			}
		})
	}
}

// TestTickPhase: how long one in the global queue waits for the 61st tick depends
// on the seed, from next to nothing to 61 slices.
func TestTickPhase(t *testing.T) {
	least, most := int64(math.MaxInt64), int64(0)
	for seed := range uint64(50) {
		o := named(t, "no-runnext", 1)
		o.Seed, o.Until = seed, 10_000_000
		w := simulate(t, o, pairAndWaiter()).Classes[2].MaxWaitNs
		least, most = min(least, w), max(most, w)
	}
	slice := int64(1000) + DefaultCosts().Switch
	if least > 10*slice || most < 50*slice || most > 62*slice {
		t.Errorf("waits from %d to %d ns, slices of %d", least, most, slice)
	}
}

// pairAndWaiter is a pair that keeps its P's queue busy, and one that comes
// later by the global queue.
func pairAndWaiter() Arrivals {
	a, b := NewChan(0), NewChan(0)
	return List(
		Arrival{Kind: ArriveGo, Class: 1, Script: Times(math.MaxInt, Run(1000), Send(a), Recv(b))},
		Arrival{Kind: ArriveGo, Class: 1, Script: Times(math.MaxInt, Recv(a), Run(1000), Send(b))},
		Arrival{At: 1_000_000, Kind: ArriveGo, Class: 2, Script: Steps(Run(1000))},
	)
}

// pingPong is two goroutines that wake each other, n times.
func pingPong(n int) Arrivals {
	a, b := NewChan(0), NewChan(0)
	return Start(Times(n, Run(100), Send(a), Recv(b)), Times(n, Recv(a), Run(100), Send(b)))
}

// TestMemory: events allocate nothing, and goroutines that have ended leave
// nothing behind.
func TestMemory(t *testing.T) {
	cost := func(load func() Arrivals) float64 {
		return testing.AllocsPerRun(1, func() { simulate(t, named(t, "go1.26", 4), load()) })
	}
	short := cost(func() Arrivals { return pingPong(1_000) })
	long := cost(func() Arrivals { return pingPong(20_000) })
	if long > short+20 {
		t.Errorf("%g allocations for 1,000 turns, %g for 20,000", short, long)
	}
	w, err := newWorkload(named(t, "go1.26", 1), Start(Times(50_000, Go(0, Steps(Run(100))), Sleep(1000))))
	if err != nil {
		t.Fatal(err)
	}
	s := newScheduler(w)
	if err := s.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.res.Goroutines != 50_001 || len(s.gs) > 10 || cap(s.events) > 100 {
		t.Errorf("%d goroutines, of which at most %d live at one time, take %d slots, and %d of events", s.res.Goroutines, s.res.MaxLive, len(s.gs), cap(s.events))
	}
}

func BenchmarkPingPong(b *testing.B) {
	r := simulate(b, named(b, "go1.26", 4), pingPong(b.N))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(r.TotalStarts()), "ns/start")
}

// BenchmarkTree starts 1,000 goroutines that start 1,000 each.
func BenchmarkTree(b *testing.B) {
	starts := int64(0)
	for b.Loop() {
		starts += simulate(b, named(b, "go1.26", 4), Start(Times(1000, Go(1, Times(1000, Go(2, Steps(Run(1000)))))))).TotalStarts()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(starts), "ns/start")
}

// TestHoldP: goroutines that hold their P while they are blocked are woken by
// whatever they wait for, and nobody else runs on that P.
func TestHoldP(t *testing.T) {
	network, token := NewNetwork(), NewChan(Unlimited)
	o := named(t, "go1.26", 3)
	o.Policy.HoldP, o.Policy.Preempt = true, PreemptNever
	f := &follower{t: t, state: map[int64]reference.Kind{}, on: map[int32]int64{}}
	o.Emit = f.add
	r := simulate(t, o, List(
		Arrival{Script: Steps(Run(1000), Sleep(1_000_000), Poll(1_000_000), Recv(token), Run(1000))},
		Arrival{Script: Steps(Run(1000), Syscall(1_000_000), Recv(network), Recv(token), Run(1000))},
		Arrival{Script: Times(1000, Run(10_000))},
		Arrival{At: 3_000_000, Kind: ArriveSend, Chan: network},
		Arrival{At: 6_000_000, Kind: ArriveSend, Chan: token},
		Arrival{At: 7_000_000, Kind: ArriveSend, Chan: token},
	))
	if r.Left > 0 || r.EndNs < 10_000_000 || r.EndNs > 10_200_000 {
		t.Errorf("%d left, after %d ns", r.Left, r.EndNs)
	}
}

// A cycle without anything to mark begins and ends, and the world goes on.
func TestCycleWithoutMarking(t *testing.T) {
	for procs := 1; procs <= 4; procs++ {
		pol, costs, _ := PolicyFor("go1.22")
		r, err := Simulate(t.Context(), Options{Policy: pol, Costs: costs, Procs: procs}, List(
			Arrival{Kind: ArriveGo, Script: Steps(Run(5_000_000))},
			Arrival{At: 1_000_000, Kind: ArriveGC, Ns: 1000},
			Arrival{At: 2_000_000, Kind: ArriveGC, Ns: 1000, Mark: -1},
		))
		if err != nil {
			t.Fatal(err)
		}
		if r.Left != 0 || r.STWs != 4 || r.BusyNs != 5_000_000 {
			t.Errorf("%d Ps: %d goroutines left, the world was stopped %d times, %d ns of work", procs, r.Left, r.STWs, r.BusyNs)
		}
	}
}
