package vocabulary_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/reference"
)

func has(t *testing.T, k vocabulary.Kind, term string) {
	t.Helper()
	for _, x := range vocabulary.Of(k) {
		if x.Name == term {
			return
		}
	}
	t.Errorf("no %s %q", k, term)
}

func TestAllCausesAndSourcesInOrder(t *testing.T) {
	causes := vocabulary.Of(vocabulary.Cause)
	for i, c := range waits.Causes() {
		if i >= len(causes) || causes[i].Name != string(c) {
			t.Errorf("cause %d is not %s", i, c)
		}
	}
	sources := vocabulary.Of(vocabulary.Source)
	for i, s := range reference.Sources() {
		if i >= len(sources) || sources[i].Name != s.String() {
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
			has(t, vocabulary.Metric, k)
		}
	}
}

func TestWordsOfTheReference(t *testing.T) {
	for _, w := range []string{
		"goroutine", "M", "P", "runnext", "local run queue", "global run queue", "overflow", "global batch",
		"61st tick", "steal", "retake", "handoff", "preemption", "wait", "run interval",
	} {
		has(t, vocabulary.Word, w)
	}
}

func TestEntriesAreWhole(t *testing.T) {
	type key struct {
		k vocabulary.Kind
		n string
	}
	seen := map[key]bool{}
	for _, x := range vocabulary.Terms() {
		if x.Name == "" || x.Long == "" || !strings.HasSuffix(x.Short, ".") || !strings.HasSuffix(x.Long, ".") {
			t.Errorf("%+v", x)
		}
		if seen[key{x.Kind, x.Name}] {
			t.Errorf("%s %s twice", x.Kind, x.Name)
		}
		seen[key{x.Kind, x.Name}] = true
		found := vocabulary.Find(x.Name)
		if len(found) == 0 || !strings.EqualFold(found[0].Name, x.Name) {
			t.Errorf("%q finds %v", x.Name, found)
		}
		for _, a := range x.Aliases {
			ok := false
			for _, y := range vocabulary.Find(a) {
				ok = ok || y.Name == x.Name && y.Kind == x.Kind
			}
			if !ok {
				t.Errorf("alias %q does not find %q", a, x.Name)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"RUNNEXT": "runnext", "Local Queue": "local run queue", "p99": "waits.p99_ns", "p99_ns": "waits.p99_ns", "tail-mass": "waits.tail_mass",
		"Jain's index": "fairness.jain", "unclaimed_idle": "pressure.unclaimed_idle", "idle-P/missed": "idle-p-available", "idle P available": "idle-p-available", "behind": "queueing",
		"causes[]": "waits.causes", "max": "waits.max_ns", "g": "goroutine",
		"passed": "passed", "taint": "taint",
	} {
		if x := vocabulary.Find(name); len(x) == 0 || x[0].Name != want {
			t.Errorf("%q: %v, want %s", name, x, want)
		}
	}
	if x := vocabulary.Find("inferred:lookahead"); len(x) != 2 || x[1].Name != "lookahead" {
		t.Errorf("a level and a rule: %v", x)
	}
	for _, name := range []string{"", " ", "nonsense", "inferred:nonsense"} {
		if x := vocabulary.Find(name); len(x) > 0 {
			t.Errorf("%q: %v", name, x)
		}
	}
}

// explain looks among the detectors first: no entry may hide behind one.
func TestNoEntryIsNamedLikeADetector(t *testing.T) {
	for _, d := range all.Docs() {
		if x := vocabulary.Find(d.ID); len(x) > 0 {
			t.Errorf("%s: %v", d.ID, x)
		}
	}
}

// Each value that a decision or a finding may have is in the table.
func TestValues(t *testing.T) {
	known := func(name string, kinds ...vocabulary.Kind) {
		t.Helper()
		for _, k := range kinds {
			if term, ok := vocabulary.Lookup(k, name); ok && term.Phrase != "" {
				return
			}
		}
		t.Errorf("no phrase for %q among %v", name, kinds)
	}
	for i := range 256 {
		if s := reference.Why(i).String(); s != "invalid" {
			known(s, vocabulary.Why, vocabulary.Reason, vocabulary.End)
		}
		if s := reference.Queue(i).String(); s != "invalid" {
			known(s, vocabulary.Queue)
		}
		if s := reference.Basis(i).Level().String(); s != "invalid" {
			known(s, vocabulary.Level)
		}
		if r := reference.Basis(i).Rule(); r != reference.RuleNone && r.String() != "invalid" {
			known(r.String(), vocabulary.Rule)
		}
	}
	for r := range breakdown.Reasons {
		known(breakdown.Reason(r).String(), vocabulary.Blocked)
	}
	for _, s := range []findings.Severity{findings.Note, findings.Warning, findings.Critical} {
		known(string(s), vocabulary.Severity)
	}
	for _, w := range []findings.CostBase{findings.OfWaiting, findings.OfIdle, findings.OfBlocked, findings.OfPTime} {
		known(string(w), vocabulary.Whole)
	}
	for _, term := range vocabulary.Of(vocabulary.Cause) {
		if term.Phrase == "" || term.Advice == "" {
			t.Errorf("cause %s has no phrase or no advice", term.Name)
		}
		if slug := strings.ReplaceAll(strings.ToLower(term.Title), " ", "-"); slug != term.Name {
			t.Errorf("cause %s has a second name, %s", term.Name, term.Title)
		}
	}
}
