package fairness

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// Windows against adding up each ns by itself.
func TestWindows(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := newWindow(10)
		var some, full []bool
		for now := int64(0); now < 500; {
			dt := r.Int64N(1 + []int64{3, 12, 60}[r.IntN(3)])
			s := r.IntN(2) == 0
			f := s && r.IntN(2) == 0
			for range dt {
				some, full = append(some, s), append(full, f)
			}
			now += dt
			w.advance(now, func(t int64) (int64, int64) {
				return count(some[:t]), count(full[:t])
			})
		}
		got := w.result()
		n := len(some) / 10
		if got.N != int64(n) || got.LengthNs != 10 {
			t.Fatalf("seed %d: %+v, want %d windows", seed, got, n)
		}
		for i, xs := range [][]bool{some, full} {
			var shares []float64
			for k := range n {
				c := 0.0
				for _, x := range xs[10*k : 10*k+10] {
					if x {
						c += 0.1
					}
				}
				shares = append(shares, c)
			}
			x := [...]Worst{got.Some, got.Full}[i]
			worst := slices.Max(shares)
			first := slices.IndexFunc(shares, func(s float64) bool { return near(s, worst) })
			if !near(x.Max, worst) || worst > 0 && x.AtNs != int64(10*first) {
				t.Fatalf("seed %d: max %v at %d, want %v at %d", seed, x.Max, x.AtNs, worst, 10*first)
			}
			slices.Sort(shares)
			if mid := shares[(n+1)/2-1]; x.P50 < mid-0.001 || x.P50 > mid+0.001 {
				t.Fatalf("seed %d: median %v, want %v", seed, x.P50, mid)
			}
		}
	}
}

func count(of []bool) (n int64) {
	for _, x := range of {
		if x {
			n++
		}
	}
	return n
}

// The age against looking at everybody who waits, at each moment.
func TestAgeAgreesWithTheTruth(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := procstest.Generate(r.IntN, procstest.Options{})
		a := drive(New())
		a.age.width = 1 + s.End/5000 // so that bins are merged a few times
		type wait struct{ since int64 }
		waits := map[int64]wait{}
		var most int64
		type point struct{ from, to, since int64 }
		var points []point
		last := int64(0)
		pass := func(now int64) {
			oldest := int64(-1)
			for _, w := range waits {
				if oldest < 0 || w.since < oldest {
					oldest = w.since
				}
			}
			if oldest >= 0 {
				most = max(most, now-oldest)
				points = append(points, point{last, now, oldest})
			}
			last = now
		}
		for i := range s.Decisions {
			d := &s.Decisions[i]
			a.Add(d)
			if d.Time > last {
				pass(d.Time)
			}
			if d.G < 0 {
				continue
			}
			switch {
			case !d.Flags.OfProgram():
				delete(waits, d.G)
			case d.Kind == reference.KindReady:
				if _, ok := waits[d.G]; !ok && d.Why != reference.WhyGosched {
					waits[d.G] = wait{d.Time}
				}
			case d.Kind == reference.KindStart, d.Kind == reference.KindStop, d.Kind == reference.KindSyscall, d.Kind == reference.KindSyscallExit:
				delete(waits, d.G)
			}
		}
		pass(s.End)
		_, p := a.Finish(s.End, nil)
		if p.Age.MaxNs != most {
			t.Fatalf("seed %d: age %d, want %d", seed, p.Age.MaxNs, most)
		}
		if len(p.Age.Bins) > maxAgeBins {
			t.Fatalf("%d bins", len(p.Age.Bins))
		}
		want := make([]int64, len(p.Age.Bins))
		for _, q := range points {
			for i := range want {
				from, to := max(q.from, int64(i)*p.Age.BinNs), min(q.to, int64(i+1)*p.Age.BinNs)
				if from < to {
					want[i] = max(want[i], to-q.since)
				}
			}
		}
		for i := range want {
			// At the boundary of two bins an age may count for both.
			if g := p.Age.Bins[i]; g < want[i] || g > want[i]+1 && i > 0 && g > p.Age.Bins[i-1] {
				t.Fatalf("seed %d: bin %d of %d ns: %d, want %d", seed, i, p.Age.BinNs, g, want[i])
			}
		}
	}
}

// Bypasses against counting, for each wait, who came later and went first.
func TestBypassAgreesWithTheTruth(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 600, NoTruth: true})
		a := drive(New())
		a.bypass.tree = make([]int32, 8) // so that numbers run out often
		type wait struct {
			seq int
			n   int64
		}
		waits := map[int64]*wait{}
		seq, ordered, inverted := 0, 0.0, 0.0
		var most int64
		var all []int64
		for i := range s.Decisions {
			d := &s.Decisions[i]
			a.Add(d)
			if d.G < 0 {
				continue
			}
			w := waits[d.G]
			switch {
			case !d.Flags.OfProgram():
				delete(waits, d.G)
			case d.Kind == reference.KindReady:
				if w == nil && d.Why != reference.WhyGosched && a.aged(d.G) {
					seq++
					waits[d.G] = &wait{seq: seq}
				}
			case d.Kind == reference.KindStart && w != nil:
				before := false
				for _, o := range waits {
					if o.seq < w.seq {
						o.n++
						before = true
					}
				}
				all = append(all, w.n)
				most = max(most, w.n)
				if d.Src != reference.SrcRunnext && d.Src != reference.SrcStealRunnext {
					ordered++
					if before {
						inverted++
					}
				}
				delete(waits, d.G)
			case d.Kind == reference.KindStart, d.Kind == reference.KindStop, d.Kind == reference.KindSyscall, d.Kind == reference.KindSyscallExit:
				delete(waits, d.G)
			}
		}
		res, _ := a.Finish(s.End, nil)
		want := 0.0
		if ordered > 0 {
			want = inverted / ordered
		}
		if res.Bypass.Max != most || !near(res.Bypass.Inversions, want) {
			t.Fatalf("seed %d: %+v, want max %d, inversions %v", seed, res.Bypass, most, want)
		}
		if len(all) > 0 {
			slices.Sort(all)
			if mid := all[(len(all)+1)/2-1]; res.Bypass.P50 != mid {
				t.Fatalf("seed %d: median %d, want %d", seed, res.Bypass.P50, mid)
			}
		}
	}
}

func TestDeciles(t *testing.T) {
	var b [services]service
	for run := int64(1); run <= 1000; run++ {
		s := &b[histogram.Bucket(run, serviceBits)]
		s.n++
		s.sum += float64(run)
		s.max = max(s.max, float64(run))
	}
	var n int64
	last := int64(1)
	for _, d := range deciles(&b) {
		if d.FromNs != last {
			t.Errorf("%+v begins after a gap, or before the end of the last: %d", d, last)
		}
		last = d.ToNs
		n += d.N
		if want := min(1000, d.ToNs-1); d.Max != float64(want) {
			t.Errorf("%+v: max, want %d", d, want)
		}
		if want := float64(d.FromNs+min(1000, d.ToNs-1)) / 2; !near(d.Mean, want) {
			t.Errorf("%+v: mean, want %v", d, want)
		}
	}
	if n != 1000 || len(deciles(&b)) > 10 {
		t.Errorf("%d activations in %d groups", n, len(deciles(&b)))
	}
	if got := deciles(new([services]service)); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for i := range services - 1 {
		if from := histogram.Least(i, serviceBits); histogram.Bucket(from, serviceBits) != i {
			t.Fatalf("bucket %d begins at %d, which is in %d", i, from, histogram.Bucket(from, serviceBits))
		}
	}
}

// simulate judges a run of the reference scheduler without costs.
func simulate(t *testing.T, p sim.Policy, procs int, scripts ...sim.Script) (Result, Pressure) {
	t.Helper()
	a := drive(New())
	end := int64(0)
	_, err := sim.Simulate(context.Background(), sim.Options{Policy: p, Procs: procs, Emit: func(d *reference.Decision) {
		a.Add(d)
		end = d.Time
	}}, sim.Start(scripts...))
	if err != nil {
		t.Fatal(err)
	}
	return a.Finish(end, nil)
}

const ms = int64(1_000_000)

// Runs whose fairness is known beforehand.
func TestSimulatedRuns(t *testing.T) {
	work := func(ns int64) sim.Script { return sim.Steps(sim.Run(ns)) }
	t.Run("alone", func(t *testing.T) {
		r, p := simulate(t, sim.Version(reference.RulesFor(26)), 1, work(50*ms))
		if r.Jain != 1 || r.MaxLagNs > 10_000 || p.Some > 0.001 || p.Age.MaxNs > 10_000 || r.Slowdown.Max > 1.01 {
			t.Errorf("%+v %+v", r, p)
		}
	})
	// Four equal ones on two Ps, each preempted after its slice: everyone gets
	// about half, is owed no more than a few slices (sysmon ends them after 10 to
	// 20 ms), and somebody always waits.
	t.Run("slices", func(t *testing.T) {
		r, p := simulate(t, sim.Version(reference.RulesFor(26)), 2, work(200*ms), work(200*ms), work(200*ms), work(200*ms))
		if r.Jain < 0.95 || r.MaxLagNs < 5*ms || r.MaxLagNs > 60*ms {
			t.Errorf("jain %v, lag %d", r.Jain, r.MaxLagNs)
		}
		if p.Age.MaxNs < 9*ms || p.Age.MaxNs > 60*ms {
			t.Errorf("age %d", p.Age.MaxNs)
		}
		if w := p.Windows[0]; w.LengthNs != 10*ms || w.N < 35 || w.Some.P50 != 1 || w.Full.Max > 0.05 {
			t.Errorf("window %+v", w)
		}
	})
	// Without preemption the second of two waits for all of the first: the lag
	// is half of the first run, the age all of it.
	t.Run("no preemption", func(t *testing.T) {
		pol, _, _ := sim.PolicyFor("go1.1-nopreempt")
		r, p := simulate(t, pol, 1, work(100*ms), work(100*ms))
		if d := r.MaxLagNs - 50*ms; d < -ms || d > ms {
			t.Errorf("lag %d, want 50 ms", r.MaxLagNs)
		}
		if d := p.Age.MaxNs - 100*ms; d < -ms || d > ms {
			t.Errorf("age %d, want 100 ms", p.Age.MaxNs)
		}
		if len(p.Windows) != 2 || p.Windows[1].N < 1 || p.Windows[1].Some.Max < 0.99 {
			t.Errorf("windows %+v", p.Windows)
		}
	})
	// Ideal sharing leaves nobody behind.
	t.Run("gps", func(t *testing.T) {
		pol, _, _ := sim.PolicyFor("gps")
		r, _ := simulate(t, pol, 2, work(40*ms), work(40*ms), work(40*ms))
		if r.Jain < 0.999 {
			t.Errorf("jain %v", r.Jain)
		}
	})
	// One queue served in order: nobody is bypassed, and of ten equal ones the
	// k-th waits k times as long as the first runs.
	t.Run("in order", func(t *testing.T) {
		pol, _, _ := sim.PolicyFor("fifo")
		var scripts []sim.Script
		var waits []float64
		for k := range 10 {
			scripts = append(scripts, work(ms))
			waits = append(waits, float64(k))
		}
		r, p := simulate(t, pol, 1, scripts...)
		if r.Bypass.Max != 0 || r.Bypass.Inversions != 0 {
			t.Errorf("bypass %+v", r.Bypass)
		}
		if g := r.Classes[0].Gini; g < giniOf(waits)-0.01 || g > giniOf(waits)+0.01 {
			t.Errorf("gini %v, want %v", g, giniOf(waits))
		}
		if p.UnclaimedIdle > 0.001 || r.LittleError > 1e-9 {
			t.Errorf("unclaimed idle %v, little's law off by %v", p.UnclaimedIdle, r.LittleError)
		}
	})
	// Short work behind long work: the shortest decile pays most.
	t.Run("short behind long", func(t *testing.T) {
		pol, _, _ := sim.PolicyFor("go1.1-nopreempt")
		scripts := []sim.Script{work(20 * ms)}
		for range 30 {
			scripts = append(scripts, work(ms/100))
		}
		r, _ := simulate(t, pol, 1, scripts...)
		by := r.Slowdown.ByService
		if len(by) < 2 || by[0].Mean < 100 || by[len(by)-1].Mean > 2 {
			t.Errorf("%+v", by)
		}
	})
}

func TestNothingAtAll(t *testing.T) {
	r, p := drive(New()).Finish(0, nil)
	if d := gocmp.Diff(Pressure{Windows: []PressureWindow{}, Age: Age{BinNs: firstAgeBin}}, p); d != "" || len(r.Slowdown.ByService) != 0 {
		t.Error(d, r)
	}
}

// A window that a gap in the trace touches is not judged, and the gap is no part of the
// time that pressure is a share of.
func TestPressureLeavesGapsOut(t *testing.T) {
	const ms = 1_000_000
	none := reference.NoP
	ds := []reference.Decision{
		{Kind: reference.KindProcs, Batch: 1},
		{Time: 5 * ms, Kind: reference.KindReady, G: 1, P: none, To: reference.QueueGlobal, Global: 1},
		{Time: 25 * ms, Kind: reference.KindStop, G: 1, P: none, Why: reference.WhyLost},
		{Time: 25 * ms, Kind: reference.KindLost, G: reference.NoG, P: none, Wait: 50 * ms},
		{Time: 75 * ms, Kind: reference.KindPStop, P: 0, Why: reference.WhyIdle, Flags: reference.FlagFirst},
		{Time: 84 * ms, Kind: reference.KindReady, G: 2, P: none, To: reference.QueueGlobal, Global: 1},
		{Time: 94 * ms, Kind: reference.KindStart, G: 2, P: 0, Src: reference.SrcGlobal},
	}
	a := drive(New())
	for i := range ds {
		a.Add(&ds[i])
	}
	_, p := a.Finish(100*ms, nil)
	if want := 30.0 / 50; !near(p.Some, want) || !near(p.Full, want) {
		t.Errorf("some %v, full %v, want %v", p.Some, p.Full, want)
	}
	if want := 30.0 / 50; !near(p.UnclaimedIdle, want) {
		t.Errorf("unclaimed idle %v, want %v", p.UnclaimedIdle, want)
	}
	// [0,10), [10,20), [80,90) and [90,100) are whole.
	want := []PressureWindow{{
		LengthNs: 10 * ms, N: 4, Some: Worst{P50: 0.5, P99: 1, Max: 1, AtNs: 10 * ms}, Full: Worst{P50: 0.5, P99: 1, Max: 1, AtNs: 10 * ms},
	}}
	for i := range p.Windows { // the quantiles are within 1/1,000
		for _, w := range []*Worst{&p.Windows[i].Some, &p.Windows[i].Full} {
			w.P50, w.P99 = math.Round(w.P50*100)/100, math.Round(w.P99*100)/100
		}
	}
	if d := gocmp.Diff(want, p.Windows); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
