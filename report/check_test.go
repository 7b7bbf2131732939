package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/compare/budget"
)

// accepted is a result with a finding that fails and one that is suppressed.
func accepted(name string) *analyze.Result {
	f := func(id, class string, s findings.Severity) findings.Finding {
		return findings.Finding{ID: id, Severity: s, Title: findings.Say("it waited"), CostNs: 1e6, Actors: []findings.Actor{
			{Role: findings.Victim, Class: class, Stack: []string{"sync.(*Mutex).Lock (sync/mutex.go:46)", class + " (example.com/x/main.go:12)"}},
		}}
	}
	r := &analyze.Result{
		Trace:     analyze.Trace{Name: name},
		Findings:  []findings.Finding{f("serialization", "main.worker", findings.Critical), f("convoy", "main.worker", findings.Warning)},
		Detectors: []analyze.Detector{{ID: "serialization", Title: "work in a row", Found: 1}, {ID: "convoy", Found: 1}},
	}
	r.Suppress([]findings.Suppression{{Finding: "serialization", Class: "main.work*", Reason: "serial by\ndesign", Owner: "team-x", Until: "2027-03-01"}}, nil)
	return r
}

// What another machine would not show, or the same one at another time, fails no build, but is said.
func TestDoubtfulFailsNothing(t *testing.T) {
	for _, c := range []struct {
		x    findings.Finding
		want string // "": it fails
	}{
		{findings.Finding{Kind: findings.KindCause, Basis: findings.Certain}, ""},
		{findings.Finding{Kind: findings.KindMachine, Basis: findings.Certain}, "not counted, about the machine: critical: x: it waited"},
		{findings.Finding{Kind: findings.KindCause, Basis: findings.Suspected}, "not counted, in doubt: critical: x: it waited"},
		{findings.Finding{Kind: findings.KindCause, Basis: findings.Inferred, Doubts: []string{findings.Strained}}, "not counted, in doubt: critical: x: it waited"},
	} {
		c.x.ID, c.x.Severity, c.x.Title = "x", findings.Critical, findings.Say("it waited")
		check := NewCheck([]*analyze.Result{{Findings: []findings.Finding{c.x}}}, findings.Warning, nil)
		var b bytes.Buffer
		if err := WriteCheckText(&b, check); err != nil || check.Failed() != (c.want == "") || !strings.Contains(b.String(), c.want) {
			t.Errorf("%+v: failed %v, %v\n%s", c.x, check.Failed(), err, b.String())
		}
	}
}

const acceptedLine = "1 finding suppressed: serialization of main.worker (serial by design; team-x, until 2027-03-01)"

func TestSuppressedBreaksNothing(t *testing.T) {
	rs := []*analyze.Result{CheckInput(accepted("a")), CheckInput(accepted("b"))}
	if c := NewCheck(rs, findings.Critical, nil); c.Failed() || len(c.Findings) != 1 || len(c.Suppressed) != 1 {
		t.Errorf("a suppressed finding fails: %+v", c)
	}
	if c := NewCheck(rs, findings.Warning, nil); !c.Failed() {
		t.Error("another finding does not fail")
	}
	d := Build(accepted("a"), "")
	if d.Verdict.Status != "warning" || strings.Contains(d.Verdict.Headline, "serialization") {
		t.Errorf("%+v", d.Verdict)
	}
	if all := strings.Join(d.Verdict.Lines, "\n"); !strings.Contains(all, "1 finding is suppressed by the configuration.") {
		t.Errorf("the verdict hides that something is suppressed:\n%s", all)
	}
}

func TestSuppressedIsNamed(t *testing.T) {
	doc := Build(accepted("a"), "")
	c := NewCheck([]*analyze.Result{accepted("a")}, findings.Warning, nil)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":   func(b *bytes.Buffer) error { return WriteText(b, doc, TextOptions{}) },
		"check":  func(b *bytes.Buffer) error { return WriteCheckText(b, c) },
		"github": func(b *bytes.Buffer) error { return WriteCheckGitHub(b, c) },
		"junit":  func(b *bytes.Buffer) error { return WriteCheckJUnit(b, c) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), acceptedLine) {
			t.Errorf("%s does not say %q:\n%s", name, acceptedLine, b.String())
		}
	}
}

// TestManySuppressed bounds what is said, and names several in a line each.
func TestManySuppressed(t *testing.T) {
	c := &Check{Traces: []string{"a"}}
	for i := range 20 {
		s := accepted("a").Suppressed[0]
		s.Finding.Actors = []findings.Actor{{Role: findings.Victim, Class: fmt.Sprintf("main.f%d", i)}}
		c.Suppressed = append(c.Suppressed, s)
	}
	var b bytes.Buffer
	if err := WriteCheckText(&b, c); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 16 || lines[0] != "20 findings suppressed:" || !strings.HasPrefix(lines[1], "  serialization of main.f0 (") || lines[13] != "  and 8 more" {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
}

func TestJUnitSkips(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCheckJUnit(&b, NewCheck([]*analyze.Result{accepted("a")}, findings.Warning, nil)); err != nil {
		t.Fatal(err)
	}
	var s junitSuite
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	if s.Tests != 2 || s.Failures != 1 || s.Skipped != 1 || len(s.Cases) != 2 || s.Cases[1].Skipped == nil || s.Cases[1].Failure != nil {
		t.Errorf("%s", b.String())
	}
}

// sarif writes a check as SARIF, and holds the log against the schema of the
// standard, and against rules of it that the schema does not have.
func sarif(t *testing.T, c *Check) []sarifResult {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCheckSARIF(&b, c, "gmpscope devel", all.Docs()); err != nil {
		t.Fatal(err)
	}
	validateSARIF(t, b.Bytes())
	var log sarifLog
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%+v", log)
	}
	run := log.Runs[0]
	rules, with := map[string]bool{}, 0
	for _, r := range run.Tool.Driver.Rules {
		rules[r.ID] = true
	}
	for _, r := range run.Results {
		if !rules[r.Rule] {
			t.Errorf("there is no rule %s", r.Rule)
		}
		for key, value := range r.Fingerprints {
			if !strings.HasSuffix(key, "/v1") || len(value) != 32 {
				t.Errorf("fingerprint %s is %q", key, value)
			}
		}
		if len(r.Fingerprints) == 0 {
			t.Errorf("%s has no fingerprint", r.Rule)
		}
		if r.Suppressions != nil {
			with++
		}
		for _, s := range r.Suppressions {
			if s.Kind != "external" || s.Status != "accepted" || s.Justification == "" || s.Properties.Owner == "" {
				t.Errorf("%+v", s)
			}
		}
	}
	if with != 0 && with != len(run.Results) { // 3.27.23
		t.Errorf("%d of %d results have suppressions", with, len(run.Results))
	}
	return run.Results
}

func validateSARIF(t *testing.T, log []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "sarif-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	rs, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(log, &v); err != nil {
		t.Fatal(err)
	}
	if err := rs.Validate(v); err != nil {
		t.Error(err)
	}
}

func TestSARIFSuppressions(t *testing.T) {
	rs := sarif(t, NewCheck([]*analyze.Result{accepted("a")}, findings.Warning, nil))
	if len(rs) != 2 || rs[0].Rule != "convoy" || rs[1].Rule != "serialization" {
		t.Fatalf("%+v", rs)
	}
	if len(rs[0].Suppressions) != 0 || rs[0].Level != "error" {
		t.Errorf("%+v", rs[0])
	}
	want := []sarifSuppression{{Kind: "external", Status: "accepted", Justification: "serial by design", Properties: sarifSuppressedBy{"team-x", "2027-03-01"}}}
	if diff := cmp.Diff(want, rs[1].Suppressions); diff != "" {
		t.Error(diff)
	}
	plain := accepted("a")
	plain.Suppressed = nil
	for _, r := range sarif(t, NewCheck([]*analyze.Result{plain}, "", nil)) {
		if r.Suppressions != nil {
			t.Errorf("%+v has suppressions without a configuration", r)
		}
	}
}

// Annotations point at files of the repository, and at no others.
func TestPlacesAreInTheRepository(t *testing.T) {
	r := Repository{Dir: "/home/me/app", Module: "example.com/app"}
	const library, std = "github.com/x/log.(*Logger).Out (/go/pkg/mod/github.com/x/log@v1.2.3/log.go:9)", "sync.(*Mutex).Lock (/usr/local/go/src/sync/mutex.go:46)"
	for _, c := range []struct {
		stack []string
		want  string
	}{
		{[]string{std, library, "example.com/app/api.(*api).report (/home/me/app/api/api.go:12)"}, "api/api.go:12"},
		{[]string{std, "example.com/app/api.(*api).report (example.com/app/api/api.go:12)"}, "api/api.go:12"},
		{[]string{std, library}, ":0"},
		{[]string{"main.main (/home/me/other/main.go:3)"}, ":0"},
		{[]string{"github.com/x/log.Out (/home/me/app/vendor/github.com/x/log/log.go:9)"}, ":0"},
		{[]string{"testing.(*B).runN (/home/me/app/testing/benchmark.go:9)"}, ":0"},
		{[]string{"main.main (./main.go:3)"}, ":0"},
	} {
		f := findings.Finding{Actors: []findings.Actor{{Role: findings.Cause, Stack: c.stack}}}
		file, line := r.place(&f)
		if got := fmt.Sprintf("%s:%d", file, line); got != c.want {
			t.Errorf("%q: %s, want %s", c.stack, got, c.want)
		}
		if file, _ := (Repository{}).place(&f); file != "" {
			t.Errorf("%q without a repository: %s", c.stack, file)
		}
	}
}

// A rule that is broken without the program's doing neither passes nor fails.
func TestInconclusiveCheck(t *testing.T) {
	c := &Check{Traces: []string{"a"}, Budget: []budget.Outcome{{Rule: "waits.user.p99_ns <= 1ms", Line: 1, Value: "2 ms", Bound: "1 ms", Inconclusive: "threads lacked CPUs"}}}
	if c.Failed() || !c.Inconclusive() {
		t.Error(c.Failed(), c.Inconclusive())
	}
	for name, x := range map[string]struct {
		write func(io.Writer, *Check) error
		want  string
	}{
		"text":   {WriteCheckText, "inconclusive: line 1: waits.user.p99_ns <= 1ms: is 2 ms, the bound 1 ms; inconclusive: threads lacked CPUs\ninconclusive: 1 budget rule"},
		"github": {WriteCheckGitHub, "::warning title="},
		"junit":  {WriteCheckJUnit, "skipped="},
	} {
		var b bytes.Buffer
		if err := x.write(&b, c); err != nil || !strings.Contains(b.String(), x.want) {
			t.Errorf("%s: %v\n%s", name, err, &b)
		}
	}
	c.Budget = append(c.Budget, budget.Outcome{Rule: "pressure.some <= 1%"})
	if !c.Failed() || c.Inconclusive() {
		t.Error("a rule that is surely broken does not fail")
	}
}

// TestFingerprints are those of a detector, a class and a function of the program.
func TestFingerprints(t *testing.T) {
	fingerprint := func(change func(*findings.Finding)) string {
		f := accepted("a").Findings[0]
		f.Actors = []findings.Actor{{Role: findings.Victim, Class: "main.worker", Stack: []string{"sync.(*Mutex).Lock (sync/mutex.go:46)", "main.work (x/main.go:12)"}}}
		change(&f)
		rs := sarif(t, &Check{Findings: []findings.Finding{f}})
		return rs[0].Fingerprints["detectorClassFunction/v1"]
	}
	base := fingerprint(func(*findings.Finding) {})
	for name, change := range map[string]func(*findings.Finding){
		"numbers": func(f *findings.Finding) {
			f.CostNs, f.FromNs, f.ToNs, f.Title = 9, 9, 99, findings.Say("it waited 9 ns")
		},
		"severity": func(f *findings.Finding) { f.Severity = findings.Note },
		"line":     func(f *findings.Finding) { f.Actors[0].Stack[1] = "main.work (x/main.go:99)" },
		"file":     func(f *findings.Finding) { f.Actors[0].Stack[1] = "main.work (/home/me/x/work.go:12)" },
		"library": func(f *findings.Finding) {
			f.Actors[0].Stack[0] = "internal/sync.(*Mutex).lockSlow (internal/sync/mutex.go:1)"
		},
		"goroutine": func(f *findings.Finding) { f.Actors[0].G = 7 },
		"creator":   func(f *findings.Finding) { f.Actors[0].Creator = "main.main" },
		"another too": func(f *findings.Finding) {
			f.Actors = append(f.Actors, findings.Actor{Role: findings.Victim, Class: "main.b"})
		},
	} {
		if fingerprint(change) != base {
			t.Errorf("the fingerprint depends on the %s", name)
		}
	}
	for name, change := range map[string]func(*findings.Finding){
		"detector": func(f *findings.Finding) { f.ID = "starvation" },
		"class":    func(f *findings.Finding) { f.Actors[0].Class = "main.other" },
		"function": func(f *findings.Finding) { f.Actors[0].Stack[1] = "main.rest (x/main.go:12)" },
	} {
		if fingerprint(change) == base {
			t.Errorf("the fingerprint does not depend on the %s", name)
		}
	}
}

// TestFingerprintsOfRecordings wants what several recordings of a program have in
// common to have the same fingerprint in each, and findings about different classes
// to have different ones.
func TestFingerprintsOfRecordings(t *testing.T) {
	for _, program := range []string{"mutex-sharded-before", "queue-bounded-before", "senders-fifo-before", "fan-out-limited-before", "procs-halved-after"} {
		of := map[string]string{} // fingerprints by detector and class
		shared := 0
		for i := range 3 {
			name := fmt.Sprintf("%s-%d.trace.gz", program, i)
			src, err := input.Open(t.Context(), filepath.Join("..", "testdata", "traces", "pairs", name), input.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := analyze.Run(t.Context(), src, analyze.Options{})
			src.Close()
			if err != nil {
				t.Fatal(err)
			}
			rs := sarif(t, NewCheck([]*analyze.Result{r}, "", nil))
			seen := map[string]string{}
			for k, f := range r.Findings {
				class, _ := f.Subject()
				key, fingerprint := f.ID+" of "+class, rs[k].Fingerprints["detectorClassFunction/v1"]
				if other, ok := seen[fingerprint]; ok {
					t.Errorf("%s: %s and %s have the same fingerprint", name, key, other)
				}
				seen[fingerprint] = key
				switch was, ok := of[key]; {
				case !ok:
					of[key] = fingerprint
				case was != fingerprint:
					t.Errorf("%s: %s has another fingerprint than in an earlier recording", name, key)
				default:
					shared++
				}
			}
		}
		if shared < 2 {
			t.Errorf("%s: the recordings share %d findings", program, shared)
		}
	}
}
