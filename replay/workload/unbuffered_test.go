package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference/sim"
)

// A dispatcher that starts a worker each time that one says it is done, four at a time, while somebody
// else computes. Who comes first depends on the schedule: on an unbuffered channel a
// worker waits for the dispatcher, or the dispatcher for a worker.
func dispatcher(seed uint64, done *sim.Chan, first ...sim.Op) sim.Arrivals {
	rnd := rand.New(rand.NewPCG(seed, 2))
	ops := first
	worker := func() sim.Op {
		return sim.Go(1, sim.Steps(sim.Run(1000+rnd.Int64N(9_000_000)), sim.Send(done), sim.Run(500)))
	}
	for range 4 {
		ops = append(ops, worker())
	}
	for range 200 {
		ops = append(ops, sim.Recv(done), sim.Run(700_000), worker())
	}
	for range 4 {
		ops = append(ops, sim.Recv(done))
	}
	return sim.Start(sim.Steps(ops...), sim.Times(40, sim.Run(12_000_000), sim.Gosched()), sim.Times(40, sim.Run(9_000_000), sim.Gosched()))
}

func TestMeetings(t *testing.T) {
	for _, procs := range []int{1, 2} {
		t.Run(fmt.Sprint(procs, " Ps"), func(t *testing.T) {
			var all, again2 int64
			for seed := range uint64(6) {
				o := sim.Options{Procs: procs, Seed: seed}
				o.Policy, o.Costs = scheduler(26)
				a, b, w := again(t, o, dispatcher(seed, sim.NewChan(0)))
				if w.Meetings < 200 || b.Left != 0 {
					t.Errorf("seed %d: %d meetings, %d goroutines left; want 204 or nearly so, and 0", seed, w.Meetings, b.Left)
				}
				_, ns := waits(a)
				_, ns2 := waits(b)
				all, again2 = all+ns, again2+ns2

				// With work that takes longer the workers meet the dispatcher in another order.
				o.Procs = 3 - procs
				if r, err := sim.Simulate(t.Context(), o, w.Load(Change{Work: 1.7, FixedProcs: true})); err != nil || r.Left != 0 {
					t.Errorf("seed %d, otherwise: %v, %d goroutines left", seed, err, r.Left)
				}
			}
			within(t, "time waited", all, again2, 0.02)
		})
	}
}

// A buffered channel is none for meetings; an unbuffered one is, for last sends, whatever else the receiver waits for.
func TestBuffers(t *testing.T) {
	o := sim.Options{Procs: 1}
	o.Policy, o.Costs = scheduler(26)
	for _, tt := range []struct {
		name    string
		program sim.Arrivals
		least   int // of 204; 0 is none
	}{
		{"a buffer that takes all", dispatcher(1, sim.NewChan(300)), 0},
		{"a buffer that is full at times", dispatcher(1, sim.NewChan(2)), 0},
		{"whoever receives waits for the network, too", dispatcher(1, sim.NewChan(0), sim.Poll(1_000_000)), 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, b, w := again(t, o, tt.program)
			if w.Meetings < tt.least || tt.least == 0 && w.Meetings > 0 || b.Left != 0 {
				t.Errorf("%d meetings, %d goroutines left; want %d, and 0", w.Meetings, b.Left, tt.least)
			}
			meets := slices.ContainsFunc(steps(w, 1), func(s step) bool { return s.kind == kMeetRecv })
			if meets != (tt.least > 0) {
				t.Errorf("the dispatcher meets: %v", meets)
			}
		})
	}
}
