package replay

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/replay/workload"
)

func simulate(t *testing.T, name string, o SimulateOptions) (*Result, error) {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", name+".trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return Simulate(t.Context(), src, o)
}

// Traces of programs that had the CPU for themselves: the model is within the
// bands. lab/docs/replay.md has all traces.
func TestSelfReplay(t *testing.T) {
	for _, name := range []string{
		"gosched-go1.26-p1", "overflow-go1.22-p1", "overflow-go1.27-p1", "pingpong-starve-go1.25-p1", "pingpong-starve-go1.27-p1",
		"preempt-small-go1.22-p1", "put-take-go1.26-p1", "overflow-go1.24-p1", "pingpong-starve-go1.26-p1", "thousand-go1.26-p1",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := simulate(t, name, SimulateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			e := r.Simulated.Error
			for _, x := range []struct {
				what string
				e    *float64
				band float64
			}{{"makespan", e.Makespan, 0.03}, {"busy", e.Busy, 0.01}, {"waited", e.Waits.Total, 0.15}} {
				if x.e == nil || math.Abs(*x.e) > x.band {
					t.Errorf("%s is off by %v", x.what, x.e)
				}
			}
			for _, x := range [][2]int64{{r.Observed.Waits.P50, r.Simulated.Simulated.Waits.P50}, {r.Observed.Waits.P99, r.Simulated.Simulated.Waits.P99}} {
				if a, b := float64(x[0]), float64(x[1]); max(a/b, b/a) > 1.5 {
					t.Errorf("quantile %v, observed %v", b, a)
				}
			}
			for k, lo := range r.Simulated.Spread.Min.fields() {
				if mid, hi := r.Simulated.Simulated.fields()[k], r.Simulated.Spread.Max.fields()[k]; *lo > *mid || *mid > *hi {
					t.Errorf("number %d: median %d is not between %d and %d", k, *mid, *lo, *hi)
				}
			}
		})
	}
}

func TestWhatIf(t *testing.T) {
	o := SimulateOptions{Seeds: 3, WhatIf: []Change{
		{}, {Procs: 2}, {Procs: 4}, {Policy: "fifo"}, {Class: "main.put", Speed: 2}, {Class: "put", Speed: 0.5}, {NoGC: true}, {Slice: 1_000_000},
	}}
	r, err := simulate(t, "put-take-go1.26-p1", o)
	if err != nil {
		t.Fatal(err)
	}
	w, self := r.Simulated.WhatIf, r.Simulated.Simulated
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
	o := SimulateOptions{Seeds: 1}
	o.Workload.Until = 5_000_000
	r, err := simulate(t, "thousand-go1.26-p1", o)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Simulated
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
		{Change{Class: "main.put", Yield: 10}, "must be 1000 or more"},
		{Change{Policy: "nosuch"}, `policy "nosuch" is not known; there are go1.22, `},
		{Change{FreeLock: "main.put"}, `nobody waited for a mutex in "main.put"`},
		{Change{Procs: 1 << 20}, "GOMAXPROCS"},
		{Change{Slice: -1}, "slice"},
		{Change{Class: "main.put", Speed: math.NaN()}, "as fast"},
		{Change{Class: "main.nobody", Speed: 2}, `no class is called "main.nobody"`},
	} {
		if _, err := simulate(t, "put-take-go1.26-p1", SimulateOptions{Seeds: 1, WhatIf: []Change{c.change}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.change, err, c.want)
		}
	}
}

// A window of the run: who runs at its beginning, or is runnable, is there.
func TestFrom(t *testing.T) {
	for _, name := range []string{"put-take-go1.26-p1", "thousand-go1.26-p1"} {
		whole, err := simulate(t, name, SimulateOptions{Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		o := SimulateOptions{Seeds: 1, From: 4_000_000}
		o.Workload.Until = 8_000_000
		r, err := simulate(t, name, o)
		if err != nil {
			t.Fatal(err)
		}
		f := r.Simulated
		if f.Workload.FromNs != o.From || f.Workload.EndNs > 8_000_000 || f.Workload.EndNs != o.From+r.Observed.MakespanNs {
			t.Errorf("%s: taken from %d to %d; observed for %d", name, f.Workload.FromNs, f.Workload.EndNs, r.Observed.MakespanNs)
		}
		if b := r.Observed.BusyNs; b < 3_700_000 || b > 4_000_000 || 4*r.Observed.Waits.Count > 3*whole.Observed.Waits.Count {
			t.Errorf("%s: busy %d, %d of %d waits", name, b, r.Observed.Waits.Count, whole.Observed.Waits.Count)
		}
		if e := f.Error.Busy; e == nil || math.Abs(*e) > 0.01 {
			t.Errorf("%s: busy is off by %v", name, e)
		}
		if e := f.Error.Makespan; e == nil || math.Abs(*e) > 0.03 {
			t.Errorf("%s: the makespan is off by %v: %d, not %d", name, e, f.Simulated.MakespanNs, r.Observed.MakespanNs)
		}
	}
	for _, o := range []SimulateOptions{{From: 1 << 40}, {From: -1}, {From: 5, Workload: workload.Options{Until: 5}}} {
		if _, err := simulate(t, "single-go1.26-p1", o); err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}

// Without the lock that limits them, two Ps do the work in half the time.
func TestFreeLock(t *testing.T) {
	r, err := simulate(t, "mutex-go1.26-p2", SimulateOptions{Seeds: 1, WhatIf: []Change{{FreeLock: "main.locker"}, {FreeLock: "locker"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Simulated.Notes) > 0 {
		t.Errorf("notes %q", r.Simulated.Notes)
	}
	more, err := simulate(t, "mutex-go1.26-p2", SimulateOptions{Seeds: 1, WhatIf: []Change{{Procs: 4}}})
	if err != nil || len(more.Simulated.Notes) != 1 || !strings.Contains(more.Simulated.Notes[0], "mutex") {
		t.Errorf("with more Ps: %v, notes %q", err, more.Simulated.Notes)
	}
	busy := r.Simulated.Simulated.BusyNs
	for _, w := range r.Simulated.WhatIf {
		if got := w.Simulated.MakespanNs; got < busy/2 || got > busy*6/10 || w.Simulated.BusyNs < busy*99/100 {
			t.Errorf("%s: %d ns, of %d ns of work", w.Change, got, busy)
		}
	}
	for _, c := range []struct {
		want  string
		stack []string
	}{
		{"main.get", []string{"sync.runtime_SemacquireMutex (sema.go:95)", "internal/sync.(*Mutex).lockSlow (m.go:1)", "sync.(*Mutex).Lock (m.go:46)", "main.get (x.go:1)", "main.main (x.go:2)"}},
		{"a.(*T).read", []string{"sync.runtime_SemacquireRWMutexR (s.go:1)", "sync.(*RWMutex).RLock (rw.go:1)", "a.(*T).read (x.go:1)"}},
		{"", []string{"sync.runtime_SemacquireWaitGroup (s.go:1)", "sync.(*WaitGroup).Wait (w.go:1)", "main.main (x.go:1)"}},
		{"", nil},
	} {
		if got := locker(c.stack); got != c.want {
			t.Errorf("%q locks at %q, want %q", got, c.stack, c.want)
		}
	}
}

// GOMAXPROCS changes in the model when it changed in the trace.
func TestProcsChange(t *testing.T) {
	r, err := simulate(t, "real/annot-go1.26-p4to8", SimulateOptions{Seeds: 3, WhatIf: []Change{{Procs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Simulated.Error.Makespan; e == nil || math.Abs(*e) > 0.2 {
		t.Errorf("the makespan is off by %v", e)
	}
	if s := r.Simulated.WhatIf[0].Simulated.Steals; *s != 0 {
		t.Errorf("%d steals, with one P from beginning to end", *s)
	}
}

// On wasm there is no runnext, in the model neither.
func TestNoRunnext(t *testing.T) {
	r, err := simulate(t, "real/jswasm-context-go1.26", SimulateOptions{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Simulated.Error.Waits.Total; e == nil || math.Abs(*e) > 0.5 { // + 700 % with one
		t.Errorf("waiting is off by %v: %d, not %d", e, r.Simulated.Simulated.Waits.TotalNs, r.Observed.Waits.TotalNs)
	}
}

// Ideal sharing, as a what-if, has the work and waits, if no quantity of queues.
func TestSharing(t *testing.T) {
	var got []int64
	src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", "thousand-go1.26-p1.trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g, f := NewGuiding(src.Header(), Options{}), NewSimulation(src.Header(), SimulateOptions{Seeds: 2, WhatIf: []Change{{Policy: "gps"}}})
	f.OnProgress(func(done, total int64) { got = append(got, done, total) })
	res, err := analyze.Run(t.Context(), src, analyze.Options{OnDecision: f.Add})
	if err != nil {
		t.Fatal(err)
	}
	r := g.Finish(res)
	if err := f.Finish(t.Context(), res, r); err != nil {
		t.Fatal(err)
	}
	x := r.Simulated.WhatIf[0].Simulated
	if w := x.Waits; w.Count < 1000 || w.TotalNs <= 0 || w.P50 > w.P99 || w.P50 > w.TimeWeighted.P50 || *x.Steals != 0 {
		t.Errorf("%+v", w)
	}
	if d := x.MakespanNs - r.Simulated.Simulated.MakespanNs; d > 0 || d < -r.Simulated.Simulated.MakespanNs/20 {
		t.Errorf("the makespan is %d, Go's %d", x.MakespanNs, r.Simulated.Simulated.MakespanNs)
	}
	last := int64(-1)
	for i := 0; i < len(got); i += 2 {
		if done, total := got[i], got[i+1]; done < last || done > total || total != 9*r.Simulated.Workload.EndNs {
			t.Errorf("progress: %d of %d after %d, of 9 simulations of %d", done, total, last, r.Simulated.Workload.EndNs)
		}
		last = got[i]
	}
	if last < 0 {
		t.Error("no progress")
	}
}

// A trace without queues has no simulation.
func TestSimulationOfReducedTrace(t *testing.T) {
	r, err := simulate(t, "real/v1-context-go1.21", SimulateOptions{})
	if err != nil || r.Simulated != nil {
		t.Errorf("%+v, %v", r.Simulated, err)
	}
}
