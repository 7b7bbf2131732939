package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// scheduler is that of a version, with the costs that a workload does not hold.
func scheduler(minor int) (sim.Policy, sim.Costs) {
	p, c := sim.Version(reference.RulesFor(minor)), sim.DefaultCosts()
	p.Rules.PollResolution, c.Syscall, c.Lock = 0, 0, 0
	return p, c
}

// again simulates a program, takes the work out of its decisions and simulates
// that.
func again(t *testing.T, o sim.Options, program sim.Arrivals) (first, second *sim.Result, w *Workload) {
	t.Helper()
	e := NewExtractor(Options{})
	o.Emit = func(d *reference.Decision) { e.Add(d) }
	first, err := sim.Simulate(t.Context(), o, program)
	if err != nil {
		t.Fatal(err)
	}
	w = e.Finish(first.EndNs)
	if w.Odd != 0 || w.Procs != o.Procs {
		t.Errorf("%d odd decisions, %d Ps", w.Odd, w.Procs)
	}
	o.Emit = nil
	second, err = sim.Simulate(t.Context(), o, w.Load(Change{}))
	if err != nil {
		t.Fatal(err)
	}
	return first, second, w
}

func waits(r *sim.Result) (n, ns int64) {
	for _, c := range r.Classes {
		n, ns = n+c.Waits, ns+c.WaitNs
	}
	return n, ns
}

// Programs that wait for each other, and for nothing that depends on when a P
// looks: the work that is taken out of a run gives the same run.
func TestRoundTripIsExact(t *testing.T) {
	wait := func() (sim.Op, sim.Op) {
		c := sim.NewChan(sim.Unlimited)
		return sim.Send(c), sim.Recv(c)
	}
	programs := map[string]func(*rand.Rand) sim.Arrivals{
		"one goroutine": func(*rand.Rand) sim.Arrivals { return sim.Start(sim.Steps(sim.Run(50_000_000))) },
		"five for a while": func(*rand.Rand) sim.Arrivals {
			s := sim.Steps(sim.Run(100_000_000))
			return sim.Start(s, s, s, s, s)
		},
		"fan-out": func(r *rand.Rand) sim.Arrivals {
			var ops []sim.Op
			for range 700 {
				ops = append(ops, sim.Run(1+r.Int64N(2000)), sim.Go(1, sim.Steps(sim.Run(1+r.Int64N(50_000)))))
			}
			return sim.Start(sim.Steps(ops...))
		},
		"fork and join": func(r *rand.Rand) sim.Arrivals {
			done, await := wait()
			var ops []sim.Op
			for range 10 {
				for range 20 {
					ops = append(ops, sim.Run(500), sim.Go(1, sim.Steps(sim.Run(1+r.Int64N(100_000)), done)))
				}
				for range 20 {
					ops = append(ops, await)
				}
			}
			return sim.Start(sim.Steps(ops...))
		},
		"ping-pong": func(*rand.Rand) sim.Arrivals {
			ping, onPing := wait()
			pong, onPong := wait()
			return sim.Start(sim.Times(1000, sim.Run(1000), ping, onPong), sim.Times(1000, onPing, sim.Run(2000), pong))
		},
		"pipeline": func(r *rand.Rand) sim.Arrivals {
			out, in := wait()
			stages := []sim.Script{sim.Times(100, sim.Run(5_000), out)}
			for range 4 {
				put, get := wait()
				stages = append(stages, sim.Times(100, in, sim.Run(1+r.Int64N(20_000)), put))
				in = get
			}
			return sim.Start(append(stages, sim.Times(100, in, sim.Run(1000)))...)
		},
		"yielders": func(r *rand.Rand) sim.Arrivals {
			var all []sim.Script
			for i := range 9 {
				op := sim.Gosched()
				if i%3 == 0 {
					op.Kind = sim.OpGoyield
				}
				all = append(all, sim.Times(100, sim.Run(1+r.Int64N(20_000)), op))
			}
			return sim.Start(all...)
		},
		"system calls": func(r *rand.Rand) sim.Arrivals {
			var all []sim.Script
			for i := range 20 {
				op := sim.Syscall(1 + r.Int64N(300_000))
				if i%4 == 0 {
					op.Kind = sim.OpSyscallBlock
				}
				all = append(all, sim.Times(30, sim.Run(1+r.Int64N(20_000)), op))
			}
			return sim.Start(all...)
		},
		"stopped worlds and marking": func(r *rand.Rand) sim.Arrivals {
			var load []sim.Arrival
			for range 8 {
				load = append(load, sim.Arrival{Kind: sim.ArriveGo, Script: sim.Steps(sim.Run(30_000_000))})
			}
			for i := range int64(5) {
				load = append(load, sim.Arrival{At: i * 2_000_000, Kind: sim.ArriveSTW, Ns: 40_000})
			}
			return sim.List(append(load, sim.Arrival{At: 12_000_000, Kind: sim.ArriveGC, Ns: 50_000, Mark: 9_000_000})...)
		},
	}
	for name, program := range programs {
		for _, minor := range []int{22, 26} {
			for _, procs := range []int{1, 2, 4, 7} {
				for seed := range uint64(4) {
					t.Run(fmt.Sprintf("%s, go1.%d, %d Ps, seed %d", name, minor, procs, seed), func(t *testing.T) {
						o := sim.Options{Procs: procs, Seed: seed}
						o.Policy, o.Costs = scheduler(minor)
						a, b, _ := again(t, o, program(rand.New(rand.NewPCG(seed, 7))))
						n1, ns1 := waits(a)
						n2, ns2 := waits(b)
						if a.EndNs != b.EndNs || n1 != n2 || ns1 != ns2 || a.BusyNs != b.BusyNs || a.GCNs != b.GCNs || a.Starts != b.Starts || a.Steals != b.Steals {
							t.Errorf("end %d, %d waits of %d ns, busy %d, gc %d, starts %v\nagain %d, %d of %d, %d, %d, %v",
								a.EndNs, n1, ns1, a.BusyNs, a.GCNs, a.Starts, b.EndNs, n2, ns2, b.BusyNs, b.GCNs, b.Starts)
						}
					})
				}
			}
		}
	}
}

// With sleeps, network, locked threads and tokens that anybody may take, the
// second run differs: when a timer was due shows only when a P looks, and who
// waited for whom depends on the run. The work stays, and the times nearly so.
func TestRoundTripOfMixed(t *testing.T) {
	for _, minor := range []int{22, 26} {
		for _, procs := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("go1.%d, %d Ps", minor, procs), func(t *testing.T) {
				var end, end2, n, n2, ns, ns2 int64
				for seed := range uint64(12) {
					o := sim.Options{Procs: procs, Seed: seed}
					o.Policy, o.Costs = scheduler(minor)
					a, b, _ := again(t, o, mixed(seed))
					if a.BusyNs != b.BusyNs || a.Goroutines != b.Goroutines || a.Left != b.Left {
						t.Errorf("busy %d, %d goroutines, %d left; again %d, %d, %d", a.BusyNs, a.Goroutines, a.Left, b.BusyNs, b.Goroutines, b.Left)
					}
					within(t, "end", a.EndNs, b.EndNs, 0.2)
					k, d := waits(a)
					k2, d2 := waits(b)
					end, end2, n, n2, ns, ns2 = end+a.EndNs, end2+b.EndNs, n+k, n2+k2, ns+d, ns2+d2
				}
				within(t, "sum of ends", end, end2, 0.03)
				within(t, "waits", n, n2, 0.05)
				within(t, "time waited", ns, ns2, 0.1)
			})
		}
	}
}

func within(t *testing.T, what string, a, b int64, share float64) {
	t.Helper()
	if d := float64(b - a); max(d, -d) > share*float64(a) {
		t.Errorf("%s %d, again %d", what, a, b)
	}
}

// mixed does something of everything, at random.
func mixed(seed uint64) sim.Arrivals {
	rnd := rand.New(rand.NewPCG(seed, 1))
	ns := func(most int64) int64 { return 1 + rnd.Int64N(most) }
	tokens := sim.NewChan(sim.Unlimited)
	var load []sim.Arrival
	for i := range 60 {
		var ops []sim.Op
		for range 1 + rnd.IntN(8) {
			switch rnd.IntN(8) {
			case 0:
				ops = append(ops, sim.Sleep(ns(1_500_000)))
			case 1:
				ops = append(ops, sim.Syscall(ns(200_000)))
			case 2:
				ops = append(ops, sim.Poll(ns(1_000_000)))
			case 3:
				ops = append(ops, sim.Send(tokens), sim.Run(ns(1000)), sim.Recv(tokens))
			case 4:
				ops = append(ops, sim.Go(2, sim.Steps(sim.Run(ns(40_000)))))
			case 5:
				ops = append(ops, sim.Gosched())
			case 6:
				ops = append(ops, sim.Op{Kind: sim.OpLockThread}, sim.Run(ns(50_000)), sim.Sleep(ns(100_000)), sim.Run(ns(1000)), sim.Op{Kind: sim.OpUnlockThread})
			case 7:
				ops = append(ops, sim.Run(ns(12_000_000)))
			}
			ops = append(ops, sim.Run(ns(100_000)))
		}
		load = append(load, sim.Arrival{At: int64(i) * ns(100_000), Kind: sim.ArriveGo, Class: 1, Script: sim.Steps(ops...)})
	}
	for i := range int64(6) {
		load = append(load, sim.Arrival{At: i * 3_000_000, Kind: sim.ArriveSTW, Ns: ns(50_000)})
	}
	load = append(load, sim.Arrival{At: 5_000_000, Kind: sim.ArriveGC, Ns: ns(100_000), Mark: ns(20_000_000)})
	slices.SortStableFunc(load, func(a, b sim.Arrival) int { return cmp.Compare(a.At, b.At) })
	return sim.List(load...)
}
