package truth

import (
	"errors"
	"math"
	"testing"
)

// TestLengths has puts and takes that can have been at several times.
func TestLengths(t *testing.T) {
	take := func(lo, hi int64, first, n int) globalTake {
		return globalTake{span: span{lo, hi}, first: first, n: n, least: 1, most: math.MaxInt32}
	}
	for _, c := range []struct {
		name        string
		f           fifo
		at          int64
		least, most int64
	}{
		{"before all", fifo{puts: []span{{10, 20}}}, 10, 0, 0},
		{"a put in between", fifo{puts: []span{{10, 20}}}, 15, 0, 1},
		{"a put before", fifo{puts: []span{{10, 20}}}, 20, 1, 1},
		{"a take in between", fifo{puts: []span{{1, 2}, {1, 2}}, takes: []globalTake{take(10, 20, 0, 2)}}, 15, 0, 2},
		{"a take in order", fifo{puts: []span{{1, 2}, {1, 2}}, takes: []globalTake{take(10, 20, 0, 1), take(11, 14, 1, 1)}}, 15, 0, 0},
		{"taken, so put", fifo{puts: []span{{1, 30}}, takes: []globalTake{take(5, 10, 0, 1)}}, 10, 0, 0},
		{"put behind what was put before", fifo{puts: []span{{1, 30}, {5, 10}}}, 10, 2, 2},
		{"a batch that needs it", fifo{puts: []span{{1, 2}, {1, 30}},
			takes: []globalTake{{span: span{5, 10}, n: 1, least: 2, most: 3}}}, 10, 1, 1},
		{"a batch too small for it", fifo{puts: []span{{1, 2}, {1, 30}},
			takes: []globalTake{{span: span{20, 25}, n: 1, least: 1, most: 1}}}, 20, 1, 1},
		{"its own put before its take", fifo{puts: []span{{1, 2}, {5, 20}},
			takes: []globalTake{{span: span{5, 20}, n: 1, least: 1, most: math.MaxInt32, mine: &put{at: 1}}}}, 15, 1, 2},
	} {
		c.f.tighten()
		if least, most := c.f.lengths(c.at); least != c.least || most != c.most {
			t.Errorf("%s: %d to %d, want %d to %d", c.name, least, most, c.least, c.most)
		}
	}
}

// TestSized compares the lengths that a batch tells with the rule for its size.
func TestSized(t *testing.T) {
	for _, c := range []struct{ n, procs, least, most int }{
		{1, 4, 1, 3}, {2, 4, 4, 7}, {1, 1, 1, 1}, {5, 1, 5, 5}, {2, 2, 2, 3}, {128, 2, 254, math.MaxInt32},
	} {
		x := globalTake{n: c.n, most: math.MaxInt32}
		if x.sized(ruleBook, c.procs); x.least != c.least || x.most != c.most {
			t.Errorf("%d of %d Ps: %d to %d", c.n, c.procs, x.least, x.most)
		}
		for n := x.least; n <= min(x.most, 300); n++ {
			if got := ruleBook.GlobalBatch(n, c.procs); got != c.n {
				t.Errorf("%d Ps: %d from %d, not %d", c.procs, got, n, c.n)
			}
		}
	}
}

// TestFindOpen has thread 1 put G1 into the global queue and steal G3 from P0's ring while
// thread 2 starts G2 on P0.
func TestFindOpen(t *testing.T) {
	line := func(k string, at, g, p, m int64, to, src string) Line {
		l := newLine(k)
		l.T, l.G, l.P, l.M, l.To, l.Src = at, g, p, m, to, src
		return l
	}
	for _, open := range []bool{true, false} {
		on := int64(15) // when thread 1 goes on
		if open {
			on = 30
		}
		lines := []Line{
			line("ready", 1, 3, 0, 2, toLocal, ""),
			line("ready", 10, 1, 1, 1, toGlobal, ""),
			line("move", 12, 3, none, 1, toDirect, ""),
			line("steal", 12, 3, 1, 1, "", srcSteal),
			line("start", on, 3, 1, 1, "", srcSteal),
			line("start", 20, 2, 0, 2, "", srcRunnext),
		}
		es := &threadEvents{of: map[int64][]threadEvent{1: {{t: 10}, {t: on}}, 2: {{t: 1}, {t: 5}, {t: 20}}}}
		f := newFollower(es)
		f.follow(lines)
		if o := f.open(lines)[1]; o.GL() != open || o.LL != open || o.GLMost != 1 {
			t.Errorf("open %v: %+v", open, o)
		}
	}
	if _, err := FindOpen([]Line{newLine("start")}, nil); !errors.Is(err, ErrNoMoves) {
		t.Errorf("without moves: %v", err)
	}
}
