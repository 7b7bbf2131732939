package replay

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// simulation analyses a trace for a simulation.
func simulation(t *testing.T, name string, o SimulateOptions) (*Simulation, *analyze.Result) {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", name), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := NewSimulation(src.Header(), o)
	res, err := analyze.Run(t.Context(), src, analyze.Options{OnStacks: f.Stacks, OnDecision: f.Add})
	if err != nil {
		t.Fatal(err)
	}
	return f, res
}

// TestBudget: all simulations of a trace share one budget, and what it does not suffice for is
// named.
func TestBudget(t *testing.T) {
	asked := []Change{{Procs: 2}, {Policy: "fifo"}}
	simulate := func(budget int64) (took int64, free *Simulated) {
		f, res := simulation(t, "mutex-go1.26-p4.trace.gz", SimulateOptions{WhatIf: asked})
		r, err := f.begin(t.Context(), res, 1)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := r.changes()
		if err != nil {
			t.Fatal(err)
		}
		r.budget = budget
		if free, err = r.free(changes); err != nil && !errors.Is(err, ErrTooLong) {
			t.Fatal(err)
		}
		return budget - r.budget, free
	}
	whole, free := simulate(1 << 24)
	if free == nil || slices.Contains(free.Notes, fewer) || len(free.WhatIf) != len(asked) || free.Decomposition == nil {
		t.Fatalf("all of it: %+v", free)
	}
	for _, percent := range []int64{0, 1, 20, 50, 80, 90} {
		budget := whole * percent / 100
		took, free := simulate(budget)
		if took > budget {
			t.Errorf("%d %% of what it takes: %d steps of %d", percent, took, budget)
		}
		if free == nil {
			if percent > 20 {
				t.Errorf("%d %% of what it takes: nothing is simulated", percent)
			}
			continue
		}
		notes := strings.Join(free.Notes, "\n")
		left := free.Decomposition == nil
		for _, c := range asked[len(free.WhatIf):] {
			left = left && strings.Contains(notes, c.String()+" is not simulated: ")
		}
		if !strings.Contains(notes, fewer) || !left || !strings.Contains(notes, "the trace is not held against the reference: ") {
			t.Errorf("%d %% of what it takes: %d changes are simulated, a split: %v; %q", percent, len(free.WhatIf), free.Decomposition != nil, notes)
		}
	}
}

// TestFailure: a simulation that fails costs its section, and the rest says so in a line.
func TestFailure(t *testing.T) {
	const name = "mutex-go1.26-p4.trace.gz"
	f, res := simulation(t, name, SimulateOptions{Seeds: 1, WhatIf: []Change{{Procs: 8}}})
	f.frames = func(int32) []string { panic("a mistake") }
	out := &Result{Trace: res.Trace}
	if err := f.Finish(t.Context(), res, out); err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(out.Trace.Warnings, "\n"); out.Simulated != nil || !strings.Contains(w, "the work of the trace is not simulated: internal error in ") {
		t.Errorf("%+v; %s", out.Simulated, w)
	}

	f, res = simulation(t, name, SplitOptions())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Decompose(ctx, res); err == nil {
		t.Error("a cancelled context is no error")
	}
}

// TestMaxMemory: a limit of memory bounds what is taken from a trace, whatever is asked for, and the
// notes say so.
func TestMaxMemory(t *testing.T) {
	for _, c := range []struct {
		steps int   // asked for
		kept  int64 // of a limit, beside what else it is for
		most  int
		named bool
	}{
		{0, 300 * stepMemory, 300, true},
		{splitSteps, 300 * stepMemory, 300, true},
		{splitSteps, 0, 1, true},
		{splitSteps, 1 - otherMemory, 1, true},
		{200, 300 * stepMemory, 200, false},
	} {
		o := SimulateOptions{Seeds: 1, MaxMemory: otherMemory + c.kept}
		o.Workload.MaxSteps = c.steps
		f, res := simulation(t, "mutex-go1.26-p4.trace.gz", o)
		r, err := f.begin(t.Context(), res, 1)
		if err != nil {
			t.Fatal(err)
		}
		// The last decision may have several steps, and what is under way is ended.
		if w := r.work; !w.Capped || w.Steps > c.most+20 {
			t.Errorf("%+v: %d steps are kept; left out: %v", c, w.Steps, w.Capped)
		}
		if notes := strings.Join(r.notes(), "\n"); strings.Contains(notes, " MiB of memory: what comes after ") != c.named {
			t.Errorf("%+v: do the notes name the limit? %s", c, notes)
		}
	}
}
