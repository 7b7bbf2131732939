package replay

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/replay/workload"
)

// What a trace cannot tell about another GOMAXPROCS says so by itself.
func TestDistrust(t *testing.T) {
	part := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		name     string
		recorded int
		procs    int
		e        Error
		network  int
		missed   int64 // of 100
		class    string
		want     string // in the reason; empty: trusted
	}{
		{"fewer Ps", 2, 1, Error{}, 0, 0, "main.worker", ""},
		{"as many", 1, 1, Error{Makespan: part(0.09)}, 100, 90, "", ""},
		{"no other number", 2, 0, Error{Makespan: part(0.09)}, 100, 90, "", ""},
		{"one P", 1, 2, Error{}, 0, 0, "", "one P"},
		{"the makespan is off", 2, 1, Error{Makespan: part(-0.04)}, 0, 0, "", "makespan for the work as it was"},
		{"the waiting is off", 2, 4, Error{Makespan: part(0.02), Waits: ErrorWaits{Total: part(0.2)}}, 0, 0, "", "time waited for the work as it was"},
		{"the network", 2, 1, Error{}, 10, 0, "", "network"},
		{"the kernel", 2, 1, Error{}, 0, 40, "", "kernel"},
		{"as many goroutines as Ps", 2, 1, Error{}, 0, 0, "testing.(*B).RunParallel.func1", "as many goroutines"},
	} {
		var o outcome
		o.waits.All.Count, o.waits.All.TotalNs = 100, 100
		o.waits.All.Causes = []waits.CauseTime{{Cause: waits.CauseBehind, Ns: 100 - c.missed}, {Cause: waits.CauseIdlePMissed, Ns: c.missed}}
		res := &analyze.Result{}
		res.Waits.Classes = []waits.Class{{Name: c.class}}
		got := (&Simulation{}).distrust(&workload.Workload{Procs: c.recorded, Network: c.network}, res, o, c.e, c.procs)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
		}
	}
}

// More Ps for a program that its lock limits is a bound, and said not to be more.
func TestLockLimited(t *testing.T) {
	for _, c := range []struct {
		file  string
		procs int
		want  string
	}{
		{"lock-limited-p1.trace.gz", 2, "one P"},
		{"lock-limited-p2.trace.gz", 4, "mutex"},
		{"fan-out-p2.trace.gz", 1, ""},
	} {
		src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", "whatif", c.file), input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Simulate(t.Context(), src, SimulateOptions{Seeds: 1, WhatIf: []Change{{Procs: c.procs}, {Policy: "fifo"}}})
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := r.Free.WhatIf[0].Untrusted
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s with %d Ps: %q, want %q in it", c.file, c.procs, got, c.want)
		}
		if r.Free.WhatIf[1].Untrusted != "" {
			t.Errorf("%s with the same Ps: %q", c.file, r.Free.WhatIf[1].Untrusted)
		}
	}
}
