package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	units "github.com/gmpscope/gmpscope/analyze/work"
)

// kindOf returns a kind of n requests that take about so long, each waiting for a lock and running.
func kindOf(name string, n int, waits, runs float64) units.UnitKind {
	ns := waits + runs
	l := units.Latency{Histogram: []int64{}}
	for i := range n { // from half to double, evenly on the scale of logarithms
		l.MaxNs = int64(ns * math.Exp2(2*(float64(i)+0.5)/float64(n)-1))
		if last := len(l.Histogram) - 2; last >= 0 && l.Histogram[last] == bucket(l.MaxNs) {
			l.Histogram[last+1]++
		} else {
			l.Histogram = append(l.Histogram, bucket(l.MaxNs), 1)
		}
	}
	l.Merge(&units.Latency{}) // has the quantiles filled in
	count := int64(n)
	part := func(of float64) int64 { return count * int64(of) }
	return units.UnitKind{Name: name, How: "cycle", Class: name, Entry: true, Count: count, TotalNs: part(ns), Latency: l,
		Path: []units.TimePart{
			{Via: &units.Via{What: "lock", Site: "main.get"}, Leaf: units.Leaf{What: "running", Who: "main.put"}, Ns: part(waits), SlowNs: int64(2 * waits)},
			{Leaf: units.Leaf{What: "running"}, Ns: part(runs), SlowNs: int64(2 * runs)},
		}}
}

// bucket is that of the histograms of latencies: an octave has 16.
func bucket(ns int64) int64 {
	shift := int64(0)
	for ns>>shift >= 32 {
		shift++
	}
	return shift*16 + ns>>shift
}

// serving are n traces of a server, recorded every ten seconds from at; spread is the standard
// deviation of the latency's logarithm from one to the next.
func serving(r *rand.Rand, n int, at time.Time, spread, wait, run float64) []*analyze.Result {
	var out []*analyze.Result
	for i := range n {
		f := math.Exp(spread * r.NormFloat64())
		x := trace(100*ms, 1000*ms)
		x.Trace.Wall = at.Add(time.Duration(i) * 10 * time.Second).Format(time.RFC3339)
		x.Trace.DurationNs += int64(i) * 50 * ms
		x.Work.Kinds = []units.UnitKind{kindOf("main.report", 200, wait*f, run*f)}
		out = append(out, x)
	}
	return out
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	before := serving(r, 4, start, 0.05, 1e6, 1e6)
	for _, c := range []struct {
		name      string
		after     []*analyze.Result
		want      Verdict
		headline  string
		backwards Verdict
	}{
		{"a third", serving(r, 4, start, 0.05, 1e4, 7e5), Better, "it no longer waits for a lock in main.get (1", Worse},
		{"three times", serving(r, 4, start, 0.05, 1e6, 5e6), Worse, "it runs for longer (", Better},
		{"the same", serving(r, 4, start, 0.05, 1e6, 1e6), NoChange, "would have been seen", NoChange},
		{"one each", serving(r, 1, start, 0.05, 1e6, 9e6), Worse, "p50 ", Better},
	} {
		for i, want := range []Verdict{c.want, c.backwards} {
			b, a := before[:len(c.after)], c.after
			if i == 1 {
				b, a = a, b
			}
			x := mustCompare(t, b, a)
			if x.Verdict != want || i == 0 && !strings.Contains(x.Headline, c.headline) {
				t.Errorf("%s: %s: %s %q; want %s", c.name, x.Verdict, x.Headline, x.Lines, want)
			}
		}
	}
}

// A program that did not change is said to have changed in at most two of a hundred comparisons,
// whatever its numbers differ by from one trace to the next.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 2, 4} {
		const all = 400
		alarms := 0
		for i := range all {
			spread := []float64{0.01, 0.03, 0.05}[i%3]
			if v := mustCompare(t, serving(r, n, start, spread, 1e6, 1e6), serving(r, n, start, spread, 1e6, 1e6)).Verdict; v != NoChange && v != Inconclusive {
				alarms++
			}
		}
		if alarms > all/50 {
			t.Errorf("%d a side: %d of %d comparisons of a program with itself are alarms", n, alarms, all)
		}
	}
}

// What is better one way is worse the other way, and an interval holds what it is of.
func TestBothWays(t *testing.T) {
	opposite := map[Verdict]Verdict{Better: Worse, Worse: Better}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		side := func() []*analyze.Result {
			return serving(r, rapid.IntRange(1, 4).Draw(t, "n"), start, rapid.Float64Range(0, 0.5).Draw(t, "spread"), rapid.Float64Range(1, 1e8).Draw(t, "wait"), rapid.Float64Range(1, 1e8).Draw(t, "run"))
		}
		b, a := side(), side()
		there, err := Compare(b, a)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		want := there.Verdict
		if o, ok := opposite[want]; ok {
			want = o
		}
		if back.Verdict != want {
			t.Errorf("%s (%s), and back %s (%s)", there.Verdict, there.Headline, back.Verdict, back.Headline)
		}
		for _, m := range there.Work[0].Metrics {
			if *m.Ratio < m.RatioCI[0] || *m.Ratio > m.RatioCI[1] || m.Before.Value < *m.Before.Lo || m.After.Value > *m.After.Hi {
				t.Errorf("%+v", m)
			}
		}
	})
}

// What the machine may account for is no change of the program.
func TestMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	side := func(at time.Time, run float64, mend func(*analyze.Result)) []*analyze.Result {
		rs := serving(r, 4, at, 0.02, 1, run)
		for _, x := range rs {
			if mend != nil {
				mend(x)
			}
		}
		return rs
	}
	lacking := func(x *analyze.Result) {
		x.Findings = []findings.Finding{{ID: "os-preemption", Kind: findings.KindMachine, CostOf: findings.OfPTime, CostNs: 800 * ms, Severity: findings.Warning}}
	}
	short := func(x *analyze.Result) {
		x.Findings = []findings.Finding{{ID: "os-preemption", Kind: findings.KindMachine, CostOf: findings.OfPTime, CostNs: 5 * ms, Severity: findings.Note}}
	}
	later := start.Add(time.Hour)
	host := func(boot string, others int64) func(x *analyze.Result) {
		return func(x *analyze.Result) {
			x.Trace.Sidecar = &sidecar.Meta{Host: &sidecar.Host{CPUs: 2, Boot: boot, Use: &sidecar.Use{Ns: 1000, BusyNs: 1000 + others, OwnNs: 1000}}}
		}
	}
	for _, c := range []struct {
		name          string
		before, after []*analyze.Result
		want          Verdict
		caveat        string
	}{
		{"in turns", side(start, 1e6, nil), side(start, 1.5e6, nil), Worse, ""},
		{"an hour later", side(start, 1e6, nil), side(later, 1.5e6, nil), Inconclusive, ""},
		{"an hour later, by far", side(start, 1e6, nil), side(later, 9e6, nil), Worse, ""},
		{"an hour later, short of CPUs", side(start, 1e6, nil), side(later, 9e6, short), Inconclusive, "Threads lacked CPUs in 0 % of the traces before and 100 % of those after."},
		{"an hour later, no longer short", side(start, 9e6, short), side(later, 1e6, nil), Inconclusive, "Threads lacked CPUs in 100 %"},
		{"an hour later, short and faster", side(start, 9e6, nil), side(later, 1e6, short), Better, "Threads lacked CPUs"},
		{"in turns, short by chance", side(start, 1e6, nil), side(start, 9e6, short), Worse, ""},
		{"without CPUs", side(start, 1e6, nil), side(start, 1.9e6, lacking), Inconclusive, "Threads with a P had no CPU for 0 % of the time before and 40 % after."},
		{"without CPUs, and faster", side(start, 1.9e6, nil), side(start, 1e6, lacking), Better, "Threads with a P had no CPU"},
		{"beside others", side(start, 1e6, host("a", 0)), side(start, 1.6e6, host("a", 900)), Inconclusive, "Other programs used 0 % of the machine's CPUs before and 45 % after."},
		{"elsewhere", side(start, 1e6, host("a", 0)), side(start, 9e6, host("b", 0)), Worse, "different machines"},
	} {
		x := mustCompare(t, c.before, c.after)
		if x.Verdict != c.want || !strings.Contains(strings.Join(x.Caveats, "\n"), c.caveat) {
			t.Errorf("%s: %s: %s %q %q; want %s", c.name, x.Verdict, x.Headline, x.Lines, x.Caveats, c.want)
		}
	}
}

func TestInTurns(t *testing.T) {
	at := func(seconds ...int) (rs []*analyze.Result) {
		for _, s := range seconds {
			r := trace(ms, ms)
			r.Trace.Wall = start.Add(time.Duration(s) * time.Second).Format(time.RFC3339)
			rs = append(rs, r)
		}
		return rs
	}
	none := []*analyze.Result{trace(ms, ms)}
	for i, c := range []struct {
		before, after []*analyze.Result
		want          bool
	}{
		{at(0, 20), at(10, 30), true}, {at(10, 30), at(0, 20), true}, {at(0, 10), at(20, 30), false}, {at(20, 30), at(0, 10), false},
		{at(0), at(2), true}, {at(0), at(60), false}, {none, at(0), false},
	} {
		if got := inTurns(c.before, c.after); got != c.want {
			t.Errorf("case %d: %t", i, got)
		}
	}
}

// Kinds are matched by name, and what may be the same under another name is said to be.
func TestKindsAreMatched(t *testing.T) {
	of := func(kinds ...units.UnitKind) []*analyze.Result {
		x := trace(ms, ms)
		x.Work.Kinds = kinds
		return []*analyze.Result{x}
	}
	found := func(name, how string, n int) units.UnitKind {
		k := kindOf(name, n, 1e6, 1e6)
		k.How = how
		return k
	}
	in := func(k units.UnitKind, class string) units.UnitKind { k.Class = class; return k }
	for _, c := range []struct {
		name          string
		before, after []*analyze.Result
		want          []string
	}{
		{"by name", of(found("main.a", "cycle", 9), found("main.b", "cycle", 9)), of(found("main.b", "cycle", 9), found("main.a", "cycle", 9)), []string{"main.a both", "main.b both"}},
		{"found in another way", of(found("main.a", "cycle", 9)), of(found("main.a", "lifetime", 9)), []string{"main.a both (the same name, though its units were found in another way)"}},
		{"moved", of(found("main.a", "cycle", 9)), of(found("api.a", "cycle", 9)), []string{"api.a both, was main.a (the same name in another place, about as many)"}},
		{"renamed", of(found("main.a", "cycle", 9)), of(found("main.b", "cycle", 9)), []string{"main.b both, was main.a (found in the same way, about as many): a guess"}},
		{"another", of(found("main.a", "cycle", 9)), of(found("main.b", "cycle", 90)), []string{"main.a before", "main.b after"}},
		{"split", of(found("main.a", "cycle", 9)), of(in(found("main.b", "cycle", 30), "main.a"), in(found("main.c", "cycle", 30), "main.a")), []string{"main.b both, was main.a (the same goroutines do it): a guess, with [main.c]", "main.c after"}},
	} {
		var got []string
		for _, k := range mustCompare(t, c.before, c.after).Work {
			s := k.Name + " " + k.In
			if k.Was != "" {
				s += ", was " + k.Was
			}
			if k.Why != "" {
				s += " (" + k.Why + ")"
			}
			if k.guess {
				s += ": a guess"
			}
			if k.Split != nil {
				s += fmt.Sprintf(", with %v", k.Split)
			}
			got = append(got, s)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The same work in batches is no work that takes longer.
func TestPiecesOfTheSameWork(t *testing.T) {
	side := func(n int, each float64) (out []*analyze.Result) {
		for i := range 4 {
			x := trace(100*ms, 1000*ms)
			x.Trace.DurationNs += int64(i) * 50 * ms
			x.Trace.Wall = start.Format(time.RFC3339)
			x.Work.Kinds = []units.UnitKind{kindOf("main.flush", n, 1, each)}
			out = append(out, x)
		}
		return out
	}
	if x := mustCompare(t, side(1000, 1e5), side(100, 1e6)); x.Verdict == Worse || x.Verdict == Better {
		t.Errorf("%s: %s", x.Verdict, x.Headline)
	}
}

// Where goroutines loop for as long as they are recorded, how often they wait for what is outside tells
// how many rounds they make.
func TestRounds(t *testing.T) {
	side := func(rounds, locks int64, running int64) (out []*analyze.Result) {
		for i := range 4 {
			x := trace(running, 1000*ms)
			x.Trace.DurationNs, x.Trace.Wall = 1000*ms, start.Add(time.Duration(i)*time.Second).Format(time.RFC3339)
			l := units.Latency{Histogram: []int64{}}
			l.Merge(&units.Latency{Histogram: []int64{bucket(1000 * ms), 4}, MaxNs: 1000 * ms})
			x.Work.Kinds = []units.UnitKind{{Name: "main.serve", How: "run", Class: "main.serve", Count: 4, TotalNs: 4000 * ms, Latency: l, Path: []units.TimePart{
				{Via: &units.Via{What: "sleep", Site: "main.query"}, Leaf: units.Leaf{What: "sleep"}, Waits: rounds, Ns: 2000 * ms},
				{Via: &units.Via{What: "lock", Site: "main.get"}, Leaf: units.Leaf{What: "running"}, Waits: locks, Ns: 2000 * ms},
			}}}
			out = append(out, x)
		}
		return out
	}
	for _, c := range []struct {
		name          string
		before, after []*analyze.Result
		want          Verdict
	}{
		{"four times as many", side(500, 500, 100*ms), side(2000, 1000, 400*ms), Better},
		{"a quarter", side(2000, 1000, 400*ms), side(500, 500, 100*ms), Worse},
		{"as many, by other locks", side(1000, 4000, 100*ms), side(1000, 30, 400*ms), NoChange},
		{"too few", side(5, 500, 100*ms), side(20, 500, 100*ms), NoChange},
	} {
		if x := mustCompare(t, c.before, c.after); x.Verdict != c.want {
			t.Errorf("%s: %s: %s %q; want %s", c.name, x.Verdict, x.Headline, x.Lines, c.want)
		}
	}
}

// A latency of which the median went one way and the mean the other is no better and no worse.
func TestAmbiguousLatency(t *testing.T) {
	up, down := &decision{}, &decision{}
	for _, c := range []struct {
		before, after int64
		good, bad     []*decision
		want          bool
	}{
		{100, 70, nil, []*decision{down, down}, true}, {100, 90, nil, []*decision{down, down}, false}, {70, 100, nil, []*decision{down, down}, false},
		{70, 100, []*decision{up, up}, nil, true}, {100, 70, nil, []*decision{down}, false}, {100, 70, []*decision{up}, []*decision{down, down}, false},
	} {
		k := &KindChange{Before: KindSide{MeanNs: c.before}, After: KindSide{MeanNs: c.after}}
		if got := k.ambiguous(c.good, c.bad); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestVariances(t *testing.T) {
	for _, v := range variances {
		if !(v.Between > 0 && v.DF > 0 && v.Most >= 0 && v.Apart >= 0 && v.Programs > 0 && v.Traces > v.Programs) {
			t.Errorf("%+v", v)
		}
	}
	if v := varianceOf("requests", "p50_ns", true); v.Programs < 12 {
		t.Errorf("%+v: a row of its own is expected", v)
	}
}

// What a call gave to sync.(*WaitGroup).Go has one name, though only some traces show it; where they show
// several, and for what another call gave, it has none.
func TestNaming(t *testing.T) {
	kind := func(by, runs string) *analyze.Result {
		k := kindOf(runs, 10, 0, 1)
		k.How, k.Class, k.GivenBy, k.Runs = "lifetime", "sync.(*WaitGroup).Go.func1", by, runs
		return &analyze.Result{Work: units.Units{Kinds: []units.UnitKind{k}}}
	}
	const unknown = "(unknown function), started by main.serve"
	shown, not := kind("main.serve", "main.handle"), kind("main.serve", unknown)
	other := kind("main.serve (call 2)", unknown+" (call 2)")
	names := namingOf([]*analyze.Result{not, other}, []*analyze.Result{shown})
	for r, want := range map[*analyze.Result]string{shown: "main.handle", not: "main.handle", other: unknown + " (call 2)"} {
		if got := names.key(&r.Work.Kinds[0]); got.name != want {
			t.Errorf("%s is called %s, want %s", r.Work.Kinds[0].Name, got.name, want)
		}
	}
	names = namingOf([]*analyze.Result{not, shown}, []*analyze.Result{kind("main.serve", "main.check")})
	if got := names.key(&not.Work.Kinds[0]); got.name != unknown {
		t.Errorf("of two functions it is called %s", got.name)
	}
}

// Goroutines that live as long as the traces decide nothing, where these are as long.
func TestLasting(t *testing.T) {
	side := func(length int64, waits float64) (out []*analyze.Result) {
		for range 4 {
			x := trace(100*ms, 1000*ms)
			x.Trace.DurationNs = length
			pool := kindOf("main.worker", 20, 0.95*float64(length), 0)
			pool.How = "lifetime"
			x.Work.Kinds = []units.UnitKind{pool, kindOf("main.report", 200, waits, 1e5)}
			out = append(out, x)
		}
		return out
	}
	before := side(1000*ms, 1e6)
	_, cs := kindChanges(before, side(1000*ms, 2e6), PerSecond)
	if len(cs) != 2 || cs[0].Name != "main.report" || !cs[0].decides || cs[1].decides {
		t.Errorf("of traces as long the pool decides, or the reports do not: %+v", cs[0].KindChange)
	}
	_, cs = kindChanges(before, side(2000*ms, 1e6), PerSecond)
	if !slices.ContainsFunc(cs, func(c *candidate) bool { return c.Name == "main.worker" && c.decides }) {
		t.Error("workers that live twice as long, as the traces do, decide nothing")
	}
}
