package report

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/work"
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
	want := []string{"6 ms more (6 ms, typically 0 ns): waiting in a select in sql.(*DB).conn, mostly while main.report is waiting for the network in main.query"}
	if !slices.Equal(items, want) {
		t.Errorf("items %q, want %q", items, want)
	}
	k.Path[1].SlowNs, k.Path[2].SlowNs = 0, 0
	lead, items = SlowInWords(nil, k)
	if lead != "main.order spends its time:" || len(items) != 2 || items[0] != "80 %: waiting for the network in main.query" {
		t.Errorf("%q %q", lead, items)
	}
}

// What is listed adds up to the difference, also where slow units spend less time on something.
func TestSlowAddsUp(t *testing.T) {
	k := &work.UnitKind{Name: "main.order", Path: []work.TimePart{
		{Leaf: work.Leaf{What: "lock", Where: "main.put"}, TypicalNs: 1_000_000, SlowNs: 7_000_000},
		{Leaf: work.Leaf{What: "network", Where: "main.query"}, TypicalNs: 3_000_000, SlowNs: 1_000_000},
	}}
	_, items := SlowInWords(nil, k)
	if want := []string{"6 ms more (7 ms, typically 1 ms): waiting for a lock in main.put", "2 ms less in all else"}; !slices.Equal(items, want) {
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
	if WorkLead([]*work.UnitKind{named}) == WorkLead([]*work.UnitKind{named, some}) {
		t.Error("nothing said")
	}
}
