package bench

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestShares(t *testing.T) {
	const text = `File: bench
Type: cpu
Duration: 1.2s, Total samples = 1s
-----------+-------------------------------------------------------
     600ms   runtime.mapaccess1_fast64
             golang.org/x/exp/trace.(*ordering).advanceGoStart
             github.com/gmpscope/gmpscope/analyze/events.(*decoder).run
-----------+-------------------------------------------------------
     0.25s   github.com/gmpscope/gmpscope/analyze/waits.(*Accumulator).Add (inline)
             github.com/gmpscope/gmpscope/analyze.(*analysis).measure.func1
             github.com/gmpscope/gmpscope/analyze.(*pipeline).run
-----------+-------------------------------------------------------
     100ms   runtime.scanobject
             runtime.gcDrain
             runtime.gcBgMarkWorker.func2
-----------+-------------------------------------------------------
      30ms   runtime.futex
             runtime.findRunnable
-----------+-------------------------------------------------------
      20ms   github.com/gmpscope/gmpscope/analyze/findings/gc-assist-wait.(*watcher).See
`
	got, err := shares(text, owner)
	if err != nil {
		t.Fatal(err)
	}
	want := []share{
		{"golang.org/x/exp/trace", 0.6, 0.6},
		{"analyze/waits", 0.25, 0},
		{collector, 0.1, 0},
		{elsewhere, 0.03, 0},
		{"analyze/findings/gc-assist-wait", 0.02, 0},
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	got, err = shares(text, step)
	if err != nil {
		t.Fatal(err)
	}
	want = []share{{"else", 0.75, 0}, {"ledger, waits", 0.25, 0}}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if _, err := shares("File: bench\n", owner); err == nil {
		t.Error("an empty profile has shares")
	}
}

// invented is a page whose figures can be worked out by hand.
func invented() *page {
	round := func(wall, cpu time.Duration, mb int64) cost {
		return cost{wall * time.Second, cpu * time.Second, mb * 1e6}
	}
	trace := func(name, title string, f facts, plain, analyze []cost) *measured {
		return &measured{
			spec: spec{name: name, title: title, closely: true}, facts: f, tools: []string{plainLoop, analysis},
			costs: map[string][]cost{plainLoop: plain, analysis: analyze},
		}
	}
	mixed := trace(central, "mixed", facts{Bytes: 12e6, Events: 6e6, Generations: 3, Largest: 5e6, Live: 1500, Duration: 2 * time.Second},
		[]cost{round(1, 1, 20), round(2, 1, 30), round(1, 1, 25)},
		[]cost{round(3, 4, 100), round(4, 4, 90), round(5, 5, 80)})
	mixed.tools = append(mixed.tools, oneCore)
	mixed.costs[oneCore] = []cost{round(4, 4, 100), round(8, 4, 90), round(4, 5, 80)}
	mixed.tools = append(mixed.tools, peers[0].name, peers[1].name)
	mixed.costs[peers[0].name] = []cost{round(20, 20, 2000)}
	mixed.fails = map[string]string{peers[1].name: "exit status 1"}
	mixed.packages, mixed.steps = []share{{"analyze/waits", 0.996, 0.4}, {"analyze/input", 0.004, 0}}, []share{{"detectors", 0.75, 0}, {"decoding", 0.25, 0}}
	mixed.costs[earlier] = mixed.costs[analysis]
	return &page{
		date: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), rounds: 3, before: "a revision", wider: map[int][]share{2: mixed.steps, 4: mixed.steps},
		traces: []*measured{
			mixed,
			trace(megabyte, "a megabyte", facts{Bytes: 1e6, Events: 3e5}, []cost{round(1, 1, 10)}, []cost{round(4, 2, 20)}),
			trace("few", "1,000 goroutines", facts{Live: 1000}, []cost{round(1, 1, 10)}, []cost{round(1, 1, 20)}),
			trace("many", "11,000 goroutines", facts{Live: 11_000}, []cost{round(1, 1, 12)}, []cost{round(1, 1, 40)}),
			trace("minute", "steady, 1 min", facts{Events: 1e6, Duration: time.Minute}, []cost{round(1, 1, 10)}, []cost{round(3, 2, 50)}),
			trace("minutes", "steady, 10 min", facts{Events: 10e6, Duration: 10 * time.Minute}, []cost{round(10, 10, 10)}, []cost{round(30, 22, 51)}),
		},
		starts: []started{{"version", 5 * time.Millisecond, 6 * time.Millisecond}},
	}
}

func TestPage(t *testing.T) {
	p := invented()
	for _, c := range []struct{ what, in, want string }{
		{"a trace", p.long(), "12.0 MB, 6.0 M events, 3 generations, the largest of 5.0 MB; 2s; up to 1,500 goroutines at a time."},
		{"the plain loop", p.long(), "| plain loop | 1 (1.0 s) | 1 (1.0 s) | 6.00 | 30 MB |"},
		{"ratios of the same round", p.long(), "| analyze | 3.00 (2.00–5.00) | 4.00 | 1.50 | 100 MB |"},
		{"a peer", p.long(), "| go tool trace -pprof=sched | 20.00 | 20.00 | 0.30 | 2000 MB |"},
		{"a peer that failed", p.long(), "| gotraceui's parser | failed: exit status 1 | | | |"},
		{"growth", p.long(), "| analyze | × 10.00 | × 11.00 | +10 % | 50 MB\u00a0→ 51 MB |"},
		{"goroutines", p.long(), "| analyze | 2000 |"},
		{"what an event costs by step", p.detail(), "| mixed | 167 | 167 | 0 | 0 | 0 | 500 | 0 | 0 | 0 |"},
		{"the steps", p.detail(), "| detectors | 75.0 % | 75.0 % | 75.0 % |"},
		{"more cores", p.detail(), "| mixed | 1.3 (3.00) | 1.3 (3.00) | 1.3 (3.00) | 1.3 (3.00) | detectors, 75 % |"},
		{"the revision before", p.detail(), "| mixed | 3.00 | 3.00 | 4.00 | 4.00 | 667 | 667 | 100 MB | 100 MB |"},
		{"the profile", p.detail(), "| analyze/waits | 99.6 % | 40.0 % |"},
		{"all traces", p.long(), "| mixed | 12.0 | 6.0 | 1,500 | 1.00 s | 3.00 (2.00–5.00) | +3000 ms | 4.00 | 4.00 | 100 MB |"},
		{"the start", p.long(), "| version | 5 ms | 6 ms |"},
		{"a goal that is missed", p.long(), "| wall, beyond the plain loop | 3 | 5 | steady, 10 min | 100 ms | 20000 ms |"},
		{"another", p.long(), "| CPU | 1 | 1 | mixed | 2.00 | 4.00 |"},
		{"what is met", p.long(), "Of 13 such goals, 8 are met:"},
	} {
		if !strings.Contains(c.in, c.want) {
			t.Errorf("%s: no %q in\n%s", c.what, c.want, c.in)
		}
	}
	if strings.Contains(p.detail(), "analyze/input") {
		t.Error("the profile shows an owner of next to nothing")
	}
}

// However blocks vary, one core is busy all the time, no number of cores is faster than the longest step
// and the result, and nothing is where all is one step.
func TestOnCores(t *testing.T) {
	even := []share{{Owner: "decoding", All: 0.2}, {Owner: "reconstruction", All: 0.2}, {Owner: "detectors", All: 0.2}, {Owner: "units of work", All: 0.2}, {Owner: "else", All: 0.2}}
	one := []share{{Owner: "detectors", All: 1}}
	late := []share{{Owner: "detectors", All: 0.5}, {Owner: "result", All: 0.5}}
	for _, c := range []struct {
		what        string
		shares      []share
		cores       int
		least, most float64
	}{
		{"one core", even, 1, 0.98, 1.02},
		{"two cores", even, 2, 0.5, 0.52},
		{"a core for each step", even, 16, 0.25, 0.27},
		{"one step", one, 16, 0.98, 1.02},
		{"the result", late, 16, 0.98, 1.02},
	} {
		if got := onCores(c.shares, 1000, c.cores); got < c.least || got > c.most {
			t.Errorf("%s: %.3f of the time, want %v to %v", c.what, got, c.least, c.most)
		}
	}
}

func TestUpdate(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := invented()
	for range 2 { // the second replaces what the first wrote
		if err := p.update(root); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "performance.md"))
	if err != nil || string(got) != p.long() {
		t.Errorf("docs/performance.md: %v\n%s", err, got)
	}
}

// TestMake records a small trace, lengthens it, and reads it.
func TestMake(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs a program")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, loadProgram), "github.com/gmpscope/gmpscope/lab/bench/load")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx := context.Background()
	recorded := filepath.Join(dir, "recorded")
	if err := (recording{"crowd", 4, 1, 2000}).record(ctx, dir, recorded); err != nil {
		t.Fatal(err)
	}
	f, err := learn(ctx, recorded)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if f.Live < 2000 || f.Live > 2100 || f.Events < 6000 || f.Generations < 2 || f.Largest > f.Bytes || math.Abs(float64(st.Size()-f.Bytes)) > 100 {
		t.Errorf("%+v of a trace with 2000 goroutines and %d bytes", f, st.Size())
	}
}

// TestCost runs a program that does nothing.
func TestCost(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	c, err := b.cost(context.Background(), []string{"go", "version"}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Wall <= 0 || c.CPU <= 0 || runtime.GOOS == "linux" && c.Memory <= 0 {
		t.Errorf("it cost %+v", c)
	}
	if _, err := b.cost(context.Background(), []string{"go", "no-such-command"}, nil, true); err == nil {
		t.Error("a program that fails costs something")
	}
}

// TestTraces holds the names of traces, and so of their files, apart.
func TestTraces(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range traces() {
		if seen[x.name] {
			t.Errorf("two traces are called %s", x.name)
		}
		seen[x.name] = true
	}
	for _, name := range []string{central, megabyte, "few", "many", "minute", "minutes"} {
		if !seen[name] {
			t.Errorf("no trace is called %s, which the page is about", name)
		}
	}
}

func TestAnswer(t *testing.T) {
	first, end, err := answer(exec.Command("go", "version"))
	if err != nil || first <= 0 || first > end {
		t.Errorf("first byte after %v, end after %v, %v", first, end, err)
	}
}
