package config

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/input"
)

const example = `{
  "$schema": "gmpscope.schema.json",
  "thresholds": {
    "timer-lateness": {"late_ns": 2000000, "ratio": 0.2, "grade": {"note_ns": 2e6}},
    "runnext-monopoly": {"parties": 4}
  },
  "suppress": [
    {"finding": "serialization", "class": "main.worker*", "reason": "serial by design", "owner": "team-x", "until": "2027-03-01"},
    {"finding": "convoy", "class": "*", "reason": "batch jobs", "owner": "team-y"}
  ],
  "work": {"homes": ["main.worker@main.take"]}
}
`

func TestRead(t *testing.T) {
	want := Default()
	want.Schema = "gmpscope.schema.json"
	x := &want.Thresholds.TimerLateness
	x.LateNs, x.Ratio, x.Grade.NoteNs = 2_000_000, 0.2, 2_000_000
	want.Thresholds.RunnextMonopoly.Parties = 4
	want.Suppress = []findings.Suppression{
		{Finding: "serialization", Class: "main.worker*", Reason: "serial by design", Owner: "team-x", Until: "2027-03-01"},
		{Finding: "convoy", Class: "*", Reason: "batch jobs", Owner: "team-y"},
	}
	want.Work.Homes = []string{"main.worker@main.take"}
	got, err := Read(strings.NewReader(example), "c.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := valid(t, validator(t), example); err != nil {
		t.Error(err)
	}
}

// TestReadNothing wants the least configurations to be the defaults.
func TestReadNothing(t *testing.T) {
	for _, text := range []string{`{}`, `{"thresholds": {}, "suppress": []}`, " \r\n{ }\n"} {
		c, err := Read(strings.NewReader(text), "c.json")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Default(), c); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// suppression is a file with one suppression, of which keys are replaced.
func suppression(replace ...string) string {
	s := `{"finding": "convoy", "class": "*", "reason": "r", "owner": "o"}`
	return `{"suppress": [` + strings.NewReplacer(replace...).Replace(s) + `]}`
}

func TestMistakes(t *testing.T) {
	schema := validator(t)
	for _, c := range []struct {
		name, text string
		line       int
		want       string
		beyond     bool // the schema does not see it, or cannot be asked
	}{
		{"key", "{\n\"treshold\": {}}", 2, `the configuration has no key "treshold"; did you mean thresholds?`, false},
		{"key like none", `{"x": 1}`, 1, `the configuration has no key "x", only $schema, thresholds, work, suppress`, false},
		{"case", `{"Thresholds": {}}`, 1, `the configuration has no key "Thresholds"; did you mean thresholds?`, false},
		{"detector", "{\"thresholds\": {\n\n\"timer-late\": {}}}", 3, `thresholds has no detector "timer-late"`, false},
		{"detector nearly", `{"thresholds": {"timer-latenes": {}}}`, 1, `thresholds has no detector "timer-latenes"; did you mean timer-lateness?`, false},
		{"threshold", "{\"thresholds\": {\"timer-lateness\": {\n\"late\": 1}}}", 2, `timer-lateness has no threshold "late"; did you mean late_ns?`, false},
		{"of grade", `{"thresholds": {"convoy": {"grade": {"note": 1}}}}`, 1, `convoy.grade has no threshold "note"; did you mean note_share or note_ns?`, false},
		{"control characters", "{\"\\u001b[31m\\n\": 1}", 1, `the configuration has no key "\x1b[31m\n", only`, false},
		{"long key", `{"` + strings.Repeat("x", 1000) + `": 1}`, 1, strings.Repeat("x", 60) + `…"`, false},
		{"twice", "{\"thresholds\": {\"convoy\": {\"ratio\": 1,\n\"ratio\": 2}}}", 2, `convoy has ratio twice: remove one of them`, true},
		{"text for a number", `{"thresholds": {"timer-lateness": {"late_ns": "2ms"}}}`, 1, `timer-lateness.late_ns must be a whole number of nanoseconds, not "2ms"`, false},
		{"null for a number", `{"thresholds": {"convoy": {"ratio": null}}}`, 1, `convoy.ratio must be a number, not null`, false},
		{"object for a number", `{"thresholds": {"convoy": {"ratio": {}}}}`, 1, `convoy.ratio must be a number, not an object`, false},
		{"boolean for a number", `{"thresholds": {"convoy": {"min_count": true}}}`, 1, `convoy.min_count must be a whole number, not true`, false},
		{"list for an object", `{"thresholds": []}`, 1, `thresholds must be an object, as in {…}, not a list`, false},
		{"number for an object", `{"thresholds": {"convoy": 1}}`, 1, `convoy must be an object, as in {…}, not 1`, false},
		{"list for all", `[]`, 1, `the configuration must be an object, as in {…}, not a list`, false},
		{"null for all", `null`, 1, `the configuration must be an object, as in {…}, not null`, false},
		{"negative", `{"thresholds": {"timer-lateness": {"late_ns": -1}}}`, 1, `timer-lateness.late_ns is -1, but must be a whole number of nanoseconds from 1 to 86400000000000`, false},
		{"negative share", `{"thresholds": {"timer-lateness": {"ratio": -0.1}}}`, 1, `timer-lateness.ratio is -0.1, but must be a number from 0 to 1000000000`, false},
		{"fraction", `{"thresholds": {"timer-lateness": {"late_ns": 1.5}}}`, 1, `timer-lateness.late_ns is 1.5, but must be a whole number`, false},
		{"too large", `{"thresholds": {"timer-lateness": {"late_ns": 1e15}}}`, 1, `timer-lateness.late_ns is 1e15, but must be`, false},
		{"infinite", `{"thresholds": {"timer-lateness": {"ratio": 1e999}}}`, 1, `timer-lateness.ratio is 1e999, but must be`, true},
		{"no number", `{"thresholds": {"timer-lateness": {"ratio": NaN}}}`, 1, `is no JSON: invalid character 'N'`, true},
		{"many digits", `{"thresholds": {"convoy": {"ratio": ` + strings.Repeat("9", 100000) + `}}}`, 1, `convoy.ratio is 999`, true},
		{"divisor", `{"thresholds": {"steal-storm": {"window_ns": 0}}}`, 1, `steal-storm.window_ns is 0, but must be a whole number of nanoseconds from 1000000 to`, false},
		{"small type", `{"thresholds": {"runnext-monopoly": {"parties": 200}}}`, 1, `runnext-monopoly.parties is 200, but must be a whole number from 1 to 4`, false},
		{"schema", `{"$schema": 1}`, 1, `$schema must be a text in quotation marks, not 1`, false},

		{"no list", `{"suppress": {}}`, 1, `suppress must be a list, as in […], not an object`, false},
		{"no suppression", `{"suppress": ["convoy"]}`, 1, `a suppression must be an object, as in {…}, not "convoy"`, false},
		{"key of a suppression", suppression("owner", "ower"), 1, `a suppression has no key "ower"; did you mean owner?`, false},
		{"detector of a suppression", suppression("convoy", "konvoi"), 1, `gmpscope has no detector "konvoi"; did you mean convoy?`, false},
		{"no detector", suppression(`"finding": "convoy", `, ""), 1, `a suppression lacks finding: the ID of a detector`, false},
		{"no class", suppression(`"class": "*", `, ""), 1, `a suppression lacks class: the start function of the goroutines, or * for any`, false},
		{"no reason", suppression(`"r"`, `" "`), 1, `a suppression lacks reason: why the finding is accepted`, true},
		{"no owner", suppression(`, "owner": "o"`, ""), 1, `a suppression lacks owner: who answers for that`, false},
		{"no text", suppression(`"o"`, `7`), 1, `owner must be a text in quotation marks, not 7`, false},
		{"no date", suppression(`"o"`, `"o", "until": "tomorrow"`), 1, `until is "tomorrow", but must be a date such as 2027-03-01`, false},
		{"no such date", suppression(`"o"`, `"o", "until": "2027-02-30"`), 1, `until is "2027-02-30", but must be a date`, true},
		{"empty date", suppression(`"o"`, `"o", "until": ""`), 1, `until is "", but must be a date`, false},
		{"many", `{"suppress": [` + strings.Repeat(`{"finding": "convoy", "class": "*", "reason": "r", "owner": "o"},`+"\n", maxSuppressions) + `{}]}`, maxSuppressions, `suppress has more than 1000 elements`, false},
		{"no home", `{"work": {"homes": ["main.worker"]}}`, 1, `a home is "main.worker", but must be CLASS@FUNCTION`, false},
		{"home of nobody", `{"work": {"homes": ["@main.take"]}}`, 1, `a home is "@main.take", but must be CLASS@FUNCTION`, false},
		{"home without a place", `{"work": {"homes": ["main.worker@"]}}`, 1, `a home is "main.worker@", but must be CLASS@FUNCTION`, false},
		{"key of work", `{"work": {"home": []}}`, 1, `work has no key "home"; did you mean homes?`, false},
		{"many homes", `{"work": {"homes": [` + strings.Repeat(`"a@b",`, maxHomes) + `"a@b"]}}`, 1, `work.homes has more than 100 elements`, false},

		{"empty", ``, 1, `is empty: the least configuration is {}`, true},
		{"blank", "\n\n", 1, `is empty: the least configuration is {}`, true},
		{"short", "{\"thresholds\": {\n\n\n", 1, `ends too early: a bracket is not closed`, true},
		{"shorter", `{"thresh`, 1, `ends too early`, true},
		{"no comma", "{\"thresholds\": {}\n\n\"suppress\": []}", 3, `is no JSON: invalid character '"' after object key:value pair`, true},
		{"comma", "{\"suppress\": [],\n}", 2, `is no JSON: invalid character '}'`, true},
		{"broken string", "{\n\"suppr\n", 2, `is no JSON: invalid character '\n' in string literal`, true},
		{"comment", "{\n// mine\n}", 2, `is no JSON: invalid character '/'`, true},
		{"no key", `{1: 2}`, 1, `is no JSON: invalid character '1'`, true},
		{"trailing", "{}\n{}", 2, `something follows the configuration: a file holds one`, true},
		{"trailing bracket", "{}]", 1, `something follows the configuration: a file holds one`, true},
		{"deep", `{"thresholds": ` + strings.Repeat("[", 1<<19), 1, `thresholds must be an object, as in {…}, not a list`, true},
		{"deep objects", strings.Repeat(`{"thresholds":`, 1<<15), 1, `thresholds has no detector "thresholds"`, true},
		{"large", `{` + strings.Repeat(" ", maxSize) + `}`, 1, `is larger than 1048576 bytes`, true},
		{"encoding", "{\n\"a\": \"\xff\"}", 2, `is not UTF-8 text`, true},
	} {
		got, err := Read(strings.NewReader(c.text), "c.json")
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v, %+v", c.name, err, got)
			continue
		}
		if bad.Line != c.line || !strings.Contains(bad.Why, c.want) {
			t.Errorf("%s: line %d: %s\nwant line %d: %s", c.name, bad.Line, bad.Why, c.line, c.want)
		}
		if s := bad.Error(); !strings.HasPrefix(s, fmt.Sprintf("configuration c.json, line %d: ", c.line)) || strings.ContainsAny(s, "\n\x1b") || len(s) > 400 {
			t.Errorf("%s: %q", c.name, s)
		}
		if !c.beyond && valid(t, schema, c.text) == nil {
			t.Errorf("%s: the schema has nothing against %.200s", c.name, c.text)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestUnreadable(t *testing.T) {
	_, err := Read(failing{}, "c.json")
	var bad *Error
	if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), "c.json: the disk is gone") {
		t.Error(err)
	}
}

func TestInForce(t *testing.T) {
	c := Default()
	for _, until := range []string{"", "2027-02-28", "2027-03-01", "2028-01-01"} {
		c.Suppress = append(c.Suppress, findings.Suppression{Until: until})
	}
	for _, x := range []struct {
		now     time.Time
		expired int
	}{
		{time.Date(2027, 2, 28, 23, 59, 59, 0, time.UTC), 0},
		{time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), 1},
		{time.Date(2027, 3, 1, 23, 59, 59, 999, time.UTC), 1},
		{time.Date(2027, 3, 2, 0, 0, 0, 0, time.UTC), 2},
		{time.Date(2027, 3, 2, 1, 0, 0, 0, time.FixedZone("", 2*3600)), 1}, // in UTC it is the day before
		{time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), 3},
	} {
		inForce, expired := c.InForce(x.now)
		if len(expired) != x.expired || len(inForce)+len(expired) != len(c.Suppress) {
			t.Errorf("%v: %d in force, %d expired", x.now, len(inForce), len(expired))
		}
	}
}

// TestThresholdsAreObeyed wants a detector to judge by what was read.
func TestThresholdsAreObeyed(t *testing.T) {
	const id = "runnext-monopoly"
	found := func(text string) (n int, configured []string) {
		c, err := Read(strings.NewReader(text), "c.json")
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, "pingpong-starve-go1.26-p1", c.Thresholds)
		for _, f := range r.Findings {
			if f.ID == id {
				n++
			}
		}
		for _, d := range r.Detectors {
			if d.Configured {
				configured = append(configured, d.ID)
			}
		}
		return n, configured
	}
	if n, configured := found(`{}`); n != 1 || configured != nil {
		t.Errorf("by default %s finds %d; configured are %v", id, n, configured)
	}
	if n, configured := found(`{"thresholds": {"runnext-monopoly": {"hops": 1000000}}}`); n != 0 || !slices.Equal(configured, []string{id}) {
		t.Errorf("%s finds %d in slices of a million run intervals; configured are %v", id, n, configured)
	}
}

func run(t *testing.T, name string, thresholds all.Thresholds) *analyze.Result {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join("..", "..", "testdata", "traces", name+".trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := analyze.Run(context.Background(), src, analyze.Options{Thresholds: thresholds})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// TestAnyThresholds analyses traces with the least and the greatest thresholds that
// a file may set, and with mixtures: a panic of the analysis is an error of Run.
func TestAnyThresholds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	either := func(b all.Bounds) float64 { return []float64{b.Least, b.Most}[rnd.IntN(2)] }
	for _, x := range []struct {
		name   string
		choose func(all.Bounds) (value float64, ok bool)
	}{
		{"least", func(b all.Bounds) (float64, bool) { return b.Least, true }},
		{"greatest", func(b all.Bounds) (float64, bool) { return b.Most, true }},
		{"either", func(b all.Bounds) (float64, bool) { return either(b), true }},
		{"some", func(b all.Bounds) (float64, bool) { return either(b), rnd.IntN(3) == 0 }},
	} {
		thresholds := all.Default()
		v := reflect.ValueOf(&thresholds).Elem()
		for f, group := range v.Fields() {
			set(key(f), group, x.choose)
		}
		for _, trace := range []string{"uneven-go1.26-p4", "pingpong-starve-go1.26-p1", "gc-go1.26-p2", "timers-go1.26-p4", "mutex-go1.26-p4", "network-go1.26-p2"} {
			t.Run(x.name+"/"+trace, func(t *testing.T) { run(t, trace, thresholds) })
		}
	}
}

// set sets the thresholds in a struct to what is chosen.
func set(path string, v reflect.Value, choose func(all.Bounds) (float64, bool)) {
	for f, x := range v.Fields() {
		path := path + "." + key(f)
		if x.Kind() == reflect.Struct {
			set(path, x, choose)
			continue
		}
		n, ok := choose(all.BoundsOf(path, x.Kind()))
		switch {
		case !ok:
		case x.CanInt():
			x.SetInt(int64(n))
		default:
			x.SetFloat(n)
		}
	}
}

// TestPage holds the page for users against what is read.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	for line := range strings.Lines(string(text)) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			file.WriteString(code)
		} else if file.Len() > 0 {
			break
		}
	}
	c, err := Read(strings.NewReader(file.String()), "docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	if c.Thresholds == all.Default() || len(c.Suppress) == 0 {
		t.Error("the example sets or suppresses nothing")
	}
	if err := valid(t, validator(t), file.String()); err != nil {
		t.Error(err)
	}
	for _, k := range slices.Concat(configKeys, suppressionKeys, workKeys) {
		if !strings.Contains(string(text), "`"+k+"`") {
			t.Errorf("docs/config.md does not have `%s`", k)
		}
	}
	if !strings.Contains(strings.ReplaceAll(string(text), "1,000", "1000"), fmt.Sprintf("at most %d", maxSuppressions)) {
		t.Error("docs/config.md has another number of suppressions")
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{example, `{}`, `{"thresholds": {"convoy": {"grade": {"note_ns": 1e1}}}}`, suppression(), "{\n", `{"$schema": "\ud800"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Read(strings.NewReader(text), "c.json")
		if err != nil {
			if bad := (*Error)(nil); !errors.As(err, &bad) || bad.Line < 1 || bad.Line > 1+strings.Count(text, "\n") || strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("%q: %q", text, err)
			}
			return
		}
		if err := valid(t, validator(t), text); err != nil {
			t.Errorf("the schema does not hold %q: %v", text, err)
		}
		var b strings.Builder
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(strings.NewReader(b.String()), "again")
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	})
}
