package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// A run of eleven days is more than the events that it may have.
func TestTooLong(t *testing.T) {
	const eleven = 1_000_000_000_000_000
	work := func() sim.Arrivals { return sim.Start(sim.Steps(sim.Run(eleven)), sim.Steps(sim.Run(eleven))) }
	o := sim.Options{Policy: sim.Version(reference.RulesFor(26)), Procs: 1, MaxEvents: 100_000}
	if _, err := sim.Simulate(context.Background(), o, work()); !errors.Is(err, sim.ErrTooLong) {
		t.Errorf("%v, want %v", err, sim.ErrTooLong)
	}
}
