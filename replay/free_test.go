package replay

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/input"
)

func freeReplay(t *testing.T, name string, o FreeOptions) (*Result, error) {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", name+".trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return FreeReplay(t.Context(), src, o)
}

// Traces of programs that had the CPU for themselves: the model is within the
// bands. docs/replay.md has all traces.
func TestSelfReplay(t *testing.T) {
	for _, name := range []string{
		"gosched-go1.26-p1", "overflow-go1.22-p1", "overflow-go1.27-p1", "pingpong-starve-go1.25-p1", "pingpong-starve-go1.27-p1",
		"preempt-small-go1.22-p1", "put-take-go1.26-p1", "locked-threads-go1.26-p1", "steal-small-go1.25-p2", "thousand-go1.26-p1",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := freeReplay(t, name, FreeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			e := r.Free.Error
			for _, x := range []struct {
				what string
				e    *float64
				band float64
			}{{"makespan", e.Makespan, 0.03}, {"busy", e.Busy, 0.01}, {"waited", e.Waits.Total, 0.15}} {
				if x.e == nil || math.Abs(*x.e) > x.band {
					t.Errorf("%s is off by %v", x.what, x.e)
				}
			}
			for _, x := range [][2]int64{{r.Observed.Waits.P50, r.Free.Simulated.Waits.P50}, {r.Observed.Waits.P99, r.Free.Simulated.Waits.P99}} {
				if a, b := float64(x[0]), float64(x[1]); max(a/b, b/a) > 1.5 {
					t.Errorf("quantile %v, observed %v", b, a)
				}
			}
			for k, lo := range r.Free.Spread.Min.fields() {
				if mid, hi := r.Free.Simulated.fields()[k], r.Free.Spread.Max.fields()[k]; *lo > *mid || *mid > *hi {
					t.Errorf("number %d: median %d is not between %d and %d", k, *mid, *lo, *hi)
				}
			}
		})
	}
}

func TestWhatIf(t *testing.T) {
	o := FreeOptions{Seeds: 3, WhatIf: []Change{
		{}, {Procs: 2}, {Procs: 4}, {Policy: "fifo"}, {Class: "main.put", Speed: 2}, {Class: "put", Speed: 0.5}, {NoGC: true}, {Slice: 1_000_000},
	}}
	r, err := freeReplay(t, "put-take-go1.26-p1", o)
	if err != nil {
		t.Fatal(err)
	}
	w, self := r.Free.WhatIf, r.Free.Simulated
	if diff := cmp.Diff(self, w[0].Simulated); diff != "" {
		t.Errorf("nothing changes, and yet:\n%s", diff)
	}
	for i, factor := range map[int]float64{1: 0.5, 4: 0.6, 5: 1.9} { // nine tenths of the work are of main.put
		if got := float64(w[i].Simulated.MakespanNs) / float64(self.MakespanNs); math.Abs(got-factor) > 0.06 {
			t.Errorf("%s: makespan times %.2f, want %.2f", w[i].Change, got, factor)
		}
	}
	for _, i := range []int{1, 2, 3, 6, 7} {
		// Overflows take a lock, on the goroutine's time (sim.Costs.Lock).
		if got := w[i].Simulated.BusyNs - self.BusyNs; max(got, -got) > 1000 {
			t.Errorf("%s: %d ns more work", w[i].Change, got)
		}
	}
	if w[2].Simulated.MakespanNs >= w[1].Simulated.MakespanNs {
		t.Error("four Ps are no faster than two")
	}
}

// The account of a part of the run is that of the same part of the model.
func TestUntil(t *testing.T) {
	o := FreeOptions{Seeds: 1}
	o.Workload.Until = 5_000_000
	r, err := freeReplay(t, "thousand-go1.26-p1", o)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Free
	if r.Observed.MakespanNs > 5_000_000 || f.Workload.EndNs != r.Observed.MakespanNs || f.Workload.Omitted == 0 || len(f.Notes) == 0 {
		t.Errorf("observed up to %d, %+v, notes %q", r.Observed.MakespanNs, f.Workload, f.Notes)
	}
	if e := f.Error.Busy; e == nil || math.Abs(*e) > 0.01 {
		t.Errorf("busy is off by %v", e)
	}
}

func TestBadChanges(t *testing.T) {
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{Policy: "nosuch"}, `policy "nosuch" is not known; there are go1.22, `},
		{Change{Policy: "gps"}, "no queues"},
		{Change{Procs: 1 << 20}, "GOMAXPROCS"},
		{Change{Slice: -1}, "slice"},
		{Change{Class: "main.put", Speed: math.NaN()}, "as fast"},
		{Change{Class: "main.nobody", Speed: 2}, `no class is called "main.nobody"`},
	} {
		if _, err := freeReplay(t, "put-take-go1.26-p1", FreeOptions{Seeds: 1, WhatIf: []Change{c.change}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.change, err, c.want)
		}
	}
}

// A trace without queues has no free replay.
func TestFreeReplayOfReducedTrace(t *testing.T) {
	r, err := freeReplay(t, "real/v1-context-go1.21", FreeOptions{})
	if err != nil || r.Free != nil {
		t.Errorf("%+v, %v", r.Free, err)
	}
}
