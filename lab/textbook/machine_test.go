//go:build guard

package textbook

import (
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/reference/sim"
)

// TestGuardMillion: a million starts are simulated in seconds.
func TestGuardMillion(t *testing.T) {
	all, err := outcomes()
	if err != nil {
		t.Fatal(err)
	}
	o, ok := named(all, "million")
	if !ok {
		t.Fatal("there is no such program")
	}
	began := time.Now()
	r, err := sim.Simulate(t.Context(), sim.Options{Policy: o.on.policy, Costs: o.on.costs, Procs: o.procs}, o.load())
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Logf("%d starts in %v", r.TotalStarts(), took)
	if took > 20*time.Second {
		t.Errorf("%d starts took %v", r.TotalStarts(), took)
	}
}
