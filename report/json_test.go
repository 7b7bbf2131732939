package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// schema is what docs/json.md documents: per section the keys, and where a key
// leads to another section, which.
type schema map[string]map[string]string

var (
	rowOf  = regexp.MustCompile("^\\| ((?:`[a-z0-9_]+`(?:, )?)+) \\| ([^|]*) \\|")
	linkOf = regexp.MustCompile(`\[([A-Za-z]+)\]\(#([a-z]+)\)`)
)

func readSchema(t *testing.T) (schema, string) {
	t.Helper()
	text, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	s, section := schema{}, ""
	sc := bufio.NewScanner(bytes.NewReader(text))
	for sc.Scan() {
		line := sc.Text()
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			section = strings.TrimLeft(line, "# ")
			continue
		}
		m := rowOf.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if s[section] == nil {
			s[section] = map[string]string{}
		}
		to := ""
		if l := linkOf.FindStringSubmatch(m[2]); l != nil {
			to = l[1]
		}
		for key := range strings.SplitSeq(m[1], ", ") {
			s[section][strings.Trim(key, "`")] = to
		}
	}
	maps.Copy(s["Waits"], s["Summary"]) // as its text says
	return s, string(text)
}

// walk notes which keys of which section v has.
func (s schema) walk(t *testing.T, section string, v any, seen map[string]map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s.walk(t, section, e, seen)
		}
	case map[string]any:
		if seen[section] == nil {
			seen[section] = map[string]bool{}
		}
		for key, e := range v {
			to, ok := s[section][key]
			if !ok {
				t.Errorf("docs/json.md does not have %q in section %s", key, section)
			}
			seen[section][key] = true
			if to != "" {
				s.walk(t, to, e, seen)
			}
		}
	}
}

func TestJSONIsDocumented(t *testing.T) {
	s, _ := readSchema(t)
	var b bytes.Buffer
	if err := WriteJSON(&b, filled(), JSONOptions{Timeline: true}); err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{}
	s.walk(t, "Document", doc, seen)
	for section, keys := range s {
		if section == "Dump" {
			continue
		}
		for key := range keys {
			if !seen[section][key] {
				t.Errorf("docs/json.md has %q in section %s, but it is never written", key, section)
			}
		}
	}
}

func TestDumpIsDocumented(t *testing.T) {
	s, text := readSchema(t)
	dump := text[strings.Index(text, "\n## Dump"):]
	seen := map[string]bool{}
	for k := reference.Kind(1); k.String() != "invalid"; k++ {
		if !strings.Contains(dump, "`"+k.String()+"`") {
			t.Errorf("docs/json.md does not have kind %q", k)
		}
		d := reference.Decision{Time: 1, G: 2, M: 3, P: 4, Victim: 5, Batch: 6, Wait: 7, Kind: k,
			Src: reference.SrcSteal, To: reference.QueueLocal, Why: reference.WhySlice, Reason: reference.ReasonSync, Flags: reference.FlagLocked}
		for key := range line(t, &d, DumpOptions{}) {
			seen[key] = true
		}
	}
	for src := range reference.Sources() {
		if !strings.Contains(dump, "`"+reference.Source(src).String()+"`") {
			t.Errorf("docs/json.md does not have source %q", reference.Source(src))
		}
	}
	for w := reference.Why(0); w.String() != "invalid"; w++ {
		if !strings.Contains(dump, "`"+w.String()+"`") {
			t.Errorf("docs/json.md does not have cause %q", w)
		}
	}
	for r := reference.Reason(1); r.String() != "invalid"; r++ {
		if !strings.Contains(dump, "`"+r.String()+"`") {
			t.Errorf("docs/json.md does not have reason %q", r)
		}
	}
	for r := reference.Rule(1); reference.Known(0, r).String() != "unknown:invalid"; r++ {
		name := strings.TrimPrefix(reference.Known(0, r).String(), "unknown:")
		if !strings.Contains(dump, "`"+name+"`") {
			t.Errorf("docs/json.md does not have rule %q", name)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(s["Dump"])), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("keys of dump: documented (-), written (+):\n%s", diff)
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
