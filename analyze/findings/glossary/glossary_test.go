package glossary_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/findings/glossary"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

func has(t *testing.T, k glossary.Kind, term string) {
	t.Helper()
	for _, x := range glossary.Of(k) {
		if x.Term == term {
			return
		}
	}
	t.Errorf("no %s %q", k, term)
}

func TestAllCausesAndSourcesInOrder(t *testing.T) {
	causes := glossary.Of(glossary.Cause)
	for i, c := range waits.Causes() {
		if i >= len(causes) || causes[i].Term != string(c) {
			t.Errorf("cause %d is not %s", i, c)
		}
	}
	sources := glossary.Of(glossary.Source)
	for i, s := range reference.Sources() {
		if i >= len(sources) || sources[i].Term != s.String() {
			t.Errorf("source %d is not %s", i, s)
		}
	}
	if len(causes) != len(waits.Causes()) || len(sources) != len(reference.Sources()) {
		t.Errorf("%d causes, %d sources", len(causes), len(sources))
	}
}

// The keys of the contract in the order of its text.
func TestAllMetricsOfTheContract(t *testing.T) {
	for group, keys := range map[string]string{
		"trace":          "format go_version duration_ns gomaxprocs events generations bytes lost_bytes warnings",
		"reconstruction": "starts explained ambiguous unexplained by_source",
		"waits":          "count total_ns p50_ns p90_ns p99_ns p999_ns max_ns time_weighted tail_mass causes",
		"ps":             "running_ns idle_ns gc_ns syscall_ns",
		"steals":         "count moved matrix",
		"pressure":       "some full unclaimed_idle",
		"fairness":       "jain max_lag_ns slowdown classes",
		"classes":        "goroutines running_ns waits causes antagonists",
		"findings":       "severity cost_ns from_ns evidence basis",
		"":               "handoffs retakes preemptions makespan_ns busy_ns error what_if verdict",
	} {
		for _, k := range strings.Fields(keys) {
			if group != "" {
				k = group + "." + k
			}
			has(t, glossary.Metric, k)
		}
	}
}

func TestWordsOfTheReference(t *testing.T) {
	for _, w := range []string{
		"goroutine", "M", "P", "runnext", "local run queue", "global run queue", "overflow", "global batch",
		"61st tick", "steal", "retake", "handoff", "preemption", "wait", "stint",
	} {
		has(t, glossary.Word, w)
	}
}

func TestEntriesAreWhole(t *testing.T) {
	type key struct {
		k glossary.Kind
		n string
	}
	seen := map[key]bool{}
	for _, x := range glossary.Terms() {
		if x.Term == "" || x.Long == "" || !strings.HasSuffix(x.Short, ".") || !strings.HasSuffix(x.Long, ".") {
			t.Errorf("%+v", x)
		}
		if seen[key{x.Kind, x.Term}] {
			t.Errorf("%s %s twice", x.Kind, x.Term)
		}
		seen[key{x.Kind, x.Term}] = true
		found := glossary.Find(x.Term)
		if len(found) == 0 || !strings.EqualFold(found[0].Term, x.Term) {
			t.Errorf("%q finds %v", x.Term, found)
		}
		for _, a := range x.Aliases {
			ok := false
			for _, y := range glossary.Find(a) {
				ok = ok || y.Term == x.Term && y.Kind == x.Kind
			}
			if !ok {
				t.Errorf("alias %q does not find %q", a, x.Term)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"RUNNEXT": "runnext", "Local Queue": "local run queue", "p99": "waits.p99_ns", "p99_ns": "waits.p99_ns", "tail-mass": "waits.tail_mass",
		"Jain's index": "fairness.jain", "unclaimed_idle": "pressure.unclaimed_idle", "idle-P/missed": "idle-p/missed",
		"causes[]": "waits.causes", "max": "waits.max_ns", "g": "goroutine",
	} {
		if x := glossary.Find(name); len(x) == 0 || x[0].Term != want {
			t.Errorf("%q: %v, want %s", name, x, want)
		}
	}
	for _, name := range []string{"", " ", "nonsense"} {
		if x := glossary.Find(name); len(x) > 0 {
			t.Errorf("%q: %v", name, x)
		}
	}
}

// explain looks among the detectors first: no entry may hide behind one.
func TestNoEntryIsNamedLikeADetector(t *testing.T) {
	for _, d := range all.Docs() {
		if x := glossary.Find(d.ID); len(x) > 0 {
			t.Errorf("%s: %v", d.ID, x)
		}
	}
}
