package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

const ms = int64(1_000_000)

// trace makes a result in which goroutines of one class waited and ran for that
// long in sum.
func trace(wait, run int64) *analyze.Result {
	const bins = 64
	s := waits.Summary{Count: 1000, TotalNs: wait, P50: wait / 2000, P99: wait / 200, MaxNs: wait / 50,
		Causes: []waits.CauseTime{{Cause: waits.CauseBehind, Ns: wait - wait/4}, {Cause: waits.CauseOvertaken, Ns: wait / 4}}}
	s.TimeWeighted.P50 = wait / 400
	r := &analyze.Result{
		Trace:          analyze.Trace{Name: "t", DurationNs: 1000 * ms, GOMAXPROCS: 2, GoVersion: "1.26"},
		Reconstruction: analyze.Reconstruction{Starts: 1000},
		Waits: waits.Result{All: s, User: s, Classes: []waits.Class{
			{ID: 1, Name: "main.a", Creator: "main.main", Goroutines: 8, RunningNs: run / 2, Waits: waits.Summary{TotalNs: wait / 3, P99: wait / 300}},
			{ID: 2, Name: "main.b", Creator: "main.main", Goroutines: 2, RunningNs: run / 2, Waits: waits.Summary{TotalNs: wait - wait/3, P99: wait / 200}},
		}},
		Procs: procs.Result{Ps: []procs.Proc{{RunningNs: run, LifetimeNs: 2000 * ms}}},
	}
	r.Pressure.Some = ratio(float64(wait), float64(wait+run))
	r.Timeline = timeline.Result{Bins: bins, Lanes: []timeline.Lane{{User: slices.Repeat([]uint8{uint8(255 * run / (2000 * ms))}, bins)}}}
	for range bins {
		r.Timeline.Runnable.Mean = append(r.Timeline.Runnable.Mean, float32(wait)/float32(1000*ms))
	}
	return r
}

// noisy are n traces of one program: waiting differs by a third.
func noisy(r *rand.Rand, n int, wait, run int64) []*analyze.Result {
	var out []*analyze.Result
	for range n {
		out = append(out, trace(int64(float64(wait)*math.Exp(0.3*r.NormFloat64())), int64(float64(run)*(1+0.02*r.NormFloat64()))))
	}
	return out
}

func mustCompare(t *testing.T, b, a []*analyze.Result) *Result {
	t.Helper()
	c, err := Compare(b, a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	base := noisy(r, 6, 400*ms, 1000*ms)
	for _, c := range []struct {
		name  string
		after []*analyze.Result
		want  Verdict
	}{
		{"half the waiting", noisy(r, 6, 100*ms, 1000*ms), Better},
		{"three times the waiting", noisy(r, 6, 1200*ms, 1000*ms), Worse},
		{"the same", noisy(r, 6, 400*ms, 1000*ms), NoChange},
	} {
		x := mustCompare(t, base, c.after)
		if x.Verdict != c.want || x.Headline == "" || x.Method != Traces {
			t.Errorf("%s: %s by %s: %s", c.name, x.Verdict, x.Method, x.Headline)
		}
	}
}

// One trace each: only a large change is one.
func TestOneTraceEach(t *testing.T) {
	one := func(wait int64) []*analyze.Result { return []*analyze.Result{trace(wait, 1000*ms)} }
	for _, c := range []struct {
		after int64
		want  Verdict
	}{{100 * ms, NoChange}, {140 * ms, Inconclusive}, {900 * ms, Worse}, {11 * ms, Better}} {
		x := mustCompare(t, one(100*ms), one(c.after))
		if x.Verdict != c.want || x.Method != Windows || len(x.Caveats) == 0 {
			t.Errorf("to %d ms: %s by %s: %s %v", c.after/ms, x.Verdict, x.Method, x.Headline, x.Caveats)
		}
	}
}

// What is asked for and how long it takes tells single traces apart, too; a share that
// rises because there is less to run does not.
func TestOneTraceEachByWhatIsFelt(t *testing.T) {
	side := func(wait, run, life int64) []*analyze.Result {
		r := trace(wait, run)
		r.Breakdown.Program.RunnableNs, r.Breakdown.Program.RunningNs = wait, run
		r.Breakdown.Classes = []breakdown.Class{{Name: "main.serve", Goroutines: 400, Complete: 400, CompleteNs: 400 * life}}
		return []*analyze.Result{r}
	}
	before := side(60*ms, 940*ms, ms)
	for _, c := range []struct {
		name  string
		after []*analyze.Result
		want  Verdict
	}{
		{"each as slow", side(60*ms, 940*ms, ms), NoChange},
		{"each somewhat slower", side(60*ms, 940*ms, 2*ms), Inconclusive},
		{"each far slower", side(60*ms, 940*ms, 4*ms), Worse},
		{"waits the same, runs a tenth", side(60*ms, 94*ms, ms), Inconclusive},
		{"waits half, runs a tenth, each far sooner", side(30*ms, 94*ms, ms/8), Better},
		{"waits more, runs a tenth", side(80*ms, 94*ms, ms), Worse},
	} {
		if x := mustCompare(t, before, c.after); x.Verdict != c.want || x.Method != Windows {
			t.Errorf("%s: %s by %s: %s; want %s", c.name, x.Verdict, x.Method, x.Headline, c.want)
		}
		back := map[Verdict]Verdict{Better: Worse, Worse: Better}
		if want, ok := back[c.want]; ok {
			if x := mustCompare(t, c.after, before); x.Verdict != want {
				t.Errorf("%s, back: %s: %s; want %s", c.name, x.Verdict, x.Headline, want)
			}
		}
	}
}

// On a machine without CPUs to spare, single traces prove nothing.
func TestOneTraceEachOfAStrainedMachine(t *testing.T) {
	b, a := trace(100*ms, 1000*ms), trace(900*ms, 1000*ms)
	a.Findings = append(a.Findings, findings.Finding{ID: "os-preemption", Kind: findings.KindMachine, Severity: findings.Warning})
	if x := mustCompare(t, []*analyze.Result{b}, []*analyze.Result{a}); x.Verdict != Inconclusive {
		t.Errorf("%s: %s", x.Verdict, x.Headline)
	}
}

// Programs that are the same are said to differ in no more than 5 % of diffs.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const n = 600
	alarms := 0
	for range n {
		x := mustCompare(t, noisy(r, 5, 400*ms, 1000*ms), noisy(r, 5, 400*ms, 1000*ms))
		if x.Verdict != NoChange {
			alarms++
		}
	}
	if share := float64(alarms) / n; share > 0.065 { // 5 %, and 1.7 standard deviations
		t.Errorf("%d of %d diffs of equal programs are alarms", alarms, n)
	}
}

func TestNoTraces(t *testing.T) {
	if _, err := Compare(nil, []*analyze.Result{trace(1, 1)}); !errors.Is(err, ErrNoTraces) {
		t.Error(err)
	}
}

// Causes and classes add up to the change exactly, whatever the numbers.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := func() []*analyze.Result {
			var out []*analyze.Result
			for range rapid.IntRange(1, 5).Draw(t, "n") {
				x := trace(rapid.Int64Range(0, 1<<50).Draw(t, "wait"), rapid.Int64Range(0, 1<<40).Draw(t, "run"))
				x.Trace.DurationNs = rapid.Int64Range(0, 1<<40).Draw(t, "duration")
				x.Waits.Classes = x.Waits.Classes[:rapid.IntRange(0, 2).Draw(t, "classes")]
				out = append(out, x)
			}
			return out
		}
		c, err := Compare(side(), side())
		if err != nil {
			t.Fatal(err)
		}
		var causes, classes Waiting
		for _, x := range c.Causes {
			causes.BeforeNs += x.BeforeNs
			causes.AfterNs += x.AfterNs
			causes.DeltaNs += x.DeltaNs
		}
		for _, x := range c.Classes {
			classes.BeforeNs += x.BeforeNs
			classes.AfterNs += x.AfterNs
			classes.DeltaNs += x.DeltaNs
		}
		if causes != c.Waiting || len(c.Classes) > 0 && classes != c.Waiting {
			t.Fatalf("causes %+v, classes %+v, all %+v", causes, classes, c.Waiting)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
	})
}

func TestBasis(t *testing.T) {
	long := trace(400*ms, 1000*ms)
	long.Trace.DurationNs *= 3
	long.Procs.Ps[0].RunningNs *= 3
	other := trace(400*ms, 300*ms)
	for _, c := range []struct {
		after *analyze.Result
		want  Basis
	}{{trace(100*ms, 1050*ms), PerTrace}, {long, PerSecond}, {other, PerRunning}} {
		if x := mustCompare(t, []*analyze.Result{trace(400*ms, 1000*ms)}, []*analyze.Result{c.after}); x.Basis != c.want {
			t.Errorf("%s, want %s", x.Basis, c.want)
		}
	}
}

func TestRenames(t *testing.T) {
	b, a := trace(400*ms, 1000*ms), trace(400*ms, 1000*ms)
	a.Waits.Classes[0].Name = "main.parse"
	a.Waits.Classes[1].Name, a.Waits.Classes[1].Creator = "other.b", "other.start"
	c := mustCompare(t, []*analyze.Result{b}, []*analyze.Result{a})
	want := []Rename{{"main.a", "main.parse", "created by the same function, about as many"}, {"main.b", "other.b", "the same name in another place, about as many"}}
	slices.SortFunc(c.Renames, func(x, y Rename) int { return len(x.After) - len(y.After) })
	slices.SortFunc(want, func(x, y Rename) int { return len(x.After) - len(y.After) })
	if !slices.Equal(c.Renames, want) {
		t.Errorf("%+v", c.Renames)
	}
}

func TestFindings(t *testing.T) {
	with := func(n int, ids ...string) []*analyze.Result {
		var out []*analyze.Result
		for i := range n {
			x := trace(400*ms, 1000*ms)
			for j, id := range ids {
				x.Findings = append(x.Findings, findings.Finding{ID: id, Severity: findings.Warning, Title: id, CostNs: (int64(j+1)*100 + int64(i)) * ms})
			}
			out = append(out, x)
		}
		return out
	}
	for _, n := range []int{1, 5} {
		c := mustCompare(t, with(n, "convoy", "starvation"), with(n, "starvation", "lock-convoy"))
		got := map[string]Change{}
		for _, f := range c.Findings {
			got[f.ID] = f.Change
		}
		want := map[string]Change{"convoy": Gone, "lock-convoy": New, "starvation": Shrunk} // 200 ms, then 100 ms
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d traces: %v, want %v", n, got, want)
		}
	}
}

func TestShift(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	y := []float64{11, 12, 13, 14, 15, 16, 17, 18}
	ci, ratio := resampler{}.shift(x, y)
	if ci[0] > 10 || ci[1] < 10 || ci[0] < 5 || ci[1] > 15 {
		t.Errorf("%v does not hold 10 tightly", *ci)
	}
	if r := 14.5 / 4.5; ratio[0] > r || ratio[1] < r || ratio[0] < 1.5 || ratio[1] > 8 {
		t.Errorf("%v does not hold %v tightly", *ratio, r)
	}
	if _, ratio := (resampler{}).shift([]float64{0, 0, 0, 0, 1}, x); ratio != nil {
		t.Errorf("a ratio to nothing: %v", *ratio)
	}
}

func TestDealings(t *testing.T) {
	n := 0
	deal(3, 3, func(in []bool) {
		n++
		if k := len(slices.DeleteFunc(slices.Clone(in), func(b bool) bool { return !b })); k != 3 {
			t.Fatal(k)
		}
	})
	if n != 20 {
		t.Errorf("%d dealings", n)
	}
	n = 0
	deal(20, 20, func([]bool) { n++ })
	if n != dealings {
		t.Errorf("%d dealings", n)
	}
}

// TestSuppressedIsNotNew compares traces in one of which a finding is suppressed: it
// is no finding of that side, and is named. What it says about the machine holds all
// the same.
func TestSuppressedIsNotNew(t *testing.T) {
	of := func(id string) []findings.Finding {
		return []findings.Finding{{ID: id, Severity: findings.Warning, CostNs: 1000 * ms, Actors: []findings.Actor{{Role: findings.Victim, Class: "main.a"}}}}
	}
	compare := func(id string, by ...findings.Suppression) *Result {
		b, a := trace(100*ms, 1000*ms), trace(100*ms, 1000*ms)
		a.Findings = of(id)
		a.Suppress(by, nil)
		return mustCompare(t, []*analyze.Result{b}, []*analyze.Result{a})
	}
	if c := compare("convoy"); len(c.Findings) != 1 || c.Findings[0].Change != New || len(c.Suppressed) != 0 {
		t.Errorf("without a suppression: %+v, %+v", c.Findings, c.Suppressed)
	}
	if c := compare("convoy", findings.Suppression{Finding: "convoy", Class: "main.*"}); len(c.Findings) != 0 || len(c.Suppressed) != 1 {
		t.Errorf("with one: %+v, %+v", c.Findings, c.Suppressed)
	}
	plain := compare("os-preemption")
	accepted := compare("os-preemption", findings.Suppression{Finding: "os-preemption", Class: "*"})
	if !slices.Equal(plain.Caveats, accepted.Caveats) || len(accepted.Suppressed) != 1 {
		t.Errorf("caveats %q, but %q where what the machine did is accepted", plain.Caveats, accepted.Caveats)
	}
}

func TestCPUsAreSaid(t *testing.T) {
	withCPUs := func(cpus float64) []*analyze.Result {
		r := trace(100*ms, 900*ms)
		r.Trace.CPUs = cpus
		return []*analyze.Result{r}
	}
	for _, c := range []struct {
		before, after float64
		want          string // empty: nothing
	}{
		{0, 0, ""},
		{0.5, 0.5, "The process had 0.5 CPUs (as told), before and after."},
		{1, 2, "The CPUs that the processes had, as told, differ: 1 before, 2 after (0: not told)."},
	} {
		r := mustCompare(t, withCPUs(c.before), withCPUs(c.after))
		if r.Before.CPUs != c.before || r.After.CPUs != c.after {
			t.Errorf("%v and %v: %v and %v", c.before, c.after, r.Before.CPUs, r.After.CPUs)
		}
		i := slices.IndexFunc(r.Caveats, func(s string) bool { return strings.Contains(s, "as told") })
		if (i >= 0) != (c.want != "") || i >= 0 && r.Caveats[i] != c.want {
			t.Errorf("%v and %v: %q", c.before, c.after, r.Caveats)
		}
	}
}

func TestCompareRefusesWhatWasNotMeasured(t *testing.T) {
	r := &analyze.Result{DecisionsOnly: true}
	if _, err := Compare([]*analyze.Result{r}, []*analyze.Result{r}); err == nil || !strings.Contains(err.Error(), "not measured") {
		t.Error(err)
	}
}
