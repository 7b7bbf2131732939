package workload

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// stream makes decisions by hand.
type stream struct {
	e *Extractor
}

func (s stream) say(t int64, k reference.Kind, g int64, set func(*reference.Decision)) {
	d := reference.Decision{Time: t, Kind: k, G: g, M: 7, P: 0, By: reference.NoG, Victim: reference.NoP}
	if set != nil {
		set(&d)
	}
	s.e.Add(&d)
}

func (s stream) ready(t, g, by int64, why reference.Why) {
	s.say(t, reference.KindReady, g, func(d *reference.Decision) { d.By, d.Why = by, why })
}
func (s stream) start(t, g int64) { s.say(t, reference.KindStart, g, nil) }
func (s stream) stop(t, g int64, why reference.Why) {
	s.say(t, reference.KindStop, g, func(d *reference.Decision) { d.Why = why })
}

// steps lists what goroutine g does.
func steps(w *Workload, g int64) []step {
	var out []step
	for i := range w.gs {
		if w.gs[i].id != g {
			continue
		}
		for at := w.gs[i].first; at != none; {
			s := *w.steps.at(at)
			at = s.next
			s.next = 0
			out = append(out, s)
		}
	}
	return out
}

func TestSteps(t *testing.T) {
	const A, B = 1, 2
	for _, c := range []struct {
		name string
		do   func(s stream)
		want map[int64][]step
	}{
		{"who is created and woken by whom", func(s stream) {
			s.start(100, A)
			s.ready(150, B, A, reference.WhyCreate)
			s.stop(200, A, reference.WhyBlock)
			s.start(210, B)
			s.ready(240, A, B, reference.WhyUnblock)
			s.stop(250, B, reference.WhyExit)
			s.start(260, A)
			s.stop(300, A, reference.WhyExit)
		}, map[int64][]step{
			A: {{kind: kRun, ns: 50}, {kind: kGo, arg: 1}, {kind: kRun, ns: 50}, {kind: kRecv}, {kind: kRun, ns: 40}, {kind: kExit}},
			B: {{kind: kRun, ns: 30}, {kind: kSend, arg: 0}, {kind: kRun, ns: 10}, {kind: kExit}},
		}},
		{"preemption does not cut the work, a yield does", func(s stream) {
			s.start(0, A)
			s.stop(10, A, reference.WhySlice)
			s.ready(10, A, reference.NoG, reference.WhySlice)
			s.start(30, A)
			s.stop(35, A, reference.WhyGosched)
			s.ready(35, A, reference.NoG, reference.WhyGosched)
			s.start(40, A)
			s.stop(50, A, reference.WhyGoyield)
			s.ready(50, A, reference.NoG, reference.WhyGoyield)
			s.start(60, A)
			s.stop(61, A, reference.WhyExit)
		}, map[int64][]step{A: {{kind: kRun, ns: 15}, {kind: kGosched}, {kind: kRun, ns: 10}, {kind: kGoyield}, {kind: kRun, ns: 1}, {kind: kExit}}}},
		{"a system call that keeps the P, and one that does not", func(s stream) {
			s.start(0, A)
			s.say(10, reference.KindSyscall, A, nil)
			s.say(15, reference.KindSyscallExit, A, nil)
			s.say(20, reference.KindSyscall, A, nil)
			s.say(20, reference.KindPStop, reference.NoG, func(d *reference.Decision) { d.Why = reference.WhySyscall })
			s.say(50, reference.KindSyscallExit, A, func(d *reference.Decision) { d.P = reference.NoP })
			s.ready(50, A, reference.NoG, reference.WhySyscallExit)
			s.start(60, A)
			s.stop(61, A, reference.WhyExit)
		}, map[int64][]step{A: {{kind: kRun, ns: 10}, {kind: kSyscall, ns: 5}, {kind: kRun, ns: 5}, {kind: kSyscallBlock, ns: 30}, {kind: kRun, ns: 1}, {kind: kExit}}}},
		{"what preempts for the garbage collector does cut it", func(s stream) {
			s.start(0, A)
			s.stop(10, A, reference.WhyGC)
			s.ready(10, A, reference.NoG, reference.WhyGC)
			s.start(30, A)
			s.stop(35, A, reference.WhyExit)
		}, map[int64][]step{A: {{kind: kRun, ns: 10}, {kind: kPreempt, arg: int32(reference.WhyGC)}, {kind: kRun, ns: 5}, {kind: kExit}}}},
		{"timers that fire together were due together", func(s stream) {
			s.start(0, A)
			s.stop(10, A, reference.WhyBlock)
			s.start(10, B)
			s.stop(20, B, reference.WhyBlock)
			s.say(100, reference.KindPStart, reference.NoG, nil)
			s.ready(100, A, reference.NoG, reference.WhyTimer)
			s.ready(105, B, reference.NoG, reference.WhyTimer)
			s.start(110, A)
			s.stop(111, A, reference.WhyExit)
			s.start(112, B)
			s.stop(113, B, reference.WhyExit)
		}, map[int64][]step{
			A: {{kind: kRun, ns: 10}, {kind: kSleep, ns: 90, arg: none}, {kind: kRun, ns: 1}, {kind: kExit}},
			B: {{kind: kRun, ns: 10}, {kind: kSleep, ns: 80, arg: none}, {kind: kRun, ns: 1}, {kind: kExit}},
		}},
		{"who is runnable when the trace ends does not run", func(s stream) {
			s.start(0, A)
			s.stop(10, A, reference.WhyBlock)
			s.start(20, B)
			s.ready(30, A, B, reference.WhyUnblock)
			s.ready(40, 3, B, reference.WhyCreate)
			s.stop(50, B, reference.WhyGosched)
			s.ready(50, B, reference.NoG, reference.WhyGosched)
		}, map[int64][]step{
			A: {{kind: kRun, ns: 10}, {kind: kForever}},
			B: {{kind: kRun, ns: 10}, {kind: kSend, arg: 0}, {kind: kRun, ns: 10}, {kind: kGo, arg: 2}, {kind: kRun, ns: 10}, {kind: kForever}},
			3: nil,
		}},
		{"where a receiver blocked on a semaphore", func(s stream) {
			s.start(0, A)
			s.say(10, reference.KindStop, A, func(d *reference.Decision) {
				d.Why, d.Reason, d.Stack = reference.WhyBlock, reference.ReasonSync, 77
			})
			s.start(20, B)
			s.ready(30, A, B, reference.WhyUnblock)
			s.stop(30, B, reference.WhyExit)
			s.start(40, A)
			s.stop(50, A, reference.WhyExit)
		}, map[int64][]step{
			A: {{kind: kRun, ns: 10}, {kind: kRecv, stack: 77}, {kind: kRun, ns: 10}, {kind: kExit}},
			B: {{kind: kRun, ns: 10}, {kind: kSend, arg: 0, stack: 77}, {kind: kExit}},
		}},
		{"a lock shows when the P is handed over", func(s stream) {
			s.start(0, A)
			s.stop(10, A, reference.WhyGosched)
			s.ready(10, A, reference.NoG, reference.WhyGosched)
			s.say(20, reference.KindStart, A, func(d *reference.Decision) { d.Flags = reference.FlagLocked })
			s.stop(30, A, reference.WhyGosched)
			s.ready(30, A, reference.NoG, reference.WhyGosched)
			s.start(40, A)
			s.stop(50, A, reference.WhyExit)
		}, map[int64][]step{A: {{kind: kRun, ns: 10}, {kind: kLock}, {kind: kGosched}, {kind: kRun, ns: 10}, {kind: kUnlock}, {kind: kGosched}, {kind: kRun, ns: 10}, {kind: kExit}}}},
		{"what who stops the world runs meanwhile is no work", func(s stream) {
			s.start(0, A)
			s.say(10, reference.KindSTWBegin, A, nil)
			s.say(40, reference.KindSTWEnd, A, nil)
			s.stop(45, A, reference.WhyExit)
		}, map[int64][]step{A: {{kind: kRun, ns: 10}, {kind: kStop}, {kind: kRun, ns: 5}, {kind: kExit}}}},
		{"who is still at it when the trace ends", func(s stream) {
			s.start(0, A)
			s.stop(10, A, reference.WhyBlock)
			s.start(20, B)
			s.stop(1000, 3, reference.WhyExit) // never seen before
		}, map[int64][]step{A: {{kind: kRun, ns: 10}, {kind: kForever}}, B: {{kind: kRun, ns: 980}}, 3: {{kind: kExit}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stream{NewExtractor(Options{})}
			c.do(s)
			w := s.e.Finish(0)
			for g, want := range c.want {
				if diff := cmp.Diff(want, steps(w, g), cmp.AllowUnexported(step{})); diff != "" {
					t.Errorf("goroutine %d: want (-), got (+):\n%s", g, diff)
				}
			}
		})
	}
}

// TestCosts: what yields and timers cost is measured where they happen often.
func TestCosts(t *testing.T) {
	s := stream{NewExtractor(Options{})}
	at := int64(0)
	s.start(at, 1)
	for range 2 * fewSwitches {
		s.stop(at+10, 1, reference.WhyGosched)
		s.ready(at+10, 1, reference.NoG, reference.WhyGosched)
		at += 140
		s.say(at, reference.KindStart, 1, func(d *reference.Decision) { d.Src = reference.SrcGlobal })
	}
	for range 2 * fewSwitches {
		s.stop(at+10, 1, reference.WhyBlock)
		s.ready(at+1000, 1, reference.NoG, reference.WhyTimer)
		at += 1000 + 700
		s.start(at, 1)
	}
	w := s.e.Finish(at + 10)
	for what, x := range map[string]struct {
		all []sim.Sample
		ns  int64
	}{"yield": {w.Yields, 130}, "timer": {w.Timers, 700}} {
		if len(x.all) < fewSwitches || x.all[0].Ns != x.ns || x.all[len(x.all)-1].Ns != x.ns {
			t.Errorf("%s: %v, want %d each", what, x.all, x.ns)
		}
	}
}

// TestTail: a worker that has stopped the world runs on after it, and whom of the runtime
// it woke waits for it.
func TestTail(t *testing.T) {
	const sweeper, worker = 3, 20
	s := stream{NewExtractor(Options{})}
	gc := func(d *reference.Decision) { d.Flags = reference.FlagGC }
	s.say(0, reference.KindStart, sweeper, func(d *reference.Decision) { d.Flags = reference.FlagSystem })
	s.stop(5, sweeper, reference.WhyBlock)
	s.say(10, reference.KindGCBegin, reference.NoG, nil)
	s.say(20, reference.KindSTWBegin, 1, nil)
	s.say(30, reference.KindSTWEnd, 1, nil)
	s.say(40, reference.KindStart, worker, gc)
	s.say(100, reference.KindSTWBegin, worker, nil)
	s.ready(110, sweeper, worker, reference.WhyUnblock)
	s.say(120, reference.KindGCEnd, reference.NoG, nil)
	s.say(130, reference.KindSTWEnd, worker, nil)
	s.say(190, reference.KindStop, worker, func(d *reference.Decision) { gc(d); d.Why = reference.WhyBlock })
	w := s.e.Finish(300)
	if len(w.tails) != 1 || w.tails[0].ns != 60 || len(w.tails[0].wakes) != 1 || w.gs[w.tails[0].wakes[0].g].id != sweeper {
		t.Errorf("%+v", w.tails)
	}
	if a := w.outer[len(w.outer)-1]; a.kind != sim.ArriveGC || a.by != 1 {
		t.Errorf("the last arrival is %+v", a)
	}
}

func TestBounds(t *testing.T) {
	add := func(o Options) *Workload {
		s := stream{NewExtractor(o)}
		for i := range int64(1000) {
			s.start(i*10, 1)
			s.stop(i*10+5, 1, reference.WhyGosched)
			s.ready(i*10+5, 1, reference.NoG, reference.WhyGosched)
		}
		return s.e.Finish(1 << 40)
	}
	if w := add(Options{}); w.Omitted != 0 || w.EndNs != 1<<40 || w.Steps != 2000 {
		t.Errorf("without bounds: %+v", w)
	}
	if w := add(Options{MaxSteps: 100}); w.Omitted < 2500 || !w.Capped || w.Steps > 110 || w.EndNs > 600 {
		t.Errorf("100 steps: %d steps, %d left out, to %d", w.Steps, w.Omitted, w.EndNs)
	}
	if w := add(Options{Until: 999}); w.Omitted != 2700 || w.Capped || w.EndNs > 999 {
		t.Errorf("until 999 ns: %d left out, to %d", w.Omitted, w.EndNs)
	}
}

func TestChange(t *testing.T) {
	e := NewExtractor(Options{})
	p, c := scheduler(26)
	o := sim.Options{Policy: p, Costs: c, Procs: 1, Emit: func(d *reference.Decision) { e.Add(d) }}
	load := sim.List(
		sim.Arrival{Kind: sim.ArriveGo, Class: 1, Script: sim.Steps(sim.Run(5_000_000))},
		sim.Arrival{Kind: sim.ArriveGo, Class: 2, Script: sim.Steps(sim.Run(4_000_000))},
		sim.Arrival{At: 1000, Kind: sim.ArriveGC, Ns: 1000, Mark: 1_000_000},
	)
	first, err := sim.Simulate(t.Context(), o, load)
	if err != nil {
		t.Fatal(err)
	}
	w := e.Finish(0)
	for _, x := range []struct {
		c        Change
		busy, gc int64
	}{
		{Change{}, 9_000_000, first.GCNs},
		{Change{NoGC: true}, 9_000_000, 0},
		{Change{Speed: map[int32]float64{2: 2}}, 7_000_000, first.GCNs},
		{Change{Work: 1.5}, 13_500_000, first.GCNs + 500_000},
		{Change{Work: 0.5, Speed: map[int32]float64{2: 2}}, 3_500_000, first.GCNs - 500_000},
	} {
		r, err := sim.Simulate(t.Context(), sim.Options{Policy: p, Costs: c, Procs: 1}, w.Load(x.c))
		if err != nil {
			t.Fatal(err)
		}
		if r.BusyNs != x.busy || r.GCNs != x.gc {
			t.Errorf("%+v: busy %d, want %d; gc %d, want %d", x.c, r.BusyNs, x.busy, r.GCNs, x.gc)
		}
	}
}

// A goroutine that yields computes as much as before, with a pause after each
// piece; one that is locked to a thread runs on any if nothing is locked.
func TestYieldAndUnlock(t *testing.T) {
	var (
		w      Workload
		script = []step{{kind: kLock, next: 1}, {kind: kRun, ns: 250, next: 2}, {kind: kUnlock, next: 3}, {kind: kRun, ns: 100, next: 4}, {kind: kExit, next: none}}
	)
	for _, s := range script {
		w.steps.add(s)
	}
	w.gs = []goroutine{{class: 7}}
	for _, x := range []struct {
		c    Change
		want []sim.Op
	}{
		{Change{YieldNs: map[int32]int64{8: 100}}, []sim.Op{{Kind: sim.OpLockThread}, sim.Run(250), {Kind: sim.OpUnlockThread}, sim.Run(100), {}}},
		{Change{YieldNs: map[int32]int64{7: 100}, Unlocked: true}, []sim.Op{sim.Run(100), sim.Gosched(), sim.Run(100), sim.Gosched(), sim.Run(50), sim.Run(100), {}}},
		{Change{YieldNs: map[int32]int64{7: 100}, Speed: map[int32]float64{7: 2}, Unlocked: true}, []sim.Op{sim.Run(100), sim.Gosched(), sim.Run(25), sim.Run(50), {}}},
	} {
		s := w.Load(x.c).(*load).script(0)
		for i, want := range x.want {
			if got := s.Next(0); got != want {
				t.Errorf("%+v: step %d is %+v, want %+v", x.c, i, got, want)
			}
		}
	}
}

// Decisions that make no sense, and streams of which parts are lost, give a
// workload that can be simulated.
func TestHostile(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		e := NewExtractor(Options{MaxSteps: 2000})
		now := int64(0)
		for range 3000 {
			now += rnd.Int64N(2000)
			d := reference.Decision{
				Time: now, Kind: reference.Kind(rnd.IntN(22)), G: rnd.Int64N(12) - 2, By: rnd.Int64N(12) - 2, M: rnd.Int64N(6) - 1,
				P: int32(rnd.IntN(6)) - 1, Victim: int32(rnd.IntN(6)) - 1, Class: int32(rnd.IntN(5)) - 1, Batch: int32(rnd.IntN(6)),
				Src: reference.Source(rnd.IntN(14)), Why: reference.Why(rnd.IntN(30)), Flags: reference.Flags(rnd.IntN(256)),
			}
			switch rnd.IntN(200) {
			case 0:
				d.Time = -now
			case 1:
				d.Class, d.P = 1<<30, 1<<30
			case 2:
				d.G, d.M, d.Batch = 1<<62, -1<<62, 1<<30
			}
			e.Add(&d)
		}
		simulate(t, seed, e.Finish(now), 0)
	}
}

func TestLostDecisions(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		e := NewExtractor(Options{})
		p, c := scheduler(26)
		r, err := sim.Simulate(t.Context(), sim.Options{Policy: p, Costs: c, Procs: 3, Emit: func(d *reference.Decision) {
			if rnd.IntN(20) > 0 {
				e.Add(d)
			}
		}}, mixed(seed))
		if err != nil {
			t.Fatal(err)
		}
		simulate(t, seed, e.Finish(r.EndNs), int64(r.Procs)*r.EndNs)
	}
}

// simulate runs a workload; its work may be any, but not more than most, if that
// is not 0.
func simulate(t *testing.T, seed uint64, w *Workload, most int64) {
	t.Helper()
	p, c := scheduler(26)
	r, err := sim.Simulate(t.Context(), sim.Options{Policy: p, Costs: c, Procs: min(w.Procs, 8), Seed: seed}, w.Load(Change{}))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if r != nil && most > 0 && r.BusyNs > most {
		t.Errorf("seed %d: %d ns of work, at most %d were there", seed, r.BusyNs, most)
	}
}

// TestStops: who stops the world, or begins a cycle, does so at the same point of its work;
// what the collector wakes waits for it, and the trace's reader for data.
func TestStops(t *testing.T) {
	const prog, other, worker, reader = 1, 2, 20, 30
	s := stream{NewExtractor(Options{})}
	gc := func(d *reference.Decision) { d.Flags = reference.FlagGC }
	tracer := func(d *reference.Decision) { d.Flags = reference.FlagSystem | reference.FlagTracer }
	s.say(0, reference.KindStart, reader, tracer)
	s.say(2, reference.KindStop, reader, func(d *reference.Decision) { tracer(d); d.Why = reference.WhyBlock })
	s.start(4, other)
	s.stop(6, other, reference.WhyBlock)
	s.start(10, prog)
	s.say(20, reference.KindGCBegin, reference.NoG, nil)
	s.say(22, reference.KindSTWBegin, prog, nil)
	s.say(30, reference.KindReady, other, func(d *reference.Decision) {
		d.By, d.Why, d.To = prog, reference.WhySystem, reference.QueueLocal
	})
	s.say(32, reference.KindSTWEnd, prog, nil)
	s.stop(40, prog, reference.WhyBlock)
	s.say(42, reference.KindStart, other, nil)
	s.stop(44, other, reference.WhyBlock)
	s.say(50, reference.KindStart, worker, gc)
	s.say(60, reference.KindReady, other, func(d *reference.Decision) {
		d.By, d.Why, d.To = worker, reference.WhySystem, reference.QueueLocal
	})
	s.say(100, reference.KindSTWBegin, worker, nil)
	s.say(110, reference.KindGCEnd, reference.NoG, nil)
	s.say(112, reference.KindReady, prog, func(d *reference.Decision) {
		d.By, d.Why, d.To = worker, reference.WhySystem, reference.QueueLocal
	})
	s.say(120, reference.KindSTWEnd, worker, nil)
	s.say(130, reference.KindStop, worker, func(d *reference.Decision) { gc(d); d.Why = reference.WhyBlock })
	s.start(140, prog)
	s.say(150, reference.KindSTWBegin, prog, nil)
	s.say(160, reference.KindSTWEnd, prog, nil)
	s.stop(170, prog, reference.WhyExit)
	s.say(180, reference.KindReady, reader, func(d *reference.Decision) {
		tracer(d)
		d.By, d.Why, d.To = reference.NoG, reference.WhySystem, reference.QueueDirect
	})
	s.stop(182, reader, reference.WhyBlock)
	s.say(190, reference.KindReady, reader, func(d *reference.Decision) {
		tracer(d)
		d.P, d.By, d.Why, d.To = reference.NoP, reference.NoG, reference.WhySystem, reference.QueueGlobal
	})
	w := s.e.Finish(200)
	want := []step{
		{kind: kRun, ns: 12}, {kind: kCycle}, {kind: kSendTail, arg: 1}, {kind: kRun, ns: 8},
		{kind: kRecvGC}, {kind: kRun, ns: 10}, {kind: kStop}, {kind: kRun, ns: 10}, {kind: kExit},
	}
	if diff := cmp.Diff(want, steps(w, prog), cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if len(w.stops) != 1 || w.stops[0].ns != 10 || len(w.tails) != 1 || len(w.tails[0].wakes) != 1 || !w.tails[0].wakes[0].tail {
		t.Errorf("stops %+v, tails %+v", w.stops, w.tails)
	}
	var from []sim.Waker
	for _, a := range w.outer {
		if a.kind == sim.ArriveGC {
			t.Error("the cycle comes from outside, too")
		}
		if a.kind == sim.ArriveSend {
			from = append(from, a.from)
		}
	}
	if !slices.Equal(from, []sim.Waker{sim.WakerMark, sim.WakerTrace, sim.WakerSysmon}) {
		t.Errorf("woken from outside by %v", from)
	}
	// Without the collector nobody waits for it.
	p, c := scheduler(26)
	r, err := sim.Simulate(t.Context(), sim.Options{Policy: p, Costs: c, Procs: 1}, w.Load(Change{NoGC: true}))
	if err != nil || r.Left > 2 {
		t.Errorf("%v; %+v", err, r)
	}
}

// Both ends of a connection are in the trace, and a third goroutine's system call besides:
// with another GOMAXPROCS the reader is woken when the writer has written, and not at the
// time of the trace. What nobody in the trace has sent comes at its time.
func TestSent(t *testing.T) {
	const reader, writer, other = 1, 2, 3
	call := func(s stream, from, to, g int64) {
		s.say(from, reference.KindSyscall, g, nil)
		s.say(to, reference.KindSyscallExit, g, nil)
	}
	read := func(s stream, block, at int64) {
		s.stop(block, reader, reference.WhyBlock)
		s.ready(at, reader, reference.NoG, reference.WhyNetwork)
	}
	s := stream{NewExtractor(Options{})}
	s.start(0, reader)
	read(s, 10, 100_000) // from outside
	s.start(100_010, reader)
	s.stop(100_020, reader, reference.WhyBlock)
	s.start(100_030, writer)
	call(s, 200_000, 200_010, writer)
	s.ready(200_020, reader, reference.NoG, reference.WhyNetwork)
	s.stop(200_030, writer, reference.WhySlice)
	s.start(200_040, reader)
	s.stop(200_050, reader, reference.WhyBlock)
	s.start(200_060, writer)
	call(s, 300_000, 300_010, writer)
	s.stop(300_020, writer, reference.WhyExit)
	s.start(300_030, other)
	call(s, 300_040, 300_050, other)
	s.stop(300_060, other, reference.WhyExit)
	s.ready(300_070, reader, reference.NoG, reference.WhyNetwork)
	s.start(300_080, reader)
	s.stop(300_090, reader, reference.WhyExit)
	w := s.e.Finish(300_090)
	if w.Network != 3 || w.Sent != 2 {
		t.Fatalf("the network ended %d waits, and the program had sent %d of that; want 3 and 2", w.Network, w.Sent)
	}
	want := []step{
		{kind: kRun, ns: 99_970}, {kind: kNetSend, ns: 10}, {kind: kSyscall, ns: 10}, {kind: kRun, ns: 99_960}, {kind: kNetSend, ns: 10}, {kind: kSyscall, ns: 10},
		{kind: kRun, ns: 10}, {kind: kExit},
	}
	if diff := cmp.Diff(want, steps(w, writer), cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("the writer: %s", diff)
	}
	if got := steps(w, other); slices.ContainsFunc(got, func(x step) bool { return x.kind == kNetSend }) {
		t.Errorf("the other does %+v, and sends", got)
	}
	p, c := scheduler(26)
	ends := func(change Change) int64 {
		last := int64(0)
		_, err := sim.Simulate(t.Context(), sim.Options{Policy: p, Costs: c, Procs: 2, Emit: func(d *reference.Decision) {
			if d.Kind == reference.KindStop && d.G == reader && d.Why == reference.WhyExit {
				last = d.Time
			}
		}}, w.Load(change))
		if err != nil {
			t.Fatal(err)
		}
		return last
	}
	for _, tt := range []struct {
		name     string
		change   Change
		from, to int64
	}{
		{"as it was", Change{}, 290_000, 310_000},
		{"work that takes twice as long", Change{Work: 2}, 490_000, 510_000}, // it comes when it is sent
		{"work that takes half as long", Change{Work: 0.5}, 100_000, 210_000},
		{"half as long, with another GOMAXPROCS", Change{Work: 0.5, FixedProcs: true}, 100_000, 210_000},
	} {
		if got := ends(tt.change); got < tt.from || got > tt.to {
			t.Errorf("%s: the reader ends at %d; want %d to %d", tt.name, got, tt.from, tt.to)
		}
	}
}

// System calls can take longer, whether they give up the P at once or not.
func TestCalls(t *testing.T) {
	var w Workload
	for _, s := range []step{{kind: kSyscall, ns: 10, next: 1}, {kind: kSyscallBlock, ns: 20, next: 2}, {kind: kExit, next: none}} {
		w.steps.add(s)
	}
	w.gs = []goroutine{{}}
	s := w.Load(Change{Calls: 2}).(*load).script(0)
	for i, want := range []sim.Op{sim.Syscall(20), {Kind: sim.OpSyscallBlock, Ns: 40}, {}} {
		if got := s.Next(0); got != want {
			t.Errorf("step %d is %+v, want %+v", i, got, want)
		}
	}
}
