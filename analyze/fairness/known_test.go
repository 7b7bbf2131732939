package fairness

import (
	"context"
	"math"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// inOrder runs goroutines of the given classes, each of run ns, on one P, one after
// the other without preemption.
func inOrder(t *testing.T, run int64, classes []int32) Result {
	t.Helper()
	policy, costs, ok := sim.PolicyFor("fifo")
	if !ok {
		t.Fatal("no such policy")
	}
	var list []sim.Arrival
	for _, c := range classes {
		list = append(list, sim.Arrival{Kind: sim.ArriveGo, Class: c, Script: sim.Steps(sim.Run(run))})
	}
	a := drive(New())
	end := int64(0)
	_, err := sim.Simulate(context.Background(), sim.Options{Policy: policy, Costs: costs, Procs: 1, Emit: func(d *reference.Decision) {
		a.Add(d)
		end = d.Time
	}}, sim.List(list...))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := a.Finish(end, nil)
	return r
}

// share is what the k-th of n equal goroutines, from 0, got on one P, against ideal
// sharing: while the j-th runs, n-j are there, and each would have had as much of
// the P.
func share(k, n int) float64 {
	ideal := 0.0
	for j := range k + 1 {
		ideal += 1 / float64(n-j)
	}
	return 1 / ideal
}

// Served in order, the first of n equal goroutines gets n times its share, the last
// one over the n-th harmonic number of it.
func TestJainAndMaxMinOfOneClass(t *testing.T) {
	const n = 10
	var x []float64
	harmonic := 0.0
	for k := range n {
		x = append(x, share(k, n))
		harmonic += 1 / float64(k+1)
	}
	r := inOrder(t, 8*ms, make([]int32, n))
	if len(r.Classes) != 1 || r.Classes[0].Judged != n {
		t.Fatalf("%+v", r.Classes)
	}
	c := r.Classes[0]
	if want := jainOf(x); !within(c.Jain, want, 0.01) || !within(r.Jain, want, 0.01) {
		t.Errorf("jain %v and %v, want %v", c.Jain, r.Jain, want)
	}
	if want := 1 / (n * harmonic); !within(c.MinMax, want, 0.01) {
		t.Errorf("max-min %v, want %v", c.MinMax, want)
	}
}

// Two classes, one served after the other: each is judged by its own goroutines, and
// the second, whose shares differ less, is the fairer one within.
func TestJainWithinClasses(t *testing.T) {
	const n = 12
	var x [2][]float64
	var classes []int32
	for k := range n {
		c := 2 * k / n
		classes = append(classes, int32(c))
		x[c] = append(x[c], share(k, n))
	}
	r := inOrder(t, 8*ms, classes)
	if len(r.Classes) != 2 || r.Classes[0].ID != 0 {
		t.Fatalf("%+v", r.Classes)
	}
	for i, c := range r.Classes {
		if want := jainOf(x[i]); !within(c.Jain, want, 0.01) {
			t.Errorf("class %d: jain %v, want %v", i, c.Jain, want)
		}
		if want := x[i][len(x[i])-1] / x[i][0]; !within(c.MinMax, want, 0.01) {
			t.Errorf("class %d: max-min %v, want %v", i, c.MinMax, want)
		}
	}
	if r.Classes[1].Jain < r.Classes[0].Jain || r.Jain > r.Classes[1].Jain {
		t.Errorf("jain %v in all, %v and %v", r.Jain, r.Classes[0].Jain, r.Classes[1].Jain)
	}
}

func within(got, want, share float64) bool { return math.Abs(got-want) <= share*want }
