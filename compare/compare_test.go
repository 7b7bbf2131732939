package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

const ms = int64(1_000_000)

// trace makes a result in which goroutines of one class waited and ran for that
// long in sum.
func trace(wait, run int64) *analyze.Result {
	s := waits.Summary{Count: 1000, TotalNs: wait, P50: wait / 2000, P99: wait / 200, MaxNs: wait / 50,
		Causes: []waits.CauseTime{{Cause: waits.CauseQueueing, Ns: wait - wait/4}, {Cause: waits.CauseOvertaken, Ns: wait / 4}}}
	r := &analyze.Result{
		Trace:          analyze.Trace{Name: "t", DurationNs: 1000 * ms, GOMAXPROCS: 2, GoVersion: "1.26"},
		Reconstruction: analyze.Reconstruction{Starts: 1000},
		Waits: waits.Result{All: s, User: s, Classes: []waits.Class{
			{ID: 1, Name: "main.a", Creator: "main.main", Goroutines: 8, RunningNs: run / 2, Waits: waits.Summary{TotalNs: wait / 3, P99: wait / 300}},
			{ID: 2, Name: "main.b", Creator: "main.main", Goroutines: 2, RunningNs: run / 2, Waits: waits.Summary{TotalNs: wait - wait/3, P99: wait / 200}},
		}},
		Procs: procs.Result{Ps: []procs.Proc{{RunningNs: run, LifetimeNs: 2000 * ms}}},
	}
	r.Breakdown.Program.RunnableNs, r.Breakdown.Program.RunningNs = wait, run
	return r
}

func mustCompare(t *testing.T, b, a []*analyze.Result) *Result {
	t.Helper()
	c, err := Compare(b, a)
	if err != nil {
		t.Fatal(err)
	}
	return c
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
				x.Findings = append(x.Findings, findings.Finding{ID: id, Severity: findings.Warning, Title: findings.Say("%s", id), CostNs: (int64(2*j+1)*100 + int64(i)) * ms})
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
		want := map[string]Change{"convoy": Gone, "lock-convoy": New, "starvation": Shrunk} // 300 ms, then 100 ms
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d traces: %v, want %v", n, got, want)
		}
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
