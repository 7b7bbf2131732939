package all_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

func TestEachDirectoryIsRegistered(t *testing.T) {
	files, err := filepath.Glob("../*/doc.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no detectors", err)
	}
	registered := map[string]findings.Detector{}
	for _, d := range all.Detectors(all.Default()) {
		if _, ok := registered[d.ID]; ok {
			t.Errorf("%s is registered twice", d.ID)
		}
		registered[d.ID] = d
	}
	for _, f := range files {
		id := filepath.Base(filepath.Dir(f))
		d, ok := registered[id]
		if !ok {
			t.Errorf("%s is not in the list: run go generate ./analyze/findings/all", id)
			continue
		}
		delete(registered, id)
		text, err := os.ReadFile(f)
		if err != nil || string(text) != d.Doc().Text {
			t.Errorf("%s: the explanation is not that of its doc.md", id)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(f), "detector_test.go")); err != nil {
			t.Errorf("%s has no detector_test.go with a stream that triggers it and a near miss", id)
		}
	}
	for id := range registered {
		t.Errorf("%s has no directory of its name", id)
	}
}

// sections are those of each explanation, in this order.
var sections = [...]string{"What", "Why it matters", "How it is detected", "False positives", "What to do", "Example"}

func TestDetectorsObeyTheRules(t *testing.T) {
	kinds, explains := map[string]findings.Kind{}, map[string][]string{}
	for _, d := range all.Detectors(all.Default()) {
		kinds[d.ID], explains[d.ID] = d.Kind, d.Explains
	}
	for _, d := range all.Detectors(all.Default()) {
		doc := d.Doc()
		r, _ := utf8.DecodeRuneInString(doc.Title)
		switch {
		case doc.Title == "", utf8.RuneCountInString(doc.Title) > 60:
			t.Errorf("%s: title of %d letters", d.ID, utf8.RuneCountInString(doc.Title))
		case unicode.IsUpper(r), strings.HasSuffix(doc.Title, "."):
			t.Errorf("%s: title %q begins with a capital or ends in a period", d.ID, doc.Title)
		}
		if d.New == nil {
			t.Errorf("%s: New is nil", d.ID)
		}
		if !slices.Contains([]findings.Kind{findings.KindCause, findings.KindSymptom, findings.KindMachine, findings.KindTrace}, d.Kind) {
			t.Errorf("%s: kind %q", d.ID, d.Kind)
		}
		for _, id := range d.Explains {
			if _, known := kinds[id]; !known || reaches(id, d.ID, explains) {
				t.Errorf("%s explains %s, which is no detector, or explains it in turn", d.ID, id)
			}
		}
		if d.Remedy.Why == "" {
			t.Errorf("%s: Remedy.Why must say how the simulation stands for the advice, or why none does", d.ID)
		}
		if !strings.HasPrefix(doc.Text, "# "+d.ID+"\n") {
			t.Errorf("%s: the explanation does not begin with the ID", d.ID)
		}
		at := 0
		for _, s := range sections {
			if text, ok := findings.Section(doc.Text, s); !ok || len(text) < 40 {
				t.Errorf("%s: section %q is missing or empty", d.ID, s)
			}
			if i := strings.Index(doc.Text, "\n## "+s+"\n"); i < at {
				t.Errorf("%s: section %q is out of order", d.ID, s)
			} else {
				at = i
			}
		}
		if n := strings.Count(doc.Text, "\n## "); n != len(sections) {
			t.Errorf("%s: %d sections", d.ID, n)
		}
	}
}

// reaches reports whether from explains to, through others or not. It ends since what is
// asked for first is not asked for again.
func reaches(from, to string, explains map[string][]string) bool {
	return from == to || slices.ContainsFunc(explains[from], func(id string) bool { return reaches(id, to, explains) })
}

func TestDocsAreInOrder(t *testing.T) {
	docs := all.Docs()
	if docs[0].ID != "trace-quality" {
		t.Errorf("%s is first", docs[0].ID)
	}
	for i, d := range all.Detectors(all.Default()) {
		if docs[i] != d.Doc() {
			t.Errorf("%d: %s", i, docs[i].ID)
		}
	}
}

func TestThresholdsAreNamedByID(t *testing.T) {
	b, err := json.Marshal(all.Default())
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, d := range all.Detectors(all.Default()) {
		if len(m[d.ID]) == 0 {
			t.Errorf("%s has no thresholds in %s", d.ID, b)
		}
		delete(m, d.ID)
	}
	if len(m) > 0 {
		t.Errorf("thresholds of no detector: %v", m)
	}
}

// TestBounds wants the defaults within the bounds, and bounds of thresholds that exist.
func TestBounds(t *testing.T) {
	if err := all.Default().Check(); err != nil {
		t.Error(err)
	}
	b, err := json.Marshal(all.Default())
	if err != nil {
		t.Fatal(err)
	}
	var of map[string]map[string]any
	if err := json.Unmarshal(b, &of); err != nil {
		t.Fatal(err)
	}
	for _, path := range all.Special() {
		id, name, _ := strings.Cut(path, ".")
		if of[id][name] == nil {
			t.Errorf("there is no threshold %s", path)
		}
	}
}

func TestCheckNamesTheThreshold(t *testing.T) {
	for want, change := range map[string]func(*all.Thresholds){
		"p-thrash.window_ns is 0,":                      func(t *all.Thresholds) { t.PThrash.WindowNs = 0 },
		"thundering-herd.peak is NaN,":                  func(t *all.Thresholds) { t.ThunderingHerd.Peak = math.NaN() },
		"convoy.grade.note_share is -1,":                func(t *all.Thresholds) { t.Convoy.Grade.NoteShare = -1 },
		"runnext-monopoly.parties is 5,":                func(t *all.Thresholds) { t.RunnextMonopoly.Parties = 5 },
		"cpu-throttling.period_ns is 8640000000000001,": func(t *all.Thresholds) { t.CPUThrottling.PeriodNs = 8640000000000001 },
	} {
		th := all.Default()
		change(&th)
		if err := th.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s …", err, want)
		}
	}
}
