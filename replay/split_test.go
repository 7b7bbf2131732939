package replay

import (
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// split holds a trace against the reference, as analyze does.
func split(t *testing.T, name string, o SimulateOptions) (*Decomposition, *analyze.Result) {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", name+".trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := NewSimulation(src.Header(), o)
	res, err := analyze.Run(t.Context(), src, analyze.Options{OnStacks: f.Stacks, OnDecision: f.Add})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Decompose(t.Context(), res)
	if err != nil {
		t.Fatal(err)
	}
	return s, res
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		trace, class, ideal        string  // ideal "": they are about equal
		capacity, policy, excess   float64 // least shares of the class's waiting
		maxCapacity, maxPol, maxEx float64
	}{
		// 1,000 goroutines with equal work on one P: no scheduler helps.
		{"thousand-go1.26-p1", "main.worker", "fifo", 0.95, -0.01, -0.05, 1.01, 0.05, 0.05},
		// Two goroutines that wake each other starve a third, by runnext.
		{"pingpong-starve-go1.26-p1", "main.waiter", "", 0, 0.9, -0.1, 0.05, 1.1, 0.1},
		// Short work behind time slices of long work.
		{"cases/starvation-trigger-go1.26-p2", "main.short", "gps", 0.01, 0.8, -0.15, 0.15, 1.1, 0.15},
		// The machine had no CPU for half of the Ps.
		{"uneven-go1.26-p4", "main.worker", "fifo", 0.3, -0.05, 0.1, 0.8, 0.2, 0.7},
	} {
		t.Run(c.trace, func(t *testing.T) {
			s, res := split(t, c.trace, SplitOptions())
			if s.Total.ObservedNs != res.Waits.All.TotalNs || s.EndNs != res.Trace.DurationNs || s.FromNs != 0 {
				t.Errorf("%d ns waited up to %d; the analysis has %d up to %d", s.Total.ObservedNs, s.EndNs, res.Waits.All.TotalNs, res.Trace.DurationNs)
			}
			if c.ideal != "" && s.Ideal != c.ideal || s.Total.CapacityNs != min(s.GPSNs, s.FIFONs) {
				t.Errorf("the ideal is %s, %d; gps %d, fifo %d", s.Ideal, s.Total.CapacityNs, s.GPSNs, s.FIFONs)
			}
			sum, seen := Parts{}, false
			for _, x := range append([]ClassSplit{{Parts: s.Total}}, s.Classes...) {
				if p := x.Parts; p.CapacityNs+p.PolicyNs+p.ExcessNs != p.ObservedNs {
					t.Errorf("%s: %+v does not add up", x.Name, p)
				}
			}
			for _, x := range s.Classes {
				sum.ObservedNs += x.ObservedNs
				sum.CapacityNs += x.CapacityNs
				sum.PolicyNs += x.PolicyNs
				sum.ExcessNs += x.ExcessNs
				if x.Name != c.class {
					continue
				}
				seen = true
				for _, y := range []struct {
					what      string
					ns        int64
					low, high float64
				}{{"capacity", x.CapacityNs, c.capacity, c.maxCapacity}, {"policy", x.PolicyNs, c.policy, c.maxPol}, {"excess", x.ExcessNs, c.excess, c.maxEx}} {
					if share := float64(y.ns) / float64(x.ObservedNs); share < y.low || share > y.high {
						t.Errorf("%s: %s is %.2f, want %.2f to %.2f", x.Name, y.what, share, y.low, y.high)
					}
				}
			}
			if sum != s.Total || !seen {
				t.Errorf("classes add up to %+v, not %+v; %s seen: %v", sum, s.Total, c.class, seen)
			}
			if e := s.Error.Waits.Total; e == nil {
				t.Error("the model's error is not told")
			}
		})
	}
}

// What is simulated is bounded, and what part of the trace that is is told.
func TestSplitIsBounded(t *testing.T) {
	o := SplitOptions()
	o.Workload.MaxSteps = 500
	s, res := split(t, "thousand-go1.26-p1", o)
	if s.EndNs >= res.Trace.DurationNs/2 || s.DurationNs != res.Trace.DurationNs || len(s.Notes) == 0 || s.Total.ObservedNs >= res.Waits.All.TotalNs {
		t.Errorf("%+v", s)
	}
	if s, _ := split(t, "real/v1-context-go1.21", SplitOptions()); s != nil {
		t.Errorf("a trace without queues: %+v", s)
	}
}

func TestDemand(t *testing.T) {
	m := newDemand()
	say := func(at int64, k reference.Kind, g int64, set func(*reference.Decision)) {
		d := reference.Decision{Time: at, Kind: k, G: g, Class: int32(g)}
		if set != nil {
			set(&d)
		}
		m.add(&d)
	}
	why := func(w reference.Why) func(*reference.Decision) { return func(d *reference.Decision) { d.Why = w } }
	say(10, reference.KindReady, 1, nil)
	say(20, reference.KindReady, 2, nil)
	say(30, reference.KindStart, 1, nil)
	say(40, reference.KindStop, 1, why(reference.WhySlice))
	say(40, reference.KindReady, 1, why(reference.WhySlice))
	say(50, reference.KindStart, 1, nil)
	say(55, reference.KindSyscall, 1, nil)
	say(70, reference.KindSyscallExit, 1, nil) // on its P
	say(75, reference.KindStop, 1, why(reference.WhyBlock))
	say(80, reference.KindStart, 2, nil)
	say(81, reference.KindReady, 3, func(d *reference.Decision) { d.Flags = reference.FlagGC })
	say(90, reference.KindStop, 2, why(reference.WhyExit))
	outside := sim.List(sim.Arrival{At: 5, Kind: sim.ArriveGo}, sim.Arrival{At: 15, Kind: sim.ArriveSTW, Ns: 7}, sim.Arrival{At: 300, Kind: sim.ArriveGC})
	type arrival struct {
		at, ns int64
		class  int32
		kind   sim.ArrivalKind
	}
	var got []arrival
	for a := m.arrivals(outside); ; {
		x, ok := a.Next()
		if !ok {
			break
		}
		y := arrival{x.At, x.Ns, x.Class, x.Kind}
		if x.Script != nil {
			y.ns = x.Script.Next(0).Ns
		}
		got = append(got, y)
	}
	want := []arrival{{10, 15, 1, sim.ArriveGo}, {15, 7, 0, sim.ArriveSTW}, {20, 10, 2, sim.ArriveGo}, {70, 5, 1, sim.ArriveGo}, {300, 0, 0, sim.ArriveGC}}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}
