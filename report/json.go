package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/term"
)

// JSONOptions are the choices of WriteJSON.
type JSONOptions struct {
	// Timeline adds the picture over time, which is large.
	Timeline bool
}

// The shapes of the JSON document, where they differ from those of the result.
// docs/json.md describes every key.
type (
	jsonVerdict struct {
		Status   string   `json:"status"`
		Headline string   `json:"headline"`
		Lines    []string `json:"lines"`
	}
	jsonTrace struct {
		analyze.Trace
		Changes []procs.Procs `json:"gomaxprocs_changes"`
	}
	jsonWaits struct {
		waits.Summary                // of all waits
		User          waits.Summary  `json:"user"`
		Self          waits.Summary  `json:"self"`
		System        waits.Summary  `json:"system"`
		Worst         []waits.Story  `json:"worst"`
		OverTime      waits.OverTime `json:"over_time"`
	}
	jsonQueues struct {
		procs.Queues
		Overflows   int64 `json:"overflows"`
		GlobalTakes int64 `json:"global_takes"`
	}
	jsonFairness struct {
		Jain        float64           `json:"jain"`
		Judged      int64             `json:"judged"`
		MaxLagNs    int64             `json:"max_lag_ns"`
		P99LagNs    int64             `json:"p99_lag_ns"`
		Slowdown    fairness.Slowdown `json:"slowdown"`
		Bypass      fairness.Bypass   `json:"bypass"`
		LittleError float64           `json:"little_error"`
		Classes     []fairness.Class  `json:"classes"`
	}
	jsonClass struct {
		ID          int32              `json:"id"`
		Name        string             `json:"name"`
		Creator     string             `json:"creator"`
		System      bool               `json:"system"`
		Goroutines  int64              `json:"goroutines"`
		Starts      int64              `json:"starts"`
		RunningNs   int64              `json:"running_ns"`
		Waits       waits.Summary      `json:"waits"`
		Causes      []waits.CauseTime  `json:"causes"`
		Antagonists []waits.Antagonist `json:"antagonists"`
		Held        []waits.Held       `json:"held"`
		Worst       []waits.Story      `json:"worst"`
		Tasks       []string           `json:"tasks"`
		Regions     []string           `json:"regions"`
	}
)

// part is one key of the document with its value.
type part struct {
	key   string
	value any
}

// parts lists the document in its order.
func parts(doc *Document, o JSONOptions) []part {
	r := doc.Result
	all := []part{
		{"schema", doc.Schema},
		{"tool", doc.Tool},
		{"verdict", jsonVerdict{doc.Verdict.Status, doc.Verdict.Headline, orEmpty(doc.Verdict.Lines)}},
		{"trace", jsonTrace{withWarnings(r.Trace), orEmpty(r.Procs.Procs)}},
		{"reconstruction", r.Reconstruction},
		{"waits", jsonWaits{r.Waits.All, r.Waits.User, r.Waits.Self, r.Waits.System, orEmpty(r.Waits.Worst), waits.OverTime{BinNs: r.Waits.OverTime.BinNs, Causes: orEmpty(r.Waits.OverTime.Causes)}}},
		{"ps", orEmpty(r.Procs.Ps)},
		{"steals", r.Procs.Steals},
		{"handoffs", r.Procs.Handoffs},
		{"retakes", r.Procs.Retakes},
		{"preemptions", r.Procs.Preemptions},
		{"queues", jsonQueues{r.Procs.Queues, r.Procs.Overflows, r.Procs.GlobalTakes}},
		{"pressure", r.Pressure},
		{"fairness", jsonFairness{r.Fairness.Jain, r.Fairness.Judged, r.Fairness.MaxLagNs, r.Fairness.P99LagNs, r.Fairness.Slowdown, r.Fairness.Bypass, r.Fairness.LittleError, orEmpty(r.Fairness.Classes)}},
		{"span", r.Span},
		{"classes", jsonClasses(r.Waits.Classes)},
		{"findings", jsonFindings(r.Findings)},
		{"detectors", orEmpty(r.Detectors)},
	}
	if r.Trace.Reduced {
		unknown(all, "steals", "handoffs", "retakes", "queues")
	}
	if doc.Split != nil {
		all = append(all, part{"reference", doc.Split})
	}
	if o.Timeline {
		all = append(all, part{"timeline", r.Timeline})
	}
	return all
}

// WriteJSON writes doc as one JSON object: a line for each key, and for each
// element of the lists of objects. Equal input gives equal bytes.
func WriteJSON(w io.Writer, doc *Document, o JSONOptions) error {
	if doc == nil || doc.Result == nil {
		return fmt.Errorf("json: no result")
	}
	return writeParts(w, parts(doc, o))
}

// writeParts writes one JSON object: a line for each key, and for each element
// of the lists of objects.
func writeParts(w io.Writer, parts []part) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	for i, p := range parts {
		if i == 0 {
			bw.WriteString("{\n")
		} else {
			bw.WriteString(",\n")
		}
		fmt.Fprintf(bw, "%q: ", p.key)
		if err := writeValue(bw, p.value); err != nil {
			return fmt.Errorf("json: %s: %w", p.key, err)
		}
	}
	bw.WriteString("\n}\n")
	return bw.Flush()
}

// writeValue writes v in one line, or, if it is a list of objects, each of them
// in a line.
func writeValue(w *bufio.Writer, v any) error {
	rv := reflect.ValueOf(v)
	if v == nil || rv.Kind() != reflect.Slice || rv.Type().Elem().Kind() != reflect.Struct || rv.Len() == 0 {
		b, err := encode(v)
		if err != nil {
			return err
		}
		w.Write(b)
		return nil
	}
	for i := range rv.Len() {
		if i == 0 {
			w.WriteString("[\n")
		} else {
			w.WriteString(",\n")
		}
		b, err := encode(rv.Index(i).Interface())
		if err != nil {
			return err
		}
		w.Write(b)
	}
	w.WriteString("\n]")
	return nil
}

// encode marshals v. Characters of HTML stay as they are; those that would drive
// a terminal are escaped. A number that JSON does not have becomes 0.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	if _, ok := err.(*json.UnsupportedValueError); ok {
		b.Reset()
		err = e.Encode(finite(reflect.ValueOf(v)).Interface())
	}
	return escape(bytes.TrimRight(b.Bytes(), "\n")), err
}

// escape writes the characters of JSON that are hidden as \u sequences; the
// document is the same. Those of ASCII but DEL the encoder escapes itself.
func escape(js []byte) []byte {
	hidden := func(r rune) bool { return r >= 0x7f && term.Hidden(r) }
	if !bytes.ContainsFunc(js, hidden) {
		return js
	}
	out := make([]byte, 0, len(js)+len(js)/8)
	for _, r := range string(js) {
		switch {
		case !hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// finite returns a copy of v in which every number is one.
func finite(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			c.SetFloat(0)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(finite(v.Field(i)))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				c.Index(i).Set(finite(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for _, k := range v.MapKeys() {
				c.SetMapIndex(k, finite(v.MapIndex(k)))
			}
		}
	}
	return c
}

// orEmpty makes a missing list an empty one: null is no list.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func withWarnings(t analyze.Trace) analyze.Trace {
	t.Warnings = orEmpty(t.Warnings)
	return t
}

func jsonClasses(cs []waits.Class) []jsonClass {
	out := make([]jsonClass, 0, len(cs))
	for _, c := range cs {
		causes := c.Causes
		if len(causes) == 0 {
			causes = c.Waits.Causes
		}
		out = append(out, jsonClass{
			ID: c.ID, Name: c.Name, Creator: c.Creator, System: c.System,
			Goroutines: c.Goroutines, Starts: c.Starts, RunningNs: c.RunningNs,
			Waits: c.Waits, Causes: orEmpty(causes), Antagonists: orEmpty(c.Antagonists),
			Held: orEmpty(c.Held), Worst: orEmpty(c.Worst),
			Tasks: orEmpty(c.Tasks), Regions: orEmpty(c.Regions),
		})
	}
	return out
}

func jsonFindings(fs []findings.Finding) []findings.Finding {
	out := make([]findings.Finding, 0, len(fs))
	for _, f := range fs {
		f.Actors, f.Evidence, f.Advice = orEmpty(f.Actors), orEmpty(f.Evidence), orEmpty(f.Advice)
		out = append(out, f)
	}
	return out
}

// unknown makes the values of keys null: the trace does not show them.
func unknown(ps []part, keys ...string) {
	for i := range ps {
		if slices.Contains(keys, ps[i].key) {
			ps[i].value = nil
		}
	}
}
