package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// smallTraces returns the n smallest traces of the repository.
func smallTraces(t *testing.T, n int) []string {
	t.Helper()
	names, err := Find([]string{filepath.Join("..", "testdata", "traces")})
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "programs") })
	size := func(name string) int64 {
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(size(a) - size(b)) })
	if len(names) < n {
		t.Fatalf("there are %d traces only", len(names))
	}
	return names[:n]
}

func collected(t *testing.T, names []string, o Collecting) (*Set, []Problem) {
	t.Helper()
	set, problems, err := Collect(t.Context(), names, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set, problems
}

// output returns the summaries of a set and the report on it.
func output(t *testing.T, set *Set, problems []Problem) (sums, report []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteAll(&b, set.All(), problems); err != nil {
		t.Fatal(err)
	}
	f, err := Aggregate(set.All, problems, Grouping{By: []string{"service", "gomaxprocs", "go"}})
	if err != nil {
		t.Fatal(err)
	}
	js, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), js
}

func save(t *testing.T, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "part.sum")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestOneHash uses 200 traces in random orders, sharded at random, with parts of them
// summed up before and some of them twice: the summaries and the report are the same.
func TestOneHash(t *testing.T) {
	names := smallTraces(t, 200)
	o := Collecting{Options: Options{Cache: t.TempDir(), Labels: []Label{{Name: "service", Value: "test"}}}, Workers: 2}
	sums, report := output(t, &Set{}, nil)
	runs := 10
	if !tracetest.Long() {
		runs = 4
	}
	for run := range runs {
		r := rand.New(rand.NewPCG(34, uint64(run)))
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		inputs := slices.Clone(names)
		if run > 0 {
			inputs = nil
			shards := 1 + r.IntN(7)
			for i := range shards {
				part := Shard{i + 1, shards}.Of(names)
				if r.IntN(2) == 0 {
					inputs = append(inputs, part...)
					continue
				}
				part = append(part, names[:r.IntN(20)]...) // which others have, too
				b, _ := output1(t, part, o)
				inputs = append(inputs, save(t, b))
			}
		}
		s, f := output1(t, inputs, o)
		if run == 0 {
			sums, report = s, f
			continue
		}
		if sha256.Sum256(s) != sha256.Sum256(sums) {
			t.Errorf("run %d: other summaries", run)
		}
		if diff := cmp.Diff(string(report), string(f)); diff != "" {
			t.Errorf("run %d: another report: %.2000s", run, diff)
		}
	}
	var f Report
	if err := json.Unmarshal(report, &f); err != nil {
		t.Fatal(err)
	}
	if f.Traces < 190 || len(f.Groups) < 3 || len(f.Unread) == 0 {
		t.Errorf("%d traces, %d groups, %d unread", f.Traces, len(f.Groups), len(f.Unread))
	}
	total := int64(0)
	for i := range f.Groups {
		total += f.Groups[i].WaitingNs
	}
	if total != f.WaitingNs {
		t.Errorf("the groups waited %d, all %d", total, f.WaitingNs)
	}
}

func output1(t *testing.T, names []string, o Collecting) (sums, report []byte) {
	set, problems := collected(t, names, o)
	return output(t, set, problems)
}

// TestRecord holds a record against the result that it sums up.
func TestRecord(t *testing.T) {
	const name = "../testdata/traces/gc-go1.26-p4.trace.gz"
	r, err := Summarize(t.Context(), name, Options{Labels: []Label{{Name: "service", Value: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.validate(); err != nil {
		t.Error(err)
	}
	res, err := analyze.File(t.Context(), name, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := &res.Waits.User
	if r.User.TotalNs != u.TotalNs || r.User.Count != u.Count || r.User.Causes.sum() != u.TotalNs || r.User.Histogram.Total() != u.Count {
		t.Errorf("waits %+v, want %d of %d ns", r.User, u.Count, u.TotalNs)
	}
	within(t, "p99", r.User.Histogram.Quantile(0.99), u.P99)
	within(t, "p50 by time", r.User.Histogram.TimeQuantile(0.5), u.TimeWeighted.P50)
	running := int64(0)
	for i := range res.Procs.Ps {
		running += res.Procs.Ps[i].RunningNs
	}
	if r.Ps.RunningNs != running || r.Trace.GOMAXPROCS != 4 || r.Sources[0].Name != "gc-go1.26-p4.trace.gz" {
		t.Errorf("%+v, %+v", r.Ps, r.Sources)
	}
}

func within(t *testing.T, what string, got, want int64) {
	t.Helper()
	if float64(got) < 0.965*float64(want)-1 || float64(got) > 1.035*float64(want)+1 {
		t.Errorf("%s is %d, want %d", what, got, want)
	}
}

// made returns a record that was made up.
func made(n int, labels map[string]string, running, waiting int64) *Record {
	r := &Record{Key: fmt.Sprintf("%064x", sha256.Sum256([]byte(fmt.Sprint(n))))}
	r.Key = r.Key[len(r.Key)-64:]
	s := Source{Name: fmt.Sprintf("t%d.trace", n)}
	for _, name := range []string{"host", "service", "version"} {
		if v, ok := labels[name]; ok {
			s.Labels = append(s.Labels, Label{Name: name, Value: v})
		}
	}
	r.Sources = []Source{s}
	r.Trace.GOMAXPROCS = 2
	r.Ps.RunningNs = running
	r.User = Waits{Count: 1, TotalNs: waiting, MaxNs: waiting}
	r.User.Histogram.Add(waiting, 1)
	r.User.Causes[5] = waiting // behind
	return r
}

func bytesOf(t *testing.T, sets ...*Set) string {
	t.Helper()
	all := &Set{}
	for _, s := range sets {
		for r, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			if err := all.Add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() { all.Close() })
	var b bytes.Buffer
	if err := WriteAll(&b, all.All(), nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMergeLaws makes sets with common keys, some with other sources or contents.
func TestMergeLaws(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		set := func() *Set {
			s := &Set{}
			for range r.IntN(40) {
				rec := made(r.IntN(30), map[string]string{"service": fmt.Sprint(r.IntN(3))}, 100, 1+int64(r.IntN(8)/7))
				if r.IntN(3) == 0 {
					for i := range maxSources { // more than fit
						rec.Sources = append(rec.Sources, Source{Name: fmt.Sprint("x", i, r.IntN(2))})
					}
					rec.setSources(rec.Sources)
				}
				if err := s.Add(rec); err != nil {
					t.Fatal(err)
				}
			}
			return s
		}
		a, b, c := set(), set(), set()
		merge := func(sets ...*Set) *Set {
			out := &Set{}
			for r, err := range Merge(sets[0].All(), sets[1].All()) {
				if err != nil {
					t.Fatal(err)
				}
				out.Add(r)
			}
			return out
		}
		want := bytesOf(t, merge(merge(a, b), c))
		for law, got := range map[string]*Set{
			"associative": merge(a, merge(b, c)), "commutative": merge(c, merge(b, a)), "idempotent": merge(merge(a, b), merge(c, merge(a, a))),
		} {
			if bytesOf(t, got) != want {
				t.Fatalf("seed %d: not %s", seed, law)
			}
		}
	}
}

// TestConflict expects one record, marked, whatever comes first.
func TestConflict(t *testing.T) {
	x, y := made(1, nil, 100, 5), made(1, nil, 100, 7)
	for _, order := range [][]*Record{{x, y}, {y, x}, {x, y, x}} {
		s := &Set{}
		for _, r := range order {
			s.Add(r)
		}
		n := 0
		for r, err := range s.All() {
			if n++; err != nil || !r.Conflict || r.User.TotalNs != 5 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if n != 1 {
			t.Errorf("%d records", n)
		}
	}
}

// TestMoves: a set writes each record once for each level of its files, however many there are.
func TestMoves(t *testing.T) {
	const held = 4
	for levels, n := 1, held*maxRuns; levels <= 2; levels, n = levels+1, n*maxRuns {
		s := &Set{most: held * weigh(made(0, nil, 100, 5))}
		for i := range n + 1 {
			if err := s.Add(made(i, nil, 100, 5)); err != nil {
				t.Fatal(err)
			}
		}
		if s.moves != n*(1+levels) || len(s.runs) != 1 {
			t.Errorf("%d records: %d were written, want %d; %d files", n, s.moves, n*(1+levels), len(s.runs))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSetContext: a set ends with the context of Collect, between two records.
func TestSetContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &Set{ctx: ctx, most: 8 * weigh(made(0, nil, 100, 5))}
	defer s.Close()
	add := func() (err error) {
		for i := 0; i < 20 && err == nil; i++ {
			err = s.Add(made(i, nil, 100, 5))
		}
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	n := 0
	_, err := Aggregate(func() iter.Seq2[*Record, error] {
		return func(yield func(*Record, error) bool) {
			for r, err := range s.All() {
				if n++; n == 3 {
					cancel()
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}, nil, Grouping{})
	if !errors.Is(err, context.Canceled) || n != 4 {
		t.Errorf("%v after %d records", err, n)
	}
	if err := add(); !errors.Is(err, context.Canceled) {
		t.Errorf("adding: %v", err)
	}
}

// TestSpill fills a set beyond what it holds in memory, in no order and some twice.
func TestSpill(t *testing.T) {
	const held, n = 64, 64*3 + 17
	s := &Set{most: held * weigh(made(0, nil, 100, 5))}
	defer s.Close()
	for i := range n + n/2 {
		if err := s.Add(made((i*7919)%n, nil, 100, 5)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.held) >= held || len(s.runs) != 4 {
		t.Errorf("%d held, %d files", len(s.held), len(s.runs))
	}
	for range 2 {
		got, last := 0, ""
		for r, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			if r.Key <= last {
				t.Fatal("out of order")
			}
			got, last = got+1, r.Key
		}
		if got != n {
			t.Errorf("%d records, want %d", got, n)
		}
	}
	dir := s.dir
	s.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the files are still there")
	}
}

// TestBadFiles has a good file beside a bad one: what is good counts, and a line says
// what is bad.
func TestBadFiles(t *testing.T) {
	plain := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	line := func(change func(*Record)) string {
		r := made(2, nil, 100, 5)
		change(r)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good := line(func(*Record) {})
	const head = `{"gmpscope_summaries":1}`
	var whole bytes.Buffer
	WriteAll(&whole, func(yield func(*Record, error) bool) { yield(made(2, nil, 100, 5), nil) }, nil)
	for name, c := range map[string]struct {
		text    []byte
		records int // with that of the good file
		why     string
	}{
		"whole":         {whole.Bytes(), 2, ""},
		"plain":         {plain(head, good, `{"records":1}`), 2, ""},
		"cut gzip":      {whole.Bytes()[:whole.Len()-30], 1, "truncated"},
		"no end":        {plain(head, good), 2, "truncated after 1 records"},
		"other number":  {plain(head, good, `{"records":2}`), 2, "1 records of 2"},
		"newer":         {plain(`{"gmpscope_summaries":2}`, good, `{"records":1}`), 1, "later version"},
		"damaged":       {plain(head, good[:50], `{"records":1}`), 1, "record 1 is damaged"},
		"negative":      {plain(head, line(func(r *Record) { r.Ps.Steals = -1 }), `{"records":1}`), 1, "negative"},
		"Jain":          {plain(head, line(func(r *Record) { r.Spread.Jain = 1_000_001 }), `{"records":1}`), 1, "more than the whole"},
		"pressure":      {plain(head, line(func(r *Record) { r.Spread.Pressure = 1 << 40 }), `{"records":1}`), 1, "more than the whole"},
		"unexplained":   {plain(head, line(func(r *Record) { r.Starts.Unexplained = 1 << 62 }), `{"records":1}`), 1, "more than the whole"},
		"idle":          {plain(head, line(func(r *Record) { r.Ps.IdleNs = 1 << 62 }), `{"records":1}`), 1, "more than the whole"},
		"GOMAXPROCS":    {plain(head, line(func(r *Record) { r.Trace.GOMAXPROCS = 1 << 31 }), `{"records":1}`), 1, "GOMAXPROCS"},
		"wrong sum":     {plain(head, line(func(r *Record) { r.User.TotalNs++ }), `{"records":1}`), 1, "do not add up"},
		"wrong key":     {plain(head, line(func(r *Record) { r.Key = "../../etc/passwd" }), `{"records":1}`), 1, "SHA-256"},
		"long name":     {plain(head, line(func(r *Record) { r.Trace.Format = strings.Repeat("x", maxName+1) }), `{"records":1}`), 1, "too long"},
		"long source":   {plain(head, line(func(r *Record) { r.Sources[0].Name = strings.Repeat("x", maxName+1) }), `{"records":1}`), 1, "too long"},
		"no source":     {plain(head, line(func(r *Record) { r.Sources = nil }), `{"records":1}`), 1, "0 sources"},
		"cause of old":  {plain(head, strings.Replace(good, `"queueing"`, `"behind"`, 1), `{"records":1}`), 2, ""},
		"unknown cause": {plain(head, strings.Replace(good, `"queueing"`, `"magic"`, 1), `{"records":1}`), 1, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			var other bytes.Buffer
			WriteAll(&other, func(yield func(*Record, error) bool) { yield(made(1, nil, 100, 5), nil) }, nil)
			set, problems := collected(t, []string{save(t, c.text), save(t, other.Bytes())}, Collecting{})
			n := 0
			for _, err := range set.All() {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != c.records {
				t.Errorf("%d records, want %d", n, c.records)
			}
			switch {
			case c.why == "" && len(problems) > 0:
				t.Error(problems[0].Err)
			case c.why != "" && (len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), c.why) || strings.Contains(problems[0].Why, "/")):
				t.Errorf("%v, want %q", problems, c.why)
			}
		})
	}
}

// FuzzReader expects records that can be merged and reported on, whatever is read.
func FuzzReader(f *testing.F) {
	good, err := json.Marshal(made(1, map[string]string{"service": "a"}, 100, 5))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"gmpscope_summaries":1}` + "\n" + string(good) + "\n" + `{"records":1,"unread":[{"name":"x"}]}`))
	f.Add([]byte(`{"gmpscope_summaries":1}` + "\n" + string(good) + "\n" + strings.Replace(string(good), `"total_ns":5`, `"total_ns":9223372036854775807`, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		set := &Set{}
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			if err := set.Add(rec); err != nil {
				t.Fatal(err)
			}
		}
		defer set.Close()
		rep, err := Aggregate(set.All, boundedProblems(r.unread), Grouping{By: DefaultGrouping()})
		if err != nil {
			t.Fatal(err)
		}
		if rep.WaitingNs < 0 || rep.RunningNs < 0 {
			t.Error("a sum is negative")
		}
	})
}

func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h, odd, even Histogram
	var values []int64
	for i := range 2000 {
		v := r.Int64() >> r.IntN(62)
		values = append(values, v)
		h.Add(v, 1)
		if i%2 == 0 {
			even.Add(v, 1)
		} else {
			odd.Add(v, 1)
		}
	}
	odd.Merge(even)
	if diff := cmp.Diff(h, odd); diff != "" {
		t.Error("the sum of two parts is not the whole", diff)
	}
	slices.Sort(values)
	for _, q := range []float64{0.1, 0.5, 0.9, 0.999} {
		within(t, fmt.Sprint(q), h.Quantile(q), values[int(q*2000)-1])
	}
	js, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Histogram
	if err := json.Unmarshal(js, &back); err != nil || !cmp.Equal(h, back) {
		t.Error("it comes back as another", err)
	}
	for _, bad := range []string{"[1]", "[2,1,1,1]", "[1,0]", "[-1,1]", "[1,-1]", "[960,1]", `"x"`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	var d Histogram
	for _, v := range []int64{1, 1, 2, 2, 4, 6, 9} { // the example of the definition
		d.Add(v, 1)
	}
	if m := d.Quantile(0.5); m != 2 || d.Deviation(m) != 1 {
		t.Errorf("median %d, deviation %d", m, d.Deviation(m))
	}
}

func TestCompareNatural(t *testing.T) {
	want := []string{"", "1.2-rc1", "1.2-rc2", "1.2-rc10", "1.2", "1.2+x", "1.2.1", "1.9", "1.10", "2", "v1"}
	for i := range want {
		for j := range want {
			if got, d := compareNatural(want[i], want[j]), i-j; got*d < 0 || (got == 0) != (d == 0) {
				t.Errorf("%q, %q: %d", want[i], want[j], got)
			}
		}
	}
}

// TestLabels reads those of a file beside a trace, which come before those of all.
func TestLabels(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.trace")
	write := func(text string) {
		if err := os.WriteFile(name+".labels", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all := []Label{{Name: "service", Value: "a"}, {Name: "zone", Value: "b"}}
	write("# of this one\nservice = pay\n\nhost=h1\n")
	got, err := labelsOf(t.Context(), name, all, nil)
	if want := []Label{{Name: "host", Value: "h1"}, {Name: "service", Value: "pay"}, {Name: "zone", Value: "b"}}; err != nil || !cmp.Equal(got, want) {
		t.Error(got, err)
	}
	for _, bad := range []string{"service", "=x", "gomaxprocs=3", "a b=c", strings.Repeat("x=y\n", MaxSidecar)} {
		write(bad)
		if _, err := labelsOf(t.Context(), name, all, nil); err == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          []Label
	}{
		{"{service}-{version}-*.trace.gz", "x/y/checkout-1.0-3.trace.gz", []Label{{Name: "service", Value: "checkout"}, {Name: "version", Value: "1.0"}}},
		{"{service}/{host}/*", "a/b/c.trace", []Label{{Name: "service", Value: "a"}, {Name: "host", Value: "b"}}},
		{"{service}/{host}/*", "b/c.trace", nil},
		{"{a}.b+(c)", "x.b+(c)", []Label{{Name: "a", Value: "x"}}},
		{"{a}.b+(c)", "xxb+(c)", nil},
	} {
		p, err := ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.labels(c.path); !cmp.Equal(got, c.want) {
			t.Errorf("%s of %s: %v", c.pattern, c.path, got)
		}
	}
	for _, bad := range []string{"", "a/b", "{}", "{a b}", "{go}", "{a}{a}", strings.Repeat("{a}-", 99)} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestShop expects the version with the mistake first among the outliers, and its finding
// to be new, beside all other traces of the repository.
func TestShop(t *testing.T) {
	names, err := Find([]string{"testdata"})
	if err != nil || len(names) != 30 {
		t.Fatal(len(names), err)
	}
	p, err := ParsePattern("{service}-{version}-*.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	shop, _ := collected(t, names, Collecting{Options: Options{Pattern: p}, Workers: 2})
	others, problems := collected(t, smallTraces(t, 120), Collecting{Workers: 2})
	for r, err := range shop.All() {
		if err != nil {
			t.Fatal(err)
		}
		others.Add(r)
	}
	for _, by := range [][]string{DefaultGrouping(), {"service", "version"}} {
		f, err := Aggregate(others.All, problems, Grouping{By: by})
		if err != nil {
			t.Fatal(err)
		}
		o := &f.Outliers[0]
		if o.Kind != "group" || o.Labels[0].Value != "checkout" || o.Labels[1].Value != "1.2" || !strings.HasPrefix(o.Trace, "checkout-1.2-") {
			t.Errorf("by %v: %+v", by, o)
		}
		if o.Cause != "queueing" && o.Cause != "overtaken" {
			t.Errorf("the cause is %s", o.Cause)
		}
		for i := range f.Outliers[1:] {
			if o := &f.Outliers[1+i]; o.Kind == "group" {
				t.Errorf("another group is one, too: %+v", o)
			}
		}
	}
}

func TestParseShard(t *testing.T) {
	for _, bad := range []string{"", "1", "0/2", "3/2", "1/0", "1/2x", "a/b", "-1/2"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	names, seen := smallTraces(t, 50), 0
	for i := range 4 {
		s, err := ParseShard(fmt.Sprintf("%d/4", i+1))
		if err != nil {
			t.Fatal(err)
		}
		seen += len(s.Of(names))
	}
	if seen != len(names) {
		t.Errorf("the shards have %d of %d", seen, len(names))
	}
}

// TestAnonymous expects no name of the program in a record, and with a key the same for the
// same ones.
func TestAnonymous(t *testing.T) {
	names := []string{"../testdata/traces/pairs/channel-batched-before-0.trace.gz", "../testdata/traces/pairs/channel-batched-before-1.trace.gz"}
	classes := func(o Options) (out [][]string) {
		for _, name := range names {
			r, err := Summarize(context.Background(), name, o)
			if err != nil {
				t.Fatal(err)
			}
			js, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"main.produce", "main.consume", "channel-batched", "payments"} {
				if o.Anonymize && bytes.Contains(js, []byte(secret)) {
					t.Errorf("%s shows %s", js, secret)
				}
			}
			var list []string
			for i := range r.Classes {
				list = append(list, className(r, r.Classes[i].Name))
			}
			out = append(out, list)
		}
		return out
	}
	plain := classes(Options{})
	keyed := classes(Options{Anonymize: true, Key: []byte("secret"), Labels: []Label{{Name: "service", Value: "payments"}}})
	own := classes(Options{Anonymize: true})
	if !cmp.Equal(plain[0], plain[1]) || !cmp.Equal(keyed[0], keyed[1]) || cmp.Equal(plain, keyed) {
		t.Errorf("%q as %q", plain, keyed)
	}
	for _, name := range own[0] {
		if slices.Contains(own[1], name) {
			t.Errorf("%s means something in both traces", name)
		}
	}
	if _, err := Summarize(t.Context(), names[0], Options{Anonymize: true, Labels: []Label{{Name: "a", Value: "b"}}}); err == nil {
		t.Error("a label is shown")
	}
}

// TestCacheKnowsTheSidecar: the same trace beside another file is summed up again.
func TestCacheKnowsTheSidecar(t *testing.T) {
	trace, err := os.ReadFile("testdata/checkout-1.2-0.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	name, o := filepath.Join(t.TempDir(), "t.gz"), Options{Cache: t.TempDir()}
	if err := os.WriteFile(name, trace, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, cpus := range []int{1, 2, 1} {
		meta := fmt.Sprintf(`{"version": 1, "cpus": %d}`, cpus)
		if err := os.WriteFile(name+sidecar.Suffix, []byte(meta), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Summarize(t.Context(), name, o); err != nil {
			t.Fatal(err)
		}
		if kept, _ := filepath.Glob(filepath.Join(o.Cache, "*", "*.sum")); len(kept) != min(i+1, 2) {
			t.Errorf("after %d: %d summaries", i+1, len(kept))
		}
	}
}

// TestCache reads a summary from the cache where it fits, and makes it where it is damaged
// or of other settings.
func TestCache(t *testing.T) {
	const name = "testdata/checkout-1.2-0.trace.gz"
	o := Options{Cache: t.TempDir(), Labels: []Label{{Name: "a", Value: "b"}}}
	first, err := Summarize(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(o.Cache, "*", first.Key+"-*.sum"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	other := *first
	other.Trace.Events++
	entry, err := filepath.Rel(o.Cache, kept[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := putCached(t.Context(), files.Cache(o.Cache), entry, &other); err != nil {
		t.Fatal(err)
	}
	events := func(o Options) int64 {
		r, err := Summarize(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Sources) != 1 || r.Sources[0].Name == "" || r.Key != first.Key {
			t.Errorf("%+v", r.Sources)
		}
		return r.Trace.Events - first.Trace.Events
	}
	if events(o) != 1 {
		t.Error("the cache is not used")
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Settings = "x" },
		func(o *Options) { o.Anonymize, o.Labels = true, nil },
		func(o *Options) { o.Anonymize, o.Key = true, []byte("x") },
	} {
		o := o
		change(&o)
		if events(o) != 0 {
			t.Error("the cache has a summary of other settings")
		}
	}
	if err := os.Truncate(kept[0], 100); err != nil {
		t.Fatal(err)
	}
	if events(o) != 0 {
		t.Error("a damaged file of the cache is used")
	}
}
