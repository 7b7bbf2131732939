package cases_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/lab/cases"
	"github.com/gmpscope/gmpscope/lab/runner"
)

var update = flag.Bool("update", false, "write the page again")

const root = "../.."

// judged are the verdicts on all that is recorded.
var judged = sync.OnceValues(func() (cases.Result, error) {
	recordings, err := cases.Find(root)
	if err != nil {
		return nil, err
	}
	return cases.JudgeAll(context.Background(), recordings, runner.Stored(cases.Dir(root)))
})

func TestRecordingsAreJudgedAsTheySay(t *testing.T) {
	result, err := judged()
	if err != nil {
		t.Error(err)
	}
	for _, v := range result {
		if v.Right() {
			continue
		}
		t.Errorf("%s: %s", v.Recording.Name, v.Wrong())
		for _, x := range v.Found {
			t.Logf("    %s %s: %s", x.Severity, x.ID, x.Title)
		}
	}
}

func TestEachDetectorHasItsCases(t *testing.T) {
	recordings, err := cases.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	clean := 0
	has := make(map[string]bool)
	for _, r := range recordings {
		has[r.Case.Room+"/"+r.Case.Name] = true
		if r.Case.Room == cases.All && len(r.Want) == 0 {
			clean++
		}
	}
	for _, d := range all.Detectors(all.Default()) {
		for _, name := range []string{cases.Trigger, cases.NearMiss} {
			if !has[d.ID+"/"+name] {
				t.Errorf("%s has no program %s: write analyze/findings/%[1]s/testdata/%[2]s, and record it with scripts/lab record cases -only '^%[1]s-'", d.ID, name)
			}
		}
	}
	if clean == 0 {
		t.Error("no recording of a program in which all is well")
	}
}

// The manifests describe the files that are there, and nothing else.
func TestManifests(t *testing.T) {
	recordings, err := cases.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := cases.Dir(root)
	known := make(map[string]bool)
	rows := make(map[string]runner.Row)
	for _, r := range recordings {
		if name := r.Case.Room + ".json"; !known[name] {
			known[name] = true
			list, err := cases.ReadManifest(dir, r.Case.Room)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range list {
				rows[row.File] = row
			}
		}
	}
	for _, r := range recordings {
		known[r.File()] = true
		row, ok := rows[r.File()]
		delete(rows, r.File())
		zipped, err := os.ReadFile(filepath.Join(dir, r.File()))
		if err != nil || !ok {
			t.Errorf("%s: not recorded, or not in the manifest (%v)", r.Name, err)
			continue
		}
		trace, err := runner.Decompress(zipped)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		found := row
		found.Go, found.Command = r.Go, r.Command()
		found.SHA256, found.Bytes = runner.Sum(trace), len(trace)
		found.GzipSHA256, found.GzipBytes = runner.Sum(zipped), len(zipped)
		if d := cmp.Diff(row, found); d != "" {
			t.Errorf("%s: not as the manifest says: %s", r.Name, d)
		}
		if len(zipped) > cases.MaxBytes {
			t.Errorf("%s: %d bytes, more than %d", r.Name, len(zipped), cases.MaxBytes)
		}
	}
	for name := range rows {
		t.Errorf("%s: in a manifest, but of no case", name)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[filepath.Base(f)] {
			t.Errorf("%s: of no case", f)
		}
	}
}

func TestPageIsUpToDate(t *testing.T) {
	result, err := judged()
	if err != nil {
		t.Skip("see TestRecordingsAreJudgedAsTheySay")
	}
	file := filepath.Join(root, "lab", "docs", "detectors.md")
	if *update {
		if err := os.WriteFile(file, []byte(result.Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), result.Page()); d != "" {
		t.Errorf("lab/docs/detectors.md is out of date; go -C lab test ./cases -update writes it: %s", d)
	}
}

// finding returns what a detector found.
func finding(id string, s findings.Severity) findings.Finding {
	return findings.Finding{ID: id, Severity: s}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, room, caseName string
		want                 map[string]findings.Severity
		may                  []string
		found                []findings.Finding
		verdict              string
	}{
		{"found", "convoy", "trigger", map[string]findings.Severity{"convoy": "warning"}, nil,
			[]findings.Finding{finding("convoy", "critical"), finding("convoy", "note")}, "right"},
		{"too mild", "convoy", "trigger", map[string]findings.Severity{"convoy": "warning"}, nil,
			[]findings.Finding{finding("convoy", "note")}, "missed: convoy"},
		{"not there", "convoy", "trigger", map[string]findings.Severity{"convoy": "note"}, nil, nil, "missed: convoy"},
		{"another", "convoy", "trigger", map[string]findings.Severity{"convoy": "note"}, nil,
			[]findings.Finding{finding("starvation", "warning"), finding("convoy", "note")}, "false: starvation"},
		{"another, allowed", "convoy", "trigger", map[string]findings.Severity{"convoy": "note"}, []string{"starvation"},
			[]findings.Finding{finding("starvation", "critical"), finding("convoy", "note")}, "right"},
		{"another, but a note", "convoy", "near-miss", nil, nil, []findings.Finding{finding("starvation", "note")}, "right"},
		{"the near miss found", "convoy", "near-miss", nil, nil, []findings.Finding{finding("convoy", "note")}, "false: convoy"},
		{"the near miss allowed", "convoy", "near-miss", nil, []string{"convoy"}, []findings.Finding{finding("convoy", "warning")}, "right"},
		{"a note of its own elsewhere", "convoy", "other", nil, nil, []findings.Finding{finding("convoy", "note")}, "right"},
		{"both", "all", "clean", map[string]findings.Severity{"convoy": "note"}, nil,
			[]findings.Finding{finding("starvation", "warning")}, "missed: convoy; false: starvation"},
	} {
		r := &cases.Recording{Case: &cases.Case{Room: c.room, Name: c.caseName}, Want: c.want, May: c.may}
		if v := r.Judge(c.found); v.Wrong() != c.verdict || v.Right() != (c.verdict == "right") {
			t.Errorf("%s: %s, not %s", c.name, v.Wrong(), c.verdict)
		}
	}
}

func TestScores(t *testing.T) {
	verdict := func(name, wanted string, missed, wrong []string) *cases.Verdict {
		r := &cases.Recording{Case: &cases.Case{Room: "convoy", Name: name}, Want: map[string]findings.Severity{}}
		if wanted != "" {
			r.Want[wanted] = findings.Note
		}
		return &cases.Verdict{Recording: r, Missed: missed, False: wrong}
	}
	result := cases.Result{
		verdict("a", "convoy", nil, nil),
		verdict("b", "convoy", []string{"convoy"}, []string{"starvation"}),
		verdict("c", "", nil, []string{"convoy"}),
		verdict("d", "", nil, nil),
	}
	s := result.Score("convoy")
	if s != (cases.Score{Wanted: 2, Found: 1, False: 1}) {
		t.Errorf("%+v", s)
	}
	if p, ok := s.Precision(); p != 0.5 || !ok {
		t.Errorf("precision %v, %v", p, ok)
	}
	if p, ok := s.Recall(); p != 0.5 || !ok {
		t.Errorf("recall %v, %v", p, ok)
	}
	s = result.Score("starvation")
	if p, ok := s.Precision(); p != 0 || !ok {
		t.Errorf("precision %v, %v", p, ok)
	}
	if _, ok := s.Recall(); ok {
		t.Error("a recall of nothing")
	}
	if n, alarmed := result.Clean(); n != 2 || alarmed != 1 {
		t.Errorf("%d clean, %d alarmed", n, alarmed)
	}
	page := result.Page()
	for _, line := range []string{"| convoy | 2 | 1 | 1 | 50 % | 50 % |", "| starvation | 0 | 0 | 1 | 0 % | – |", "Of 2 recordings in which nothing is wanted, 1 gave"} {
		if !strings.Contains(page, line) {
			t.Errorf("no %q in %s", line, page)
		}
	}
}

// write makes a checkout with one program whose package comment is given.
func write(t *testing.T, dir, comment string) string {
	t.Helper()
	root := t.TempDir()
	file := filepath.Join(root, "analyze", "findings", filepath.FromSlash(dir), "main.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(comment+"package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestFind(t *testing.T) {
	root := write(t, "convoy/testdata/trigger", `// Trigger does it.
//
//gmpscope:case procs=2 go=go1.26.8 want=convoy:warning,starvation may=late-preemption,os-preemption env=GODEBUG=a=1 cut=0.7
//gmpscope:case procs=1 go=go1.22.12 want=convoy
`)
	found, err := cases.Find(root)
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	c := &cases.Case{Room: "convoy", Name: "trigger", Program: "trigger", Doc: "Trigger does it."}
	want := []*cases.Recording{
		{Take: runner.Take{Name: "convoy-trigger-go1.26-p2", Program: c.Dir(), Go: "go1.26.8", GOMAXPROCS: 2, Env: []string{"GODEBUG=a=1"}, Cut: 0.7},
			Case: c, Want: map[string]findings.Severity{"convoy": "warning", "starvation": "note"}, May: []string{"late-preemption", "os-preemption"}},
		{Take: runner.Take{Name: "convoy-trigger-go1.22-p1", Program: c.Dir(), Go: "go1.22.12", GOMAXPROCS: 1}, Case: c, Want: map[string]findings.Severity{"convoy": "note"}},
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
	if n, f := found[1].Name, found[1].File(); n != "convoy-trigger-go1.22-p1" || f != n+".trace.gz" {
		t.Error(n, f)
	}
	if s := found[0].Command(); s != "GOMAXPROCS=2 GODEBUG=a=1 ./trigger FILE" {
		t.Error(s)
	}
}

// A program of two cases is told which one to be.
func TestFindsTwins(t *testing.T) {
	found, err := cases.Find(write(t, "convoy/testdata/trigger", `// Trigger does it; near-miss does not.
//
//gmpscope:case procs=2 go=go1.26.8 want=convoy
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want= env=GODEBUG=a=1
`))
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	r := found[1]
	if r.Case.Name != cases.NearMiss || r.Case.Dir() != found[0].Case.Dir() || r.Name != "convoy-near-miss-go1.26-p2" {
		t.Errorf("%+v, %s", r.Case, r.Name)
	}
	if s := r.Command(); s != "GOMAXPROCS=2 CASE=near-miss GODEBUG=a=1 ./trigger FILE" {
		t.Error(s)
	}
}

func TestFindRefuses(t *testing.T) {
	const doc, good = "// It does it.\n//\n", "//gmpscope:case procs=2 go=go1.26.8 want="
	for name, c := range map[string]struct{ dir, comment string }{
		"no such room":         {"nothing/testdata/x", doc + good + "\n"},
		"no comment":           {"convoy/testdata/x", good + "\n"},
		"no directive":         {"convoy/testdata/x", doc},
		"no such detector":     {"convoy/testdata/x", doc + good + "convoi\n"},
		"no detector":          {"convoy/testdata/x", doc + good + "all\n"},
		"no such severity":     {"convoy/testdata/x", doc + good + "convoy:bad\n"},
		"no want":              {"convoy/testdata/x", doc + "//gmpscope:case procs=2 go=go1.26.8\n"},
		"no procs":             {"convoy/testdata/x", doc + "//gmpscope:case go=go1.26.8 want=\n"},
		"no go":                {"convoy/testdata/x", doc + "//gmpscope:case procs=2 want=\n"},
		"no such field":        {"convoy/testdata/x", doc + good + " what=1\n"},
		"a field twice":        {"convoy/testdata/x", doc + good + " procs=2\n"},
		"no value":             {"convoy/testdata/x", doc + good + " may\n"},
		"a cut of all":         {"convoy/testdata/x", doc + good + " cut=0\n"},
		"idle trigger":         {"convoy/testdata/trigger", doc + good + "starvation\n"},
		"triggering twin":      {"convoy/testdata/trigger", doc + good + "convoy case=near-miss\n"},
		"no name of a case":    {"convoy/testdata/x", doc + good + " case=\n"},
		"triggering near miss": {"convoy/testdata/near-miss", doc + good + "convoy\n"},
		"the same twice":       {"convoy/testdata/x", doc + good + "\n" + good + "convoy\n"},
	} {
		if found, err := cases.Find(write(t, c.dir, c.comment)); err == nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// One program that is built, run and judged, so that a change of package rec or
// runner shows here.
func TestBest(t *testing.T) {
	recordings, err := cases.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(recordings, func(r *cases.Recording) bool { return r.Case.Room == "trace-quality" && r.Case.Name == cases.Trigger })
	if i < 0 {
		t.Fatal("no program")
	}
	r, dir := recordings[i], t.TempDir()
	best, wrong, err := runner.New(root, t.TempDir()).Best(t.Context(), &r.Take, 8, 1, r.Check) // beside other tests a cut may lose next to nothing
	if err != nil || wrong != nil {
		t.Fatal(wrong, err)
	}
	zipped, row, err := best.Pack()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, r.File()), zipped, 0o644), r.Put(dir, row)); err != nil {
		t.Fatal(err)
	}
	again, err := runner.Stored(dir)(t.Context(), &r.Take)
	if err != nil || runner.Sum(again.Trace) != row.SHA256 || len(again.Trace) != row.Bytes {
		t.Errorf("%+v, %v", row, err)
	}
	rows, err := cases.ReadManifest(dir, r.Case.Room)
	if d := cmp.Diff([]runner.Row{row}, rows); err != nil || d != "" {
		t.Error(d, err)
	}
	gone, err := cases.Prune(dir, []*cases.Recording{{Case: r.Case, Take: runner.Take{Name: "another"}}})
	if err != nil || !slices.Equal(gone, []string{r.File()}) {
		t.Errorf("removed %v, %v", gone, err)
	}
	if rows, err := cases.ReadManifest(dir, r.Case.Room); err != nil || len(rows) != 0 {
		t.Errorf("%v, %v", rows, err)
	}
}
