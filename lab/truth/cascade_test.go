package truth

import (
	"strings"
	"testing"
)

func TestCascades(t *testing.T) {
	var truth, dump []Line
	var starts []Match
	for i := range 100 {
		l := newLine("start")
		l.T, l.G, l.P, l.Src, l.LL, l.GL = int64(i*1000), int64(i), 0, srcLocal, 0, 0
		d := l
		d.Basis = "inferred"
		if i >= 30 && i < 37 || i == 80 {
			d.GL = 1
		}
		truth, dump = append(truth, l), append(dump, d)
		starts = append(starts, Match{i, i})
	}
	var w strings.Builder
	Cascades(&w, truth, dump, starts, 2, 3, 3)
	long, short := strings.Index(w.String(), "7 starts wrong from t=30000"), strings.Index(w.String(), "1 starts wrong from t=80000")
	if long < 0 || short < long {
		t.Errorf("want the run of 7 first, then the one of 1:\n%s", w.String())
	}
	if n := strings.Count(w.String(), "!"); n != 4 {
		t.Errorf("%d lines are marked as wrong, want 3 of the first run and 1 of the second:\n%s", n, w.String())
	}
}
