package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/compare/budget"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
)

// schema is one of docs/schema.
type schema struct {
	raw    map[string]any
	closed *jsonschema.Resolved // keys that it does not have are refused
	open   *jsonschema.Resolved // as it is
}

func readSchema(t *testing.T, name string) *schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "schema", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &schema{}
	if err := json.Unmarshal(text, &s.raw); err != nil {
		t.Fatal(err)
	}
	s.open = resolve(t, text)
	shut(s.raw)
	if text, err = json.Marshal(s.raw); err != nil {
		t.Fatal(err)
	}
	s.closed = resolve(t, text)
	return s
}

func resolve(t *testing.T, text []byte) *jsonschema.Resolved {
	t.Helper()
	var js jsonschema.Schema
	if err := json.Unmarshal(text, &js); err != nil {
		t.Fatal(err)
	}
	r, err := js.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shut refuses keys that an object of a schema does not have.
func shut(s map[string]any) {
	if keys, ok := s["properties"].(map[string]any); ok {
		s["additionalProperties"] = false
		for _, key := range keys {
			shut(key.(map[string]any))
		}
	}
	for _, d := range object(s["$defs"]) {
		shut(d.(map[string]any))
	}
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// at follows references: it returns the schema that holds for a value.
func (s *schema) at(sub map[string]any) (name string, of map[string]any) {
	if ref, ok := sub["$ref"].(string); ok {
		name = strings.TrimPrefix(ref, "#/$defs/")
		return name, object(object(s.raw["$defs"])[name])
	}
	if any, ok := sub["anyOf"].([]any); ok {
		return s.at(object(any[0]))
	}
	return "", sub
}

// check validates an object in JSON.
func (s *schema) check(t *testing.T, what string, js []byte) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(js, &doc); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := s.closed.Validate(doc); err != nil {
		t.Errorf("%s is not what its schema says: %v", what, err)
	}
	return doc
}

// mutate changes a value of each key of one object of each kind, in turn, and
// expects the schema to refuse it.
func (s *schema) mutate(t *testing.T, doc map[string]any) {
	t.Helper()
	seen := map[string]bool{}
	n := 0
	refused := func(why string) {
		n++
		if s.closed.Validate(doc) == nil {
			t.Errorf("the schema takes a document with %s", why)
		}
	}
	var walk func(at string, v any, sub map[string]any)
	walk = func(at string, v any, sub map[string]any) {
		name, sub := s.at(sub)
		switch v := v.(type) {
		case []any:
			for _, e := range v[:min(len(v), 1)] {
				walk(at+"[]", e, object(sub["items"]))
			}
		case map[string]any:
			if name != "" && seen[name] {
				return
			}
			seen[name] = true
			keys := object(sub["properties"])
			if keys == nil { // a map
				return
			}
			required, _ := sub["required"].([]any)
			for _, key := range slices.Sorted(maps.Keys(v)) {
				was := v[key]
				if slices.Contains(required, any(key)) {
					delete(v, key)
					refused("no " + at + key)
				}
				v[key] = []any{true} // what nothing has
				refused(at + key + " of another type")
				v[key] = was
				walk(at+key+".", was, object(keys[key]))
			}
			v["no_such_key"] = 1
			refused(at + "no_such_key")
			if err := s.open.Validate(doc); err != nil {
				t.Errorf("the schema as it is published refuses a new key in %q: %v", at, err)
			}
			delete(v, "no_such_key")
		}
	}
	short(doc)
	walk("", doc, s.raw)
	if err := s.closed.Validate(doc); err != nil || n < 10 {
		t.Errorf("after %d mutations: %v", n, err)
	}
}

// short cuts the lists within v to two elements, so that validating takes less time.
func short(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			v[key] = short(e)
		}
	case []any:
		v = v[:min(len(v), 2)]
		for i, e := range v {
			v[i] = short(e)
		}
		return v
	}
	return v
}

// open opens a trace of testdata/traces that something was done to.
func open(t *testing.T, name string, change func([]byte) []byte) *input.Source {
	t.Helper()
	b := tracetest.Recorded(t, name)
	if change != nil {
		b = change(b)
	}
	src, err := input.Open(t.Context(), "-", input.Options{Stdin: bytes.NewReader(b)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func cut(b []byte) []byte { return b[:len(b)*2/3] }

func swapped(b []byte) []byte {
	for _, p := range damage.Programs(b) {
		if p.Name == "batches swapped" {
			return damage.Apply(b, p.Program)
		}
	}
	return b
}

var schemaTraces = []struct {
	name   string
	change func([]byte) []byte
	lost   bool // part of it, at least
}{
	{"pingpong-starve-go1.22-p1", nil, false},
	{"steal-small-go1.26-p2", nil, false},
	{"locked-threads-go1.27-p2", nil, false},
	{"gc-go1.26-p4", nil, false},
	{"network-go1.24-p4", nil, false},
	{"blocking-syscalls-go1.26-p2", nil, false},
	{"uneven-go1.26-p2", cut, true},
	{"mutex-go1.26-p4", swapped, false},
	{"real/v1-context-go1.21", nil, false},
	{"real/annot-go1.26-p4to8", nil, false},
}

func TestAnalysisSchema(t *testing.T) {
	s := readSchema(t, "analyze")
	for i, tr := range schemaTraces {
		t.Run(tr.name, func(t *testing.T) {
			split := i < 2
			var f *replay.Simulation
			src := open(t, tr.name, tr.change)
			o := analyze.Options{}
			if split {
				f = replay.NewSimulation(src.Header(), replay.SplitOptions())
				o.OnDecision, o.OnStacks = f.Add, f.Stacks
			}
			res, err := analyze.Run(t.Context(), src, o)
			if err != nil {
				t.Fatal(err)
			}
			if tr.lost && !res.Trace.Incomplete {
				t.Error("the trace is not damaged")
			}
			doc := report.Build(res, "gmpscope test")
			if split {
				if doc.Split, err = f.Decompose(t.Context(), res); err != nil {
					t.Fatal(err)
				}
			}
			got := s.check(t, tr.name, written(t, func(w io.Writer) error {
				return report.WriteJSON(w, doc, report.JSONOptions{Timeline: i < 3}) // which is large
			}))
			if i == 0 {
				s.mutate(t, got)
			}
		})
	}
}

func TestReplaySchema(t *testing.T) {
	s := readSchema(t, "replay")
	for i, tr := range schemaTraces {
		t.Run(tr.name, func(t *testing.T) {
			var res *replay.Result
			var err error
			if i < 2 {
				res, err = replay.Simulate(t.Context(), open(t, tr.name, tr.change), replay.SimulateOptions{Seeds: 1, WhatIf: []replay.Change{{Procs: 2}}})
			} else {
				res, err = replay.Audit(t.Context(), open(t, tr.name, tr.change), replay.Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			got := s.check(t, tr.name, written(t, func(w io.Writer) error { return report.WriteReplayJSON(w, res, "gmpscope test") }))
			if i == 0 {
				s.mutate(t, got)
			}
		})
	}
}

func TestDiffAndCheckSchema(t *testing.T) {
	one := func(name string) *analyze.Result {
		res, err := analyze.Run(t.Context(), open(t, name, nil), analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	var before, after []*analyze.Result
	for i := range 5 {
		before = append(before, one(fmt.Sprintf("pairs/channel-batched-before-%d", i)))
		after = append(after, one(fmt.Sprintf("pairs/channel-batched-after-%d", i)))
	}
	s := readSchema(t, "diff")
	for i, n := range []int{5, 1} {
		c, err := compare.Compare(before[:n], after[:n])
		if err != nil {
			t.Fatal(err)
		}
		got := s.check(t, fmt.Sprintf("%d traces a side", n), written(t, func(w io.Writer) error { return report.WriteDiffJSON(w, c, "gmpscope test") }))
		if i == 0 {
			s.mutate(t, got)
		}
	}
	s = readSchema(t, "check")
	rules, err := budget.Parse(strings.NewReader("waits.user.p99_ns <= 1ns\nclasses[nobody].starts < 1\nfindings <= note"), "test")
	if err != nil {
		t.Fatal(err)
	}
	d, err := budget.ReadDocument(bytes.NewReader(written(t, func(w io.Writer) error {
		return report.WriteJSON(w, report.Build(before[0], ""), report.JSONOptions{})
	})), "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*report.Check{
		report.NewCheck(before, findings.Note, budget.Check(rules, []budget.Document{d}, nil)),
		report.NewCheck(nil, "", nil),
	} {
		got := s.check(t, "check", written(t, func(w io.Writer) error { return report.WriteCheckJSON(w, c, "gmpscope test") }))
		if len(c.Budget) > 0 {
			s.mutate(t, got)
		}
	}
}

func TestDumpSchema(t *testing.T) {
	s := readSchema(t, "dump")
	lines := map[string]map[string]any{} // one of each kind
	for _, tr := range schemaTraces {
		var b bytes.Buffer
		src := open(t, tr.name, tr.change)
		d := report.NewDump(&b, report.DumpOptions{NoQueues: src.Header().V1})
		n := 0
		_, err := analyze.Run(context.Background(), src, analyze.Options{DecisionsOnly: true, OnDecision: func(x *reference.Decision) error {
			b.Reset()
			if err := d.Write(x); err != nil {
				return err
			}
			if k := x.Kind.String(); lines[k] == nil || n < 50 {
				n++
				lines[k] = s.check(t, b.String(), b.Bytes())
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for k := reference.Kind(1); int(k) < reference.Kinds; k++ {
		if lines[k.String()] == nil {
			t.Logf("no trace has a %q", k)
		}
	}
	s.mutate(t, lines["start"])
}

func TestUnitsSchema(t *testing.T) {
	s := readSchema(t, "units")
	var last map[string]any
	for _, tr := range schemaTraces {
		var b bytes.Buffer
		d := report.NewDumpUnits(&b)
		_, err := analyze.Run(context.Background(), open(t, tr.name, tr.change), analyze.Options{NoTimeline: true, OnUnit: func(x work.Unit) {
			b.Reset()
			if err := d.Write(x); err != nil {
				t.Error(err)
			}
			last = s.check(t, b.String(), b.Bytes())
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.mutate(t, last)
}

func TestFleetSchema(t *testing.T) {
	s := readSchema(t, "fleet")
	got := s.check(t, "fleet", written(t, func(w io.Writer) error { return report.WriteFleetJSON(w, report.FilledFleet()) }))
	s.mutate(t, got)
}

func written(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
