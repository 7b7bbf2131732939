package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/reference"
)

// log collects decisions of some kinds.
func log(list *[]reference.Decision, kinds ...reference.Kind) func(*reference.Decision) {
	return func(d *reference.Decision) {
		if slices.Contains(kinds, d.Kind) {
			*list = append(*list, *d)
		}
	}
}

func ids(list []reference.Decision) []int64 {
	var out []int64
	for _, d := range list {
		out = append(out, d.G)
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// TestNewestFirst: the last one that was created runs first, and those that it
// displaced from runnext follow in order (runqput).
func TestNewestFirst(t *testing.T) {
	for _, c := range []struct {
		policy string
		want   []int64
	}{{"go1.26", []int64{1, 5, 2, 3, 4}}, {"no-runnext", []int64{1, 2, 3, 4, 5}}, {"fifo", []int64{1, 2, 3, 4, 5}}} {
		var starts []reference.Decision
		o := named(t, c.policy, 1)
		o.Emit = log(&starts, reference.KindStart)
		simulate(t, o, Start(Times(4, Go(0, Steps(Run(1000))))))
		equal(t, c.policy, ids(starts), c.want)
	}
}

// TestOverflow: a ring of 256 gives 128 and the newcomer away (runqputslow).
func TestOverflow(t *testing.T) {
	var over []reference.Decision
	o := named(t, "go1.26", 1)
	o.Emit = log(&over, reference.KindOverflow)
	r := simulate(t, o, Start(Times(400, Go(0, Steps(Run(1000))))))
	if r.Overflows != 2 || over[0].Batch != 129 || over[0].G != 258 || over[1].G != 258+129 {
		t.Errorf("%d overflows: %+v", r.Overflows, over)
	}
}

// TestGlobalBatch: a P with an empty queue takes its share, at most half a
// ring (globrunqget, globrunqgetbatch).
func TestGlobalBatch(t *testing.T) {
	var batches []reference.Decision
	o := named(t, "go1.26", 4)
	o.Emit = log(&batches, reference.KindGlobalBatch)
	scripts := make([]Script, 1000)
	for i := range scripts {
		scripts[i] = Steps(Run(1000))
	}
	simulate(t, o, Start(scripts...))
	n := 1000 - 4 // each P has begun with one, at tick 0
	for i, d := range batches[:4] {
		want := min(128, n/4+1)
		equal(t, fmt.Sprintf("batch %d", i), d.Batch, want)
		n -= want
	}
}

// TestStealOrder: a way around all Ps comes to each once.
func TestStealOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "procs")
		w, err := newWorkload(Options{Policy: Version(reference.RulesFor(26)), Procs: n, Seed: rapid.Uint64().Draw(t, "seed")}, Start())
		if err != nil {
			t.Fatal(err)
		}
		o := newOrder(newScheduler(w))
		seen := map[int32]bool{}
		for p := o.visit(uint32(n)); p != none; p = o.visit(uint32(n)) {
			seen[p] = true
		}
		if len(seen) != n {
			t.Errorf("%d of %d Ps", len(seen), n)
		}
	})
}

// TestHeap: events come in order of time, and of their making.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heap
		for i, at := range rapid.SliceOf(rapid.Int64Range(0, 20)).Draw(t, "at") {
			h.push(event{at: at, seq: uint64(i)})
		}
		for last := (event{at: -1}); len(h) > 0; {
			e := h.pop()
			if e.at < last.at || e.at == last.at && e.seq < last.seq {
				t.Fatalf("%+v comes after %+v", e, last)
			}
			last = e
		}
	})
}

// TestThief: a thief takes half of a ring and runs the newest of it; runnext is
// left alone for three passes and a pause (stealWork, runqgrab, runqsteal).
func TestThief(t *testing.T) {
	c := DefaultCosts()
	t.Run("ring", func(t *testing.T) {
		var list []reference.Decision
		o := named(t, "go1.26", 2)
		o.Emit = log(&list, reference.KindSteal)
		simulate(t, o, Start(Steps(Go(0, Steps(Run(1_000_000))), Go(0, Steps(Run(1_000_000))), Go(0, Steps(Run(1_000_000))), Go(0, Steps(Run(1_000_000))), Run(1_000_000))))
		if d := list[0]; d.Batch != 2 || d.G != 3 {
			t.Errorf("of goroutines 2 to 4 in the ring %d are stolen, and %d runs", d.Batch, d.G)
		}
	})
	t.Run("runnext", func(t *testing.T) {
		var list []reference.Decision
		o := named(t, "go1.26", 2)
		o.Emit = log(&list, reference.KindStart)
		simulate(t, o, Start(Steps(Go(0, Steps(Run(1000))), Run(1_000_000))))
		d := list[1]
		pause := o.Policy.Rules.StealBackoff + c.Slack
		if d.Src != reference.SrcStealRunnext || d.Wait != c.ThreadStart+4*c.Look+pause {
			t.Errorf("%v after %d ns", d.Src, d.Wait)
		}
	})
	t.Run("runnext, which its P takes meanwhile", func(t *testing.T) {
		o := named(t, "go1.26", 2)
		r := simulate(t, o, Start(Steps(Go(0, Steps(Run(100_000))), Run(c.ThreadStart+c.Slack/2))))
		if r.Steals != 0 {
			t.Errorf("%d thefts", r.Steals)
		}
	})
}

// TestSpinners: at most one thread is woken to spin at a time, and none begins
// while half of the busy Ps do, so never more than half of all (wakep,
// findRunnable).
func TestSpinners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pol, c, _ := PolicyFor("go1.26")
		procs := rapid.IntRange(1, 16).Draw(t, "procs")
		var s *scheduler
		watch := func(*reference.Decision) {
			n, waking := 0, 0
			for _, m := range s.ms {
				if m.spinning {
					n++
					if m.next == stWake {
						waking++
					}
				}
			}
			if n != s.spinners || n > (procs+1)/2 || waking > 1 {
				t.Fatalf("%d threads spin, %d of them are being woken, %d are counted; there are %d Ps", n, waking, s.spinners, procs)
			}
		}
		x := drawTask(t, 4)
		w, err := newWorkload(Options{Policy: pol, Costs: c, Procs: procs, Emit: func(d *reference.Decision) {
			if s != nil {
				watch(d)
			}
		}}, Start(x.script(nil)))
		if err != nil {
			t.Fatal(err)
		}
		s = newScheduler(w)
		if err := s.loop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRetake: a P in a system call is taken at sysmon's second look if it has
// work, and else after 10 ms, as long as others could do what comes (retake).
func TestRetake(t *testing.T) {
	c := DefaultCosts()
	for _, x := range []struct {
		what     string
		script   Script
		min, max int64
	}{
		{"with work", Steps(Syscall(1000), Go(0, Steps(Run(1000))), Syscall(100_000_000)), 20_000 + c.Slack, 2*(20_000+c.Slack) + 1000},
		{"without", Steps(Syscall(1000), Syscall(100_000_000)), 10_000_000, 31_000_000},
	} {
		var list []reference.Decision
		o := named(t, "go1.26", 2)
		o.Policy.Steal = StealNone // else a thief would take the work first
		o.Emit = log(&list, reference.KindRetake, reference.KindSyscall)
		simulate(t, o, Start(x.script))
		if len(list) < 3 || list[2].Kind != reference.KindRetake {
			t.Errorf("%s: no retake", x.what)
		} else if d := list[2].Time - list[1].Time; d < x.min || d > x.max {
			t.Errorf("%s: retaken after %d ns, not %d to %d", x.what, d, x.min, x.max)
		}
	}
}

// TestStaleSlice: a goroutine that comes back from a system call goes on with
// its P's old slice, and may be preempted at once (exitsyscall does not count
// as a new slice).
func TestStaleSlice(t *testing.T) {
	var list []reference.Decision
	o := named(t, "go1.26", 1)
	o.Policy.Handoff = HandoffNever
	o.Emit = log(&list, reference.KindSyscallExit, reference.KindPreempt)
	simulate(t, o, Start(Steps(Syscall(30_000_000), Run(50_000_000)), Steps(Run(1000))))
	if len(list) < 2 || list[1].Kind != reference.KindPreempt || list[1].Time-list[0].Time >= 10_000_000 {
		t.Errorf("not preempted within less than a slice: %+v", list)
	}
}

// TestSTW: who is preempted for a stop-the-world goes to the global queue up to
// Go 1.25, and stays on its P from 1.26; nobody runs in between.
func TestSTW(t *testing.T) {
	for minor, want := range map[int]reference.Queue{22: reference.QueueGlobal, 25: reference.QueueGlobal, 26: reference.QueueRunnext, 27: reference.QueueRunnext} {
		var list []reference.Decision
		o := Options{Policy: Version(reference.RulesFor(minor)), Costs: DefaultCosts(), Procs: 4}
		o.Emit = func(d *reference.Decision) { list = append(list, *d) }
		var load []Arrival
		for range 4 {
			load = append(load, Arrival{Script: Steps(Run(5_000_000))})
		}
		r := simulate(t, o, List(append(load, Arrival{At: 1_000_000, Kind: ArriveSTW, Ns: 200_000})...))
		ran, stopped, ready := 0, false, 0
		var p [5]int32
		for _, d := range list {
			switch d.Kind {
			case reference.KindSTWBegin:
				ran = 0
			case reference.KindSTWEnd:
				stopped = false
				equal(t, "ready for the stop", ready, 4)
			case reference.KindPStop:
				stopped = d.Why == reference.WhySTW
			case reference.KindReady:
				if d.Why == reference.WhySTW {
					ready++
					equal(t, fmt.Sprintf("queue in Go 1.%d", minor), d.To, want)
				}
			case reference.KindStart:
				if minor >= 26 && d.Time > 1_000_000 && d.P != p[d.G] {
					t.Errorf("Go 1.%d: goroutine %d moves from P%d to P%d", minor, d.G, p[d.G], d.P)
				}
				p[d.G] = d.P
				if stopped {
					ran++
				}
			}
		}
		if ran > 0 || r.STWs != 1 || r.StoppedNs < 4*200_000 {
			t.Errorf("Go 1.%d: %d run in a stopped world, %d stops, %d ns", minor, ran, r.STWs, r.StoppedNs)
		}
	}
}

// TestStopper: a goroutine that stops the world keeps its P, and goes on afterwards.
func TestStopper(t *testing.T) {
	var list []reference.Decision
	o := named(t, "go1.26", 2)
	o.Emit = log(&list, reference.KindStop, reference.KindSTWEnd)
	r := simulate(t, o, List(
		Arrival{G: 1, Script: Steps(Run(3_000_000))}, Arrival{G: 2, Script: Steps(Run(3_000_000))},
		Arrival{At: 1_000_000, Kind: ArriveSTW, G: 1, Ns: 200_000},
	))
	if len(list) != 4 || list[0].G != 2 || list[0].Why != reference.WhySTW {
		t.Fatalf("%+v", list)
	}
	end := list[1].Time
	if r.KeptNs < 200_000 || r.BusyNs != 6_000_000 {
		t.Errorf("kept for %d ns; %d ns of work", r.KeptNs, r.BusyNs)
	}
	for _, d := range list[2:] {
		if d.G == 1 && (d.Why != reference.WhyExit || d.Time < end+1_900_000) {
			t.Errorf("%+v, the world started at %d", d, end)
		}
	}
}

// TestOneStopper: a world has one stopper, even if two goroutines of that ID run, as they do
// in the work of a damaged trace. The other one gives its P up, whoever asks for the stop.
func TestOneStopper(t *testing.T) {
	stop := Arrival{Kind: ArriveSTW, Ns: 200_000}
	calls := Times(20, Run(100_000), Syscall(100_000))
	asks := Steps(Run(100_000), Op{Kind: OpStop, Stop: &stop}, Run(100_000), Op{Kind: OpStop, Stop: &stop}, Syscall(2_000_000), Run(100_000))
	outside := stop
	outside.At, outside.G = 150_000, 1
	for procs := 1; procs <= 4; procs++ {
		r := simulate(t, named(t, "go1.26", procs), List(
			Arrival{G: 1, Script: asks}, Arrival{G: 1, Script: asks}, Arrival{G: 1, Script: asks},
			Arrival{G: 2, Script: calls}, Arrival{G: 3, Script: calls},
			outside,
		))
		if r.Left > 0 || r.STWs != 7 {
			t.Errorf("%d Ps: %d goroutines left, the world was stopped %d times", procs, r.Left, r.STWs)
		}
	}
}

// TestTail: the worker that ends a cycle wakes others into its P's queue, and keeps the P.
func TestTail(t *testing.T) {
	woken := NewChan(Unlimited)
	var waited int64
	o := named(t, "go1.26", 1)
	o.Emit = func(d *reference.Decision) {
		if d.Kind == reference.KindStart && d.G == 1 {
			waited = d.Wait
		}
	}
	r := simulate(t, o, List(
		Arrival{G: 1, Script: Steps(Recv(woken), Run(1000))},
		Arrival{At: 1_000_000, Kind: ArriveGC, Ns: 50_000, Mark: 300_000, Tail: 70_000, Wakes: []Wake{{Chan: woken}}},
	))
	if r.GCNs != 370_000 || waited < 70_000 || waited > 71_000 || r.Left != 0 {
		t.Errorf("%d ns of garbage collection; the one that it woke waited %d ns", r.GCNs, waited)
	}
}

// TestPreempt: what the runtime preempts for its own ends goes to the global queue.
func TestPreempt(t *testing.T) {
	var stops []reference.Decision
	o := named(t, "go1.26", 1)
	o.Emit = log(&stops, reference.KindStop, reference.KindReady)
	simulate(t, o, Start(Steps(Run(1000), Op{Kind: OpPreempt, Why: reference.WhyGC}, Run(1000))))
	if len(stops) != 4 || stops[1].Why != reference.WhyGC || stops[2].To != reference.QueueGlobal || stops[2].Why != reference.WhyGC {
		t.Errorf("%+v", stops)
	}
}

// TestMarking: the garbage collector takes a quarter of the Ps, by dedicated
// workers on 4, by a fractional one on 1, and all that are idle besides
// (gcController.startCycle, findRunnableGCWorker).
func TestMarking(t *testing.T) {
	for _, x := range []struct {
		procs, hogs int
		min, max    float64 // P-time of marking by the time that it takes
	}{{1, 1, 0.2, 0.32}, {2, 2, 0.4, 0.64}, {4, 4, 0.9, 1.1}, {6, 6, 1.3, 1.7}, {8, 8, 1.9, 2.1}, {8, 4, 3.8, 6.1}} {
		var from, to int64
		o := named(t, "go1.26", x.procs)
		o.Until = 1_000_000_000
		o.Emit = func(d *reference.Decision) {
			switch d.Kind {
			case reference.KindGCBegin:
				from = d.Time
			case reference.KindGCEnd:
				to = d.Time
			}
		}
		var load []Arrival
		for range x.hogs {
			load = append(load, Arrival{Script: Steps(Run(Forever))})
		}
		const work = 200_000_000
		r := simulate(t, o, List(append(load, Arrival{At: 1_000_000, Kind: ArriveGC, Ns: 50_000, Mark: work})...))
		if r.GCNs != work || to == 0 {
			t.Errorf("%d Ps: %d ns marked, until %d", x.procs, r.GCNs, to)
			continue
		}
		if got := float64(work) / float64(to-from); got < x.min || got > x.max {
			t.Errorf("%d Ps, %d goroutines: %.2f Ps mark, not %.2f to %.2f", x.procs, x.hogs, got, x.min, x.max)
		}
	}
}

// TestInject: of those whom the network answers at once the last runs first;
// then as many go to the global queue as Ps are idle, and the others to the
// ring (findRunnable, injectglist).
func TestInject(t *testing.T) {
	var ready []reference.Decision
	var waiting []int64 // in order
	o := named(t, "go1.26", 3)
	o.Emit = func(d *reference.Decision) {
		if d.Kind == reference.KindStop && d.Why == reference.WhyBlock {
			waiting = append(waiting, d.G)
		}
		if d.Kind == reference.KindReady && d.Why == reference.WhyNetwork {
			ready = append(ready, *d)
		}
	}
	c := NewNetwork()
	var load []Arrival
	for range 6 {
		load = append(load, Arrival{Script: Steps(Recv(c), Run(1000))})
	}
	for range 6 {
		load = append(load, Arrival{At: 1_000_000, Kind: ArriveSend, Chan: c})
	}
	simulate(t, o, List(load...))
	var to []reference.Queue
	for _, d := range ready {
		to = append(to, d.To)
	}
	equal(t, "queues", to, []reference.Queue{reference.QueueGlobal, reference.QueueGlobal, reference.QueueLocal, reference.QueueLocal, reference.QueueLocal, reference.QueueDirect})
	slices.Reverse(waiting)
	equal(t, "order", ids(ready), append(waiting[1:], waiting[0]))
}

// TestSleep: an idle program wakes up for its timers in steps of 1 ms (netpoll).
func TestSleep(t *testing.T) {
	for _, x := range []struct{ asked, min, max int64 }{{100_000, 1_000_000, 1_200_000}, {2_500_000, 3_000_000, 3_300_000}} {
		var ready []reference.Decision
		o := named(t, "go1.26", 2)
		o.Emit = func(d *reference.Decision) {
			if d.Why == reference.WhyTimer {
				ready = append(ready, *d)
			}
		}
		simulate(t, o, Start(Steps(Sleep(x.asked))))
		if got := ready[0].Time; got < x.min || got > x.max {
			t.Errorf("a sleep of %d ns ends after %d", x.asked, got)
		}
	}
}

// TestLocked: a goroutine that is locked to its thread runs on no other, and
// its P is handed over (startlockedm, stoplockedm).
func TestLocked(t *testing.T) {
	var list []reference.Decision
	o := named(t, "go1.26", 2)
	o.Emit = log(&list, reference.KindStart)
	a, b := NewChan(0), NewChan(0)
	simulate(t, o, Start(
		Steps(Op{Kind: OpLockThread}, Run(1000), Recv(a), Run(1000), Send(b), Run(1000)),
		Steps(Run(100_000), Send(a), Recv(b), Run(1000))))
	m, flagged := int64(0), false
	for _, d := range list {
		if d.G != 1 {
			if m != 0 && d.M == m {
				t.Errorf("goroutine %d runs on the locked thread", d.G)
			}
			continue
		}
		if m == 0 {
			m = d.M
		}
		flagged = flagged || d.Flags&reference.FlagLocked != 0
		equal(t, "thread", d.M, m)
	}
	if !flagged {
		t.Error("the P was never handed over")
	}
}

// TestFluid: in ideal fair sharing n goroutines share the Ps equally.
func TestFluid(t *testing.T) {
	o := named(t, "gps", 2)
	r := simulate(t, o, List(
		Arrival{Class: 1, Script: Steps(Run(1_000_000))},
		Arrival{Class: 1, Script: Steps(Run(1_000_000))},
		Arrival{Class: 2, Script: Steps(Run(4_000_000))},
	))
	// Each has 2/3 of a P for 1.5 ms; the last goes on alone for 3 ms.
	equal(t, "end", r.EndNs, 4_500_000)
	equal(t, "wait of the short ones", r.Classes[1].WaitNs, 1_000_000)
	equal(t, "wait of the long one", r.Classes[2].WaitNs, 500_000)
}

// TestFluidGC: while the garbage collector marks it has a quarter of the Ps, and
// what the goroutines leave; in a stopped world nobody computes.
func TestFluidGC(t *testing.T) {
	for _, c := range []struct {
		name       string
		goroutines int
		a          Arrival
		end, wait  int64 // of all
		gc         int64
	}{
		{"stopped", 2, Arrival{At: 100_000, Kind: ArriveSTW, Ns: 50_000}, 1_050_000, 2 * 50_000, 0},
		// Marking takes 2 ms, in which 4 goroutines share 1.5 Ps.
		{"a quarter", 4, Arrival{Kind: ArriveGC, Mark: 1_000_000}, 2_500_000, 4 * 1_500_000, 1_000_000},
		// One goroutine needs no more than one P, so that the other marks.
		{"the rest", 1, Arrival{Kind: ArriveGC, Mark: 1_000_000}, 1_000_000, 0, 1_000_000},
		{"stops of a cycle", 1, Arrival{Kind: ArriveGC, Ns: 10_000, Mark: 500_000}, 1_020_000, 20_000, 500_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := []Arrival{}
			for range c.goroutines {
				load = append(load, Arrival{Class: 1, Script: Steps(Run(1_000_000))})
			}
			o := named(t, "gps", 2)
			var waited int64
			o.Waited = func(_ int64, _ reference.Flags, ns int64) { waited += ns }
			r := simulate(t, o, List(append(load, c.a)...))
			equal(t, "end", r.EndNs, c.end)
			equal(t, "waited", r.Classes[1].WaitNs, c.wait)
			equal(t, "waited, as told", waited, c.wait)
			equal(t, "marking", r.GCNs, c.gc)
			equal(t, "Ps' time", r.BusyNs+r.GCNs+r.StoppedNs+r.IdleNs, 2*r.EndNs)
		})
	}
}

// TestErrors: what cannot be simulated is told.
func TestErrors(t *testing.T) {
	for name, o := range map[string]Options{
		"no Ps":    {Policy: Version(reference.RulesFor(26))},
		"no rules": {Procs: 1},
	} {
		if _, err := Simulate(t.Context(), o, Start()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o := named(t, "fifo", 1)
	if _, err := Simulate(t.Context(), o, Start(Func(func(int64) Op { return Run(0) }))); err == nil {
		t.Error("a goroutine that goes on without using time: no error")
	}
	if _, err := Simulate(t.Context(), o, Start(Func(func(int64) Op { return Gosched() }))); err == nil {
		t.Error("a goroutine that yields without using time: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Simulate(ctx, o, Start(Steps(Run(1)))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLastLook: a thread that has found nothing looks at all queues once more
// when it stops spinning, since meanwhile nobody was woken because of it
// (findRunnable, checkRunqsNoP). Here it sleeps before it takes a runnext, which
// its own P then takes, and in that time work comes on a P where it was before.
func TestLastLook(t *testing.T) {
	for seed := range uint64(20) {
		o := named(t, "go1.26", 3)
		o.Seed = seed
		long := int64(2_000_000)
		r := simulate(t, o, Start(
			Steps(Run(100_000), Go(1, Steps(Run(long))), Run(40_000)),
			Steps(Run(150_000-o.Costs.ThreadStart/2), Go(2, Steps(Run(1000))), Run(long))))
		if w := r.Classes[2].MaxWaitNs; w > 300_000 {
			t.Errorf("seed %d: it waits %d ns, though a P is idle", seed, w)
		}
	}
}

// TestSlice: the slices of goroutines that only compute are two sleeps of
// sysmon long, 20 ms and not 10, as is measured in traces of Go 1.22 to 1.27:
// in the first pass it sees the new tick, in the second that it is 10 ms old
// (sysmon, retake).
func TestSlice(t *testing.T) {
	var list []reference.Decision
	o := named(t, "go1.26", 1)
	o.Until = 1_000_000_000
	o.Emit = log(&list, reference.KindPreempt)
	simulate(t, o, Start(Steps(Run(Forever)), Steps(Run(Forever))))
	for i := 5; i < len(list); i++ {
		if d := list[i].Time - list[i-1].Time; d < 20_000_000 || d > 20_300_000 {
			t.Errorf("slice %d is %d ns long", i, d)
		}
	}
	if len(list) < 40 {
		t.Errorf("%d slices in a second", len(list))
	}
}

// TestRequestKept: a request to yield outlives a system call, but not a wait
// (execute forgets it).
func TestRequestKept(t *testing.T) {
	for _, x := range []struct {
		between Op
		want    int
	}{{Syscall(1000), 1}, {Poll(1000), 0}} {
		var list []reference.Decision
		o := named(t, "go1.26", 1)
		o.Until = 24_000_000
		// Asked at 14.465 ms, the first goroutine has until 14.470 to stop.
		o.Emit = log(&list, reference.KindPreempt)
		simulate(t, o, Start(Steps(Run(14_467_000-25_050), x.between, Run(5_000_000)), Steps(Run(1_000_000))))
		equal(t, fmt.Sprintf("preemptions after step %d", x.between.Kind), len(list), x.want)
	}
}

// TestReturn: who comes back from a system call takes its P out of another one
// (exitsyscallfast up to Go 1.25, exitsyscallTryGetP from 1.26), and else an idle
// one, or waits in the global queue.
func TestReturn(t *testing.T) {
	var list []reference.Decision
	o := named(t, "go1.26", 1)
	o.Emit = log(&list, reference.KindRetake, reference.KindReady)
	taken := 0
	for ns := int64(500_000); ns < 1_000_000; ns += 10_000 { // one of these returns before sysmon takes the P
		list = list[:0]
		simulate(t, o, Start(
			Steps(Syscall(ns), Run(1000)),
			Steps(Run(500_000), Syscall(100_000_000))))
		for i, d := range list {
			if d.Kind != reference.KindRetake || d.Why != reference.WhyRetakeReturn {
				continue
			}
			taken++
			if next := list[i+1]; d.G != 2 || next.G != 1 || next.To != reference.QueueDirect {
				t.Errorf("goroutine %d waits in queue %v for the P of %d", next.G, next.To, d.G)
			}
		}
	}
	if taken == 0 {
		t.Error("no P is taken out of another call")
	}

	list = list[:0]
	simulate(t, o, Start(
		Steps(Syscall(1_000_000), Run(1000)),
		Steps(Run(5_000_000))))
	if last := list[len(list)-1]; last.G != 1 || last.Why != reference.WhySyscallExit || last.To != reference.QueueGlobal {
		t.Errorf("with its P in use, it is put into queue %v", last.To)
	}
}

// TestTimerOfBusyP: who goes to sleep wakes a thread for the timer, because its
// own P may be busy when it is due (wakeNetPoller); that thread runs the timer in
// its last pass (stealWork).
func TestTimerOfBusyP(t *testing.T) {
	var list []reference.Decision
	o := named(t, "no-steal", 2)
	o.Emit = log(&list, reference.KindReady)
	simulate(t, o, Start(Steps(Go(1, Steps(Run(50_000_000))), Run(200_000), Sleep(1_000_000), Run(1000))))
	for _, d := range list {
		if d.Why == reference.WhyTimer && (d.Time > 3_000_000 || d.P != 1) {
			t.Errorf("a sleep of 1 ms ends at %d ns on P%d", d.Time, d.P)
		}
	}
}

// TestProcsChange: Ps that go give their queues away, and new ones take part
// (procresize).
func TestProcsChange(t *testing.T) {
	for _, c := range []struct {
		policy      string
		first, then int
		end         int64
	}{
		{"gps", 1, 4, 1_000_000 + 15_000_000/4},
		{"gps", 4, 1, 1_000_000 + 12_000_000},
		{"fifo", 1, 4, 1_000_000 + 15_000_000/4},
		{"go1.22", 1, 4, 1_000_000 + 15_000_000/4},
		{"go1.22", 4, 1, 1_000_000 + 12_000_000},
		{"go1.26", 8, 2, 1_000_000 + 8_000_000/2},
		{"beam", 8, 2, 1_000_000 + 8_000_000/2},
	} {
		t.Run(fmt.Sprintf("%s, %d to %d", c.policy, c.first, c.then), func(t *testing.T) {
			o := named(t, c.policy, c.first)
			last := 0
			o.Emit = func(d *reference.Decision) {
				if d.Kind == reference.KindProcs {
					last = int(d.Batch)
				}
				if last > 0 && int(d.P) >= last && (d.Kind == reference.KindStart || d.Kind == reference.KindPStart) {
					t.Errorf("%v on P %d of %d", d.Kind, d.P, last)
				}
			}
			load := make([]Arrival, 0, 17)
			for range 16 {
				load = append(load, Arrival{Script: Times(10, Run(50_000), Sleep(1), Run(50_000))})
			}
			r := simulate(t, o, List(append(load, Arrival{At: 1_000_000, Kind: ArriveSTW, Procs: c.then})...))
			if d := r.EndNs - c.end; d < -100 || d > c.end/8 {
				t.Errorf("end at %d, want %d", r.EndNs, c.end)
			}
			equal(t, "left", r.Left, 0)
			equal(t, "busy", r.BusyNs, 16_000_000)
			if c.policy != "gps" {
				equal(t, "GOMAXPROCS", last, c.then)
			}
			if n := c.end * int64(max(c.first, c.then)); r.IdleNs < 0 || r.SchedNs < 0 || r.IdleNs+r.SchedNs > n/2 {
				t.Errorf("idle %d, scheduling %d", r.IdleNs, r.SchedNs)
			}
		})
	}
}

// TestMeasuredCosts: costs that were measured are drawn from, in the place of
// the constant ones, and a new thread takes as long as it ever does.
func TestMeasuredCosts(t *testing.T) {
	o := named(t, "go1.26", 1)
	load := func() Arrivals { return Start(Times(50, Run(1000), Gosched()), Times(50, Run(1000), Gosched())) }
	usual := simulate(t, o, load())
	o.Costs.Switches = []Sample{{0, o.Costs.Switch}}
	equal(t, "the usual cost, drawn", simulate(t, o, load()).EndNs, usual.EndNs)
	o.Costs.Switches = []Sample{{0, o.Costs.Switch}, {0, o.Costs.Switch + 20_000}}
	if d := simulate(t, o, load()).EndNs - usual.EndNs; d < 30*20_000 || d > 70*20_000 {
		t.Errorf("half of 100 switches take 20 µs more: %d ns in all", d)
	}

	o.Costs.Yields = []Sample{{0, 130}}
	want := usual.EndNs - 100*(o.Costs.Lock+o.Costs.Switch) + 100*(130-o.Costs.Lock)
	if d := simulate(t, o, load()).EndNs - want; d < -2000 || d > 2000 {
		t.Errorf("a yield takes 130 ns: the end is %d ns off", d)
	}

	o = named(t, "go1.26", 1)
	sleeps := func() Arrivals { return Start(Times(20, Run(1000), Sleep(1_000_000))) }
	usual = simulate(t, o, sleeps())
	o.Costs.Timers = []Sample{{0, 7_000}}
	if d := simulate(t, o, sleeps()).EndNs - usual.EndNs; d < 19*7_000 || d > 21*7_000 {
		t.Errorf("20 wake-ups by a timer take 7 µs each: the end is %d ns later", d)
	}

	o = named(t, "go1.26", 2)
	wakes := func() Arrivals { return Start(Times(20, Run(1000), Sleep(1_000_000))) }
	usual = simulate(t, o, wakes())
	o.Costs.ThreadWakes = []Sample{{0, o.Costs.ThreadWake + 300_000}}
	if d := simulate(t, o, wakes()).EndNs - usual.EndNs; d < 300_000-o.Costs.ThreadStart {
		t.Errorf("threads wake up 0.3 ms later: the end is %d ns later", d)
	}
}

// TestStopStep: a goroutine that stops the world by a step of its own keeps its P while
// others are stopped, whenever it gets there, and the marking of the cycle that it began
// is done when it ends.
func TestStopStep(t *testing.T) {
	for _, first := range []int64{1_000_000, 2_500_000} {
		var list []reference.Decision
		o := named(t, "go1.26", 2)
		o.Emit = log(&list, reference.KindStop, reference.KindSTWBegin, reference.KindGCBegin, reference.KindGCEnd)
		end := Op{Kind: OpStop, Stop: &Arrival{Kind: ArriveGC, Ns: 100_000, Mark: 200_000}}
		simulate(t, o, List(
			Arrival{G: 1, Script: Steps(Run(first), Op{Kind: OpStop, Stop: &Arrival{Kind: ArriveSTW, Ns: 200_000}}, Run(1000), end, Run(1000))},
			Arrival{G: 2, Script: Steps(Run(5_000_000))},
		))
		var stops []int64
		marks := 0
		for _, d := range list {
			switch {
			case d.Kind == reference.KindSTWBegin:
				stops = append(stops, d.Time)
			case d.Kind == reference.KindGCBegin, d.Kind == reference.KindGCEnd:
				marks++
			case d.Kind == reference.KindStop && d.G == 1:
				equal(t, "why the stopper stops", d.Why, reference.WhyExit)
			}
		}
		if len(stops) != 3 || stops[0] < first || stops[0] > first+100_000 || stops[1] < stops[0]+201_000 || marks != 2 {
			t.Errorf("after %d ns: the world stops at %v; %d ends of marking", first, stops, marks)
		}
	}
}

// TestReadyTail: who is readied with next false goes behind those in the P's ring (ready).
func TestReadyTail(t *testing.T) {
	for _, tail := range []bool{false, true} {
		var order []int64
		c := NewChan(Unlimited)
		o := named(t, "go1.26", 1)
		o.Emit = func(d *reference.Decision) {
			if d.Kind == reference.KindStart && d.Time > 1_000_000 {
				order = append(order, d.G)
			}
		}
		simulate(t, o, List(
			Arrival{G: 1, Script: Steps(Recv(c), Run(1000))},
			Arrival{G: 2, Script: Steps(Run(2_000_000), Op{Kind: OpGo, G: 3, Script: Steps(Run(1000))}, Op{Kind: OpSend, Chan: c, Tail: tail}, Run(1000))},
		))
		want := []int64{1, 3}
		if tail {
			want = []int64{3, 1}
		}
		equal(t, fmt.Sprintf("the order with tail %v", tail), fmt.Sprint(order), fmt.Sprint(want))
	}
}

// TestWakers: an assist is woken into the ring of a P that marks (gcFlushBgCredit), and
// the reader of the trace runs before all that is queued (findRunnable, traceReader).
func TestWakers(t *testing.T) {
	for _, x := range []struct {
		from Waker
		want reference.Queue
	}{{WakerNoP, reference.QueueGlobal}, {WakerMark, reference.QueueLocal}, {WakerTrace, reference.QueueDirect}} {
		c := NewChan(Unlimited)
		var to reference.Queue
		var before []int64 // who runs before the one that is woken
		o := named(t, "go1.26", 1)
		o.Emit = func(d *reference.Decision) {
			switch {
			case d.Kind == reference.KindReady && d.G == 1 && d.Why == reference.WhySystem:
				to = d.To
			case d.Kind == reference.KindStart && d.Time > 3_000_000 && d.Flags&reference.FlagGC == 0 && (len(before) == 0 || before[len(before)-1] != 1):
				before = append(before, d.G)
			}
		}
		load := []Arrival{{G: 1, Script: Steps(Recv(c), Run(1000))}}
		for g := range int64(3) {
			load = append(load, Arrival{G: 2 + g, Script: Times(200, Run(50_000), Gosched())})
		}
		load = append(load,
			Arrival{At: 1_000_000, Kind: ArriveGC, Ns: 1000, Mark: 20_000_000},
			Arrival{At: 3_000_000, Kind: ArriveSend, Chan: c, From: x.from})
		r := simulate(t, o, List(load...))
		equal(t, "its queue", to, x.want)
		if x.from == WakerTrace && len(before) != 1 {
			t.Errorf("%v run before the reader", before)
		}
		equal(t, "who is left", r.Left, 0)
	}
}

// TestMarkingGoesOn: marking that idle workers are not to do is done by them all the
// same if all wait for it, rather than never.
func TestMarkingGoesOn(t *testing.T) {
	for _, name := range []string{"go1.26", "gps"} {
		done := NewChan(Unlimited)
		o := named(t, name, 2)
		r := simulate(t, o, List(Arrival{G: 1, Script: Steps(Run(1000), Op{Kind: OpStop, Stop: &Arrival{
			Kind: ArriveGC, Ns: 1000, Mark: 5_000_000, Tail: 1, Wakes: []Wake{{Chan: done}}, Marking: Marking{Known: true, Idle: 100_000},
		}}, Recv(done), Run(1000))}))
		equal(t, "who is left with "+name, r.Left, 0)
	}
}

// TestWokenBySysmon: the scavenger is woken in a pass of sysmon's, not between two (sysmon,
// scavenger.wake).
func TestWokenBySysmon(t *testing.T) {
	c := NewChan(Unlimited)
	var ready, preempted []int64
	o := named(t, "go1.26", 1)
	o.Costs.Preempt = 0
	o.Emit = func(d *reference.Decision) {
		switch {
		case d.Kind == reference.KindReady && d.G == 1 && d.Why == reference.WhySystem:
			ready = append(ready, d.Time)
		case d.Kind == reference.KindPreempt:
			preempted = append(preempted, d.Time)
		}
	}
	simulate(t, o, List(
		Arrival{G: 1, Script: Steps(Recv(c), Run(1000))},
		Arrival{G: 2, Script: Steps(Run(200_000_000))},
		Arrival{At: 105_000_000, Kind: ArriveSend, Chan: c, From: WakerSysmon},
	))
	// Its passes are those in which it preempts, too: every 10 ms and what the kernel adds.
	period := o.Policy.Rules.SysmonMax + o.Costs.Slack
	if len(ready) != 1 || len(preempted) == 0 || ready[0] <= 105_000_000 || (ready[0]-preempted[0])%period != 0 {
		t.Errorf("woken at %v, slices end at %v", ready, preempted)
	}
}

// A thread that is late to wake up has a core when those that run sleep: a stop of the world does
// not wait for longer than a wake-up usually takes.
func TestLateThread(t *testing.T) {
	const late = 3_000_000
	c := DefaultCosts()
	c.ThreadWakes = []Sample{{Ns: late}}
	stop := Arrival{Kind: ArriveSTW, Ns: 1000}
	// The first goroutine wakes a thread for the second one, and goes on; then the world is stopped.
	load := List(Arrival{Kind: ArriveGo, Script: Steps(Run(1000), Go(0, Steps(Run(1000))), Run(50_000), Op{Kind: OpStop, Stop: &stop}, Run(1000))})
	begin, longest := int64(0), int64(0)
	_, err := Simulate(t.Context(), Options{Policy: Version(reference.RulesFor(26)), Costs: c, Procs: 2, Emit: func(d *reference.Decision) {
		switch d.Kind {
		case reference.KindSTWBegin:
			begin = d.Time
		case reference.KindSTWEnd:
			longest = max(longest, d.Time-begin)
		}
	}}, load)
	if err != nil {
		t.Fatal(err)
	}
	if longest == 0 || longest > c.ThreadWake+10_000 {
		t.Errorf("the world took %d ns to stop, and stood still for 1000 of them; a thread usually takes %d to wake up", longest, c.ThreadWake)
	}
}
