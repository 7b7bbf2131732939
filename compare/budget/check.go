package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/docs/schema"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/names"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Document is the decoded JSON document of one analysis, as of gmpscope analyze --format json,
// by its top-level keys.
type Document map[string]any

const maxDocument = 1 << 30

// ReadDocument reads the output of `analyze --format json`. It rejects any schema but the current
// one.
func ReadDocument(r io.Reader, name string) (Document, error) {
	dec := json.NewDecoder(io.LimitReader(r, maxDocument))
	var d Document
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("reading the analysis %s: %w: write it with analyze --format json", name, err)
	}
	number, ok := d["schema"].(float64)
	if !ok || d["waits"] == nil {
		return nil, fmt.Errorf("reading the analysis %s: it has no schema and waits: write it with analyze --format json", name)
	}
	if number != schema.Version {
		return nil, fmt.Errorf("reading the analysis %s: it has schema %v, and this version of gmpscope reads %d: analyse the trace again, or read it with the version that its key tool names",
			name, number, schema.Version)
	}
	return d, nil
}

// Only returns the small part of a document that [Check], with these rules, and [Propose]
// need, so that many documents fit in memory.
func (d Document) Only(rules []Rule) Document {
	var paths [][]step
	for i := range rules {
		paths = append(paths, rules[i].path)
	}
	texts := append(slices.Clone(proposed), "work.kinds[*].entry")
	for _, k := range proposedOfKinds {
		texts = append(texts, "work.kinds[*]."+k.path)
	}
	for _, text := range texts {
		if path, err := parsePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	out, _ := only(map[string]any(d), paths).(map[string]any)
	list, _ := d["findings"].([]any)
	kept := make([]any, 0, len(list))
	for _, e := range list {
		if x, ok := e.(map[string]any); ok {
			kept = append(kept, map[string]any{"id": x["id"], "kind": x["kind"], "severity": x["severity"]})
		}
	}
	out["findings"] = kept
	return out
}

// only returns of a value what find sees on the way along paths.
func only(at any, paths [][]step) any {
	switch at := at.(type) {
	case []any:
		return []any{} // find takes a list for nothing but its elements
	case map[string]any:
		byKey := map[string][][]step{}
		for _, p := range paths {
			if len(p) > 0 {
				byKey[p[0].key] = append(byKey[p[0].key], p)
			}
		}
		out := map[string]any{}
		if byKey["latency"] != nil && at["count"] != nil {
			out["count"] = at["count"]
		}
		for key, ps := range byKey {
			next, ok := at[key]
			if !ok {
				continue
			}
			list, isList := next.([]any)
			if !isList {
				rest := make([][]step, 0, len(ps))
				for _, p := range ps {
					rest = append(rest, p[1:])
				}
				out[key] = only(next, rest)
				continue
			}
			missing := slices.ContainsFunc(ps, func(p []step) bool { return p[0].choice && !has(list, p[0].choose) })
			kept := []any{}
			for _, e := range list {
				if x, ok := e.(map[string]any); ok {
					if y := onlyElement(x, ps, missing); y != nil {
						kept = append(kept, y)
					}
				}
			}
			out[key] = kept
		}
		return out
	}
	return at
}

// has reports whether an element of a list goes by a name.
func has(list []any, name string) bool {
	return slices.ContainsFunc(list, func(e any) bool {
		x, ok := e.(map[string]any)
		return ok && called(x, name)
	})
}

// onlyElement is only for an element of a list. Of one that no path chooses it keeps what
// it goes by, if named asks for that, else nothing.
func onlyElement(x map[string]any, paths [][]step, named bool) map[string]any {
	var rest [][]step
	for _, p := range paths {
		if p[0].choice && called(x, p[0].choose) {
			rest = append(rest, p[1:])
		}
	}
	if rest == nil && !named {
		return nil
	}
	out, _ := only(x, rest).(map[string]any)
	for _, key := range naming {
		if v, ok := x[key]; ok {
			out[key] = v
		}
	}
	return out
}

// Outcome is the result of one rule.
type Outcome struct {
	Rule         string `json:"rule"`                   // as written, without comment
	Line         int    `json:"line"`                   // in the budget file, from 1
	OK           bool   `json:"ok"`                     // it holds
	Inconclusive string `json:"inconclusive,omitempty"` // why its breach may not be due to the program; absent if it is, or the rule holds
	Value        string `json:"value"`                  // what was measured
	Bound        string `json:"bound"`                  // what it was compared with
	Why          string `json:"why,omitempty"`          // error that prevented the check, which counts as a breach
}

// Check evaluates rules for the documents of traces and of a baseline, which may be empty
// if no rule needs it. Outcomes are in the order of the rules.
func Check(rules []Rule, docs, baseline []Document) []Outcome {
	out := make([]Outcome, 0, len(rules))
	for i := range rules {
		out = append(out, rules[i].check(docs, baseline))
	}
	return out
}

func (r *Rule) check(docs, baseline []Document) Outcome {
	o := Outcome{Rule: r.Text, Line: r.Line}
	if r.ofFindings() {
		worst := 0
		if worst, o.Why = r.worstFinding(docs); o.Why == "" {
			o.Value, o.Bound = severities[worst], severities[r.severity]
			o.OK = r.holds(float64(worst), float64(r.severity))
		}
		return o
	}
	v := 0.0
	if v, o.Why = r.value1(docs); o.Why != "" {
		return o
	}
	bound := r.value
	if r.relative != absolute {
		if len(baseline) == 0 {
			o.Value, o.Why = r.show(v), "the rule needs a baseline: name one with --baseline"
			return o
		}
		b, why := r.value1(baseline)
		if why != "" {
			o.Value, o.Why = r.show(v), "baseline: "+why
			return o
		}
		if r.relative == times {
			bound = b * r.value
		} else {
			bound = b + r.value
		}
	}
	o.Value, o.Bound, o.OK = r.show(v), r.show(bound), r.holds(v, bound)
	if !o.OK {
		o.Inconclusive = r.doubt(docs)
	}
	return o
}

// doubt reports why a number that breaks the rule may be no property of the program; "" if nothing
// speaks for that.
func (r *Rule) doubt(docs []Document) string {
	last := r.path[len(r.path)-1].key
	if !strings.HasSuffix(last, "_ns") && last != "per_s" {
		return "" // not about time
	}
	lacking := 0
	for _, d := range docs {
		list, _ := d["findings"].([]any)
		if slices.ContainsFunc(list, func(e any) bool {
			x, _ := e.(map[string]any)
			severity, _ := x["severity"].(string)
			return x["kind"] == "machine" && slices.Index(severities, severity) > 1
		}) {
			lacking++
		}
	}
	var counts []float64
	if len(r.path) > 2 && r.path[len(r.path)-2].key == "latency" {
		counts = numbersAt(docs, append(slices.Clone(r.path[:len(r.path)-2]), step{key: "count"}))
	}
	if 2*lacking > len(docs) {
		return "threads lacked CPUs in most of the traces"
	}
	if least := unitsFor[last]; least > 0 && len(counts) > 0 && slices.Max(counts) < least {
		return fmt.Sprintf("of at most %v units in a trace: %v are needed", slices.Max(counts), least)
	}
	return ""
}

// unitsFor is how many units a quantile of their latency needs, so that one of them is above it.
var unitsFor = map[string]float64{"p95_ns": 20, "p99_ns": 100}

func (r *Rule) holds(v, bound float64) bool {
	switch r.op {
	case "<":
		return v < bound
	case "<=":
		return v <= bound
	case ">":
		return v > bound
	default:
		return v >= bound
	}
}

// show writes a value in the unit of its path.
func (r *Rule) show(v float64) string {
	if strings.HasSuffix(r.path[len(r.path)-1].key, "ns") {
		return quantity.FineDuration(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// value1 is the median over documents.
func (r *Rule) value1(docs []Document) (v float64, why string) {
	var vs []float64
	for _, d := range docs {
		var found []float64
		why := find(map[string]any(d), r.path, &found)
		if len(found) == 0 {
			if why == "" {
				why = "nothing matches"
			}
			return 0, why
		}
		if r.op[0] == '<' { // it is an upper bound
			vs = append(vs, slices.Max(found))
		} else {
			vs = append(vs, slices.Min(found))
		}
	}
	if len(vs) == 0 {
		return 0, "there is no trace"
	}
	return quantity.Median(vs), ""
}

// find collects the numbers at a path. why says what is wrong where there are
// none.
func find(at any, p []step, to *[]float64) (why string) {
	if len(p) == 0 {
		v, ok := at.(float64)
		if !ok {
			return "the path does not end at a number"
		}
		*to = append(*to, v)
		return ""
	}
	m, ok := at.(map[string]any)
	if !ok {
		return fmt.Sprintf("there is no %q there", p[0].key)
	}
	next, ok := m[p[0].key]
	if !ok {
		return fmt.Sprintf("there is no %q there: see docs/json.md", p[0].key)
	}
	if p[0].key == "latency" && m["count"] == 0.0 {
		return "no unit of the kind was whole, so that there is no latency"
	}
	if !p[0].choice {
		return find(next, p[1:], to)
	}
	list, ok := next.([]any)
	if !ok {
		return fmt.Sprintf("%q is no list", p[0].key)
	}
	found := false
	for _, e := range list {
		if x, ok := e.(map[string]any); ok && called(x, p[0].choose) {
			found, why = true, find(x, p[1:], to)
		}
	}
	if !found {
		why = fmt.Sprintf("no element of %q is called %s: %s", p[0].key, p[0].choose, names.Instead(p[0].choose, namesOf(list)))
	}
	return why
}

// numbersAt are the numbers at a path of those documents that have some.
func numbersAt(docs []Document, path []step) (vs []float64) {
	for _, d := range docs {
		find(map[string]any(d), path, &vs)
	}
	return vs
}

// namesOf returns what the elements of a list go by.
func namesOf(list []any) (out []string) {
	for _, e := range list {
		x, _ := e.(map[string]any)
		for _, key := range naming {
			if v, ok := x[key]; ok {
				out = append(out, fmt.Sprint(v))
				break
			}
		}
	}
	return out
}

// naming are the keys that an element of a list goes by.
var naming = [...]string{"name", "cause", "id", "p"}

// called reports whether an element goes by a name. Documents of older versions, and
// rules made for those, name functions as the linker does.
func called(x map[string]any, name string) bool {
	for _, key := range naming {
		switch v := x[key].(type) {
		case string:
			if names.Match(name, v) || names.Match(funcname.Written(name), funcname.Written(v)) {
				return true
			}
		case float64:
			if fmt.Sprint(v) == name {
				return true
			}
		}
	}
	return false
}

// worstFinding is the severity that at least half of the documents reach. why says
// what is wrong where that cannot be decided.
func (r *Rule) worstFinding(docs []Document) (severity int, why string) {
	var of []int
	for _, d := range docs {
		worst := 0
		list, _ := d["findings"].([]any)
		for _, e := range list {
			x, ok := e.(map[string]any)
			if !ok {
				continue
			}
			id, _ := x["id"].(string)
			s, _ := x["severity"].(string)
			if r.path[0].choice {
				if !names.Match(r.path[0].choose, id) {
					continue
				}
			} else if kind, ok := x["kind"].(string); !ok {
				return 0, fmt.Sprintf("the finding %s has no kind: write the analysis again, with this version", id)
			} else if kind == "trace" {
				continue // it judges the recording; name it to have it judged
			}
			worst = max(worst, slices.Index(severities, s))
		}
		of = append(of, worst)
	}
	if len(of) == 0 {
		return 0, ""
	}
	slices.Sort(of)
	return of[len(of)/2], ""
}

// proposed are the paths of a proposed budget.
var proposed = []string{
	"trace.duration_ns",
	"waits.user.p99_ns", "waits.user.time_weighted.p50_ns", "waits.user.max_ns", "waits.user.total_ns",
	"pressure.some", "pressure.full", "pressure.unclaimed_idle", "fairness.max_lag_ns",
}

// kindNumber is a number of a kind of units that a proposed budget bounds.
type kindNumber struct {
	path  string
	units float64 // that a trace must have of the kind
	lower bool    // it is bounded from below
}

// proposedOfKinds are those of each kind of units that begins from outside.
var proposedOfKinds = []kindNumber{
	{"count", 0, true}, {"per_s", 20, true}, {"latency.p50_ns", 20, false}, {"latency.p99_ns", 100, false}, {"running_ns", 20, false},
}

// Propose writes a budget that the given traces meet: each bound is the largest value plus a
// quarter, or plus the spread (largest less smallest) if that is more; lower bounds likewise. A
// comment behind each rule gives the change of the median that it notices.
func Propose(w io.Writer, docs []Document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Proposed from %d good traces. The median of the traces that are checked is held\n# against it; relax what is too tight for your machines.\n", len(docs))
	for _, p := range proposed {
		if err := propose(&b, p, docs, false); err != nil {
			return err
		}
	}
	for _, entry := range []bool{true, false} {
		n := b.Len()
		if err := proposeKinds(&b, docs, entry); err != nil {
			return err
		}
		if b.Len() > n {
			break // what does not begin from outside is for where nothing else is known, as with tests
		}
	}
	worst := 0
	all := Rule{path: []step{{key: "findings"}}}
	for _, d := range docs {
		severity, why := all.worstFinding([]Document{d})
		if why != "" {
			return errors.New(why)
		}
		worst = max(worst, severity)
	}
	if worst = max(1, worst); worst < len(severities)-1 {
		fmt.Fprintf(&b, "%-34s <= %s\n", "findings", severities[worst])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func proposeKinds(b *strings.Builder, docs []Document, entry bool) error {
	for _, name := range kindsOf(docs, entry) {
		path := "work.kinds[" + name + "]."
		count, err := parsePath(path + "count")
		if err != nil {
			return err
		}
		counts := numbersAt(docs, count)
		for _, k := range proposedOfKinds {
			if k.units > 0 && len(counts) > 0 && slices.Min(counts) >= k.units {
				if err := propose(b, path+k.path, docs, k.lower); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// propose writes a rule for a path that leads to a number in each document; nothing for one that does not,
// or that could never break.
func propose(b *strings.Builder, path string, docs []Document, lower bool) error {
	steps, err := parsePath(path)
	if err != nil {
		return err
	}
	vs := numbersAt(docs, steps)
	if len(vs) == 0 || len(vs) < len(docs) {
		return nil
	}
	least, middle, top := slices.Min(vs), quantity.Median(vs), slices.Max(vs)
	r := Rule{path: steps}
	op, bound := "<=", roundUp(top+max(top/4, top-least))
	if lower {
		if op, bound = ">=", roundUp((least-min(least/4, top-least))*0.8); bound <= 0 {
			return nil
		}
	}
	if last := steps[len(steps)-1].key; !lower && !strings.HasSuffix(last, "ns") {
		if bound = max(bound, 0.01); bound >= 1 {
			return nil // a share is never more
		}
	}
	notices := "any"
	switch {
	case lower:
		notices = fmt.Sprintf("less than %.2g times the median of these", bound/middle)
	case middle > 0:
		notices = fmt.Sprintf("more than %.2g times the median of these", bound/middle)
	}
	fmt.Fprintf(b, "%-34s %s %-10s # notices %s\n", path, op, r.show(bound), notices)
	return nil
}

// kindsOf returns the names of the kinds of units in all documents, or of those that begin from outside,
// that a rule can have.
func kindsOf(docs []Document, entry bool) (out []string) {
	count := map[string]int{}
	for i, d := range docs {
		work, _ := d["work"].(map[string]any)
		kinds, _ := work["kinds"].([]any)
		for _, e := range kinds {
			x, _ := e.(map[string]any)
			name, _ := x["name"].(string)
			if entry && x["entry"] != true || count[name] != i || len(name) > 500 || strings.ContainsAny(name, "#*\n\r") || closing("["+name+"]") != len(name)+1 {
				continue
			}
			if count[name]++; count[name] == len(docs) {
				out = append(out, name)
			}
		}
	}
	return out
}

func roundUp(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Ceil(v/unit) * unit
}
