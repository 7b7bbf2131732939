package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	units "github.com/gmpscope/gmpscope/analyze/work"
)

// withKinds returns a result with such kinds of units.
func withKinds(kinds ...units.UnitKind) *analyze.Result {
	return &analyze.Result{Work: units.Units{Kinds: kinds}}
}

// kindOf returns a kind of n units that take so long, each waiting for a lock and running.
func kindOf(name string, n, waits, runs int64) units.UnitKind {
	ns := waits + runs
	return units.UnitKind{Name: name, How: "cycle", Count: n, TotalNs: n * ns, Latency: units.Latency{P50Ns: ns, P99Ns: ns, MaxNs: ns, Histogram: []int64{ns, n}},
		Path: []units.TimePart{
			{Via: &units.Via{What: "lock", Site: "main.get"}, Leaf: units.Leaf{What: "running"}, Ns: n * waits / 2},
			{Via: &units.Via{What: "lock", Site: "main.get"}, Leaf: units.Leaf{What: "runnable"}, Ns: n * waits / 2},
			{Leaf: units.Leaf{What: "running"}, Ns: n * runs},
		}}
}

// TestKindChanges has a kind that changed much, one that changed little, and one on each side.
// Latencies are below 32 ns, where each has a bucket of its own.
func TestKindChanges(t *testing.T) {
	before := []*analyze.Result{
		withKinds(kindOf("main.report", 100, 2, 8), kindOf("main.small", 10, 2, 2), kindOf("main.gone", 1, 2, 2)),
		withKinds(kindOf("main.report", 300, 4, 8)),
	}
	after := []*analyze.Result{withKinds(kindOf("main.report", 200, 20, 7), kindOf("main.small", 10, 2, 3), kindOf("main.new", 1, 2, 2), units.UnitKind{Name: "main.open", Open: 1})}
	want := []KindChange{
		{"main.report", "cycle", "both", KindSide{200, 11, 12, 12}, KindSide{200, 27, 27, 27}, &PartShift{"lock", "main.get", 3, 20}},
		{"main.small", "cycle", "both", KindSide{5, 4, 4, 4}, KindSide{10, 5, 5, 5}, &PartShift{"running", "", 2, 3}},
		{"main.gone", "cycle", "before", KindSide{1, 4, 4, 4}, KindSide{}, nil},
		{"main.new", "cycle", "after", KindSide{}, KindSide{1, 4, 4, 4}, nil},
	}
	for range 20 { // whatever the order of maps
		if d := cmp.Diff(want, kindChanges(before, after)); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
	if got := kindChanges(before[:1], before[1:]); got[0].Before.P99Ns != 10 || got[0].After.P99Ns != 12 {
		t.Errorf("%+v", got[0])
	}
}
