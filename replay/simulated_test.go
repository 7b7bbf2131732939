package replay

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// TestSimulated holds the decisions of the simulator against the rules: what
// it does, the scheduler could have done. The Auditor has run queues of its own,
// and knows nothing of the simulator but its decisions.
func TestSimulated(t *testing.T) {
	for _, name := range []string{"go1.22", "go1.26", "no-runnext", "no-steal", "go1.1-nopreempt"} {
		for _, procs := range []int{1, 2, 4, 7} {
			for seed := range uint64(8) {
				t.Run(fmt.Sprintf("%s, %d Ps, seed %d", name, procs, seed), func(t *testing.T) {
					pol, costs, _ := sim.PolicyFor(name)
					a := NewAuditor(AuditOptions{Rules: pol.Rules})
					r, err := sim.Simulate(t.Context(), sim.Options{Policy: pol, Costs: costs, Procs: procs, Seed: seed, Emit: a.Add}, mixed(seed))
					if err != nil {
						t.Fatal(err)
					}
					if r.Left > 0 {
						t.Errorf("%d goroutines are left", r.Left)
					}
					got := a.Finish()
					if len(got.Violations) > 0 || got.Unexplained > 0 || got.Starts != r.TotalStarts() {
						t.Errorf("%d of %d starts unexplained, simulated %d, violations %v", got.Unexplained, got.Starts, r.TotalStarts(), got.Violations)
						for _, d := range got.Divergences {
							if d.Verdict == Unexplained || d.Verdict == Violation {
								t.Logf("%+v", d)
							}
						}
					}
					if got.Ambiguous > got.Starts/50+2 {
						t.Errorf("%d of %d starts are ambiguous: %v", got.Ambiguous, got.Starts, got.Races)
					}
				})
			}
		}
	}
}

// mixed does something of everything, at random.
func mixed(seed uint64) sim.Arrivals {
	rnd := rand.New(rand.NewPCG(seed, 1))
	ns := func(most int64) int64 { return 1 + rnd.Int64N(most) }
	network := sim.NewNetwork()
	tokens := sim.NewChan(sim.Unlimited)
	worker := func(kind, n int) sim.Script {
		a, b := sim.NewChan(0), sim.NewChan(1)
		steps := []sim.Op{sim.Run(ns(20_000))}
		switch kind {
		case 0: // asks a goroutine of its own
			steps = append(steps, sim.Go(2, sim.Steps(sim.Recv(a), sim.Run(ns(10_000)), sim.Send(b))), sim.Run(ns(1000)), sim.Send(a), sim.Recv(b))
		case 1:
			steps = append(steps, sim.Syscall(ns(200_000)), sim.Run(ns(100_000)))
		case 2:
			steps = append(steps, sim.Sleep(ns(1_500_000)), sim.Gosched())
		case 3:
			steps = append(steps, sim.Poll(ns(1_000_000)), sim.Send(tokens))
		case 4:
			steps = append(steps, sim.Op{Kind: sim.OpLockThread}, sim.Run(ns(50_000)), sim.Sleep(ns(100_000)), sim.Syscall(ns(50_000)), sim.Op{Kind: sim.OpUnlockThread})
		case 5:
			steps = append(steps, sim.Run(ns(30_000_000)), sim.Op{Kind: sim.OpGoyield})
		case 6:
			steps = append(steps, sim.Send(tokens), sim.Op{Kind: sim.OpSyscallBlock, Ns: ns(100_000)}, sim.Recv(tokens))
		case 7:
			n = 1
			for range 400 { // overflows the ring
				steps = append(steps, sim.Go(3, sim.Steps(sim.Run(ns(5_000)))))
			}
		case 8:
			n = 1
			steps = append(steps, sim.Op{Kind: sim.OpLockThread}, sim.Gosched(), sim.Run(ns(1000))) // ends locked
		}
		return sim.Times(n, steps...)
	}
	var load []sim.Arrival
	for i := range 40 {
		load = append(load, sim.Arrival{At: int64(i) * ns(100_000), Kind: sim.ArriveGo, Class: 1, Script: worker(rnd.IntN(9), 1+rnd.IntN(10))})
	}
	for i := range 10 {
		load = append(load,
			sim.Arrival{Kind: sim.ArriveGo, Class: 4, Script: sim.Times(3, sim.Recv(network), sim.Run(ns(100_000)))},
			sim.Arrival{At: int64(i) * 3_000_000, Kind: sim.ArriveSTW, Ns: ns(50_000)})
	}
	for range 30 {
		load = append(load, sim.Arrival{At: ns(30_000_000), Kind: sim.ArriveSend, Chan: network})
	}
	for range 3 {
		load = append(load, sim.Arrival{At: ns(30_000_000), Kind: sim.ArriveGC, Ns: ns(100_000), Mark: ns(20_000_000)})
	}
	return sim.List(inOrder(load)...)
}

func inOrder(load []sim.Arrival) []sim.Arrival {
	slices.SortStableFunc(load, func(a, b sim.Arrival) int { return cmp.Compare(a.At, b.At) })
	return load
}

// TestAccumulators runs the accumulators of the analysis on a simulated run:
// they find the times of which the simulator has an account of its own.
func TestAccumulators(t *testing.T) {
	for _, name := range []string{"go1.22", "go1.26", "go1.0", "fifo", "beam", "thread-per-goroutine"} {
		t.Run(name, func(t *testing.T) {
			pol, costs, _ := sim.PolicyFor(name)
			w, p := waits.New(waits.Options{}), procs.New()
			feed := ledger.NewFeed(w.Add, p.Add)
			r, err := sim.Simulate(t.Context(), sim.Options{Policy: pol, Costs: costs, Procs: 4, Emit: feed.Add}, mixed(3))
			if err != nil {
				t.Fatal(err)
			}
			count, total := r.Starts[reference.SrcGCWorker], int64(0) // mark workers do not wait
			for _, c := range r.Classes {
				count += c.Waits
				total += c.WaitNs
			}
			all := w.Finish(r.EndNs, feed.Live(), nil).All
			if all.Count != count || all.TotalNs != total {
				t.Errorf("%d waits of %d ns, simulated %d of %d ns", all.Count, all.TotalNs, count, total)
			}
			sum := int64(0)
			for _, c := range all.Causes {
				sum += c.Ns
			}
			if sum != total {
				t.Errorf("the causes sum to %d ns of %d", sum, total)
			}
			var busy, gc int64
			feed.Close(r.EndNs)
			found := p.Finish()
			for _, x := range found.Ps {
				busy += x.RunningNs
				gc += x.GCNs
			}
			if busy != r.BusyNs || gc != r.GCNs || found.Steals.Count != r.Steals {
				t.Errorf("%d ns busy, %d in the garbage collector, %d thefts; simulated %d, %d, %d", busy, gc, found.Steals.Count, r.BusyNs, r.GCNs, r.Steals)
			}
		})
	}
}
