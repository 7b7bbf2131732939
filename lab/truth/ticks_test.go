package truth

import (
	"maps"
	"slices"
	"testing"
)

// TestFindOpenTicks has P 0 take goroutines from the global queue at tick 61, 62 and 122,
// which all look the same, and something else before.
func TestFindOpenTicks(t *testing.T) {
	start := func(tick int64, src string, ll, gl, batch int64) Line {
		l := newLine("start")
		l.P, l.Tick, l.Src, l.LL, l.GL, l.Batch = 0, tick, src, ll, gl, batch
		return l
	}
	four := newLine("start") // there are four Ps
	four.P = 3
	for _, c := range []struct {
		name  string
		shows []Line
		open  []int64 // ticks
	}{
		{"nothing else", nil, []int64{62, 63, 123}},
		{"the own queue, with nothing in the global one", []Line{start(2, srcLocal, 0, 0, none)}, []int64{62, 63, 123}},
		{"before what the global one holds", []Line{start(2, srcLocal, 0, 1, none)}, []int64{62, 123}},
		{"again and again", slices.Repeat([]Line{start(2, srcLocal, 0, 1, none)}, polls), []int64{62, 123}},
		{"from runnext, which is no tick", []Line{start(1, srcRunnext, 0, 1, none)}, []int64{62, 123}},
		{"a batch", []Line{start(2, srcGlobal, 1, 0, 2)}, []int64{62, 123}},
		{"one, although the own queue holds some: the tick", []Line{start(1, srcTick, 2, 0, 1)}, nil},
		{"one of so many that it would be a batch: the tick", []Line{start(1, srcTick, 0, 4, 1)}, nil},
		{"one of few", []Line{start(1, srcTick, 0, 2, 1)}, []int64{1, 62, 63, 123}},
		{"another P's", []Line{func() Line { l := start(2, srcLocal, 0, 1, none); l.P = 1; return l }()}, []int64{62, 63, 123}},
	} {
		lines := append(slices.Clone(c.shows), four,
			start(62, srcTick, 0, 0, 1), start(63, srcGlobal, 0, 0, 1), start(123, srcTick, 0, 0, 1))
		found := FindOpenTicks(lines)
		var got []int64
		for _, i := range slices.Sorted(maps.Keys(found)) {
			got = append(got, lines[i].Tick)
			if found[i] != (lines[i].Src == srcTick) {
				t.Errorf("%s: tick %d: %v", c.name, lines[i].Tick, found[i])
			}
		}
		if !slices.Equal(got, c.open) {
			t.Errorf("%s: %v are open, want %v", c.name, got, c.open)
		}
	}
}

func TestCompareTicks(t *testing.T) {
	line := func(src string) Line { return Line{K: "start", Src: src} }
	truth := []Line{line(srcTick), line(srcGlobal), line(srcLocal), line(srcTick), line(srcLocal)}
	dump := []Line{line(srcGlobal), line(srcGlobal), line(srcLocal), line(srcGlobal)}
	starts := []Match{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, none}}
	got := CompareTicks(truth, dump, starts, map[int]bool{0: true, 1: false})
	got.Add(&Ticks{Open: Rate{1, 1}})
	if want := (Ticks{Open: Rate{3, 5}, Ticks: Rate{1, 4}, Exact: Rate{1, 2}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
