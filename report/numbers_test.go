package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// analysed is the document of one of the repository's traces, and its JSON.
func analysed(t *testing.T, name string) (*Document, *jsondoc.Analysis) {
	t.Helper()
	doc := Build(run(t, name, analyze.Options{}), "gmpscope")
	var b bytes.Buffer
	if err := WriteJSON(&b, doc, JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	js := new(jsondoc.Analysis)
	if err := json.Unmarshal(b.Bytes(), js); err != nil {
		t.Fatal(err)
	}
	return doc, js
}

func run(t *testing.T, name string, o analyze.Options) *analyze.Result {
	t.Helper()
	res, err := analyze.File(t.Context(), filepath.Join("..", "testdata", "traces", name+".trace.gz"), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// expected are numbers of the JSON document by where bench and openmetrics have them.
// value is how the format writes the value of a label.
func expected(js *jsondoc.Analysis, value func(string) string) map[[2]string]float64 {
	const ns = 1e-9
	want := map[[2]string]float64{}
	put := func(of, metric string, v float64) { want[[2]string{of, metric}] = v }
	user := &js.Waits.User
	put("Sched", "wait seconds", float64(user.TotalNs)*ns)
	put("Sched", "wait_p50 seconds", float64(user.P50)*ns)
	put("Sched", "wait_p99 seconds", float64(user.P99)*ns)
	put("Sched", "wait_max seconds", float64(user.MaxNs)*ns)
	put("Sched", "waits", float64(user.Count))
	put("Sched", "starts", float64(js.Reconstruction.Starts))
	put("Sched", "pressure_some ratio", js.Pressure.Some)
	put("Sched", "duration seconds", float64(js.Trace.DurationNs)*ns)
	if js.Steals != nil {
		put("Sched", "steals", float64(js.Steals.Count))
		put("Sched", "retakes", float64(js.Retakes.Count))
	}
	var running, idle, usable int64
	for i := range js.Ps {
		running, idle, usable = running+js.Ps[i].RunningNs, idle+js.Ps[i].IdleNs, usable+js.Ps[i].UsableNs()
	}
	put("Sched", "running seconds", float64(running)*ns)
	put("Sched", "idle ratio", float64(idle)/float64(usable))
	for _, c := range user.Causes {
		put("cause="+value(string(c.Cause)), "wait seconds", float64(c.Ns)*ns)
	}
	cost := map[string]int64{}
	for _, d := range js.Detectors {
		cost[d.ID] = 0
	}
	for i := range js.Findings {
		cost[js.Findings[i].ID] += js.Findings[i].CostNs
	}
	for id, c := range cost {
		put("id="+id, "cost seconds", float64(c)*ns)
	}
	for _, c := range js.Classes {
		of := "class=" + value(c.Name) + " creator=" + value(c.Creator)
		put(of, "wait seconds", float64(c.Waits.TotalNs)*ns)
		put(of, "wait_p99 seconds", float64(c.Waits.P99)*ns)
		put(of, "running seconds", float64(c.RunningNs)*ns)
		put(of, "goroutines", float64(c.Goroutines))
	}
	return want
}

// numbered are traces whose classes have names and creators, no two the same.
var numbered = []string{"network-go1.24-p4", "uneven-go1.26-p4", "real/v1-context-go1.21"}

func compareNumbers(t *testing.T, want, got map[[2]string]float64) {
	t.Helper()
	for key, w := range want {
		if g, ok := got[key]; !ok {
			t.Errorf("%q is not written", key)
		} else if math.Abs(g-w) > 1e-9*math.Abs(w) {
			t.Errorf("%q: %v, in JSON %v", key, g, w)
		}
	}
	if len(want) < 30 {
		t.Errorf("only %d numbers compared", len(want))
	}
}

// TestBench has the reader of the format find what the JSON has.
func TestBench(t *testing.T) {
	for _, name := range numbered {
		t.Run(name, func(t *testing.T) {
			doc, js := analysed(t, name)
			var b bytes.Buffer
			if err := WriteBench(&b, doc); err != nil {
				t.Fatal(err)
			}
			value := strings.NewReplacer("/", ":", " ", "_").Replace
			compareNumbers(t, expected(js, value), readBench(t, &b, js))
		})
	}
}

// readBench returns the values by subject and metric, named as in expected.
func readBench(t *testing.T, b *bytes.Buffer, js *jsondoc.Analysis) map[[2]string]float64 {
	t.Helper()
	got := map[[2]string]float64{}
	r := benchfmt.NewReader(b, "bench")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatal(r.Result())
		}
		if g, w := res.GetConfig("gomaxprocs"), strconv.Itoa(js.Trace.GOMAXPROCS); g != w {
			t.Errorf("GOMAXPROCS %q, want %s", g, w)
		}
		if g := res.GetConfig("go"); g != js.Trace.GoVersion {
			t.Errorf("Go version %q, want %q", g, js.Trace.GoVersion)
		}
		base, parts := res.Name.Parts()
		of := string(base)
		for i, p := range parts {
			if i == 0 {
				of = ""
			} else {
				of += " "
			}
			of += strings.TrimPrefix(string(p), "/")
		}
		for _, v := range res.Values {
			metric := strings.ReplaceAll(v.Unit, "-", "_")
			metric = strings.Replace(metric, "_sec", " seconds", 1)
			got[[2]string{of, strings.Replace(metric, "_ratio", " ratio", 1)}] = v.Value
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestOpenMetrics parses what is written by the grammar, and finds what the JSON has.
func TestOpenMetrics(t *testing.T) {
	for _, name := range numbered {
		t.Run(name, func(t *testing.T) {
			doc, js := analysed(t, name)
			var b bytes.Buffer
			if err := WriteOpenMetrics(&b, doc); err != nil {
				t.Fatal(err)
			}
			samples, err := parseOpenMetrics(b.String())
			if err != nil {
				t.Fatal(err)
			}
			got := map[[2]string]float64{}
			for _, s := range samples {
				of := "Sched"
				metric := strings.TrimPrefix(s.name, "gmpscope_")
				if len(s.labels) > 0 {
					of = strings.Join(s.labels, " ")
					_, metric, _ = strings.Cut(metric, "_") // the kind
				}
				metric = strings.Replace(metric, "_seconds", " seconds", 1)
				got[[2]string{of, strings.Replace(metric, "_ratio", " ratio", 1)}] = s.value
			}
			compareNumbers(t, expected(js, func(s string) string { return s }), got)
		})
	}
}

// TestLatencies holds the histograms of OpenMetrics against each unit of work.
func TestLatencies(t *testing.T) {
	for _, name := range numbered {
		units := map[string][]int64{}
		res := run(t, name, analyze.Options{OnUnit: func(u work.Unit) {
			of := fmt.Sprintf("kind=%s class=%s how=%s", u.Kind, u.Class, u.How)
			units[of] = append(units[of], u.To-u.From)
		}})
		var b bytes.Buffer
		if err := WriteOpenMetrics(&b, Build(res, "gmpscope")); err != nil {
			t.Fatal(err)
		}
		samples, err := parseOpenMetrics(b.String())
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, s := range samples {
			suffix, ok := strings.CutPrefix(s.name, "gmpscope_unit_latency_seconds_")
			if !ok {
				continue
			}
			got++
			of := strings.Join(s.labels[:3], " ")
			limit, want := math.Inf(1), 0.0
			if suffix == "bucket" {
				if limit, err = strconv.ParseFloat(strings.TrimPrefix(s.labels[3], "le="), 64); err != nil {
					t.Fatal(err)
				}
			}
			for _, ns := range units[of] {
				switch x := float64(ns) / 1e9; {
				case suffix == "sum":
					want += x
				case x <= limit:
					want++
				}
			}
			if math.Abs(s.value-want) > 1e-9*want {
				t.Errorf("%s: %s %v: %v, want %v", name, suffix, s.labels, s.value, want)
			}
		}
		if got != len(units)*(mostLatency-leastLatency+4) || got == 0 {
			t.Errorf("%s: %d samples of %d kinds", name, got, len(units))
		}
	}
}

// TestHostileNumbers has names that would end a label, a name or a line, and classes
// of one name.
func TestHostileNumbers(t *testing.T) {
	names := []string{"a\"b\\c\nd{}", "Benchmark x\t1 2 ns/op", "main.f-16", "main.f-16", strings.Repeat("ж", 100_000), "# EOF", "", "\xff"}
	res := &analyze.Result{}
	for i, n := range names {
		res.Waits.Classes = append(res.Waits.Classes, waits.Class{ID: int32(i), Name: n, Creator: n})
		res.Work.Kinds = append(res.Work.Kinds, work.UnitKind{Name: n, Class: n, Count: 1})
	}
	res.Pressure.Some = math.NaN()
	doc := &Document{Result: res}

	var b bytes.Buffer
	if err := WriteOpenMetrics(&b, doc); err != nil {
		t.Fatal(err)
	}
	if _, err := parseOpenMetrics(b.String()); err != nil {
		t.Error(err)
	}

	b.Reset()
	if err := WriteBench(&b, doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	r := benchfmt.NewReader(&b, "bench")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatal(r.Result())
		}
		if base, parts := res.Name.Parts(); len(parts) != map[string]int{"Sched": 0, "Class": 2, "Work": 3}[string(base)] {
			t.Errorf("%d parts of %q, want class and creator, or kind, class and how", len(parts), res.Name)
		}
		if name := res.Name.String(); seen[name] {
			t.Errorf("%.80q twice", name)
		} else {
			seen[name] = true
		}
	}
	if err := r.Err(); err != nil || len(seen) != 1+2*len(names) {
		t.Errorf("%d lines, want %d: %v", len(seen), 1+2*len(names), err)
	}
}

// A sample is a line of OpenMetrics; its labels are as key=value, in their order.
type sample struct {
	name   string
	labels []string
	value  float64
}

var (
	metadataLine = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-z_][a-z0-9_]*) (.+)$`)
	sampleLine   = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(\{((?:[a-z_][a-z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$`)
	labelPair    = regexp.MustCompile(`([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"`)
)

// parseOpenMetrics checks text against the format: families in one piece and in the
// order TYPE, UNIT, HELP, samples; units that end the name; no sample twice; # EOF
// once, at the end.
func parseOpenMetrics(text string) (samples []sample, err error) {
	body, ok := strings.CutSuffix(text, "# EOF\n")
	if !ok {
		return nil, fmt.Errorf("does not end in # EOF")
	}
	families, seen := map[string]bool{}, map[string]bool{}
	family, kind := "", ""
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if m := metadataLine.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == "TYPE" && families[m[2]]:
				return nil, fmt.Errorf("family %s twice", m[2])
			case m[1] == "TYPE":
				family, kind = m[2], m[3]
				families[family] = true
			case m[2] != family:
				return nil, fmt.Errorf("%s of %s within %s", m[1], m[2], family)
			case m[1] == "UNIT" && !strings.HasSuffix(family, "_"+m[3]):
				return nil, fmt.Errorf("%s does not end in its unit %s", family, m[3])
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || strings.HasSuffix(m[3], ",") {
			return nil, fmt.Errorf("no sample: %.200q", line)
		}
		key := m[1] + m[2]
		if seen[key] {
			return nil, fmt.Errorf("%.200q twice", key)
		}
		seen[key] = true
		suffix, ofFamily := strings.CutPrefix(m[1], family)
		if !ofFamily || kind == "gauge" && suffix != "" || kind == "histogram" && !slices.Contains([]string{"_bucket", "_count", "_sum"}, suffix) || kind != "gauge" && kind != "histogram" {
			return nil, fmt.Errorf("%s, a sample in family %s", m[1], family)
		}
		s := sample{name: m[1]}
		if s.value, err = strconv.ParseFloat(m[4], 64); err != nil || math.IsNaN(s.value) {
			return nil, fmt.Errorf("%s: value %q", s.name, m[4])
		}
		for _, l := range labelPair.FindAllStringSubmatch(m[3], -1) {
			s.labels = append(s.labels, l[1]+"="+l[2])
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// Six samples are of six parts of the trace, and sum to the whole; with too few units there are none.
func TestSamples(t *testing.T) {
	k := &work.UnitKind{Series: work.Series{FromNs: 1000, BinNs: 100}}
	for bin := range 12 {
		k.Series.Cells = append(k.Series.Cells, work.SeriesCell{Bin: bin, Ns: 50, Count: 5, TotalNs: int64(5 * (bin + 1))})
	}
	got := samplesOf(k, 1000+12*100-50) // the last bin is half as wide
	if len(got) != benchSamples {
		t.Fatalf("%d samples", len(got))
	}
	for i, s := range got {
		width := 200.0
		if i == benchSamples-1 {
			width = 150
		}
		if s[0].value != 10*1e9/width || s[1].value != float64(int64(5*(2*i+1)+5*(2*i+2))/10) {
			t.Errorf("sample %d: %v a second, %v ns", i, s[0].value, s[1].value)
		}
	}
	k.Series.Cells[0].Count, k.Series.Cells[1].Count = 2, 2
	if got := samplesOf(k, 2200); got != nil {
		t.Errorf("of four units there are samples: %v", got)
	}
}
