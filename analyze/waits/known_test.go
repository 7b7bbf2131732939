package waits

import (
	"context"
	"math"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// Eleven equal goroutines, served in order on one P: the k-th waits k times as long
// as one runs, 55 of these in all. The time-weighted quantiles are where the sums
// 1, 3, 6, 10, 15, 21, 28, … reach their part of 55.
func TestQuantilesOfASimulatedQueue(t *testing.T) {
	const run = int64(1_900_000)
	policy, costs, ok := sim.PolicyFor("fifo")
	if !ok {
		t.Fatal("no such policy")
	}
	var scripts []sim.Script
	for range 11 {
		scripts = append(scripts, sim.Steps(sim.Run(run)))
	}
	a := drive(New(Options{}))
	end := int64(0)
	_, err := sim.Simulate(context.Background(), sim.Options{Policy: policy, Costs: costs, Procs: 1, Emit: func(d *reference.Decision) {
		a.Add(d)
		end = d.Time
	}}, sim.Start(scripts...))
	if err != nil {
		t.Fatal(err)
	}
	s := a.Finish(end, nil).User
	for name, c := range map[string]struct {
		got   int64
		times int64
	}{
		"sum":                  {s.TotalNs, 55},
		"median by number":     {s.P50, 5},
		"longest":              {s.MaxNs, 10},
		"median by time":       {s.TimeWeighted.P50, 7},
		"p90 by time":          {s.TimeWeighted.P90, 10},
		"p99 by time":          {s.TimeWeighted.P99, 10},
		"behind earlier ones":  {ns(s, CauseQueueing), 55},
		"overtaken by nobody":  {ns(s, CauseOvertaken), 0},
		"for an idle P, never": {ns(s, CauseIdlePAvailable), 0},
	} {
		if want := c.times * run; math.Abs(float64(c.got-want)) > 0.01*float64(55*run)*float64(max(1, c.times))/55 {
			t.Errorf("%s: %d ns, want %d", name, c.got, want)
		}
	}
	// Waits of 6 to 10 runs are over 10 ms, all but none over 1 ms.
	for over, want := range map[string]float64{"1ms": 1, "10ms": 40. / 55} {
		if got := s.TailMass[over]; math.Abs(got-want) > 0.01 {
			t.Errorf("tail mass over %s: %v, want %v", over, got, want)
		}
	}
}

func ns(s Summary, cause Cause) int64 {
	for _, c := range s.Causes {
		if c.Cause == cause {
			return c.Ns
		}
	}
	return 0
}
