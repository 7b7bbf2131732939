package fairness

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

// run judges those with minIdeal ns of ideal service.
func run(minIdeal int64, ds []reference.Decision, end int64) (Result, Pressure) {
	a := drive(New())
	a.minIdeal = uint64(minIdeal) << tickBits
	for i := range ds {
		a.Add(&ds[i])
	}
	return a.Finish(end, func(c int32) (string, string) { return fmt.Sprint("class", c), "main" })
}

func near(x, y float64) bool { return math.Abs(x-y) <= 1e-6*max(1, math.Abs(x), math.Abs(y)) }

// TestTwoOnOne lets two goroutines share one P for 300 ns: the first runs 200
// and the second 100. Ideal sharing gives each half of the time that both are
// active.
//
//	time     0        200   300   400
//	G1       run      block
//	G2       wait     run   block
//	ideal    1/2 each 1
//
// G1 was due 100 and got 200; G2 was due 100 + 100 and got 100. At 200 G2 is
// owed 100. G2's wait is 200, its slowdown (200+100)/100.
func TestTwoOnOne(t *testing.T) {
	ds := []reference.Decision{
		{Kind: reference.KindProcs, Batch: 1},
		{Kind: reference.KindPStart},
		{Kind: reference.KindReady, G: 1, Class: 7, P: -1, Global: 1},
		{Kind: reference.KindReady, G: 2, Class: 7, P: -1, Global: 2},
		{Kind: reference.KindStart, G: 1, Class: 7, Victim: -1, Src: reference.SrcGlobal, Global: 1},
		{Time: 200, Kind: reference.KindStop, G: 1, Class: 7, Why: reference.WhyBlock},
		{Time: 200, Kind: reference.KindStart, G: 2, Class: 7, Victim: -1, Wait: 200, Src: reference.SrcGlobal},
		{Time: 300, Kind: reference.KindStop, G: 2, Class: 7, Why: reference.WhyExit},
	}
	r, p := run(50, ds, 400)
	// Shares: 200/100 and 100/200.
	jain := (2.0 + 0.5) * (2.0 + 0.5) / (2 * (4 + 0.25))
	want := Result{
		Jain: jain, Judged: 2, MaxLagNs: 100,
		P99LagNs: 100,
		Slowdown: Slowdown{Mean: 2, P50: 1, P99: 3, Max: 3, ByService: []Decile{
			{FromNs: 96, ToNs: 112, N: 1, Mean: 3, Max: 3}, {FromNs: 192, ToNs: 224, N: 1, Mean: 1, Max: 1},
		}},
		Classes: []Class{{
			ID: 7, Name: "class7", Creator: "main", N: 2, Judged: 2, Jain: jain,
			Gini: 0.5, MinMax: 0.25, MaxLagNs: 100,
		}},
	}
	if d := gocmp.Diff(want, r, cmpopts.EquateApprox(1e-9, 0)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if want := (Pressure{Some: 0.5, Windows: []PressureWindow{}, Age: Age{MaxNs: 200, AtNs: 200, BinNs: firstAgeBin, Bins: []int64{200}}}); gocmp.Diff(want, p) != "" {
		t.Errorf("pressure %+v, want %+v", p, want)
	}
}

// TestNotActive checks that a goroutine is owed nothing while it is blocked or
// in a system call, nor anybody while the world is stopped.
func TestNotActive(t *testing.T) {
	ds := []reference.Decision{
		{Kind: reference.KindProcs, Batch: 2},
		{Kind: reference.KindPStart, P: 0},
		{Kind: reference.KindPStart, P: 1},
		{Kind: reference.KindReady, G: 1, P: 0, To: reference.QueueDirect},
		{Kind: reference.KindStart, G: 1, P: 0, Victim: -1},
		{Time: 100, Kind: reference.KindSyscall, G: 1, P: 0},
		{Time: 400, Kind: reference.KindSyscallExit, G: 1, P: 0},
		{Time: 500, Kind: reference.KindSyscall, G: 1, P: 0},
		{Time: 510, Kind: reference.KindRetake, P: 0},
		{Time: 600, Kind: reference.KindSyscallExit, G: 1, P: -1},
		{Time: 600, Kind: reference.KindReady, G: 1, P: -1, To: reference.QueueGlobal, Global: 1},
		{Time: 600, Kind: reference.KindPStop, P: 1, Why: reference.WhySTW},
		// P0 is idle and usable: the goroutine is owed all of its 50 ns.
		{Time: 650, Kind: reference.KindPStart, P: 0},
		{Time: 650, Kind: reference.KindPStop, P: 0, Why: reference.WhySTW},
		// Nothing is usable for 50 ns.
		{Time: 700, Kind: reference.KindPStart, P: 0},
		{Time: 700, Kind: reference.KindSTWEnd},
		{Time: 700, Kind: reference.KindStart, G: 1, P: 0, Victim: -1, Wait: 100},
		{Time: 800, Kind: reference.KindStop, G: 1, P: 0, Why: reference.WhyExit},
	}
	r, p := run(1, ds, 1000)
	if r.MaxLagNs != 50 {
		t.Errorf("max lag %d, want 50", r.MaxLagNs)
	}
	// Service 300, due 100 + 100 + 50 + 100.
	if c := r.Classes[0]; c.Judged != 1 || c.MinMax != 1 {
		t.Errorf("class %+v", c)
	}
	if want := (Pressure{Some: 0.1, Full: 0.1, UnclaimedIdle: 50.0 / 2000, Windows: []PressureWindow{}, Age: Age{MaxNs: 100, AtNs: 700, BinNs: firstAgeBin, Bins: []int64{100}}}); gocmp.Diff(want, p) != "" {
		t.Errorf("pressure %+v, want %+v", p, want)
	}
	if !near(r.Slowdown.Mean, (1+2)/2.0) { // run 100 after no wait; run 100 after 100
		t.Errorf("slowdown %+v", r.Slowdown)
	}
	if r.LittleError != 0 {
		t.Errorf("little's law is off by %g", r.LittleError)
	}
}

func TestSystemGoroutinesDoNotCount(t *testing.T) {
	for _, f := range []reference.Flags{reference.FlagSystem, reference.FlagTracer, reference.FlagGC} {
		ds := []reference.Decision{
			{Kind: reference.KindProcs, Batch: 1},
			{Kind: reference.KindReady, G: 1, P: -1, Global: 1}, // not known to be the runtime's yet
			{Time: 50, Kind: reference.KindStart, G: 1, Victim: -1, Flags: f},
			{Time: 90, Kind: reference.KindStop, G: 1, Flags: f},
			{Time: 90, Kind: reference.KindReady, G: 1, P: -1, Global: 1, Flags: f},
		}
		r, _ := run(leastIdeal, ds, 100)
		if len(r.Classes) != 0 || r.Judged != 0 || r.LittleError != 0 || r.Slowdown.Mean != 0 {
			t.Errorf("%x: %+v", f, r)
		}
	}
}

// TestTruth compares everything with the slow oracle.
func TestTruth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, procstest.Generate(
			func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") },
			procstest.Options{Steps: 60, Gaps: rapid.Bool().Draw(rt, "gaps")},
		))
	})
	for seed := range uint64(100) {
		check(t, procstest.Generate(rand.New(rand.NewPCG(seed, 9)).IntN, procstest.Options{Steps: 1500, Ps: 8, Live: 40, Gaps: seed%2 == 1}))
	}
}

type failer interface {
	Errorf(format string, args ...any)
}

func check(t failer, s procstest.Stream) {
	const minIdeal = 2 * time.Microsecond
	r, p := run(int64(minIdeal), s.Decisions, s.End)

	type life struct {
		class         int32
		service, wait int64
		ideal, maxLag float64
	}
	goroutines := map[int]*life{}
	var some, full, unclaimed, size, recorded float64
	for _, m := range s.Moments {
		dt := m.To - m.From
		if m.Gap {
			continue
		}
		recorded += float64(dt)
		var ps, idle, usable, queued, runnable, running int64
		for i, st := range m.States {
			queued += int64(m.Local[i])
			if i >= m.Procs {
				continue
			}
			if st == ledger.Idle {
				idle++
			}
			if st != ledger.NotRecorded {
				ps++
			}
			if st != ledger.GC && st != ledger.Stopped && st != ledger.NotRecorded {
				usable++
			}
		}
		queued += int64(m.Global)
		for _, g := range m.Gs {
			if g.User && g.Runnable {
				runnable++
			}
			if g.User && g.Running {
				running++
			}
		}
		if runnable > 0 {
			some += float64(dt)
			if running == 0 {
				full += float64(dt)
			}
		}
		unclaimed += float64(min(idle, queued) * dt)
		size += float64(ps * dt)
		for _, g := range m.Gs {
			if !g.User || !g.Runnable && !g.Running {
				continue
			}
			l := goroutines[g.Life]
			if l == nil {
				l = &life{class: g.Class}
				goroutines[g.Life] = l
			}
			l.ideal += float64(dt) * min(1, float64(usable)/float64(runnable+running))
			if g.Running {
				l.service += dt
			} else {
				l.wait += dt
			}
			l.maxLag = max(l.maxLag, l.ideal-float64(l.service))
		}
	}

	// Slowdowns, from the decisions alone.
	type act struct {
		ready, start int64
		whole        bool
	}
	acts := map[int64]act{}
	var slow []float64
	for i := range s.Decisions {
		d := &s.Decisions[i]
		if d.Flags&(reference.FlagSystem|reference.FlagGC|reference.FlagTracer) != 0 {
			continue
		}
		switch d.Kind {
		case reference.KindReady:
			acts[d.G] = act{ready: d.Time, whole: d.Flags&reference.FlagFirst == 0}
		case reference.KindStart:
			a := acts[d.G]
			a.start = d.Time
			acts[d.G] = a
		case reference.KindStop, reference.KindSyscall:
			if a := acts[d.G]; a.whole && d.Why != reference.WhyLost {
				run := max(1, d.Time-a.start)
				slow = append(slow, float64(a.start-a.ready)/float64(run)+1)
			}
			delete(acts, d.G)
		}
	}

	if recorded > 0 {
		for _, q := range []struct {
			name      string
			got, want float64
		}{
			{"some", p.Some, some / recorded},
			{"full", p.Full, full / recorded},
			{"unclaimed idle", p.UnclaimedIdle, unclaimed / max(1, size)},
		} {
			if !near(q.got, q.want) {
				t.Errorf("%s %v, want %v", q.name, q.got, q.want)
			}
		}
	}
	if r.LittleError > 1e-12 {
		t.Errorf("little's law is off by %g", r.LittleError)
	}
	if len(slow) > 0 {
		sum := 0.0
		for _, v := range slow {
			sum += v
		}
		slices.Sort(slow)
		if !near(r.Slowdown.Mean, sum/float64(len(slow))) || !near(r.Slowdown.Max, slow[len(slow)-1]) {
			t.Errorf("slowdown %+v, want mean %v, max %v", r.Slowdown, sum/float64(len(slow)), slow[len(slow)-1])
		}
		mid := slow[(len(slow)+1)/2-1]
		if math.Abs(r.Slowdown.P50-mid) > 0.01+0.001*mid {
			t.Errorf("median slowdown %v, want %v", r.Slowdown.P50, mid)
		}
	}

	// Shares, waits and lags by class. A goroutine that was never active for
	// any time is no part of lives; it has no share and no wait to judge.
	var all []float64
	byClass := map[int32][]float64{}
	maxLag := 0.0
	lags := map[int32]float64{}
	for _, l := range goroutines {
		maxLag = max(maxLag, l.maxLag)
		lags[l.class] = max(lags[l.class], l.maxLag)
		ideal := l.ideal
		if math.Abs(ideal-float64(minIdeal)) < 1 {
			return // on the threshold to rounding: no use comparing
		}
		if ideal >= float64(minIdeal) {
			all = append(all, float64(l.service)/ideal)
			byClass[l.class] = append(byClass[l.class], float64(l.service)/ideal)
		}
	}
	if math.Abs(float64(r.MaxLagNs)-maxLag) > 1 {
		t.Errorf("max lag %d, want %v", r.MaxLagNs, maxLag)
	}
	if int(r.Judged) != len(all) || math.Abs(r.Jain-jainOf(all)) > 1e-4 {
		t.Errorf("jain %v of %d, want %v of %d", r.Jain, r.Judged, jainOf(all), len(all))
	}
	for _, c := range r.Classes {
		xs := byClass[c.ID]
		if int(c.Judged) != len(xs) || math.Abs(c.Jain-jainOf(xs)) > 1e-4 {
			t.Errorf("class %d: jain %v of %d, want %v of %d", c.ID, c.Jain, c.Judged, jainOf(xs), len(xs))
		}
		if len(xs) > 0 && math.Abs(c.MinMax-slices.Min(xs)/max(1e-300, slices.Max(xs))) > 1e-3 && slices.Max(xs) > 0 {
			t.Errorf("class %d: min-max %v, want %v", c.ID, c.MinMax, slices.Min(xs)/slices.Max(xs))
		}
		if math.Abs(float64(c.MaxLagNs)-lags[c.ID]) > 1 {
			t.Errorf("class %d: max lag %d, want %v", c.ID, c.MaxLagNs, lags[c.ID])
		}
		var ws []float64
		for _, l := range goroutines {
			if l.class == c.ID {
				ws = append(ws, float64(l.wait))
			}
		}
		for len(ws) < int(c.N) {
			ws = append(ws, 0)
		}
		if len(ws) != int(c.N) || !near(c.Gini, giniOf(ws)) {
			t.Errorf("class %d: gini %v of %d, want %v of %d", c.ID, c.Gini, c.N, giniOf(ws), len(ws))
		}
	}
}

func jainOf(xs []float64) float64 {
	var sum, sq float64
	for _, x := range xs {
		sum += x
		sq += x * x
	}
	if sq == 0 {
		return 1
	}
	return sum * sum / (float64(len(xs)) * sq)
}

func giniOf(ws []float64) float64 {
	var diff, sum float64
	for _, x := range ws {
		sum += x
		for _, y := range ws {
			diff += math.Abs(x - y)
		}
	}
	if sum == 0 {
		return 0
	}
	return diff / (2 * float64(len(ws)) * sum)
}

// TestGiniHistogram checks how far the histogram of a large class is off.
func TestGiniHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var w waits
	var exact []int64
	for range 3 * exactWaits {
		v := int64(math.Exp(r.NormFloat64()*2 + 10))
		w.add(v)
		exact = append(exact, v)
	}
	if w.hist == nil || w.exact != nil {
		t.Fatal("waits are still kept one by one")
	}
	slices.Sort(exact)
	var sum, ranked float64
	for i, v := range exact {
		sum += float64(v)
		ranked += float64(i+1) * float64(v)
	}
	n := float64(len(exact))
	want := 2*ranked/(n*sum) - (n+1)/n
	if got := w.gini(); math.Abs(got-want) > 2e-4 {
		t.Errorf("gini %v, want %v", got, want)
	}
}

func TestBuckets(t *testing.T) {
	last := -1
	for _, v := range []int64{-5, 0, 1, 31, 32, 33, 63, 64, 65, 66, 1000, 1 << 40, math.MaxInt64} {
		b := histogram.Bucket(max(0, v), waitBits)
		if b < last || b >= buckets {
			t.Errorf("bucket of %d is %d, after %d of %d", v, b, last, buckets)
		}
		last = b
	}
}

func TestIdealTicks(t *testing.T) {
	for _, c := range []struct{ dt, usable, active int64 }{
		{1000, 3, 2},
		{1000, 2, 3},
		{1, 1, 1_000_000},
		{1_000_000_000, 63, 64},
		{maxStep, math.MaxInt32 - 1, math.MaxInt32},
		{7, 0, 5},
	} {
		got := idealTicks(c.dt, c.usable, c.active)
		want := float64(c.dt) * (1 << tickBits) * min(1, float64(c.usable)/float64(c.active))
		if math.Abs(float64(got)-want) > 0.5+want*1e-15 {
			t.Errorf("%+v: got %d, want %f", c, got, want)
		}
	}
}

// TestHostile checks that nonsense ends in numbers that make sense.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	// Few flags at a time: each bit is set in one case out of eight.
	few := func() reference.Flags {
		bits := r.IntN(256)
		bits &= r.IntN(256)
		return reference.Flags(bits & r.IntN(256))
	}
	pick := []int64{-1, 0, 1, 2, 3, 4096, 4097, 1 << 20, math.MaxInt32, math.MaxInt64, math.MinInt64}
	anyInt := func() int64 { return pick[r.IntN(len(pick))] }
	a := drive(New())
	for range 50000 {
		a.Add(&reference.Decision{
			Time: int64(r.Uint64N(math.MaxInt64)) >> r.IntN(63), G: anyInt(), P: int32(anyInt()), Victim: int32(anyInt()),
			Wait: anyInt(), Class: int32(anyInt()), Local: int32(anyInt()), Global: int32(anyInt()), Batch: int32(anyInt()),
			Kind: reference.Kind(r.IntN(24)), Src: reference.Source(r.IntN(20)), Why: reference.Why(r.IntN(20)),
			Flags: few(),
		})
	}
	if n := a.places; n > len(pick) {
		t.Errorf("%d slots for %d goroutines", n, len(pick))
	}
	res, p := a.Finish(0, nil)
	for _, v := range []float64{res.Jain, p.Some, p.Full, p.UnclaimedIdle, res.LittleError} {
		if math.IsNaN(v) || v < 0 || v > 1 {
			t.Errorf("%v in %+v %+v", v, res, p)
		}
	}
	if !slices.IsSortedFunc(res.Classes, func(x, y Class) int { return cmp.Compare(y.N, x.N) }) {
		t.Error("classes are not in order")
	}
}

// TestMemory makes a million goroutines one after the other: the table must not
// grow with them.
func TestMemory(t *testing.T) {
	a := drive(New())
	for g := range int64(1_000_000) {
		now := g * 10
		a.Add(&reference.Decision{Time: now, Kind: reference.KindReady, G: g + 1, P: -1, Class: 1})
		a.Add(&reference.Decision{Time: now + 3, Kind: reference.KindStart, G: g + 1, Victim: -1, Class: 1})
		a.Add(&reference.Decision{Time: now + 9, Kind: reference.KindStop, G: g + 1, Class: 1, Why: reference.WhyExit})
	}
	if n := a.places; n != 1 {
		t.Errorf("%d slots, want 1", n)
	}
	r, _ := a.Finish(10_000_000, nil)
	if r.Classes[0].N != 1_000_000 {
		t.Errorf("%d goroutines", r.Classes[0].N)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, live := range []int{20, 1000, 100_000} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			s := procstest.Generate(rand.New(rand.NewPCG(1, 2)).IntN, procstest.Options{
				Steps: min(100_000, 5000*live), Ps: 8, Live: min(live, 1000), Ring: 256, NoTruth: true,
			})
			ds := s.Decisions
			a := drive(New())
			for g := range live { // blocked all the time
				id := int64(1_000_000 + g)
				a.Add(&reference.Decision{Kind: reference.KindStart, G: id, P: -1, Victim: -1})
				a.Add(&reference.Decision{Kind: reference.KindStop, G: id, P: -1})
			}
			b.ReportAllocs()
			base := int64(0)
			i := 0
			for b.Loop() {
				d := ds[i]
				d.Time += base
				a.Add(&d)
				if i++; i == len(ds) {
					i = 0
					base += s.End
				}
			}
		})
	}
}
