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

// What a trace cannot tell about another GOMAXPROCS says so by itself: of the makespan, and
// of waiting.
func TestDistrust(t *testing.T) {
	part := func(x float64) *float64 { return &x }
	steady := &Sensitivity{Work: 1.6, WorkNs: 1040, CallsNs: 1030, DeadlinesNs: 1010, WorkWaited: 1.2, makespan: 1000}
	for _, c := range []struct {
		name     string
		recorded int
		procs    int
		e        Error
		network  int
		sent     int
		missed   int64 // of 100
		class    string
		x        *Sensitivity
		waiting  string // in the reason; empty: trusted
		makespan string
	}{
		{"fewer Ps", 2, 1, Error{}, 0, 0, 0, "main.worker", steady, "", ""},
		{"as many", 1, 1, Error{Makespan: part(0.09)}, 100, 0, 90, "", nil, "", ""},
		{"no other number", 2, 0, Error{Makespan: part(0.09)}, 100, 0, 90, "", nil, "", ""},
		{"one P", 1, 2, Error{}, 0, 0, 0, "", steady, "one P", ""},
		{"the makespan is off", 2, 1, Error{Makespan: part(-0.04)}, 0, 0, 0, "", steady, "makespan for the work as it was", "makespan for the work as it was"},
		{"the waiting is off", 2, 4, Error{Makespan: part(0.02), Waits: ErrorWaits{Total: part(0.2)}}, 0, 0, 0, "", steady, "time waited for the work as it was", ""},
		{"the network", 2, 1, Error{}, 10, 4, 0, "", steady, "network", "network"},
		{"the network, of the program itself", 2, 1, Error{}, 10, 6, 0, "", steady, "network", ""},
		{"the kernel", 2, 1, Error{}, 0, 0, 40, "", steady, "kernel", ""},
		{"as many goroutines as Ps", 2, 1, Error{}, 0, 0, 0, "testing.(*B).RunParallel.func1", steady, "", "as many goroutines"},
		{"follows the work", 1, 2, Error{}, 0, 0, 0, "", &Sensitivity{Work: 1.6, WorkNs: 1110, CallsNs: 1000, DeadlinesNs: 1000, WorkWaited: 1, makespan: 1000}, "one P", "1.6 times as long"},
		{"follows system calls", 2, 1, Error{}, 0, 0, 0, "", &Sensitivity{Work: 1 / 1.6, WorkNs: 950, CallsNs: 1060, DeadlinesNs: 1000, WorkWaited: 1, makespan: 1000}, "", "system calls"},
		{"follows deadlines", 2, 1, Error{}, 0, 0, 0, "", &Sensitivity{Work: 1 / 1.6, WorkNs: 1000, CallsNs: 1000, DeadlinesNs: 300, WorkWaited: 1, makespan: 1000}, "", "deadlines"},
		{"waiting follows the work", 2, 1, Error{}, 0, 0, 0, "", &Sensitivity{Work: 1 / 1.6, WorkNs: 950, CallsNs: 1000, DeadlinesNs: 1000, WorkWaited: 0.7, makespan: 1000}, "time waited would be", ""},
	} {
		var o, self outcome
		o.waits.All.Count, o.waits.All.TotalNs = 100, 100
		o.waits.All.Causes = []waits.CauseTime{{Cause: waits.CauseQueueing, Ns: 100 - c.missed}, {Cause: waits.CauseIdlePAvailable, Ns: c.missed}}
		res := &analyze.Result{}
		res.Waits.Classes = []waits.Class{{Name: c.class}}
		w := &workload.Workload{Procs: c.recorded, Network: c.network, Sent: c.sent}
		r := &replaying{f: &Simulation{}, work: w, res: res, observed: o}
		for _, x := range []struct{ of, got, want string }{
			{"waiting", r.distrust(c.e, c.procs, c.x), c.waiting},
			{"makespan", r.distrustMakespan(c.e, self, c.procs, c.x), c.makespan},
		} {
			if (x.got == "") != (x.want == "") || !strings.Contains(x.got, x.want) {
				t.Errorf("%s: of the %s %q, want %q in it", c.name, x.of, x.got, x.want)
			}
		}
	}
}

// More Ps for a program that its lock limits is a bound, and said not to be more.
func TestLockLimited(t *testing.T) {
	for _, c := range []struct {
		file           string
		procs          int
		want, makespan string
	}{
		{"lock-limited-p1.trace.gz", 2, "one P", "mutex"},
		{"lock-limited-p2.trace.gz", 4, "mutex", "makespan for the work as it was"},
		{"fan-out-p2.trace.gz", 1, "", ""},
		{"fan-out-p1.trace.gz", 2, "one P", ""},
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
		got := r.Simulated.WhatIf[0].Untrusted
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s with %d Ps: %q, want %q in it", c.file, c.procs, got, c.want)
		}
		if got := r.Simulated.WhatIf[0].UntrustedMakespan; (got == "") != (c.makespan == "") || !strings.Contains(got, c.makespan) {
			t.Errorf("makespan of %s with %d Ps: %q, want %q in it", c.file, c.procs, got, c.makespan)
		}
		if r.Simulated.WhatIf[1].Untrusted != "" {
			t.Errorf("%s with the same Ps: %q", c.file, r.Simulated.WhatIf[1].Untrusted)
		}
	}
}
