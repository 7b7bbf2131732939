package replay

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// The model has a CPU for each P: what it says of a recording with more, or of more Ps
// than CPUs, cannot be trusted, and says so by itself.
func TestMorePsThanCPUs(t *testing.T) {
	name := filepath.Join("..", "testdata", "traces", "cases", "starvation-trigger-go1.26-p2.trace.gz")
	simulate := func(cpus float64) (*Simulated, *Decomposition) {
		t.Helper()
		src, err := input.Open(t.Context(), name, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		o := SplitOptions()
		o.Seeds, o.WhatIf = 1, []Change{{Procs: 1}, {Procs: 4}, {NoGC: true}}
		whole, advice := NewSimulation(src.Header(), o), NewSimulation(src.Header(), o)
		res, err := analyze.Run(t.Context(), src, analyze.Options{CPUs: cpus, OnStacks: advice.Stacks, OnDecision: func(d *reference.Decision) error {
			return errors.Join(whole.Add(d), advice.Add(d))
		}})
		if err != nil {
			t.Fatal(err)
		}
		var out Result
		if err := whole.Finish(t.Context(), res, &out); err != nil {
			t.Fatal(err)
		}
		s, err := advice.Decompose(t.Context(), res)
		if err != nil {
			t.Fatal(err)
		}
		return out.Simulated, s
	}
	for _, c := range []struct {
		cpus   float64
		all    bool    // untrusted
		whatIf [3]bool // likewise
	}{
		{0, false, [3]bool{}},
		{1, true, [3]bool{true, true, true}},
		{2, false, [3]bool{false, true, false}},
		{4, false, [3]bool{}},
	} {
		f, s := simulate(c.cpus)
		if (f.Untrusted != "") != c.all || (s.Untrusted != "") != c.all || (f.Decomposition.Untrusted != "") != c.all {
			t.Errorf("%v CPUs: %q, %q, %q", c.cpus, f.Untrusted, s.Untrusted, f.Decomposition.Untrusted)
		}
		for i, x := range f.WhatIf {
			if strings.Contains(x.Untrusted, "CPU") != c.whatIf[i] {
				t.Errorf("%v CPUs, %s: %q", c.cpus, x.Change, x.Untrusted)
			}
		}
		advised := 0
		for _, g := range s.Prospects {
			if g.Advice == nil {
				continue
			}
			advised++
			few := c.all || strings.Contains(g.Advice.Change, "GOMAXPROCS 4") && c.cpus > 0 && c.cpus < 4
			if strings.Contains(g.Advice.Untrusted, "CPU") != few || few && g.Advice.Verdict != Untrusted {
				t.Errorf("%v CPUs, %s: %s, %q", c.cpus, g.Advice.Change, g.Advice.Verdict, g.Advice.Untrusted)
			}
		}
		if advised == 0 {
			t.Errorf("%v CPUs: no advice was simulated", c.cpus)
		}
	}
}
