package html

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

func TestCausesOverTimeAreMeanNumbersOfGoroutines(t *testing.T) {
	r := &analyze.Result{}
	r.Trace.DurationNs = 2500
	r.Waits.OverTime = waits.OverTime{BinNs: 1000, Causes: []waits.CauseSeries{{Cause: waits.CauseBehind, Ns: []int64{3000, 0, 1000}}}}
	ls := causeLines(r)
	if len(ls) != 1 || ls[0].Values[0] != 3 || ls[0].Values[1] != 0 || ls[0].Values[2] != 2 {
		t.Errorf("%+v", ls) // the last bin is half as long
	}
	if s := string(stackSVG(ls, 1000, axis{0, 2500}, nil, "label")); !strings.Contains(s, `class="f-behind"`) || !strings.Contains(s, "H1000") {
		t.Errorf("%s", s)
	}
}

func TestAntagonistsAddUpAlongEachRow(t *testing.T) {
	cs := []waits.Class{
		{ID: 1, Name: "main.a", Antagonists: []waits.Antagonist{{Class: 1, Name: "main.a", Ns: 5e6}}},
		{ID: 2, Name: "main.b"}, // stood in no line
		{ID: 3, Name: "runtime.x", System: true, Antagonists: []waits.Antagonist{{Class: 1, Ns: 9e9}}},
	}
	for i := range int64(antCols + 2) {
		cs[0].Antagonists = append(cs[0].Antagonists, waits.Antagonist{Class: int32(10 + i), Name: "main.other", Ns: 1e6})
	}
	got := newAntagonists(cs, nil)
	if got == nil || len(got.Rows) != 1 || len(got.Heads) != antCols || !got.Rest {
		t.Fatalf("%+v", got)
	}
	cells := got.Rows[0].Cells
	if !cells[0].Self || cells[0].Text != quantity.Duration(5e6) || cells[1].Self || cells[1].Text != quantity.Duration(1e6) {
		t.Errorf("%+v", cells)
	}
	if last := cells[antCols]; last.Text != quantity.Duration(3e6) || got.Rows[0].Total.Text != quantity.Duration(12e6) {
		t.Errorf("others %q of %q, want 3 ms of 12", last.Text, got.Rows[0].Total.Text)
	}
	if newAntagonists(cs[1:], nil) != nil {
		t.Error("a table of nobody")
	}
}
