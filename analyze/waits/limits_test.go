package waits

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// sums reports whether the causes of every account in r sum to its waits.
func sums(t *testing.T, r *Result) {
	t.Helper()
	one := func(what string, total int64, causes []CauseTime) {
		for _, c := range causes {
			if c.Ns < 0 {
				t.Errorf("%s: %s has %d ns", what, c.Cause, c.Ns)
			}
			total -= c.Ns
		}
		if total != 0 {
			t.Errorf("%s: %d ns have no cause", what, total)
		}
	}
	for _, s := range []*Summary{&r.All, &r.User, &r.Self, &r.System} {
		one("summary", s.TotalNs, s.Causes)
	}
	var count, total int64
	for i := range r.Classes {
		c := &r.Classes[i]
		one("class", c.Waits.TotalNs, c.Causes)
		count += c.Waits.Count
		total += c.Waits.TotalNs
		for _, s := range c.Worst {
			one("story", s.WaitNs, s.Causes)
		}
	}
	if count != r.All.Count || total != r.All.TotalNs {
		t.Errorf("classes have %d waits, %d ns of %d, %d", count, total, r.All.Count, r.All.TotalNs)
	}
	for _, s := range r.Worst {
		one("story", s.WaitNs, s.Causes)
	}
}

// TestHostile feeds decisions that obey no grammar at all.
func TestHostile(t *testing.T) {
	ids := []int64{-1, 0, 1, 2, 3, 7, 5000, math.MaxInt32, math.MinInt32}
	n := uint64(300)
	if !tracetest.Long() {
		n = 60
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		a := drive(New(Options{PastPerP: 64, Past: 256, Classes: 3, Worst: 4, WorstClasses: 2}))
		var now int64
		for range 2000 {
			switch r.IntN(40) {
			case 0:
				now -= r.Int64N(1000)
			case 1:
				now += r.Int64N(1 << 40)
			default:
				now += r.Int64N(500)
			}
			d := reference.Decision{
				Time: now, Kind: reference.Kind(r.IntN(22)), G: ids[r.IntN(len(ids))], P: int32(ids[r.IntN(len(ids))]),
				Wait: r.Int64N(10) - 1, Class: int32(r.IntN(6)) - 1, To: reference.Queue(r.IntN(6)), Why: reference.Why(r.IntN(30)),
				Src: reference.Source(r.IntN(20)), Flags: reference.Flags(r.IntN(256)), Batch: int32(ids[r.IntN(len(ids))]),
			}
			a.Add(&d)
			states(t, a.Accumulator)
		}
		res := a.Finish(now+10, nil)
		sums(t, &res)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// states checks what a change of a P's state relies on.
func states(t *testing.T, a *Accumulator) {
	t.Helper()
	for _, p := range a.procs {
		switch {
		case p.state != pIdle && (p.idle || p == a.stopper):
			t.Errorf("P %d is idle in state %d", p.id, p.state)
		case p.state > pGC && p.hold != 0:
			t.Errorf("P %d is held in state %d", p.id, p.state)
		case p.state.running() && p.last == 0:
			t.Errorf("P %d runs nobody", p.id)
		case p.poolAt.pending && (a.pool.q.len > 0 || !p.inPending):
			t.Errorf("P %d has not read the global queue", p.id)
		}
	}
}

// TestManyProcessors bounds the memory that P ids cost.
func TestManyProcessors(t *testing.T) {
	a := drive(New(Options{}))
	for i := range int32(20_000) {
		p := i * 100_003
		if p < 0 {
			p = math.MaxInt32 - i
		}
		a.Add(&reference.Decision{Kind: reference.KindPStart, Time: int64(i), P: p})
		a.Add(&reference.Decision{Kind: reference.KindReady, Time: int64(i), G: int64(i), P: p, To: reference.QueueLocal})
		a.Add(&reference.Decision{Kind: reference.KindStart, Time: int64(i) + 1, G: int64(i), P: p})
	}
	if len(a.procs) > maxProcs || a.pastLen > a.opt.Past {
		t.Errorf("%d Ps, %d stints", len(a.procs), a.pastLen)
	}
	r := a.Finish(30_000, nil)
	sums(t, &r)
}

// TestShortPast has waits that reach back further than what is kept of the Ps.
func TestShortPast(t *testing.T) {
	seeds := uint64(60)
	if !tracetest.Long() {
		seeds = 15
	}
	for seed := range seeds {
		ds := randomStream(seed, 3000, seed%5 == 0)
		r := account(ds, ds[len(ds)-1].Time, Options{PastPerP: 64, Past: 128, Worst: 5, WorstPerClass: 2, WorstClasses: 3})
		sums(t, &r)
		if len(r.Worst) != 5 {
			t.Fatalf("seed %d: %d stories", seed, len(r.Worst))
		}
		n := 0
		for _, c := range r.Classes {
			if len(c.Worst) > 0 {
				n++
			}
			if len(c.Worst) > 2 {
				t.Errorf("seed %d: class %d has %d stories", seed, c.ID, len(c.Worst))
			}
		}
		if n > 3 {
			t.Errorf("seed %d: %d classes have stories", seed, n)
		}
		// The longest are those that an unbounded list has in front.
		full := account(ds, ds[len(ds)-1].Time, Options{Worst: 1 << 20})
		if r.Worst[0].WaitNs != r.User.MaxNs {
			t.Errorf("seed %d: worst %d of %d", seed, r.Worst[0].WaitNs, r.User.MaxNs)
		}
		for i, s := range r.Worst {
			if s.WaitNs != full.Worst[i].WaitNs {
				t.Errorf("seed %d: story %d is %d ns, want %d", seed, i, s.WaitNs, full.Worst[i].WaitNs)
			}
			if s.AheadFromNs < s.FromNs || s.AheadFromNs > s.ToNs {
				t.Errorf("seed %d: ahead from %d in [%d, %d)", seed, s.AheadFromNs, s.FromNs, s.ToNs)
			}
		}
	}
}

// TestPath follows a goroutine over more stations than are kept.
func TestPath(t *testing.T) {
	a := drive(New(Options{}))
	a.Add(&reference.Decision{Kind: reference.KindReady, Time: 5, G: 9, P: 1, To: reference.QueueRunnext, Why: reference.WhyUnblock})
	for i := range int64(20) {
		a.Add(&reference.Decision{Kind: reference.KindMove, Time: 10 + i, G: 9, P: int32(i % 2), To: reference.QueueLocal, Why: reference.WhySteal})
	}
	a.Add(&reference.Decision{Kind: reference.KindStart, Time: 40, G: 9, P: 1, Src: reference.SrcLocal, Wait: 35})
	r := a.Finish(50, nil)
	s := r.Worst[0]
	if len(s.Path) != maxSteps || s.MoreSteps != 21-maxSteps {
		t.Errorf("%d steps and %d more", len(s.Path), s.MoreSteps)
	}
	if first := (Step{5, "runnext", 1, "unblock"}); s.Path[0] != first {
		t.Errorf("first step %+v", s.Path[0])
	}
	if last := (Step{24, "local", 0, "steal"}); s.Path[15] != last {
		t.Errorf("step 15 %+v", s.Path[15])
	}
	if want := []LongWait{{G: 9, From: 5, To: 40}}; !slices.Equal(a.Longest, want) {
		t.Errorf("longest %v, want %v", a.Longest, want)
	}
}

// TestQuantiles has a distribution whose quantiles are plain.
func TestQuantiles(t *testing.T) {
	a := drive(New(Options{}))
	now := int64(0)
	wait := func(ns int64) {
		a.Add(&reference.Decision{Kind: reference.KindReady, Time: now, G: 1, Class: 1, P: -1, To: reference.QueueGlobal})
		now += ns
		a.Add(&reference.Decision{Kind: reference.KindStart, Time: now, G: 1, P: -1})
		a.Add(&reference.Decision{Kind: reference.KindStop, Time: now, G: 1, Why: reference.WhyBlock})
	}
	for range 90 {
		wait(1000) // together 90,000 ns
	}
	for range 9 {
		wait(100_000) // 900,000 ns
	}
	wait(20_000_000)
	r := a.Finish(now, nil)
	near := func(what string, got, want int64) {
		if math.Abs(float64(got-want)) > 0.01*float64(want) {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	for _, s := range []*Summary{&r.All, &r.Classes[0].Waits} {
		near("p50", s.P50, 1000)
		near("p90", s.P90, 1000)
		near("p99", s.P99, 100_000)
		near("p999", s.P999, 20_000_000)
		near("time p50", s.TimeWeighted.P50, 20_000_000)
		if want := 20_000_000.0 / 20_990_000; s.TailMass["1ms"] != want || s.TailMass["10ms"] != want {
			t.Errorf("tail %v", s.TailMass)
		}
	}
	if h := r.All.Histogram; len(h) != 3 || h[0] != (Bucket{512, 1024, 90, 90_000}) {
		t.Errorf("histogram %+v", h)
	}
}

// TestDeterministic wants equal bytes for equal input.
func TestDeterministic(t *testing.T) {
	ds := randomStream(4, 3000, true)
	end := ds[len(ds)-1].Time
	var first string
	for range 5 {
		b, err := json.Marshal(account(ds, end, Options{Classes: 30}))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
		} else if string(b) != first {
			t.Fatal("two runs differ")
		}
	}
}
