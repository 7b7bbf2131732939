package analyze_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// traces lists the traces of the repository, and those in the folders that
// GMPSCOPE_TRACES names, separated as in PATH.
func traces(t testing.TB) []string {
	t.Helper()
	var out []string
	dirs := append([]string{"../testdata/traces", "../testdata/traces/real"}, filepath.SplitList(os.Getenv("GMPSCOPE_TRACES"))...)
	for _, dir := range dirs {
		for _, pattern := range []string{"*.trace.gz", "*.trace"} {
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, names...)
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d traces found", len(out))
	}
	return light(t, out)
}

// light is files; in a short test those of at most 48 kB, or the smallest of them.
func light(t testing.TB, files []string) (out []string) {
	t.Helper()
	if tracetest.Long() {
		return files
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for _, name := range files {
		if size(name) <= 48<<10 {
			out = append(out, name)
		}
	}
	if len(out) == 0 && len(files) > 0 {
		out = append(out, slices.MinFunc(files, func(x, y string) int { return int(size(x) - size(y)) }))
	}
	return out
}

func open(t testing.TB, name string) *input.Source {
	t.Helper()
	src, err := input.Open(t.Context(), name, input.Options{})
	if err != nil {
		t.Skipf("not readable: %v", err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// plain counts waits by the definition alone, without any of the pipeline
// behind the events: from the event that made, or first showed, a goroutine
// runnable to its start.
func plain(t *testing.T, name string) (count, total int64) {
	src := open(t, name)
	s := events.New(t.Context(), src, events.Options{})
	defer s.Close()
	since := map[int64]int64{}
	for {
		evs, err := s.Next()
		if err == io.EOF {
			return count, total
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range evs {
			if e.Kind != events.Go {
				continue
			}
			if from, ok := since[e.Res]; ok && e.From == events.Runnable && e.To == events.Running {
				count++
				total += e.Time - from
			}
			if e.To != events.Runnable {
				delete(since, e.Res)
			} else if _, ok := since[e.Res]; !ok {
				since[e.Res] = e.Time
			}
		}
	}
}

// sequential counts the starts that one reader over the whole file shows.
func sequential(t *testing.T, name string) int64 {
	src := open(t, name)
	var whole []byte
	for {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data := gen.Data
		if len(whole) > 0 {
			data = data[16:]
		}
		whole = append(whole, data...)
	}
	r, err := trace.NewReader(strings.NewReader(string(whole)))
	if err != nil {
		t.Skip(err)
	}
	var n int64
	for {
		ev, err := r.ReadEvent()
		if err != nil {
			return n
		}
		if ev.Kind() != trace.EventStateTransition {
			continue
		}
		if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
			if from, to := st.Goroutine(); from == trace.GoRunnable && to == trace.GoRunning {
				n++
			}
		}
	}
}

// analysed is a trace that is analysed once for several tests.
type analysed struct {
	*analyze.Result
	starts int64 // after waits that the trace shows the beginning of
	err    error
}

var analysedTraces = map[string]*analysed{} // by name

// analysis analyses a trace, if no test has yet.
func analysis(t *testing.T, name string) *analysed {
	t.Helper()
	if a := analysedTraces[name]; a != nil {
		return a
	}
	a := &analysed{}
	a.Result, a.err = analyze.Run(t.Context(), open(t, name), analyze.Options{OnDecision: func(d *reference.Decision) error {
		if d.Kind == reference.KindStart && d.Flags&reference.FlagFirst == 0 {
			a.starts++
		}
		return nil
	}})
	analysedTraces[name] = a
	return a
}

func TestWaitsAreThoseOfTheEvents(t *testing.T) {
	for _, name := range traces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			count, total := plain(t, name)
			res := analysis(t, name)
			if err := res.err; err != nil {
				if count > 0 {
					t.Fatalf("%d waits are readable, but: %v", count, err)
				}
				t.Skip(err)
			}
			starts := res.starts
			w := res.Waits.All
			if w.Count != count || w.TotalNs != total {
				t.Errorf("%d waits of %d ns, but a plain loop counts %d of %d ns", w.Count, w.TotalNs, count, total)
			}
			var causes int64
			for _, c := range w.Causes {
				causes += c.Ns
			}
			if causes != w.TotalNs {
				t.Errorf("causes sum to %d ns of %d", causes, w.TotalNs)
			}
			if n := sequential(t, name); n != starts {
				t.Errorf("%d starts, but a reader over the whole file shows %d", starts, n)
			}
			var sum int64
			for _, p := range res.Procs.Ps {
				if got := p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs + p.SyscallNs + p.SchedNs + p.IdleNs + p.StoppedNs + p.UnusedNs; got != p.LifetimeNs {
					t.Errorf("P%d: times sum to %d of %d ns", p.P, got, p.LifetimeNs)
				}
			}
			if sum = res.Reconstruction.Explained + res.Reconstruction.Ambiguous + res.Reconstruction.Unexplained; sum != res.Reconstruction.Starts || sum != starts {
				t.Errorf("explained, ambiguous and unexplained sum to %d of %d starts", sum, starts)
			}
			if e := res.Fairness.LittleError; e > 1e-6 || e < -1e-6 {
				t.Errorf("Little's law is off by %g", e)
			}
		})
	}
}

func TestSameResultAtAnyNumberOfWorkers(t *testing.T) {
	name := "../testdata/traces/real/manygens-io-go1.25-p4.trace.gz"
	var first []byte
	for _, workers := range []int{1, 2, 7} {
		res, err := analyze.Run(t.Context(), open(t, name), analyze.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if string(first) != string(got) {
			t.Errorf("%d workers give another result than 1", workers)
		}
	}
}

func TestRunTellsOfEvents(t *testing.T) {
	var got int64
	r, err := analyze.Run(t.Context(), open(t, "../testdata/traces/gc-go1.26-p4.trace.gz"), analyze.Options{OnEvents: func(n int) { got += int64(n) }})
	if err != nil {
		t.Fatal(err)
	}
	if got != r.Trace.Events {
		t.Errorf("told of %d events, and there are %d", got, r.Trace.Events)
	}
}

// DecisionsOnly gives the same decisions, and the same account of the trace.
func TestDecisionsOnly(t *testing.T) {
	name := "../testdata/traces/gc-go1.26-p4.trace.gz"
	run := func(only bool) (*analyze.Result, []reference.Decision) {
		var ds []reference.Decision
		res, err := analyze.Run(t.Context(), open(t, name), analyze.Options{DecisionsOnly: only, OnDecision: func(d *reference.Decision) error {
			ds = append(ds, *d)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return res, ds
	}
	all, want := run(false)
	only, got := run(true)
	if !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%d decisions are not the %d of a whole analysis", len(got), len(want))
	}
	if d := cmp.Diff(&analyze.Result{Trace: all.Trace, Reconstruction: all.Reconstruction, DecisionsOnly: true}, only); d != "" {
		t.Error(d)
	}
	if res, err := analyze.Run(t.Context(), open(t, name), analyze.Options{DecisionsOnly: true}); err != nil || res.Trace.Events != all.Trace.Events {
		t.Errorf("without OnDecision: %v, %v", res, err)
	}
}

func TestRunStops(t *testing.T) {
	name := "../testdata/traces/gc-go1.26-p4.trace.gz"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analyze.Run(ctx, open(t, name), analyze.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run gives %v", err)
	}
	stop := errors.New("enough")
	for _, only := range []bool{false, true} {
		calls := 0
		o := analyze.Options{DecisionsOnly: only, OnDecision: func(*reference.Decision) error { calls++; return stop }}
		if _, err := analyze.Run(t.Context(), open(t, name), o); !errors.Is(err, stop) || calls != 1 {
			t.Errorf("decisions only %v: a failing OnDecision gives %v after %d calls", only, err, calls)
		}
	}
}

func TestThresholdsBeyondBoundsAreRefused(t *testing.T) {
	thresholds := all.Default()
	thresholds.StealStorm.WindowNs = 0
	_, err := analyze.File(t.Context(), filepath.Join("..", "testdata", "traces", "uneven-go1.26-p4.trace.gz"), analyze.Options{Thresholds: thresholds})
	if err == nil || !strings.Contains(err.Error(), "steal-storm.window_ns is 0") {
		t.Errorf("%v", err)
	}
}
