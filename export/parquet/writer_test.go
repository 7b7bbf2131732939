package parquet_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	reader "github.com/parquet-go/parquet-go"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/export/parquet"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// recordings are traces of different kinds.
var recordings = []string{"mutex-go1.26-p4", "steal-small-go1.24-p2", "network-go1.26-p2", "gosched-go1.26-p2", "gc-go1.25-p4", "blocking-syscalls-go1.22-p4", "locked-threads-go1.26-p2", "real/annot-go1.26-p4to8", "real/flightrec-memberlist-go1.26-p4", "real/v1-context-go1.21"}

// tables are what the files of a trace hold.
type tables struct {
	waits    []parquet.Wait
	starts   []parquet.Start
	runs     []parquet.Run
	classes  []parquet.Class
	findings []parquet.Finding
	units    []parquet.Unit
	paths    []parquet.Path
}

func exported(t testing.TB, name string, o analyze.Options) ([7]*bytes.Buffer, *analyze.Result) {
	t.Helper()
	var out [7]*bytes.Buffer
	var to [7]io.Writer
	for i := range out {
		out[i] = &bytes.Buffer{}
		to[i] = out[i]
	}
	w := parquet.NewWriter(to, o.Anonymize)
	o.Observer, o.OnUnit = w, w.Unit
	res, err := analyze.Reader(t.Context(), bytes.NewReader(tracetest.Recorded(t, name)), name, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(res); err != nil {
		t.Fatal(err)
	}
	return out, res
}

func rows[Row any](t testing.TB, b *bytes.Buffer) []Row {
	t.Helper()
	out, err := reader.Read[Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, b [7]*bytes.Buffer) tables {
	t.Helper()
	return tables{rows[parquet.Wait](t, b[0]), rows[parquet.Start](t, b[1]), rows[parquet.Run](t, b[2]), rows[parquet.Class](t, b[3]), rows[parquet.Finding](t, b[4]), rows[parquet.Unit](t, b[5]), rows[parquet.Path](t, b[6])}
}

// causes are the columns of time by cause.
func causes(c *parquet.Causes) map[waits.Cause]int64 {
	return map[waits.Cause]int64{
		waits.CauseSTW: c.STW, waits.CauseUnavailable: c.PUnavailable, waits.CauseGC: c.GC, waits.CausePWakingUp: c.IdlePWaking,
		waits.CauseIdlePAvailable: c.IdlePMissed, waits.CauseQueueing: c.Behind, waits.CauseOvertaken: c.Overtaken, waits.CauseTracer: c.Tracer,
		waits.CauseOverhead: c.Residue,
	}
}

// sums are what the rows of tables add up to.
func sums(t testing.TB, x *tables) map[string]int64 {
	out := map[string]int64{}
	for i := range x.waits {
		w := &x.waits[i]
		sum := int64(0)
		for cause, ns := range causes(&w.Causes) {
			sum += ns
			out[w.Kind+" "+string(cause)] += ns
			out["class "+fmt.Sprint(w.ClassID, " ", cause)] += ns
		}
		if sum != w.WaitNs || w.StartNs-w.ReadyNs != w.WaitNs {
			t.Errorf("%+v: the causes sum to %d", w, sum)
		}
		out[w.Kind+" total"] += w.WaitNs
		if w.Begins {
			out[w.Kind+" count"]++
			out["class "+fmt.Sprint(w.ClassID, " waits")]++
		}
	}
	for i := range x.starts {
		out["class "+fmt.Sprint(x.starts[i].ClassID, " starts")]++
	}
	for i := range x.runs {
		r := &x.runs[i]
		if r.RunNs != r.ToNs-r.FromNs || r.RunNs < 0 {
			t.Errorf("%+v", r)
		}
		out["class "+fmt.Sprint(r.ClassID, " running")] += r.RunNs
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	return out
}

// want is what sums have to be.
func want(r *waits.Result) map[string]int64 {
	out := map[string]int64{}
	for kind, s := range map[string]*waits.Summary{"user": &r.User, "self": &r.Self, "system": &r.System} {
		out[kind+" count"], out[kind+" total"] = s.Count, s.TotalNs
		for _, c := range s.Causes {
			out[kind+" "+string(c.Cause)] = c.Ns
		}
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		out["class "+fmt.Sprint(c.ID, " waits")] = c.Waits.Count
		out["class "+fmt.Sprint(c.ID, " starts")] = c.Starts
		out["class "+fmt.Sprint(c.ID, " running")] = c.RunningNs
		for _, x := range c.Causes {
			out["class "+fmt.Sprint(c.ID, " ", x.Cause)] = x.Ns
		}
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	return out
}

// TestSums holds the tables against the result, to the ns: of whole traces, of windows and
// of a class.
func TestSums(t *testing.T) {
	for _, name := range recordings {
		for _, f := range []focus.Focus{{}, {From: 2_000_000, To: 7_000_000}, {Classes: []string{"main.main"}}} {
			if len(f.Classes) > 0 && name != recordings[0] {
				continue
			}
			b, res := exported(t, name, analyze.Options{Focus: f})
			x := read(t, b)
			if d := cmp.Diff(want(&res.Waits), sums(t, &x)); d != "" {
				t.Errorf("%s, %+v (-result +rows):\n%s", name, f, d)
			}
		}
	}
}

// TestUnits holds units and the parts of their time against the result, also without names.
func TestUnits(t *testing.T) {
	type sum struct{ Count, Ns, PathNs, TypicalNs, SlowNs, MaxNs int64 }
	for _, name := range recordings {
		for _, o := range []analyze.Options{{}, {Anonymize: analyze.NewPseudonyms()}, {Focus: focus.Focus{From: 2_000_000, To: 7_000_000}}} {
			b, res := exported(t, name, o)
			x := read(t, b)
			want, got := map[[3]string]sum{}, map[[3]string]sum{}
			for i := range res.Work.Kinds {
				k := &res.Work.Kinds[i]
				if k.Count == 0 {
					continue
				}
				s := sum{Count: k.Count, Ns: k.TotalNs, MaxNs: k.Latency.MaxNs}
				for _, p := range k.Path {
					s.PathNs, s.TypicalNs, s.SlowNs = s.PathNs+p.Ns, s.TypicalNs+p.TypicalNs, s.SlowNs+p.SlowNs
				}
				want[[3]string{k.Name, k.Class, k.How}] = s
			}
			for _, u := range x.units {
				k := [3]string{u.Kind, u.Class, u.How}
				s := got[k]
				got[k] = sum{Count: s.Count + 1, Ns: s.Ns + u.LatencyNs, MaxNs: max(s.MaxNs, u.EndNs-u.BeginNs)}
			}
			for _, p := range x.paths {
				k := [3]string{p.Kind, p.Class, p.How}
				s := got[k]
				s.PathNs, s.TypicalNs, s.SlowNs = s.PathNs+p.Ns, s.TypicalNs+p.TypicalNs, s.SlowNs+p.SlowNs
				got[k] = s
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %+v (-result +rows):\n%s", name, o.Focus, d)
			}
		}
	}
}

// TestStarts holds the rows of starts against the decisions.
func TestStarts(t *testing.T) {
	for _, name := range recordings {
		var want []parquet.Start
		reduced := name == "real/v1-context-go1.21"
		b, _ := exported(t, name, analyze.Options{OnDecision: func(d *reference.Decision) error {
			if d.Kind != reference.KindStart {
				return nil
			}
			row := parquet.Start{TimeNs: d.Time, Goroutine: d.G, P: d.P, ClassID: d.Class, Source: d.Src.String(), Basis: d.Basis.String(), Locked: d.Flags&reference.FlagLocked != 0, First: d.Flags&reference.FlagFirst != 0}
			if d.M >= 0 {
				row.M = &[]int64{d.M}[0]
			}
			if d.Wait >= 0 {
				row.WaitNs = &[]int64{d.Wait}[0]
			}
			if !reduced {
				row.LocalQueue, row.GlobalQueue = &[]int32{d.Local}[0], &[]int32{d.Global}[0]
			}
			if d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
				row.Victim = &[]int32{d.Victim}[0]
			}
			if d.Batch > 0 {
				row.Batch = &[]int32{d.Batch}[0]
			}
			want = append(want, row)
			return nil
		}})
		got := read(t, b).starts
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(parquet.Start{}, "Class")); d != "" || len(want) == 0 {
			t.Errorf("%s (-decisions +rows):\n%.3000s", name, d)
		}
	}
}

// TestClassesAndFindings holds these rows against the result.
func TestClassesAndFindings(t *testing.T) {
	for _, name := range []string{"mutex-go1.26-p4", "pingpong-starve-go1.26-p1"} {
		b, res := exported(t, name, analyze.Options{})
		x := read(t, b)
		names := map[int32]string{}
		if len(x.classes) != len(res.Waits.Classes) || len(x.findings) != len(res.Findings) || len(x.findings) == 0 {
			t.Fatalf("%s: %d classes, %d findings", name, len(x.classes), len(x.findings))
		}
		for i, c := range x.classes {
			w := &res.Waits.Classes[i]
			if c.ClassID != w.ID || c.Class != w.Name || c.Starts != w.Starts || c.RunningNs != w.RunningNs || c.WaitNs != w.Waits.TotalNs {
				t.Errorf("%s: %+v", name, c)
			}
			for _, y := range w.Causes {
				if causes(&c.Causes)[y.Cause] != y.Ns {
					t.Errorf("%s: %+v: %s is %d", name, c, y.Cause, y.Ns)
				}
			}
			names[c.ClassID] = c.Class
		}
		for _, w := range x.waits {
			if names[w.ClassID] != w.Class {
				t.Errorf("%s: class %d is %q, and %q among the classes", name, w.ClassID, w.Class, names[w.ClassID])
			}
		}
		for i, f := range x.findings {
			if r := &res.Findings[i]; f.ID != r.ID || f.CostNs != r.CostNs || f.Title != r.Title.String() || len(f.Evidence) != len(r.Evidence) || len(f.Advice) != len(r.Advice) || len(f.Victims)+len(f.Causes) != named(r.Actors) {
				t.Errorf("%s: %+v, want %+v", name, f, r)
			}
		}
	}
}

// named is how many have a class.
func named(actors []findings.Actor) (n int) {
	for _, x := range actors {
		if x.Class != "" {
			n++
		}
	}
	return n
}

// TestSameBytes writes the same twice.
func TestSameBytes(t *testing.T) {
	a, _ := exported(t, recordings[0], analyze.Options{Workers: 1})
	b, _ := exported(t, recordings[0], analyze.Options{Workers: 3})
	for i, name := range parquet.Files() {
		if !bytes.Equal(a[i].Bytes(), b[i].Bytes()) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestDocumented finds each column in docs/export.md, in the section of its file.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "export.md"))
	if err != nil {
		t.Fatal(err)
	}
	causes := reader.SchemaOf(parquet.Causes{}).Columns()
	for i, schema := range []*reader.Schema{reader.SchemaOf(parquet.Wait{}), reader.SchemaOf(parquet.Start{}), reader.SchemaOf(parquet.Run{}), reader.SchemaOf(parquet.Class{}), reader.SchemaOf(parquet.Finding{}), reader.SchemaOf(parquet.Unit{}), reader.SchemaOf(parquet.Path{})} {
		name := parquet.Files()[i]
		_, section, _ := strings.Cut(string(doc), "**"+name+"**")
		section, _, _ = strings.Cut(section, "\n**")
		for _, c := range schema.Columns() {
			isCause := slices.ContainsFunc(causes, func(x []string) bool { return x[0] == c[0] })
			if !strings.Contains(section, "`"+c[0]+"`") && !(isCause && strings.Contains(section, "nine causes as above")) {
				t.Errorf("docs/export.md does not have column %s of %s", c[0], name)
			}
		}
	}
}
