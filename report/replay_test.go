package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/replay"
)

// replayed has every field of a replay's result filled.
func replayed() *replay.Result {
	steals := int64(7)
	g := &replay.AuditResult{
		Starts: 10, Explained: 7, Ambiguous: 1, Unexplained: 2, Corrections: 3, MoreDivergences: 4,
		ByRule:     map[string]replay.Tally{"local": {Explained: 7, Ambiguous: 1}, "steal": {Unexplained: 2}},
		Races:      map[replay.Race]int64{},
		Puts:       map[string]replay.Tally{"runnext": {Explained: 9}, "overflow": {Explained: 1}},
		Violations: map[replay.Invariant]int64{},
	}
	for _, r := range raceWords {
		g.Races[r.race] = 1
	}
	for _, i := range replay.Invariants() {
		g.Violations[i] = 1
	}
	for i, v := range []replay.Verdict{replay.Ambiguous, replay.Unexplained, replay.Violation} {
		d := replay.Divergence{Time: int64(i) * 1000, N: int64(i), Kind: "start", G: 5, P: 1, Rule: "steal", Verdict: v, Expected: "a batch of 2", Found: "1"}
		if v == replay.Ambiguous {
			d.Race = replay.RacePut
		}
		g.Divergences = append(g.Divergences, d)
	}
	return &replay.Result{
		Trace:  analyze.Trace{Name: "a\x1b[31m.trace", GOMAXPROCS: 2, Warnings: []string{"10 bytes lost"}},
		Policy: "go1.26", GOMAXPROCS: 2, Audit: g,
		Observed: replay.Run{MakespanNs: 1e6, BusyNs: 5e5, Steals: &steals, Waits: replay.Waits{Count: 10, TotalNs: 1000, P50: 90, P99: 300, TimeWeighted: replay.Weighted{P50: 200}}},
	}
}

func replayJSON(t *testing.T, r *replay.Result) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := WriteReplayJSON(&b, r, "gmpscope test"); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	return v
}

// simulated has every field of a simulation filled.
func simulated() *replay.Simulated {
	n, e := int64(7), 0.125
	run := replay.Run{MakespanNs: 2e6, BusyNs: 5e5, Steals: &n, GlobalTakes: &n, Waits: replay.Waits{Count: 11, TotalNs: 2000, P50: 95, P99: 310, TimeWeighted: replay.Weighted{P50: 210}}}
	spread := replay.Range{Min: run, Max: run}
	wait := replay.ClassWait{RunningNs: 4, Count: 3, TotalNs: 700, P50: 5, P99: 6}
	return &replay.Simulated{
		Workload:  replay.Size{Goroutines: 3, Steps: 17, Arrivals: 2, GCCycles: 1, MarkNs: 5, GOMAXPROCS: 2, SwitchNs: 130, ThreadWakeNs: 4000, FromNs: 1000, EndNs: 1e6, Omitted: 1, Seeds: 5},
		Simulated: run, Spread: spread,
		Error:         replay.Error{Makespan: &e, Busy: &e, Waits: replay.ErrorWaits{Count: &e, Total: &e, P50: &e, P99: &e, WeightedP50: &e}, Steals: &e},
		Causes:        []replay.CauseRun{{Cause: waits.CauseQueueing, ObservedNs: 900, SimulatedNs: 800}},
		Classes:       []replay.ClassRun{{Name: "main.w\x1b[31morker", Creator: "main.main", Observed: wait, Simulated: wait, Error: &e}},
		WhatIf:        []replay.WhatIf{{Change: "policy thread-per-goroutine", Simulated: run, Spread: spread}},
		Decomposition: split(),
		Notes:         []string{"GOMAXPROCS changes in the trace"},
	}
}

// split is one in which the policy takes from one class to give to another, and
// the model waits too long.
func split() *replay.Decomposition {
	e := 0.25
	return &replay.Decomposition{
		FromNs: 0, EndNs: 3e6, DurationNs: 4e6, GOMAXPROCS: 2, Seeds: 3, Ideal: "fifo", GPSNs: 900_000, FIFONs: 700_000, ReferenceNs: 1_250_000,
		Total: replay.Parts{ObservedNs: 1e6, CapacityNs: 700_000, PolicyNs: 550_000, ExcessNs: -250_000},
		Classes: []replay.ClassSplit{
			{Class: 4, Name: "main.w\x1b[31morker", Creator: "main.main", Parts: replay.Parts{ObservedNs: 900_000, CapacityNs: 400_000, PolicyNs: 700_000, ExcessNs: -200_000}},
			{Class: -1, Name: "(other classes)", Parts: replay.Parts{ObservedNs: 100_000, CapacityNs: 300_000, PolicyNs: -150_000, ExcessNs: -50_000}},
		},
		Error: replay.Error{Makespan: &e, Waits: replay.ErrorWaits{Total: &e}},
		Notes: []string{"the workload is too large: what comes after 3000000 ns was left out"},
	}
}

// What the advice of a finding would give is told with the model's error; not
// where that is too large; and the victims' split once.
func TestGainLines(t *testing.T) {
	s := split()
	s.OutOfBand = []string{"waited"}
	off := 0.04
	some := replay.Advice{
		Change: "no GC", Why: "the most", Metric: replay.MetricWaited, ObservedNs: 100_000, SimulatedNs: 104_000, Error: &off,
		ChangedNs: 20_000, MinNs: 19_000, MaxNs: 21_000, Verdict: replay.Helps,
	}
	parts := replay.Parts{ObservedNs: 100_000, CapacityNs: 30_000, PolicyNs: -10_000, ExcessNs: 80_000}
	none, far, longer := some, some, some
	none.Verdict, far.Verdict, longer.Metric = replay.NoHelp, replay.Untrusted, replay.MetricMakespan
	same := longer
	same.Verdict = replay.NoHelp
	few := far
	few.Untrusted = "the recording had more Ps than CPUs"
	s.Prospects = []replay.Gain{
		{Finding: 1, Class: "main.a\u202e", Parts: parts, Advice: &some},
		{Finding: 2, Class: "main.a\u202e", Parts: parts, Advice: &none},
		{Finding: 4, Class: "main.b", Advice: &far},
		{Finding: 5, Advice: &longer},
		{Finding: 6, Advice: &few},
		{Finding: 7, Advice: &same},
	}
	var got []string
	for finding := range 8 {
		if p := gainOf(s, finding); p != nil {
			got = append(got, gainLines(nil, s, p)...)
		}
	}
	want := []string{
		`Simulated, “no GC” (the most): main.a<U+202E> waits 20 µs, not 104 µs (19 µs to 21 µs in 3 runs). As it was, the model gives 104 µs for the 100 µs observed (error: +4 %).`,
		`Of all the 100 µs that main.a<U+202E> waited, simulation gives 30 µs to capacity (no scheduler could avoid it), -10 µs to Go's rules, and 80 µs to neither. The model is out of its bands for this trace (waited): makespan +25 %, time waited +25 %.`,
		`Simulated, “no GC” (the most): no gain beyond run-to-run variation: main.a<U+202E> waits 19 µs to 21 µs, and 104 µs without. As it was, the model gives 104 µs for the 100 µs observed (error: +4 %).`,
		`What would come of the advice cannot be simulated. As it was, the model gives 104 µs for the 100 µs observed (error: +4 %).`,
		`Simulated, “no GC” (the most): all takes 20 µs, not 104 µs (19 µs to 21 µs in 3 runs). As it was, the model gives 104 µs for the 100 µs observed (error: +4 %).`,
		`What would come of the advice cannot be simulated: the recording had more Ps than CPUs. As it was, the model gives 104 µs for the 100 µs observed (error: +4 %).`,
		`Simulated, “no GC” (the most): all takes as long, 19 µs to 21 µs, and 104 µs without; what waited may be done sooner. As it was, the model gives 104 µs for the 100 µs observed (error: +4 %).`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if gainOf(nil, 0) != nil || gainOf(s, 0) != nil {
		t.Error("a gain from nowhere")
	}
}

// The sentences say which way each part goes.
func TestSplitLines(t *testing.T) {
	s := split()
	check := func(wants ...string) {
		t.Helper()
		out := strings.Join(splitLines(s), "\n")
		for _, w := range wants {
			if !strings.Contains(out, w) {
				t.Errorf("%q is missing in\n%s", w, out)
			}
		}
	}
	check("Of 1 ms waited, 700 µs are capacity", "on 2 Ps", "policy fifo", "add 550 µs: policy", "waits 250 µs longer", "the model is off by that much",
		"from 0 to 3.0000 ms of 4 ms of the trace", "makespan +25 %, time waited +25 % (median of 3 runs)", "too large")
	s.Ideal, s.EndNs, s.Total.PolicyNs, s.Total.ExcessNs = "gps", s.DurationNs, -200_000, 500_000
	check("policy gps", "waits 200 µs less than that", "500 µs are excess", "from all of the trace")
	// Only where all three parts are there are they parts of a whole.
	s.Total = replay.Parts{ObservedNs: 1_000_000, CapacityNs: 700_000, PolicyNs: 200_000, ExcessNs: 100_000}
	check("700 µs (70 %) are capacity", "add 200 µs (20 %): policy", "100 µs (10 %) are excess")
	s.Total = replay.Parts{}
	check("Nobody waited")
}

func TestReplayTextIsComplete(t *testing.T) {
	var b bytes.Buffer
	r := replayed()
	r.Observed.GlobalTakes, r.Simulated = r.Observed.Steals, simulated()
	if err := WriteReplayText(&b, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{
		"explain 70 % of 10 starts", "contradict themselves", "STARTS BY RULE", "WHAT MAKES STARTS AMBIGUOUS", "PUTS", "overflow",
		"CONTRADICTIONS", "DIVERGENCES", "expected a batch of 2; found 1", "and 4 more", "THE RUN AS OBSERVED", "10 bytes lost",
		"SIMULATION OF THE WORK", "medians of 5 runs", "+12.5 %", "WHY THEY WAITED", "queueing", "WHO WAITED", "AGAINST THE REFERENCE", "-250 µs", "WHAT IF", "as it was", "policy thread-per-goroutine", "GOMAXPROCS changes",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	for _, i := range replay.Invariants() {
		if invariantWords[i] == "" || !strings.Contains(out, string(i)) {
			t.Errorf("invariant %s has no words", i)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("an escape from a name gets through")
	}
	for l := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > Width {
			t.Errorf("%d columns: %q", n, l)
		}
	}
}

// A trace without queues says so, and is no zero.
func TestReplayOfReducedTrace(t *testing.T) {
	r := replayed()
	r.Audit, r.Observed.Steals = nil, nil
	var b bytes.Buffer
	if err := WriteReplayText(&b, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "nothing to replay") || strings.Contains(b.String(), "STARTS BY RULE") {
		t.Errorf("text of a trace without queues:\n%s", b.String())
	}
	doc := replayJSON(t, r)
	if g, ok := doc["guided"]; !ok || g != nil {
		t.Errorf("guided is %v, want null", g)
	}
	if s, ok := doc["observed"].(map[string]any)["steals"]; !ok || s != nil {
		t.Errorf("steals is %v, want null", s)
	}
}
