package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/reference"
)

// TestWriteObject holds what is written line by line against what encoding/json
// makes of the same document.
func TestWriteObject(t *testing.T) {
	r := replayed()
	for _, doc := range []any{
		analysisOf(filled(), JSONOptions{Timeline: true}),
		analysisOf(filled(), JSONOptions{}),
		&jsondoc.Replay{Trace: r.Trace, Audit: r.Audit, Simulated: simulated()},
		&jsondoc.Replay{Trace: r.Trace}, // whose embedded struct is nil
	} {
		var got, want bytes.Buffer
		if err := writeObject(&got, doc); err != nil {
			t.Fatal(err)
		}
		js, err := encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		want.Write(js)
		var one bytes.Buffer
		if err := json.Compact(&one, got.Bytes()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), one.String()); diff != "" {
			t.Errorf("%T: as encoding/json (-), as written (+):\n%s", doc, diff)
		}
	}
}

// TestDumpKeys holds the keys of the lines of dump, which are written by hand, against
// the type that describes them.
func TestDumpKeys(t *testing.T) {
	seen := map[string]bool{}
	for k := reference.Kind(1); int(k) < reference.Kinds; k++ {
		d := reference.Decision{Time: 1, G: 2, M: 3, P: 4, Victim: 5, Batch: 6, Wait: 7, Kind: k,
			Src: reference.SrcSteal, To: reference.QueueLocal, Why: reference.WhySlice, Reason: reference.ReasonSync, Flags: reference.FlagLocked,
			By: 8, Class: 9, Stack: 10}
		for key := range line(t, &d, DumpOptions{Class: func(int32) string { return "f" }, Stack: func(int32) []string { return []string{"f"} }}) {
			seen[key] = true
		}
	}
	var documented []string
	for f := range reflect.TypeFor[jsondoc.Decision]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		documented = append(documented, key)
	}
	slices.Sort(documented)
	seen["rules"] = line(t, &reference.Decision{}, DumpOptions{Rules: analyze.RulesApplied{GoVersion: "1.26", ChosenBy: analyze.ByFormat}})["rules"] != nil
	if diff := cmp.Diff(documented, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("keys of dump: described (-), written (+):\n%s", diff)
	}
}

func line(t *testing.T, d *reference.Decision, o DumpOptions) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := NewDump(&b, o).Write(d); err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b.Bytes(), &m); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	if got := strings.Count(b.String(), "\n"); got != 1 || !strings.HasSuffix(b.String(), "\n") {
		t.Errorf("not one line: %q", b.String())
	}
	return m
}

func TestDumpLines(t *testing.T) {
	none := reference.Decision{G: reference.NoG, M: reference.NoM, P: reference.NoP, Victim: reference.NoP, Wait: -1, By: reference.NoG}
	for _, c := range []struct {
		name string
		set  func(*reference.Decision)
		o    DumpOptions
		want string
	}{
		{"a start out of the own queue", func(d *reference.Decision) {
			d.Time, d.Kind, d.G, d.P, d.M, d.Src, d.Wait, d.Local, d.Global = 12, reference.KindStart, 7, 0, 0, reference.SrcLocal, 900, 3, 1
			d.Basis = reference.Known(reference.Inferred, reference.RuleQueue)
		}, DumpOptions{}, `{"t":12,"k":"start","g":7,"p":0,"m":0,"src":"local","wait":900,"ll":3,"gl":1,"basis":"inferred:queue"}`},
		{"a start by steal for a locked thread", func(d *reference.Decision) {
			d.Kind, d.G, d.P, d.M, d.Src, d.Victim, d.Batch, d.Flags = reference.KindStart, 7, 1, 5, reference.SrcSteal, 0, 4, reference.FlagLocked
			d.Basis = reference.Known(reference.Ambiguous, reference.RuleNone)
		}, DumpOptions{}, `{"t":0,"k":"start","g":7,"p":1,"m":5,"src":"steal","locked":true,"victim":0,"batch":4,"ll":0,"gl":0,"basis":"ambiguous"}`},
		{"a wake-up into the global queue", func(d *reference.Decision) {
			d.Kind, d.G, d.To, d.Why, d.Global = reference.KindReady, 9, reference.QueueGlobal, reference.WhyNetwork, 2
		}, DumpOptions{}, `{"t":0,"k":"ready","g":9,"to":"global","why":"network","gl":2,"basis":"unknown"}`},
		{"who woke whom, with names from outside", func(d *reference.Decision) {
			d.Kind, d.G, d.By, d.Class, d.Stack, d.Why = reference.KindReady, 9, 4, 3, 2, reference.WhyUnblock
		}, DumpOptions{NoQueues: true, Class: func(c int32) string { return []string{"", "", "", "a\"<b>\u200b"}[c] }, Stack: func(int32) []string { return []string{"f (f.go:1)", "g"} }},
			`{"t":0,"k":"ready","g":9,"to":"unknown","why":"unblock","by":4,"class":"a\"<b>\u200b","stack":["f (f.go:1)","g"],"basis":"unknown"}`},
		{"a class and a stack that are not known", func(d *reference.Decision) {
			d.Kind, d.G, d.Class, d.Stack = reference.KindStop, 9, 1, 2
		}, DumpOptions{NoQueues: true, Class: func(int32) string { return "" }, Stack: func(int32) []string { return nil }},
			`{"t":0,"k":"stop","g":9,"why":"unknown","basis":"unknown"}`},
		{"a stop without a known cause", func(d *reference.Decision) {
			d.Kind, d.G, d.P = reference.KindStop, 9, 0
		}, DumpOptions{}, `{"t":0,"k":"stop","g":9,"p":0,"why":"unknown","ll":0,"gl":0,"basis":"unknown"}`},
		{"a start in a trace without queues", func(d *reference.Decision) {
			d.Kind, d.G, d.P = reference.KindStart, 9, 0
		}, DumpOptions{NoQueues: true}, `{"t":0,"k":"start","g":9,"p":0,"src":"unknown","basis":"unknown"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := none
			c.set(&d)
			var b bytes.Buffer
			if err := NewDump(&b, c.o).Write(&d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want+"\n", b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONContract(t *testing.T) {
	write := func() []byte {
		var b bytes.Buffer
		if err := WriteJSON(&b, Build(busy(), "gmpscope devel"), JSONOptions{}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	b := write()
	if !bytes.Equal(b, write()) {
		t.Error("equal input gives different bytes")
	}
	var d struct {
		Trace struct{ GOMAXPROCS int }
		Waits struct {
			TotalNs int64 `json:"total_ns"`
			Causes  []struct{ Ns int64 }
		}
		Timeline *json.RawMessage
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, c := range d.Waits.Causes {
		sum += c.Ns
	}
	if sum != d.Waits.TotalNs || sum == 0 {
		t.Errorf("causes sum to %d, total is %d", sum, d.Waits.TotalNs)
	}
	if d.Trace.GOMAXPROCS != 4 || d.Timeline != nil {
		t.Errorf("gomaxprocs is %d, timeline is %v", d.Trace.GOMAXPROCS, d.Timeline)
	}
	if !bytes.Contains(b, []byte(`</script>`)) {
		t.Error("characters of HTML are escaped")
	}
}

func TestJSONOfReducedTrace(t *testing.T) {
	r := busy()
	r.Trace.Reduced = true
	var b bytes.Buffer
	if err := WriteJSON(&b, Build(r, ""), JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"steals", "handoffs", "retakes", "queues"} {
		if v, ok := d[key]; !ok || v != nil {
			t.Errorf("%s is %v, want null", key, v)
		}
	}
}

func TestJSONWithoutNumbers(t *testing.T) {
	r := busy()
	r.Fairness.Slowdown.Max = math.Inf(1)
	r.Procs.Ps[0].QueueMean = math.NaN()
	r.Waits.User.TailMass["1ms"] = math.NaN()
	var b bytes.Buffer
	if err := WriteJSON(&b, Build(r, ""), JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("not JSON")
	}
	if !math.IsNaN(r.Procs.Ps[0].QueueMean) {
		t.Error("the result was changed")
	}
}

func BenchmarkDump(b *testing.B) {
	d := reference.Decision{Time: 123456789, G: 1234, M: 5678, P: 3, Wait: 98765, Kind: reference.KindStart, Src: reference.SrcLocal,
		Local: 12, Basis: reference.Known(reference.Inferred, reference.RuleQueue)}
	w := bufio.NewWriter(bytes.NewBuffer(nil))
	u := NewDump(w, DumpOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if err := u.Write(&d); err != nil {
			b.Fatal(err)
		}
		w.Reset(bytes.NewBuffer(nil))
	}
}
