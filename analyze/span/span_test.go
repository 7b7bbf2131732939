package span_test

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

const ms = int64(1_000_000)

// driver gives an Accumulator a stream of decisions.
type driver struct {
	*span.Accumulator
	ps *ledger.States
	gs map[int64]*goroutine
}

type goroutine struct {
	node   span.Node
	class  int32
	system bool
}

func newDriver() *driver {
	return &driver{Accumulator: span.New(), ps: &ledger.States{}, gs: map[int64]*goroutine{}}
}

func (a *driver) add(d *reference.Decision) {
	a.Pass(d.Time)
	if d.G >= 0 {
		a.goroutine(d)
	}
	a.ps.Apply(d)
	a.Ps(int64(a.ps.Procs()), a.ps.Usable())
}

func (a *driver) goroutine(d *reference.Decision) {
	g := a.gs[d.G]
	if g == nil {
		g = &goroutine{}
		a.gs[d.G] = g
	}
	if d.Class != 0 {
		g.class = d.Class
	}
	if !d.Flags.OfProgram() && !g.system {
		g.system = true
		a.Forget(&g.node)
	}
	if !g.system {
		switch d.Kind {
		case reference.KindReady:
			a.Ready(&g.node, g.class)
			if by := a.gs[d.By]; by != nil && by != g && !by.system {
				a.Wake(&g.node, &by.node, by.class, d.Stack)
			}
		case reference.KindStart, reference.KindSyscallExit:
			if d.P >= 0 {
				a.Run(&g.node, g.class)
			}
		case reference.KindSyscall, reference.KindStop:
			a.Stop(&g.node, g.class, d.Stack)
		}
	}
	if d.Kind == reference.KindStop && (d.Why == reference.WhyExit || d.Why == reference.WhyLost) {
		a.Exit(&g.node)
		delete(a.gs, d.G)
	}
}

func (a *driver) finish(end int64) span.Result {
	return a.Finish(end, func(yield func(int32, *span.Node) bool) {
		for _, id := range slices.Sorted(maps.Keys(a.gs)) {
			if g := a.gs[id]; !yield(g.class, &g.node) {
				return
			}
		}
	})
}

// simulate runs scripts in the simulator and measures them.
func simulate(t *testing.T, procs int, scripts ...sim.Script) (span.Result, *sim.Result) {
	t.Helper()
	policy, costs, _ := sim.PolicyFor("go1.26")
	a := newDriver()
	r, err := sim.Simulate(context.Background(), sim.Options{Policy: policy, Costs: costs, Procs: procs, Emit: a.add}, sim.Start(scripts...))
	if err != nil {
		t.Fatal(err)
	}
	return a.finish(r.EndNs), r
}

// near reports whether got is want, but for what the model charges for
// operations: at most one per cent.
func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= 0.01*float64(want)
}

func TestSimulatedProgramsOfKnownSpan(t *testing.T) {
	forkJoin := func() []sim.Script {
		done := sim.NewChan(sim.Unlimited)
		steps := []sim.Op{sim.Run(1 * ms)}
		for i := range int64(8) {
			steps = append(steps, sim.Go(1, sim.Steps(sim.Run((1+i)*ms), sim.Send(done))))
		}
		for range 8 {
			steps = append(steps, sim.Recv(done))
		}
		return []sim.Script{sim.Steps(append(steps, sim.Run(3*ms))...)}
	}
	relay := func() []sim.Script {
		a, b := sim.NewChan(0), sim.NewChan(0)
		// The second one begins later, so that each receiver waits: a send that
		// nobody waits for is no edge.
		return []sim.Script{
			sim.Times(20, sim.Recv(a), sim.Run(2*ms), sim.Send(b)),
			sim.Steps(sim.Sleep(ms), sim.Go(0, sim.Times(20, sim.Run(ms), sim.Send(a), sim.Recv(b)))),
		}
	}
	independent := func() []sim.Script {
		var out []sim.Script
		for range 6 {
			out = append(out, sim.Times(10, sim.Run(ms), sim.Sleep(ms)))
		}
		return out
	}
	for name, c := range map[string]struct {
		program    func() []sim.Script
		work, span int64
	}{
		// The beginning, the longest child, and the end.
		"fork and join": {forkJoin, (1 + 36 + 3) * ms, (1 + 8 + 3) * ms},
		"relay":         {relay, 60 * ms, 60 * ms},
		"independent":   {independent, 60 * ms, 10 * ms},
		"one":           {func() []sim.Script { return []sim.Script{sim.Steps(sim.Run(5 * ms))} }, 5 * ms, 5 * ms},
	} {
		for _, procs := range []int{1, 2, 4, 16} {
			r, s := simulate(t, procs, c.program()...)
			if !near(r.WorkNs, c.work) || !near(r.SpanNs, c.span) || r.WorkNs != s.BusyNs {
				t.Errorf("%s on %d: T1 %d, Tinf %d, want %d, %d; the simulator says T1 %d", name, procs, r.WorkNs, r.SpanNs, c.work, c.span, s.BusyNs)
			}
			if r.Procs != float64(procs) || math.Abs(r.Usable-r.Procs) > 0.01 {
				t.Errorf("%s: %g Ps, usable %g, want %d", name, r.Procs, r.Usable, procs)
			}
			// Greedy schedules lie between the bounds (Brent); nothing here takes a P away.
			if r.BusyNs < r.BoundNs() || float64(r.BusyNs) > 1.02*float64(r.ABPNs()) {
				t.Errorf("%s on %d: busy %d, bounds %d and %d", name, procs, r.BusyNs, r.BoundNs(), r.ABPNs())
			}
		}
	}
}

// script is a stream made by hand.
type script struct {
	ds  []reference.Decision
	now int64
}

func (s *script) add(d reference.Decision) *script {
	d.Time = s.now
	s.ds = append(s.ds, d)
	return s
}
func (s *script) pass(ns int64) *script { s.now += ns; return s }
func (s *script) procs(n int32) *script {
	return s.add(reference.Decision{Kind: reference.KindProcs, Batch: n})
}
func (s *script) wake(g, by int64) *script {
	return s.add(reference.Decision{Kind: reference.KindReady, G: g, By: by, Class: int32(g), P: 0, Why: reference.WhyUnblock, Stack: int32(100 + by)})
}
func (s *script) start(g int64, p int32) *script {
	return s.add(reference.Decision{Kind: reference.KindStart, G: g, Class: int32(g), P: p})
}
func (s *script) block(g int64) *script {
	return s.add(reference.Decision{Kind: reference.KindStop, G: g, Class: int32(g), Why: reference.WhyBlock, Stack: int32(g)})
}

func (s *script) measure() span.Result {
	a := newDriver()
	for i := range s.ds {
		a.add(&s.ds[i])
	}
	return a.finish(s.now)
}

func TestPathGoesThroughTheLatestWaker(t *testing.T) {
	s := (&script{}).procs(2)
	s.wake(1, reference.NoG).wake(2, reference.NoG).start(1, 0).start(2, 1)
	s.pass(10).wake(3, 1).pass(5).block(1).start(3, 0) // 1: 15, of which 10 before 3
	s.pass(20).wake(4, 2).block(2)                     // 2: 35
	s.pass(5).block(3).start(4, 0).pass(7).block(4)    // 3: 10+25 = 35, 4: 35+7 = 42
	r := s.measure()
	want := span.Result{WorkNs: 15 + 35 + 25 + 7, SpanNs: 42, BusyNs: 47, Procs: 2, Usable: 2, Hops: 1,
		Path: []span.Segment{{Class: 2, Stack: 102, Ns: 35}, {Class: 4, Stack: 4, Ns: 7}}}
	if d := cmp.Diff(want, r, cmpopts.IgnoreUnexported(span.Segment{})); d != "" {
		t.Error(d)
	}
	if r.BoundNs() != 42 || r.ABPNs() != (82+2*42)/2 || r.RecoverableNs() != 5 || r.Efficiency() != 42.0/47 || r.Parallelism() != 82.0/42 {
		t.Errorf("bounds %d, %d, recoverable %d, efficiency %g", r.BoundNs(), r.ABPNs(), r.RecoverableNs(), r.Efficiency())
	}
}

// Time in system calls, and of the runtime's goroutines, is no work of the
// program; a mark worker takes a P away.
func TestWhatIsNoWork(t *testing.T) {
	s := (&script{}).procs(2)
	s.wake(1, reference.NoG).start(1, 0).pass(10)
	s.add(reference.Decision{Kind: reference.KindSyscall, G: 1, P: 0}).pass(100)
	s.add(reference.Decision{Kind: reference.KindSyscallExit, G: 1, P: 0})
	s.add(reference.Decision{Kind: reference.KindReady, G: 9, Flags: reference.FlagGC | reference.FlagSystem})
	s.add(reference.Decision{Kind: reference.KindStart, G: 9, P: 1, Flags: reference.FlagGC | reference.FlagSystem}).pass(10)
	s.wake(2, 9).start(2, 0).pass(5).block(2).block(1)
	r := s.measure()
	if r.WorkNs != 30 || r.SpanNs != 25 || r.BusyNs != 25 || r.Usable != (10*2+15*1)/25.0 {
		t.Errorf("%+v", r)
	}
}

// Many classes: the largest keep their names, and nothing is lost.
func TestPathOfManyClasses(t *testing.T) {
	s := (&script{}).procs(1).wake(1, reference.NoG)
	for g := int64(1); g < 40; g++ {
		s.start(g, 0).pass(g%2*1000 + 1)
		if g == 7 {
			s.pass(1e6)
		}
		s.wake(g+1, g).block(g)
	}
	r := s.measure()
	sum := r.OtherNs
	for _, x := range r.Path {
		sum += x.Ns
	}
	if sum != r.SpanNs || r.SpanNs != r.WorkNs || r.Path[0].Class != 7 || r.Hops != 38 {
		t.Errorf("%+v", r)
	}
}

// slow keeps all pieces of running, and looks for the longest chain in the end.
type slow struct {
	ns    []int64
	preds [][]int
	at    map[int64]int // the piece that goroutine is in or had last
	from  map[int64]int64
}

func (s *slow) piece(g, now int64, ns int64, preds ...int) {
	s.ns = append(s.ns, ns)
	if i, ok := s.at[g]; ok {
		preds = append(preds, i)
	}
	s.preds = append(s.preds, preds)
	s.at[g] = len(s.ns) - 1
}

func (s *slow) cut(g, now int64) {
	if f, ok := s.from[g]; ok {
		s.piece(g, now, now-f)
		s.from[g] = now
	}
}

func (s *slow) add(d *reference.Decision) {
	if d.Flags != 0 || d.G < 0 {
		return
	}
	switch d.Kind {
	case reference.KindReady:
		s.cut(d.G, d.Time)
		delete(s.from, d.G)
		if _, runs := s.from[d.By]; runs && d.By != d.G {
			s.cut(d.By, d.Time)
			s.piece(d.G, d.Time, 0, s.at[d.By])
		}
	case reference.KindStart, reference.KindSyscallExit:
		if d.P >= 0 {
			s.cut(d.G, d.Time)
			s.from[d.G] = d.Time
		}
	case reference.KindStop, reference.KindSyscall:
		s.cut(d.G, d.Time)
		delete(s.from, d.G)
		if d.Why == reference.WhyExit {
			delete(s.at, d.G)
		}
	}
}

func (s *slow) result(end int64) (work, span int64) {
	for g := range s.from {
		s.cut(g, end)
	}
	longest := make([]int64, len(s.ns))
	for i, ns := range s.ns {
		for _, p := range s.preds[i] {
			longest[i] = max(longest[i], longest[p])
		}
		longest[i] += ns
		work += ns
		span = max(span, longest[i])
	}
	return work, span
}

func TestAgreesWithTheWholeGraph(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		st := procstest.Generate(r.IntN, procstest.Options{NoTruth: true, Steps: 400})
		a := newDriver()
		s := &slow{at: map[int64]int{}, from: map[int64]int64{}}
		system := map[int64]bool{}
		for i := range st.Decisions {
			d := st.Decisions[i]
			if system[d.G] = system[d.G] || d.Flags != 0; system[d.G] && d.G >= 0 {
				d.Flags |= reference.FlagSystem
			}
			if d.Kind == reference.KindReady {
				d.By = r.Int64N(20)
			}
			a.add(&d)
			s.add(&d)
		}
		got := a.finish(st.End)
		if work, span := s.result(st.End); got.WorkNs != work || got.SpanNs != span {
			t.Fatalf("seed %d: T1 %d, Tinf %d, want %d, %d", seed, got.WorkNs, got.SpanNs, work, span)
		}
		if got.SpanNs > got.WorkNs || got.SpanNs > got.BusyNs {
			t.Fatalf("seed %d: %+v", seed, got)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	s := procstest.Generate(r.IntN, procstest.Options{NoTruth: true, Steps: 200_000, Live: 2000, Ps: 8, Ring: 256})
	b.ReportAllocs()
	for b.Loop() {
		a := newDriver()
		for i := range s.Decisions {
			a.add(&s.Decisions[i])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Decisions)), "ns/decision")
}
