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
	budget := int64(100_000)
	o := sim.Options{Policy: sim.Version(reference.RulesFor(26)), Procs: 1, Budget: &budget}
	if _, err := sim.Simulate(context.Background(), o, work()); !errors.Is(err, sim.ErrTooLong) {
		t.Errorf("%v, want %v", err, sim.ErrTooLong)
	}
}

// looked is a context that ends when it is looked at for the last time.
type looked struct {
	context.Context
	left int
	look func()
}

func (c *looked) Err() error {
	c.look()
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLooks: a run looks at its context once in some decisions, whatever it does, and makes none
// when that has ended.
func TestLooks(t *testing.T) {
	semaphore := sim.NewChan(sim.Unlimited)
	for _, c := range []struct {
		name string
		do   []sim.Op
	}{
		{"run", []sim.Op{sim.Run(1000), sim.Gosched()}},
		{"no time", []sim.Op{sim.Send(semaphore), sim.Recv(semaphore)}},
		{"go", []sim.Op{sim.Run(1), sim.Go(0, sim.Steps(sim.Run(1)))}},
		{"syscalls", []sim.Op{sim.Syscall(1000)}},
		{"all at once", []sim.Op{sim.Go(0, sim.Steps())}},
	} {
		for left := range 20 {
			decisions := 0
			ctx := &looked{context.Background(), left, func() { decisions = 0 }}
			o := sim.Options{Policy: sim.Version(reference.RulesFor(26)), Procs: 2, Emit: func(*reference.Decision) {
				if decisions++; decisions > 1<<11 || ctx.left < 0 {
					t.Fatalf("%s: %d decisions after a look, of which %d were to come", c.name, decisions, ctx.left)
				}
			}}
			if _, err := sim.Simulate(ctx, o, sim.Start(sim.Times(10_000, c.do...), sim.Times(10_000, c.do...))); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}
