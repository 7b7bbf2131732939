package work_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// truth is what a program wrote down of a unit, by its own clock. R0 is when the trace has
// its goroutine made runnable, W0 and W1 are the widest bounds, A0 is another begin.
type truth struct {
	Role, Class string
	G           int64
	T0          int64  `json:"t0_ns"`
	T1          int64  `json:"t1_ns"`
	W0          *int64 `json:"w0_ns"`
	W1          *int64 `json:"w1_ns"`
	R0          *int64 `json:"r0_ns"`
	A0          *int64 `json:"a0_ns"`
	Cut         bool
	Vis         string
	matched     bool
}

// begins reports whether a time is the unit's begin, within a tolerance.
func (u *truth) begins(at, tolerance int64) bool {
	first := u.T0
	for _, t := range []*int64{u.W0, u.R0} {
		if t != nil {
			first = min(first, *t)
		}
	}
	return at >= first-tolerance && at <= u.T0+tolerance || u.A0 != nil && max(at-*u.A0, *u.A0-at) <= tolerance
}

func (u *truth) is(x work.Unit) bool {
	last, tolerance := u.T1, max(50_000, (u.T1-u.T0)/20)
	if u.W1 != nil {
		last = max(last, *u.W1)
	}
	return !u.matched && u.G == x.G && u.begins(x.From, tolerance) && x.To >= u.T1-tolerance && x.To <= last+tolerance
}

func readTruth(t *testing.T, file string) (out []*truth) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(z); s.Scan(); {
		u := &truth{}
		if err := json.Unmarshal(s.Bytes(), u); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

func unitsOf(t *testing.T, file string, o analyze.Options) (out []work.Unit) {
	t.Helper()
	o.NoTimeline = true
	o.OnUnit = func(u work.Unit) { out = append(out, u) }
	if _, err := analyze.File(t.Context(), file, o); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecorded compares units with what their programs wrote down. A unit is right if both
// ends are, within 50 µs or 5 % of its length; precision is among the units of classes that
// do such units.
func TestRecorded(t *testing.T) {
	for name, floor := range map[string]struct{ recall, precision float64 }{
		"billing-tests": {0.99, 0.99}, // tests, parallel ones and sub-tests
		"codec-bench":   {0.99, 0.99}, // benchmarks
		"crawl-sem":     {0.99, 0.99}, // a goroutine per page
		"orders-sql":    {0.98, 0.99}, // a goroutine per order, and a loop
		"ordersapi":     {0.99, 0.99}, // net/http
	} {
		t.Run(name, func(t *testing.T) {
			base := filepath.Join("testdata", name+".go1.26.8.p2")
			want, got := readTruth(t, base+".jsonl.gz"), unitsOf(t, base+".trace.gz", analyze.Options{})
			recall, precision := score(want, got)
			t.Logf("recall %.3f, precision %.3f", recall, precision)
			if recall < floor.recall || precision < floor.precision {
				t.Errorf("recall %.3f, precision %.3f, want at least %v", recall, precision, floor)
			}
		})
	}
}

// score returns the share of the visible units that are found, and the share of what is found
// that is right.
func score(want []*truth, got []work.Unit) (recall, precision float64) {
	classes, visible, found, right, wrong := map[string]bool{}, 0.0, 0.0, 0.0, 0.0
	for _, u := range want {
		classes[u.Class] = true
	}
	for _, x := range got {
		i := slices.IndexFunc(want, func(u *truth) bool { return u.is(x) })
		switch {
		case i >= 0:
			want[i].matched = true
			right++
		case classes[x.Class]:
			wrong++
		}
	}
	for _, u := range want {
		if u.Role == "unit" && !u.Cut && strings.Contains(u.Vis, "be") {
			visible++
			if u.matched {
				found++
			}
		}
	}
	return found / visible, right / (right + wrong)
}

// recordings are traces of the repository of all kinds.
func recordings(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join("testdata", "*.trace.gz"))
	if err != nil || len(out) == 0 {
		t.Fatal("no traces", err)
	}
	for _, pattern := range []string{"real/*go1.26*.trace.gz", "*-go1.26-p4.trace.gz"} {
		more, err := filepath.Glob(filepath.Join("..", "..", "testdata", "traces", pattern))
		if err != nil || len(more) == 0 {
			t.Fatal("no traces", err)
		}
		out = append(out, more...)
	}
	if !tracetest.Long() {
		out = out[:12]
	}
	return slices.DeleteFunc(out, func(file string) bool {
		return strings.Contains(file, "empty") || strings.Contains(file, "header-only")
	})
}

// TestSums: what the time of units consists of adds up to it, whatever the program.
func TestSums(t *testing.T) {
	for _, file := range recordings(t) {
		res, err := analyze.File(t.Context(), file, analyze.Options{NoTimeline: true, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		again, err := analyze.File(t.Context(), file, analyze.Options{NoTimeline: true, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(res.Work, again.Work) {
			t.Errorf("%s: another result with two workers", file)
		}
		if (res.Work.Reason == "") != slices.ContainsFunc(res.Work.Kinds, func(k work.UnitKind) bool { return k.Count > 0 }) {
			t.Errorf("%s: %d kinds, and the reason %q", file, len(res.Work.Kinds), res.Work.Reason)
		}
		for _, k := range res.Work.Kinds {
			var parts, typical, slow int64
			for _, x := range k.Path {
				parts += x.Ns
				typical += x.TypicalNs
				slow += x.SlowNs
			}
			if parts != k.TotalNs || k.Count > 0 && (slow > k.Latency.MaxNs || typical > slow) {
				t.Errorf("%s: %s: parts of %d ns, total %d; typical %d, slow %d, longest %d", file, k.Name, parts, k.TotalNs, typical, slow, k.Latency.MaxNs)
			}
			for _, x := range k.Slowest {
				sum := int64(0)
				for _, s := range x.Segments {
					sum += s.Ns
				}
				if sum != x.EndNs-x.BeginNs {
					t.Errorf("%s: %s: segments of %d ns in a unit of %d", file, k.Name, sum, x.EndNs-x.BeginNs)
				}
			}
		}
	}
}

// TestApart: units of one kind on one goroutine do not overlap, and none reaches beyond the
// trace; with another number of workers they are the same.
func TestApart(t *testing.T) {
	total := 0
	for _, file := range recordings(t) {
		units := unitsOf(t, file, analyze.Options{Workers: 1})
		if again := unitsOf(t, file, analyze.Options{Workers: 2}); !slices.Equal(units, again) {
			t.Errorf("%s: other units with two workers", file)
		}
		slices.SortStableFunc(units, func(x, y work.Unit) int {
			return cmp.Or(cmp.Compare(x.G, y.G), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.From, y.From))
		})
		for i, u := range units {
			if u.From < 0 || u.From >= u.To {
				t.Fatalf("%s: %+v", file, u)
			}
			if i > 0 && u.How != work.Task && units[i-1].G == u.G && units[i-1].Kind == u.Kind && units[i-1].How == u.How && units[i-1].To > u.From {
				t.Fatalf("%s: %+v and %+v overlap", file, units[i-1], u)
			}
		}
		total += len(units)
	}
	if total == 0 {
		t.Error("no units at all")
	}
}

// TestNothingElse: units of work change nothing else in a result but how severe findings are.
func TestNothingElse(t *testing.T) {
	for _, file := range recordings(t)[:4] {
		with, err := analyze.File(t.Context(), file, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		without, err := analyze.File(t.Context(), file, analyze.Options{NoWork: true})
		if err != nil {
			t.Fatal(err)
		}
		with.Work, with.Program, with.Findings = without.Work, without.Program, without.Findings
		if !reflect.DeepEqual(with, without) {
			t.Errorf("%s: the results differ", file)
		}
	}
}
