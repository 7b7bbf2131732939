package roundtrip

import (
	"testing"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

const us, ms = int64(1_000), int64(1_000_000)

// loads are programs that use each mechanism.
var loads = []struct {
	name  string
	procs int
	load  func() sim.Arrivals
}{
	{"fan-out", 4, func() sim.Arrivals {
		return sim.Start(sim.Times(1000, sim.Go(1, sim.Steps(sim.Run(100*us))), sim.Run(1*us)))
	}},
	{"tree", 4, func() sim.Arrivals {
		leaf := sim.Steps(sim.Run(10 * us))
		return sim.Start(sim.Times(30, sim.Go(1, sim.Times(30, sim.Go(2, leaf), sim.Run(2*us)))))
	}},
	{"yields", 2, func() sim.Arrivals {
		var list []sim.Script
		for range 40 {
			list = append(list, sim.Times(100, sim.Run(5*us), sim.Gosched()))
		}
		return sim.Start(list...)
	}},
	{"pairs", 4, func() sim.Arrivals {
		var list []sim.Script
		for range 6 {
			a, b := sim.NewChan(0), sim.NewChan(0)
			list = append(list, sim.Times(300, sim.Run(3*us), sim.Send(a), sim.Recv(b)), sim.Times(300, sim.Recv(a), sim.Run(3*us), sim.Send(b)))
		}
		return sim.Start(list...)
	}},
	{"system calls", 4, func() sim.Arrivals {
		var list []sim.Script
		for i := range int64(12) {
			list = append(list, sim.Times(60, sim.Run(20*us+i*us), sim.Syscall(100*us+i*7*us)))
		}
		return sim.Start(list...)
	}},
	{"network and timers", 4, func() sim.Arrivals {
		var list []sim.Script
		for i := range int64(40) {
			list = append(list, sim.Times(40, sim.Run(20*us+i*us), sim.Poll(200*us+i*11*us), sim.Run(15*us), sim.Sleep(300*us+i*us)))
		}
		return sim.Start(list...)
	}},
	{"locked threads", 4, func() sim.Arrivals {
		var list []sim.Script
		for i := range int64(3) {
			steps := []sim.Op{{Kind: sim.OpLockThread}}
			for range 50 {
				steps = append(steps, sim.Run(10*us), sim.Sleep(100*us+i*us))
			}
			list = append(list, sim.Steps(steps...), sim.Times(100, sim.Run(30*us), sim.Gosched()))
		}
		return sim.Start(list...)
	}},
	{"slices", 2, func() sim.Arrivals {
		var list []sim.Script
		for range 5 {
			list = append(list, sim.Steps(sim.Run(200*ms)))
		}
		return sim.Start(list...)
	}},
	{"goyield", 2, func() sim.Arrivals {
		var list []sim.Script
		for range 6 {
			list = append(list, sim.Times(100, sim.Run(5*us), sim.Op{Kind: sim.OpGoyield}))
		}
		return sim.Start(list...)
	}},
	{"stop-the-world", 4, func() sim.Arrivals {
		var list []sim.Arrival
		for range 8 {
			list = append(list, sim.Arrival{Kind: sim.ArriveGo, Script: sim.Times(300, sim.Run(100*us), sim.Gosched())})
		}
		for i := range int64(10) {
			list = append(list, sim.Arrival{At: (i + 1) * 3 * ms, Kind: sim.ArriveSTW, Ns: 50 * us})
		}
		return sim.List(list...)
	}},
	{"garbage collection", 4, func() sim.Arrivals {
		var list []sim.Arrival
		for range 8 {
			list = append(list, sim.Arrival{Kind: sim.ArriveGo, Script: sim.Times(300, sim.Run(100*us), sim.Gosched())})
		}
		for i := range int64(3) {
			list = append(list, sim.Arrival{At: (i + 1) * 10 * ms, Kind: sim.ArriveGC, Ns: 50 * us, Mark: 4 * ms})
		}
		return sim.List(list...)
	}},
}

// invented is a release that there is not: what the reconstruction knows of it are
// its rules.
func invented() reference.Rules {
	r := reference.Latest()
	r.Release = "1.99"
	r.GlobalPoll, r.RingSize, r.GlobalBatchMax, r.NoRunnext = 37, 64, 24, true
	return r
}

// least is the share in which the reconstruction must be right: of all starts, of
// those of which it says that it is sure, and so on. What is missing are starts of
// which no trace tells whether the 61st tick took them, and what follows from them.
var least = struct{ source, sure, steals, local, global float64 }{0.96, 0.99, 0.99, 0.9, 0.75}

func TestReconstruction(t *testing.T) {
	var all Counts
	for _, rules := range append(reference.Releases(), invented()) {
		var sum Counts
		for _, l := range loads {
			for _, generation := range []int64{0, 5 * ms} {
				o := sim.Options{Policy: sim.Version(rules), Costs: sim.DefaultCosts(), Procs: l.procs, Seed: 1}
				if generation > 0 && rules.TraceFormat < 23 && l.name == "garbage collection" {
					continue // its mark workers begin after the first generation
				}
				r, err := Do(t.Context(), o, l.load(), generation, rules)
				if err != nil {
					t.Errorf("Go %s, %s: %v", rules.Release, l.name, err)
					continue
				}
				c := r.Count()
				t.Logf("Go %s, %s, %d generations: %+v", rules.Release, l.name, r.Analysis.Trace.Generations, c)
				sum.add(c)
			}
		}
		for _, x := range []struct {
			what        string
			right, from int
			least       float64
		}{
			{"source", sum.Source, sum.Starts, least.source},
			{"source, where it is sure", sum.SureSame, sum.Sure, least.sure},
			{"steals", sum.Stolen, sum.Steals, least.steals},
			{"local length", sum.Local, sum.Starts, least.local},
			{"global length", sum.Global, sum.Starts, least.global},
		} {
			if share := float64(x.right) / float64(x.from); !(share >= x.least) {
				t.Errorf("Go %s: %s: right in %d of %d, %.4f", rules.Release, x.what, x.right, x.from, share)
			}
		}
		all.add(sum)
	}
	if all.Steals < 1000 || all.Sure < all.Starts/4 {
		t.Errorf("there is little to be right about: %+v", all)
	}
}

func (c *Counts) add(o Counts) {
	c.Starts += o.Starts
	c.Source += o.Source
	c.Sure += o.Sure
	c.SureSame += o.SureSame
	c.Steals += o.Steals
	c.Stolen += o.Stolen
	c.Local += o.Local
	c.Global += o.Global
}

// TestOtherRules reads the runs of the invented release by the rules of the latest:
// what is right by its own rules must be due to them.
func TestOtherRules(t *testing.T) {
	var own, other Counts
	for _, l := range loads {
		o := sim.Options{Policy: sim.Version(invented()), Costs: sim.DefaultCosts(), Procs: l.procs, Seed: 1}
		for rules, sum := range map[reference.Rules]*Counts{invented(): &own, reference.Latest(): &other} {
			r, err := Do(t.Context(), o, l.load(), 0, rules)
			if err != nil {
				t.Fatalf("%s: %v", l.name, err)
			}
			sum.add(r.Count())
		}
	}
	t.Logf("by its own rules: %+v; by others: %+v", own, other)
	if wrong := own.Starts - own.Source; other.Starts-other.Source < 10*wrong {
		t.Errorf("by its own rules %d sources are wrong, by others %d", wrong, other.Starts-other.Source)
	}
}

// TestPolicies writes runs of schedulers that are not Go's: their traces can be
// read, whatever the reconstruction makes of them.
func TestPolicies(t *testing.T) {
	for i, name := range sim.PolicyNames() {
		if name == "gps" { // it has no decisions
			continue
		}
		for j, l := range loads {
			if testing.Short() && (i+j)%3 != 0 { // each policy with some loads, each load with some policies
				continue
			}
			policy, costs, _ := sim.PolicyFor(name)
			if _, err := Do(t.Context(), sim.Options{Policy: policy, Costs: costs, Procs: l.procs, Seed: 1, Until: 500 * ms}, l.load(), 0, policy.Rules); err != nil {
				t.Errorf("%s, %s: %v", name, l.name, err)
			}
		}
	}
}
