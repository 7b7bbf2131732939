package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/doc"
)

// What slow units spend their time on comes first by what their own goroutine waits for; if
// slow ones are not much slower, it is what all do.
func TestSlowInWords(t *testing.T) {
	conn := &work.Via{What: "select", Site: "database/sql.(*DB).conn"}
	k := &work.UnitKind{Name: "main.order", TotalNs: 1000, Path: []work.TimePart{
		{Via: &work.Via{What: "network", Site: "main.query"}, Leaf: work.Leaf{Who: "main.order", What: "network", Where: "main.query"}, Ns: 800, TypicalNs: 2_000_000, SlowNs: 2_000_000},
		{Via: conn, Leaf: work.Leaf{Who: "main.report", What: "network", Where: "main.query"}, Ns: 120, SlowNs: 5_000_000},
		{Via: conn, Leaf: work.Leaf{Who: "main.order", What: "running"}, Ns: 60, SlowNs: 1_000_000},
		{Leaf: work.Leaf{Who: "main.order", What: "running"}, Ns: 20, TypicalNs: 100_000, SlowNs: 100_000},
	}}
	lead, items := SlowInWords(nil, k)
	if want := "main.order: a slow unit takes 8.1 ms, a typical one 2.1 ms. The difference:"; lead != want {
		t.Errorf("lead %q, want %q", lead, want)
	}
	k.Unnamed, k.Latency.P50Ns = 900, 5_000_000
	if lead, _ := SlowInWords(nil, k); !strings.Contains(lead, "a typical one, of 900 with those whose handler no stack shows, 2.1 ms") {
		t.Errorf("lead %q", lead)
	}
	want := []string{"6 ms more (6 ms instead of 0 ns): waiting in a select in sql.(*DB).conn, mostly while main.report is waiting for the network in main.query"}
	if !slices.Equal(items, want) {
		t.Errorf("items %q, want %q", items, want)
	}
	k.Path[1].SlowNs, k.Path[2].SlowNs = 0, 0
	lead, items = SlowInWords(nil, k)
	if lead != "main.order spends its time:" || len(items) != 2 || items[0] != "80 %: waiting for the network in main.query" {
		t.Errorf("%q %q", lead, items)
	}
}

// Who holds what slow units stand in line for is said where that is a fifth of their time.
func TestHeldInWords(t *testing.T) {
	u := &work.Units{Resources: []work.Resource{{Site: "database/sql.(*DB).conn", What: "select", Holders: []work.Holder{{Who: "main.report", Count: 10, Ns: 6_000_000}, {Who: "main.order", Count: 20, Ns: 4_000_000}}}}}
	k := &work.UnitKind{Path: []work.TimePart{
		{Via: &work.Via{What: "select", Site: "database/sql.(*DB).conn"}, SlowNs: 2},
		{Leaf: work.Leaf{What: "running"}, SlowNs: 8},
	}}
	if got, want := heldInWords(nil, u, k), "While others stand in line in sql.(*DB).conn, it is held by main.report 60 % (600 µs each) and main.order 40 % (200 µs each)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	k.Path[1].SlowNs = 9
	if got := heldInWords(nil, u, k); got != "" {
		t.Errorf("%q", got)
	}
}

// What is listed adds up to the difference, also where slow units spend less time on something.
func TestSlowAddsUp(t *testing.T) {
	k := &work.UnitKind{Name: "main.order", Path: []work.TimePart{
		{Leaf: work.Leaf{What: "lock", Where: "main.put"}, TypicalNs: 1_000_000, SlowNs: 7_000_000},
		{Leaf: work.Leaf{What: "network", Where: "main.query"}, TypicalNs: 3_000_000, SlowNs: 1_000_000},
	}}
	_, items := SlowInWords(nil, k)
	if want := []string{"6 ms more (7 ms instead of 1 ms): waiting for a lock in main.put", "2 ms less in all else"}; !slices.Equal(items, want) {
		t.Errorf("items %q, want %q", items, want)
	}
	k.Path[0].SlowNs = 1_000_000
	for _, where := range []string{"main.a", "main.b", "main.c", "main.d"} {
		k.Path = append(k.Path, work.TimePart{Leaf: work.Leaf{What: "syscall", Where: where}, SlowNs: 4_000_000})
	}
	if _, items = SlowInWords(nil, k); len(items) != 4 || items[3] != "2 ms more in all else" {
		t.Errorf("items %q", items)
	}
}

// Where some units have no handler, the text says what that does to those that have one.
func TestWorkLead(t *testing.T) {
	named, some := &work.UnitKind{}, &work.UnitKind{Unnamed: 1}
	if workLead([]*work.UnitKind{named}) == workLead([]*work.UnitKind{named, some}) {
		t.Error("nothing said")
	}
}

// The kinds that lose most come first, each with what its slow units mostly spend time on; what
// fills a unit's time fills its waterfall.
func TestWorkSection(t *testing.T) {
	const ms = int64(1_000_000)
	lock := &work.Via{What: "lock", Site: "main.(*cache).get"}
	kinds := []work.UnitKind{
		{Name: "main.fast", How: "cycle", Entry: true, Count: 100, Path: []work.TimePart{{Leaf: work.Leaf{What: "running"}, Ns: 9, TypicalNs: ms, SlowNs: ms}}},
		{Name: "main.slow", How: "cycle", Entry: true, Count: 100, Path: []work.TimePart{{Via: lock, Leaf: work.Leaf{Who: "main.fill", What: "running"}, Ns: 8, TypicalNs: ms, SlowNs: 9 * ms}},
			Slowest: []work.Slow{{G: 7, BeginNs: 5, EndNs: 5 + 10*ms, Segments: []work.Segment{{Via: lock, Leaf: work.Leaf{Who: "main.fill", What: "running"}, Ns: 4 * ms}, {Via: lock, Leaf: work.Leaf{Who: "main.slow", What: "lock", Where: lock.Site}, Ns: 5 * ms}, {Leaf: work.Leaf{What: "running"}, Ns: ms}}}}},
		{Name: "main.inner", How: "cycle", Count: 100, Path: []work.TimePart{{Leaf: work.Leaf{What: "running"}, Ns: 9, TypicalNs: ms, SlowNs: 90 * ms}}},
	}
	s := WorkSection(&analyze.Result{Work: work.Units{Kinds: kinds}}, nil, "")
	table := s.Blocks[0].(doc.Table)
	var got []string
	for _, r := range table.Rows {
		got = append(got, r.Cells[0].Name+": "+r.Cells[9].Text)
	}
	if want := []string{"main.slow: lock 100 %", "main.fast: running 100 %", "main.inner: running 100 %"}; !slices.Equal(got, want) {
		t.Errorf("kinds %q, want %q", got, want)
	}
	w, ok := Waterfall(nil, &kinds[1], &kinds[1].Slowest[0])
	if !ok || len(w.Lanes) != 2 || w.Lanes[1].Name != "main.fill" || len(w.Lanes[1].Spans) != 1 {
		t.Fatalf("%+v", w)
	}
	at := w.FromNs
	for _, s := range w.Lanes[0].Spans {
		if s.FromNs != at {
			t.Errorf("a span from %d on, want %d", s.FromNs, at)
		}
		at = s.ToNs
	}
	if at != w.ToNs || len(w.Lanes[0].Spans) != 2 {
		t.Errorf("%d spans up to %d, want 2 up to %d", len(w.Lanes[0].Spans), at, w.ToNs)
	}
	if WorkSection(&analyze.Result{}, nil, "") != nil {
		t.Error("a section about nothing")
	}
}
