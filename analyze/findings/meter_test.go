package findings

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

func TestTable(t *testing.T) {
	table := NewTable(2, func(k int) string { return string(rune('a' + k)) })
	first := table.At(0)
	*first += "!"
	table.At(1)
	if again := table.At(0); again != first || *again != "a!" {
		t.Errorf("%q", *again)
	}
	if table.At(2) != nil || table.Find(2) != nil || *table.Find(1) != "b" {
		t.Error("a third key has a place, or the second none")
	}
	var all []string
	for _, x := range table.List {
		all = append(all, *x)
	}
	if !slices.Equal(all, []string{"a!", "b"}) {
		t.Errorf("%q", all)
	}
}

func TestFew(t *testing.T) {
	var f Few[string, int64]
	for _, k := range []string{"x", "y", "x", "z"} {
		if i := f.Find(k, 2); i >= 0 {
			f.Values[i]++
		}
	}
	if !slices.Equal(f.Keys, []string{"x", "y"}) || !slices.Equal(f.Values, []int64{2, 1}) {
		t.Errorf("%v %v", f.Keys, f.Values)
	}
}

// A later goroutine may have the slot of an earlier one, and what is recent one place.
func TestOfGoroutines(t *testing.T) {
	var p Pending[int]
	a, b := &Goroutine{ID: 1, slot: 3}, &Goroutine{ID: 2, slot: 3}
	*p.Make(a) = 7
	if x := p.Find(a); x == nil || *x != 7 || p.Find(b) != nil {
		t.Error("what is kept of a goroutine is lost, or another's")
	}
	if *p.Make(b) != 0 || p.Find(a) != nil {
		t.Error("the slot's old value remains")
	}
	var r Recent[int]
	*r.Make(1) = 7
	if *r.Make(1) != 7 || r.Find(1+1024) != nil {
		t.Error("what is kept of a goroutine is lost, or another's")
	}
	if *r.Make(1 + 1024) != 0 || r.Find(1) != nil {
		t.Error("the old value remains")
	}
}

func TestMajority(t *testing.T) {
	var m Majority[string]
	for _, x := range []string{"a", "b", "b", "c", "b", "b"} {
		m.Add(x, 10)
	}
	if m.For != "b" || m.Votes != 20 {
		t.Errorf("%+v", m)
	}
	if m.Add("a", 50); m.For != "a" || m.Votes != 30 {
		t.Errorf("%+v", m)
	}
}

func TestReasons(t *testing.T) {
	var r, more Reasons[int64]
	r.Add(reference.ReasonSleep, 5)
	more.Add(reference.ReasonNetwork, 7)
	r.Merge(&more)
	if reason, ns := r.Most(); reason != reference.ReasonNetwork || ns != 7 {
		t.Errorf("%v %d", reason, ns)
	}
}

func TestWindows(t *testing.T) {
	w := NewWindows(10,
		func(now *int64) (int64, bool) { return *now, *now >= 2 },
		func(total, now *int64) { *total += *now })
	for _, at := range []int64{1, 2, 11, 35, 36, 39} {
		*w.At(at)++
	}
	*w.Now()++
	w.Close(50)
	if w.Total != 6 || w.N != 2 || w.Worst != 4 || w.WorstAt != 30 {
		t.Errorf("%d in %d windows, %d at %d", w.Total, w.N, w.Worst, w.WorstAt)
	}
}
