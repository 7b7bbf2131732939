package findings

import (
	"math/rand/v2"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

func intn(seed uint64) func(int) int { return rand.New(rand.NewPCG(seed, 1)).IntN }

// The View against the slow truth of random streams: who waits, who runs, how
// long in sum.
func TestViewAgreesWithTheTruth(t *testing.T) {
	for seed := range uint64(300) {
		s := procstest.Generate(intn(seed), procstest.Options{})
		w, feed := Follow()
		type key struct {
			g    int64
			life int
		}
		var ran, wantRan, waited, wantWaited int64
		w.Runs(RunFilter{}, func(s *Run) {
			if !s.System {
				ran += s.Ns()
			}
			if s.Ns() < 0 || s.From < 0 || s.To < s.From {
				t.Fatalf("seed %d: stint %+v", seed, *s)
			}
		})
		at := 0
		for _, m := range s.Moments {
			for ; at < len(s.Decisions) && s.Decisions[at].Time <= m.From; at++ {
				feed.Add(&s.Decisions[at])
			}
			var runnable, running int64
			seen := map[key]bool{}
			for _, g := range m.Gs {
				if !g.User || seen[key{g.ID, g.Life}] {
					continue
				}
				seen[key{g.ID, g.Life}] = true
				if g.Runnable {
					runnable++
				}
				if g.Running {
					running++
				}
			}
			wantRan += running * (m.To - m.From)
			wantWaited += runnable * (m.To - m.From)
			if w.runnable != runnable || w.running < running {
				t.Fatalf("seed %d, at %d: %d runnable, %d running, want %d, %d", seed, m.From, w.runnable, w.running, runnable, running)
			}
			checkLists(t, w)
		}
		for ; at < len(s.Decisions); at++ {
			feed.Add(&s.Decisions[at])
		}
		w.finish(s.End)
		for i := range w.ps {
			waited += w.local[i].ns(s.End)
		}
		waited += w.global.ns(s.End) + w.nowhere.ns(s.End)
		if ran != wantRan || waited != wantWaited {
			t.Fatalf("seed %d: ran %d, waited %d, want %d, %d", seed, ran, waited, wantRan, wantWaited)
		}
	}
}

func checkLists(t *testing.T, w *follower) {
	t.Helper()
	var n, local, stealable int64
	walk := func(l *list, id int32) {
		var k, self int64
		prev := int32(0)
		for i := l.head; i != 0; i = w.turns.At(i).next {
			turn := w.turns.At(i)
			g := w.gs.At(turn.slot)
			if turn.prev != prev || turn.list != id || g.turn != i || g.ReadyAt < 0 || g.System {
				t.Fatalf("list %d: %+v, %+v", id, *turn, *g)
			}
			prev = i
			k++
			self += b2i64(g.Self)
			stealable += b2i64(turn.stealable)
		}
		if l.tail != prev || l.n != k || l.nself != self {
			t.Fatalf("list %d: tail %d, n %d, self %d; want %d, %d, %d", id, l.tail, l.n, l.nself, prev, k, self)
		}
		n += k
		if id >= 0 {
			local += k
		}
	}
	for i := range w.ps {
		walk(&w.local[i], int32(i))
	}
	walk(&w.global, inGlobal)
	walk(&w.nowhere, inNowhere)
	if n != w.runnable || local != w.localLen || stealable != w.stealers.n {
		t.Fatalf("%d waiting, %d local, %d stealable; want %d, %d, %d", w.runnable, w.localLen, w.stealers.n, n, local, stealable)
	}
}

// Any stream at all leaves the View whole, and its memory bounded.
func TestViewSurvivesNonsense(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		w, feed := Follow()
		w.Runs(RunFilter{}, func(s *Run) {
			if s.To < s.From {
				t.Fatalf("%+v", *s)
			}
		})
		w.Slices(SliceFilter{}, func(s *Slice) {
			if s.N < 1 || s.Runs < 1 || s.To < s.From {
				t.Fatalf("%+v", *s)
			}
		})
		w.Residencies(ResidencyFilter{Global: true}, func(*Residency) {})
		w.Residencies(ResidencyFilter{Whys: []reference.Why{reference.WhyUnblock, reference.WhySlice}}, func(*Residency) {})
		for range 3000 {
			ps := []int32{-1, 0, 1, 2, ledger.MaxPs, 1 << 30, -1 << 31}
			d := nonsense(r, ps)
			feed.Add(&d)
		}
		checkLists(t, w)
		w.finish(1 << 40)
		if len(w.ps) > ledger.MaxPs {
			t.Fatal(len(w.ps))
		}
	}
}

func nonsense(r *rand.Rand, ps []int32) reference.Decision {
	return reference.Decision{
		Time: r.Int64N(1 << 20), G: r.Int64N(12) - 1, P: ps[r.IntN(len(ps))], Victim: ps[r.IntN(len(ps))],
		Kind: reference.Kind(r.IntN(21)), Why: reference.Why(r.IntN(30)), To: reference.Queue(r.IntN(6)),
		Src: reference.Source(r.IntN(14)), Flags: reference.Flags(r.IntN(64)), Wait: r.Int64N(100) - 1,
		Batch: int32(r.IntN(6) - 1), Local: int32(r.IntN(3)), Global: int32(r.IntN(3)), Class: int32(r.IntN(5)), Stack: int32(r.IntN(3)),
	}
}

func TestClassMedian(t *testing.T) {
	var c Class
	if c.Median() != 0 || c.Mean() != 0 {
		t.Error("empty")
	}
	for range 100 {
		c.add(20_000, false, reference.WhyBlock)
	}
	for range 49 {
		c.add(5_000_000, false, reference.WhyBlock)
	}
	if m := c.Median(); m < 15_000 || m > 25_000 {
		t.Error(m)
	}
	if n := c.Over(1_000_000); n != 49 {
		t.Error(n)
	}
	c = Class{}
	for _, ns := range []int64{0, 1, 2, 3, 1 << 62} {
		c.add(ns, false, reference.WhyBlock)
	}
}
