package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func doc(t *testing.T, s string) Document {
	t.Helper()
	d, err := ReadDocument(strings.NewReader(s), "test")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const sample = `{"schema": 3,
 "waits": {"user": {"p99_ns": 2000000, "total_ns": 100}, "tail_mass": {"1ms": 0.5}, "causes": [{"cause": "queueing", "ns": 70}]},
 "pressure": {"some": 0.4},
 "classes": [{"name": "main.a", "waits": {"p99_ns": 5}}, {"name": "main.f[go.shape.int]", "waits": {"p99_ns": 9}}],
 "ps": [{"p": 0, "idle_ns": 3}, {"p": 1, "idle_ns": 4}],
 "work": {"kinds": [{"name": "main.report", "count": 9, "latency": {"p99_ns": 7}}, {"name": "main.open", "count": 0, "latency": {"p99_ns": 0}}]},
 "steals": null, "findings": [{"id": "convoy", "kind": "cause", "severity": "warning"}, {"id": "trace-quality", "kind": "trace", "severity": "critical"}]}`

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule  string
		ok    bool
		value string
	}{
		{"waits.user.p99_ns <= 2ms", true, "2 ms"},
		{"waits.user.p99_ns < 2ms", false, "2 ms"},
		{"waits.user.p99_ns<=1.999ms", false, "2 ms"},
		{"waits.user.p99_ns > 0.001s # why not", true, "2 ms"},
		{"pressure.some <= 40 %", true, "0.4"},
		{"pressure.some >= 41%", false, "0.4"},
		{"classes[main.a].waits.p99_ns <= 5ns", true, "5 ns"},
		{"classes[main.*].waits.p99_ns <= 8ns", false, "9 ns"},
		{"classes[*].waits.p99_ns >= 6", false, "5 ns"},
		{"classes[main.f[go.shape.int]].waits.p99_ns <= 9", true, "9 ns"},
		{"waits.causes[queueing].ns <= 69", false, "70 ns"},
		{"work.kinds[main.report].latency.p99_ns <= 7ns", true, "7 ns"},
		{"work.kinds[main.report].count >= 10", false, "9"},
		{"work.kinds[main.open].count >= 1", false, "0"},
		{"ps[1].idle_ns <= 4", true, "4 ns"},
		{"waits.user.total_ns <= baseline", false, "100 ns"},
		{"waits.user.total_ns <= baseline + 25%", true, "100 ns"},
		{"waits.user.total_ns <= baseline + 20ns", true, "100 ns"},
		{"waits.user.total_ns <= baseline * 1.1", false, "100 ns"},
		{"findings <= note", false, "warning"},
		{"findings <= warning", true, "warning"},
		{"findings[convoy] < warning", false, "warning"},
		{"findings[lock-convoy] <= ok", true, "ok"},
		{"findings[trace-*] <= warning", false, "critical"},
	} {
		rules, err := Parse(strings.NewReader(c.rule), "b")
		if err != nil || len(rules) != 1 {
			t.Errorf("%s: %v, %d rules", c.rule, err, len(rules))
			continue
		}
		base := doc(t, strings.Replace(sample, `"total_ns": 100`, `"total_ns": 80`, 1))
		o := Check(rules, []Document{doc(t, sample)}, []Document{base})[0]
		if o.OK != c.ok || o.Value != c.value || o.Why != "" {
			t.Errorf("%s: %+v", c.rule, o)
		}
	}
}

// TestLinkersNames chooses classes in documents of older versions, and by rules for
// those, which name functions as the linker does.
func TestLinkersNames(t *testing.T) {
	const linked, written = "b.c/nats%2ego.(*Conn).readLoop", "b.c/nats.go.(*Conn).readLoop"
	for _, c := range []struct{ rule, doc string }{{linked, linked}, {linked, written}, {written, linked}, {written, written}, {"b.c/nats%2ego.*", written}} {
		rules, err := Parse(strings.NewReader("classes["+c.rule+"].waits.p99_ns <= 5ns"), "b")
		if err != nil {
			t.Fatal(err)
		}
		o := Check(rules, []Document{doc(t, strings.ReplaceAll(sample, "main.a", c.doc))}, nil)[0]
		if !o.OK || o.Value != "5 ns" {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}

func TestRulesThatLeadNowhereAreBroken(t *testing.T) {
	for rule, want := range map[string]string{
		"classes[nobody].starts <= 1":               `no element of "classes" is called nobody: there are "main.a", "main.f[go.shape.int]"`,
		"classes[main.ab].starts <= 1":              `: did you mean "main.a"?`,
		"work.kinds[main.open].latency.p99_ns <= 1": "there is no latency",
		"ps[7].idle_ns <= 1":                        `did you mean "0" or "1"?`,
		"queues.global_max <= 1":                    "no \"queues\"", // null, in an old trace
		"steals.count <= 1":                         "no \"count\"",
		"waits.tail_mass.1h <= 1":                   "no \"1h\"",
		"findings[convoy].cost_ns <= 1":             "no \"cost_ns\"",
	} {
		rules, err := Parse(strings.NewReader(rule), "b")
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if o := Check(rules, []Document{doc(t, sample)}, nil)[0]; o.OK || !strings.Contains(o.Why, want) {
			t.Errorf("%s: %+v, want %q", rule, o, want)
		}
	}
	rules, _ := Parse(strings.NewReader("pressure.some <= baseline"), "b")
	if o := Check(rules, []Document{doc(t, sample)}, nil)[0]; o.OK || !strings.Contains(o.Why, "--baseline") {
		t.Errorf("%+v", o)
	}
}

func TestBadBudgets(t *testing.T) {
	for text, want := range map[string]string{
		"wait.user.p99_ns <= 1":           "there is no \"wait\" in the document; did you mean waits?",
		"waits.causes[behind].ns <= 1":    "since schema 3: write causes[queueing]",
		"requests.tasks[a].p99_ns <= 1":   "since schema 3: write work.kinds[NAME].latency.p99_ns",
		"waits.user.p99 <= 1":             "there is no \"p99\" in waits.user; did you mean p99_ns",
		"classes[main.a].xyzzy <= 1":      "there is no \"xyzzy\" in classes[main.a], which has antagonists, blocked_before, causes,",
		"waits.user <= 1":                 "waits.user is no number, which has behind_long_ns,",
		"trace.name <= 1":                 "trace.name is no number",
		"classes.starts <= 1":             "classes is a list: choose an element, as in classes[NAME].starts",
		"classes <= 1":                    "classes is no number",
		"pressure[some] <= 1":             "pressure is no list",
		"pressure.some.more <= 1":         "there is no \"more\" in pressure.some, which has no parts",
		"steals.coun <= 1":                "did you mean count?",
		"waits.user.p99_ns":               "no comparison",
		"<= 3":                            "no path",
		"a..b <= 3":                       "empty part",
		"a[b <= 3":                        "no comparison",
		"a == 3":                          "no comparison:",
		"pressure.some <= many":           "no number",
		"pressure.some <= 1e999":          "no number",
		"pressure.some <= NaN":            "no number",
		"pressure.some <= baseline / 2":   "after baseline",
		"findings <= bad":                 "no severity",
		"pressure.some <= 3\n\n\xff <= 1": "not UTF-8",
		strings.Repeat("x", maxLine+1):    "longer than",
	} {
		_, err := Parse(strings.NewReader(text), "b.budget")
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "b.budget, line ") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse(strings.NewReader("pressure.some <= 1\n\npressure.some <= x"), "b"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Error(err)
	}
}

func TestMedianOfSeveralTraces(t *testing.T) {
	var docs []Document
	for _, v := range []string{"0.1", "0.9", "0.2"} {
		docs = append(docs, doc(t, strings.Replace(sample, `"some": 0.4`, `"some": `+v, 1)))
	}
	docs[0]["findings"], docs[1]["findings"] = []any{}, []any{}
	rules, err := Parse(strings.NewReader("pressure.some <= 0.2\nfindings <= ok"), "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Check(rules, docs, nil) {
		if !o.OK {
			t.Errorf("%+v", o)
		}
	}
}

// What is proposed is kept by the traces that it was made from.
func TestProposedBudgetIsKept(t *testing.T) {
	var docs []Document
	for _, v := range []string{"1234567", "17", "999999999"} {
		docs = append(docs, doc(t, strings.Replace(sample, `"p99_ns": 2000000`, `"p99_ns": `+v, 1)))
	}
	var b bytes.Buffer
	if err := Propose(&b, docs); err != nil {
		t.Fatal(err)
	}
	rules, err := Parse(&b, "proposed")
	if err != nil || len(rules) < 4 {
		t.Fatalf("%v, %d rules", err, len(rules))
	}
	for _, d := range docs {
		for _, o := range Check(rules, []Document{d}, nil) {
			if !o.OK {
				t.Errorf("%+v", o)
			}
		}
	}
}

// A share is never more than 1, and nothing is worse than critical: such rules cannot break.
func TestProposedBudgetCanBreak(t *testing.T) {
	full := strings.ReplaceAll(strings.Replace(sample, `"some": 0.4`, `"some": 0.97`, 1), `"warning"`, `"critical"`)
	var b bytes.Buffer
	if err := Propose(&b, []Document{doc(t, full)}); err != nil || strings.Contains(b.String(), "pressure.some") || strings.Contains(b.String(), "\nfindings") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := Propose(&b, []Document{doc(t, sample)}); err != nil || !strings.Contains(b.String(), "pressure.some") || !strings.Contains(b.String(), "\nfindings") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// Kinds of units that begin from outside, and are in all traces, are bounded, each with what its rule
// notices; names that no rule can have are left out.
func TestProposedForWork(t *testing.T) {
	of := func(p50 int, kinds string) Document {
		return doc(t, fmt.Sprintf(`{"schema": 3, "waits": {"user": {}}, "findings": [], "work": {"kinds": [
			{"name": "main.report", "entry": true, "count": 200, "per_s": 100, "running_ns": 10, "latency": {"p50_ns": %d, "p99_ns": 4000}}%s]}}`, p50, kinds))
	}
	others := `, {"name": "main.few", "entry": true, "count": 2, "per_s": 1, "latency": {"p50_ns": 1}}, {"name": "main.part", "entry": false, "count": 200, "latency": {"p50_ns": 1}},
		{"name": "a#b", "entry": true, "count": 200, "latency": {"p50_ns": 1}}, {"name": "a]b", "entry": true, "count": 200, "latency": {"p50_ns": 1}}`
	var b bytes.Buffer
	docs := []Document{of(1000, others), of(1100, others), of(1300, others), of(1200, others+`, {"name": "main.once", "entry": true, "count": 200, "latency": {"p50_ns": 1}}`)}
	if err := Propose(&b, docs); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"work.kinds[main.report].per_s      >= 80         # notices less than 0.8 times the median of these",
		"work.kinds[main.report].latency.p50_ns <= 1.7 µs     # notices more than 1.5 times the median of these",
		"work.kinds[main.report].latency.p99_ns <= 5 µs",
		"work.kinds[main.report].running_ns <= 13 ns",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(got, "few") || strings.Contains(got, "part") || strings.Contains(got, "[a") || strings.Contains(got, "once") {
		t.Error("a kind is bounded that should not")
	}
	inner := doc(t, `{"schema": 3, "waits": {"user": {}}, "findings": [], "work": {"kinds": [{"name": "api.TestLoad.func1", "entry": false, "count": 200, "latency": {"p50_ns": 100}}]}}`)
	var tests strings.Builder
	if err := Propose(&tests, []Document{inner}); err != nil || !strings.Contains(tests.String(), "work.kinds[api.TestLoad.func1].latency.p50_ns <= 130 ns") {
		t.Errorf("%v\n%s", err, &tests)
	}
	rules, err := Parse(&b, "proposed")
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	for _, o := range Check(rules, docs, nil) {
		if !o.OK {
			t.Errorf("%+v", o)
		}
	}
	if slow := Check(rules, []Document{of(2000, "")}, nil); !slices.ContainsFunc(slow, func(o Outcome) bool { return !o.OK && o.Inconclusive == "" }) {
		t.Errorf("%+v", slow)
	}
}

// A rule about time that is broken may not be the program's doing.
func TestInconclusive(t *testing.T) {
	machine := strings.Replace(sample, `"convoy", "kind": "cause"`, `"os-preemption", "kind": "machine"`, 1)
	for _, c := range []struct{ rule, doc, want string }{
		{"waits.user.p99_ns <= 1ms", sample, ""},
		{"waits.user.p99_ns <= 1ms", machine, "threads lacked CPUs in most of the traces"},
		{"waits.user.p99_ns <= 2ms", machine, ""}, // it holds
		{"pressure.some <= 1%", machine, ""},
		{"work.kinds[main.report].latency.p99_ns <= 1ns", sample, "of at most 9 units in a trace: 100 are needed"},
		{"work.kinds[main.report].latency.p99_ns <= 8ns", sample, ""},
	} {
		rules, err := Parse(strings.NewReader(c.rule), "b")
		if err != nil {
			t.Fatal(err)
		}
		if o := Check(rules, []Document{doc(t, c.doc).Only(rules)}, nil)[0]; o.Inconclusive != c.want {
			t.Errorf("%s: %+v, want %q", c.rule, o, c.want)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	for _, s := range []string{"", "[]", "{}", `{"schema": 1}`, `{"schema": "x", "waits": {}}`, `{"schema": 2, "waits": {}}`, `{"schema": 4, "waits": {}}`, `{"schema": 0, "waits": {}}`, `{"schema": 1.5, "waits": {}}`, `{"schema": 1, "waits"`} {
		if _, err := ReadDocument(strings.NewReader(s), "d"); err == nil || !strings.Contains(err.Error(), "analysis d") {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, old := range []string{"1", "2"} {
		if _, err := ReadDocument(strings.NewReader(`{"schema": `+old+`, "waits": {}}`), "d"); err == nil || !strings.Contains(err.Error(), "analyse the trace again") {
			t.Errorf("schema %s: %v", old, err)
		}
	}
}

// TestOnly has rules that lead to numbers, and ones that lead nowhere: they see
// the same in what is kept of a document.
func TestOnly(t *testing.T) {
	const text = `waits.user.p99_ns <= 2ms
waits.user.max_ns <= 1
waits.tail_mass.1ms <= 1
waits.tail_mass.1h <= 1
waits.causes[garbage-collector].ns <= 1
steals.count <= 1
waits.causes[queueing].ns <= 1
classes[main.*].waits.p99_ns <= 8ns
classes[nobody].waits.p99_ns <= 8ns
work.kinds[main.report].latency.p99_ns <= 7ns
work.kinds[main.open].latency.p99_ns <= 7ns
ps[7].idle_ns <= 8ns
ps[1].idle_ns <= baseline
ps[0].idle_ns <= 2
findings[convoy] < warning
findings <= note`
	rules, err := Parse(strings.NewReader(text), "b")
	if err != nil {
		t.Fatal(err)
	}
	sameOfOnly(t, rules, doc(t, sample))
	kept, err := json.Marshal(doc(t, sample).Only(rules[:1]))
	if want := `{"findings":[{"id":"convoy","kind":"cause","severity":"warning"},{"id":"trace-quality","kind":"trace","severity":"critical"}],"pressure":{"some":0.4},"waits":{"user":{"p99_ns":2000000,"total_ns":100}},"work":{"kinds":[{"count":9,"latency":{"p99_ns":7},"name":"main.report"},{"count":0,"latency":{"p99_ns":0},"name":"main.open"}]}}`; err != nil || string(kept) != want {
		t.Errorf("%s, %v", kept, err)
	}
}

// sameOfOnly holds what Check and Propose give for what is kept of a document
// against what they give for all of it.
func sameOfOnly(t *testing.T, rules []Rule, d Document) {
	t.Helper()
	whole, part := []Document{d}, []Document{d.Only(rules)}
	if a, b := Check(rules, whole, whole), Check(rules, part, part); !slices.Equal(a, b) {
		t.Errorf("of the whole document %+v, of the part %+v", a, b)
	}
	var a, b bytes.Buffer
	x, y := Propose(&a, whole), Propose(&b, part)
	if fmt.Sprint(x) != fmt.Sprint(y) || a.String() != b.String() {
		t.Errorf("of the whole document %s, %v, of the part %s, %v", &a, x, &b, y)
	}
}

func FuzzBudget(f *testing.F) {
	f.Add("waits.user.p99_ns <= 2ms\nfindings[*] < note\nclasses[a*b].starts >= baseline + 3%", sample)
	f.Fuzz(func(t *testing.T, text, document string) {
		rules, err := Parse(strings.NewReader(text), "b")
		if err != nil {
			return
		}
		var d Document
		if json.Unmarshal([]byte(document), &d) != nil {
			return
		}
		for _, o := range Check(rules, []Document{d}, []Document{d}) {
			if o.OK && o.Why != "" || o.Rule == "" {
				t.Errorf("%+v", o)
			}
		}
		sameOfOnly(t, rules, d)
	})
}

// FuzzReadDocument: a file is a document or gives an error of one line, and
// rules can be held against what is a document.
func FuzzReadDocument(f *testing.F) {
	f.Add(sample)
	f.Add(`{"schema": 1, "waits": []}`)
	f.Add(`{"schema": 1e999, "waits": {"user": {"p99_ns": -1e308}}, "findings": {"id": 3}, "classes": "x"}`)
	f.Add(`{"schema": 1, "waits": {"user": null}, "findings": [null, 1, {"id": {}, "severity": 7}]} {`)
	rules, err := Parse(strings.NewReader("waits.user.p99_ns <= 2ms\nwaits.user.p99_ns <= baseline + 3%\nfindings[*] < note\nclasses[*].waits.p99_ns <= 1s\nwaits.causes[queueing].ns <= baseline * 2"), "b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadDocument(strings.NewReader(text), "d")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line: %q", err)
			}
			return
		}
		for _, o := range Check(rules, []Document{d, d}, []Document{d}) {
			if o.OK && o.Why != "" || o.Rule == "" {
				t.Errorf("%+v", o)
			}
		}
		var w strings.Builder
		if err := Propose(&w, []Document{d}); err != nil {
			return
		}
		if _, err := Parse(strings.NewReader(w.String()), "proposed"); err != nil {
			t.Errorf("the budget that is proposed is none: %v\n%s", err, w.String())
		}
	})
}
