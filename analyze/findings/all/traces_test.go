package all_test

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

const traces = "../../../testdata/traces"

// detected are the results of traces that a test has analysed, by path.
var detected = map[string]*analyze.Result{}

// detect returns the findings in a trace; nil if it has nothing to analyse.
func detect(t *testing.T, path string) ([]findings.Finding, *analyze.Result) {
	t.Helper()
	r, ok := detected[path]
	if !ok {
		r = analysed(t, path)
		detected[path] = r
	}
	if r == nil {
		return nil, nil
	}
	return r.Findings, r
}

// analysed is the result of a trace; nil if it has nothing to analyse.
func analysed(t *testing.T, path string) *analyze.Result {
	t.Helper()
	r, err := analyze.File(t.Context(), path, analyze.Options{})
	if err != nil {
		return nil
	}
	return r
}

// What the scenarios were made to show, at least.
func TestScenarios(t *testing.T) {
	for pattern, want := range map[string]struct {
		id    string
		least findings.Severity
	}{
		"pingpong-starve-*":  {"runnext-monopoly", findings.Warning},
		"blocking-syscalls*": {"starvation", findings.Warning},
		"forever-*":          {"starvation", findings.Note}, // more work than Ps
		"preempt-small-*":    {"starvation", findings.Note},
		"thousand-by-*":      {"starvation", findings.Note},
	} {
		for _, f := range files(t, pattern) {
			list, _ := detect(t, f)
			ok := false
			for _, x := range list {
				ok = ok || x.ID == want.id && x.Severity.AtLeast(want.least)
			}
			if !ok {
				t.Errorf("%s: no %s of at least %s in\n%s", filepath.Base(f), want.id, want.least, findingstest.Text(list))
			}
		}
	}
}

// The near misses: what an expert would call in order, or too short to tell.
func TestScenariosThatAreInOrder(t *testing.T) {
	for _, pattern := range []string{"single-*", "steal-small-*", "gosched-*", "locked-threads-*", "overflow-*", "timers-go1.26-p1*", "real/cgo-*", "real/manygens-*"} {
		for _, f := range files(t, pattern) {
			list, _ := detect(t, f)
			for _, x := range list {
				// Each hop of the wired pair does switch threads.
				wired := x.ID == "locked-thread-penalty" && x.Severity == findings.Note && strings.HasPrefix(pattern, "locked-")
				// testing.AllocsPerRun does stop it.
				stops := x.ID == "stop-the-world-calls" && strings.HasPrefix(pattern, "real/manygens")
				if x.ID != "trace-quality" && !wired && !stops {
					t.Errorf("%s:\n%s", filepath.Base(f), findingstest.Text([]findings.Finding{x}))
				}
			}
		}
	}
}

// Short recordings of small programs, most on a machine with fewer cores than
// Ps: nothing in them is critical. And whatever is found is whole, within the
// trace, and (in a short test of some traces) the same each time.
func TestAllTraces(t *testing.T) {
	for i, f := range append(files(t, "*.gz"), files(t, "real/*.gz")...) {
		list, r := detect(t, f)
		if r == nil {
			continue
		}
		if tracetest.Long() || i%4 == 0 {
			if d := cmp.Diff(list, analysed(t, f).Findings); d != "" {
				t.Errorf("%s: not the same twice: %s", filepath.Base(f), d)
			}
		}
		for _, x := range list {
			if x.Severity == findings.Critical {
				t.Errorf("%s:\n%s", filepath.Base(f), findingstest.Text([]findings.Finding{x}))
			}
			if x.Title.String() == "" || len(x.Evidence) == 0 || len(x.Advice) == 0 || x.FromNs < 0 || x.ToNs < x.FromNs || x.ToNs > r.Trace.DurationNs {
				t.Errorf("%s: %+v", filepath.Base(f), x)
			}
		}
		if len(list) > 14 {
			t.Errorf("%s: %d findings", filepath.Base(f), len(list))
		}
		if testing.Verbose() {
			t.Logf("%s %s P%d\n%s", filepath.Base(f), quantity.Duration(r.Trace.DurationNs), r.Trace.GOMAXPROCS, findingstest.Text(list))
		}
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(traces, pattern))
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: no traces (%v)", pattern, err)
	}
	return out
}

// record returns the decisions of a trace.
func record(tb testing.TB, name string) []reference.Decision {
	tb.Helper()
	src, err := input.Open(context.Background(), filepath.Join(traces, name), input.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	var ds []reference.Decision
	if _, err := analyze.Run(context.Background(), src, analyze.Options{OnDecision: func(d *reference.Decision) error {
		ds = append(ds, *d)
		return nil
	}}); err != nil {
		tb.Fatal(err)
	}
	return ds
}

// BenchmarkTrace is the cost of all detectors for a decision of a real trace.
func BenchmarkTrace(b *testing.B) {
	for _, name := range []string{"real/esbuild-go1.26-p8.trace.gz", "real/manygens-io-go1.25-p4.trace.gz", "pingpong-starve-go1.26-p1.trace.gz"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			ds := record(b, name)
			blocks := annotated(ds)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			for b.Loop() {
				set := findings.NewSet(all.Detectors(all.Default()))
				for _, b := range blocks {
					set.Add(b)
				}
			}
			n := float64(b.N) * float64(len(ds))
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/decision")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/decision")
		})
	}
}

// annotated has the ledger write its notes beside decisions.
func annotated(ds []reference.Decision) (blocks []*ledger.Block) {
	l := ledger.New()
	for chunk := range slices.Chunk(ds, 1024) {
		b := &ledger.Block{Decisions: chunk}
		l.Annotate(b)
		blocks = append(blocks, b)
	}
	return blocks
}

// Once a Set knows the goroutines, classes and places of a program, more of the
// same costs it next to no memory.
func TestSteadyStateAllocatesLittle(t *testing.T) {
	for _, name := range []string{"real/manygens-io-go1.25-p4.trace.gz", "real/esbuild-go1.26-p8.trace.gz"} {
		ds := record(t, name)
		length := ds[len(ds)-1].Time + 1
		set := findings.NewSet(all.Detectors(all.Default()))
		feed := ledger.NewFeed(set.Add)
		// The first of these runs is not counted.
		n := testing.AllocsPerRun(1, func() {
			for i := range ds {
				feed.Add(&ds[i])
				ds[i].Time += length
			}
		})
		if limit := 0.002 * float64(len(ds)); n > limit {
			t.Errorf("%s: %.0f allocations for %d decisions, more than %.0f", name, n, len(ds), limit)
		} else {
			t.Logf("%s: %.0f allocations for %d decisions", name, n, len(ds))
		}
	}
}
