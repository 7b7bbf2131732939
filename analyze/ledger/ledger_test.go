package ledger_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

// life is what a map of goroutines by id knows of one.
type life struct {
	slot  int32
	is    ledger.Activity
	since int64
	class int32
	flags reference.Flags
}

// TestNotes compares the notes of random streams with what a map by id, and lists of
// lengths, say.
func TestNotes(t *testing.T) {
	for seed := range uint64(20) {
		s := procstest.Generate(rand.New(rand.NewPCG(seed, 1)).IntN, procstest.Options{Steps: 1000, Ps: 6, Gaps: seed%2 == 1, NoTruth: true})
		byID := map[int64]*life{}
		feed := ledger.NewFeed(func(b *ledger.Block) {
			for i := range b.Decisions {
				d, n := &b.Decisions[i], &b.Notes[i]
				to := ledger.Unseen
				switch d.Kind {
				case reference.KindReady:
					to = ledger.Runnable
				case reference.KindStart:
					to = ledger.Running
				case reference.KindStop:
					to = ledger.Waiting
				case reference.KindSyscall:
					to = ledger.InSyscall
				case reference.KindSyscallExit:
					if to = ledger.Running; d.P < 0 {
						to = ledger.Waiting
					}
				case reference.KindMove:
					if g := byID[d.G]; g != nil && n.G != g.slot {
						t.Fatalf("seed %d: %+v: slot %d, want %d", seed, d, n.G, g.slot)
					}
					continue
				default:
					if lost := d.Kind == reference.KindLost; n.G != 0 || n.Changed&ledger.Turned != 0 || lost != (n.Changed&ledger.Gap != 0) {
						t.Fatalf("seed %d: %+v: %+v", seed, d, n)
					}
					continue
				}
				if d.G < 0 {
					continue
				}
				g := byID[d.G]
				if g == nil {
					g = &life{slot: n.G}
					for id, other := range byID {
						if other.slot == n.G {
							t.Fatalf("seed %d: goroutines %d and %d share a slot", seed, id, d.G)
						}
					}
					byID[d.G] = g
				}
				known := g.is != ledger.Unseen
				before := *g
				if d.Class != 0 {
					g.class = d.Class
				}
				g.flags |= d.Flags & reference.FlagsRuntime
				if learned := known && (g.class != before.class || g.flags != before.flags); learned != (n.Changed&ledger.Learned != 0) {
					t.Fatalf("seed %d: %+v: learned: %v", seed, d, !learned)
				}
				got := life{n.G, n.Was, n.Since, b.Classes[n.Class], n.Flags}
				want := life{g.slot, g.is, g.since, g.class, g.flags}
				if got != want || n.OfProgram() != (g.flags == 0) {
					t.Fatalf("seed %d: %+v: %+v, want %+v", seed, d, got, want)
				}
				by := int32(0)
				if w := byID[d.By]; d.Kind == reference.KindReady && w != nil {
					by = w.slot
				}
				if got := b.Waker(i); got != by {
					t.Fatalf("seed %d: %+v: by %d, want %d", seed, d, got, by)
				}
				g.is, g.since = to, d.Time
				if d.Kind == reference.KindStop && (d.Why == reference.WhyExit || d.Why == reference.WhyLost) {
					to = ledger.Unseen
					delete(byID, d.G)
				}
				if back := d.Kind == reference.KindSyscallExit; n.Changed&ledger.Turned == 0 || n.Now != to || back != (n.Changed&ledger.Returned != 0) {
					t.Fatalf("seed %d: %+v: %+v", seed, d, n)
				}
			}
			if int(b.Slots) <= len(byID) {
				t.Fatalf("seed %d: %d slots for %d goroutines", seed, b.Slots, len(byID))
			}
		})
		for ds := range slices.Chunk(s.Decisions, 1+int(seed)*7) {
			feed.AddAll(ds)
		}
		open := feed.Live()
		if len(open) != len(byID) {
			t.Errorf("seed %d: %d goroutines are open, want %d", seed, len(open), len(byID))
		}
		for _, o := range open {
			if g := byID[o.G]; g == nil || g.slot != o.Slot || g.is != o.Activity || g.since != o.Since || g.flags != o.Flags {
				t.Errorf("seed %d: open: %+v, want %+v", seed, o, g)
			}
		}
	}
}

// TestNumbers holds the numbers in the notes against those that States and the lengths
// in the decisions give, however the stream is cut into blocks.
func TestNumbers(t *testing.T) {
	for seed := range uint64(20) {
		s := procstest.Generate(rand.New(rand.NewPCG(seed, 2)).IntN, procstest.Options{Steps: 1000, Ps: 6, Gaps: seed%2 == 1, NoTruth: true})
		var ps ledger.States
		lengths := map[int32]int32{}
		since := map[int32]int64{}
		var last, now ledger.Ps
		feed := ledger.NewFeed(func(b *ledger.Block) {
			numbers, changed, changes := b.Ps, b.Lengths, b.PIntervals
			for i := range b.Decisions {
				d, n := &b.Decisions[i], &b.Notes[i]
				ps.Apply(d)
				for len(changed) > 0 && int(changed[0].At) == i {
					x := changed[0]
					if lengths[x.Of] == x.N || x.Time != d.Time || x.Of >= 0 && d.Victim == x.Of && d.P != x.Of && x.N != lengths[x.Of]-1 {
						t.Fatalf("seed %d: %+v: %+v, was %d", seed, d, x, lengths[x.Of])
					}
					lengths[x.Of], changed = x.N, changed[1:]
				}
				queued := int64(0)
				for of, n := range lengths {
					if of != ledger.AllRunnable {
						queued += int64(n)
					}
				}
				switch d.Kind {
				case reference.KindReady, reference.KindMove, reference.KindStart:
					if lengths[ledger.GlobalQueue] != max(0, d.Global) || d.P >= 0 && lengths[d.P] != max(0, d.Local) {
						t.Fatalf("seed %d: %+v: lengths %v", seed, d, lengths)
					}
				case reference.KindLost:
					if queued != 0 {
						t.Fatalf("seed %d: %+v: lengths %v", seed, d, lengths)
					}
				}
				if lengths[ledger.AllRunnable] != n.Runnable {
					t.Fatalf("seed %d: %+v: %d runnable, want %d", seed, d, lengths[ledger.AllRunnable], n.Runnable)
				}
				ofPs := ledger.Ps{Usable: int32(ps.Usable()), Idle: int32(ps.Count(ledger.Idle)), Recorded: ps.Procs() - int32(ps.Count(ledger.NotRecorded))}
				ofPs.Unclaimed = int32(min(int64(ofPs.Idle), queued))
				if n.Changed&ledger.Counts != 0 {
					now, numbers = numbers[0], numbers[1:]
				}
				if now != ofPs || (now != last) != (n.Changed&ledger.Counts != 0) {
					t.Fatalf("seed %d: %+v: %+v after %+v, want %+v, %v", seed, d, now, last, ofPs, n.Changed)
				}
				last = now
				var want []ledger.PInterval
				for _, c := range ps.Changes() {
					from, known := since[c.P]
					if !known {
						from = d.Time
					}
					since[c.P] = d.Time
					want = append(want, ledger.PInterval{From: from, To: d.Time, P: c.P, At: int32(i), State: c.From, Next: c.To})
				}
				var got []ledger.PInterval
				for len(changes) > 0 && int(changes[0].At) == i {
					got, changes = append(got, changes[0]), changes[1:]
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d: %+v: -want +got:\n%s", seed, d, diff)
				}
			}
		})
		for ds := range slices.Chunk(s.Decisions, 1+int(seed)*7) {
			feed.AddAll(ds)
		}
	}
}

// TestBriefCalls marks a row of system calls at its begin, unless there is something to
// learn of the goroutine.
func TestBriefCalls(t *testing.T) {
	calls := func(class int32) []reference.Decision {
		return []reference.Decision{
			{Time: 10, Kind: reference.KindStart, G: 1, Class: 1, Victim: reference.NoP},
			{Time: 20, Kind: reference.KindSyscall, G: 1, Class: class},
			{Time: 30, Kind: reference.KindSyscallExit, G: 1, Class: class},
			{Time: 40, Kind: reference.KindSyscall, G: 1, Class: class},
			{Time: 50, Kind: reference.KindSyscallExit, G: 1, Class: class},
			{Time: 60, Kind: reference.KindStop, G: 1, Class: class, Why: reference.WhyBlock},
		}
	}
	for class, want := range map[int32]int{1: 4, 2: 0} {
		ledger.NewFeed(func(b *ledger.Block) {
			if got := b.Calls(1); got != want {
				t.Errorf("class %d: %d calls, want %d", class, got, want)
			}
			for i := range b.Notes {
				if i != 1 && b.Calls(i) > 0 && want > 0 {
					t.Errorf("class %d: calls begin at %d", class, i)
				}
			}
			if n := &b.Notes[5]; n.Was != ledger.Running || n.Since != 50 {
				t.Errorf("class %d: %+v", class, n)
			}
			if n := &b.Notes[4]; n.Was != ledger.InSyscall || n.Since != 40 || n.Now != ledger.Running || n.Changed&ledger.Returned == 0 {
				t.Errorf("class %d: %+v", class, n)
			}
			want := []ledger.PInterval{
				{From: 10, To: 10, At: 0, State: ledger.Unused, Next: ledger.User},
				{From: 10, To: 20, At: 1, State: ledger.User, Next: ledger.Syscall},
				{From: 20, To: 30, At: 2, State: ledger.Syscall, Next: ledger.User},
				{From: 30, To: 40, At: 3, State: ledger.User, Next: ledger.Syscall},
				{From: 40, To: 50, At: 4, State: ledger.Syscall, Next: ledger.User},
				{From: 50, To: 60, At: 5, State: ledger.User, Next: ledger.Sched},
			}
			if diff := cmp.Diff(want, b.PIntervals); diff != "" {
				t.Errorf("class %d: -want +got:\n%s", class, diff)
			}
		}).AddAll(calls(class))
	}
}

// TestHostile feeds decisions that make no sense: nothing may panic, and tables stay as
// small as what is alive.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	pick := []int64{-1, 0, 1, 2, 3, 4096, 4097, 1 << 20, math.MaxInt32, math.MaxInt64, math.MinInt64}
	anyInt := func() int64 { return pick[r.IntN(len(pick))] }
	feed := ledger.NewFeed(func(b *ledger.Block) {
		if int(b.Slots) > len(pick)+1 {
			t.Fatalf("%d slots for %d goroutines", b.Slots, len(pick))
		}
		for i := range b.Notes {
			b.Calls(i)
		}
	})
	ds := make([]reference.Decision, 50_000)
	for i := range ds {
		ds[i] = reference.Decision{
			Time: int64(r.Uint64N(math.MaxInt64)) >> r.IntN(63), G: anyInt(), P: int32(anyInt()), Victim: int32(anyInt()), By: anyInt(),
			Wait: anyInt(), Class: int32(anyInt()), Local: int32(anyInt()), Global: int32(anyInt()), Batch: int32(anyInt()),
			Kind: reference.Kind(r.IntN(reference.Kinds)), Src: reference.Source(r.IntN(20)), Why: reference.Why(r.IntN(20)),
			Flags: reference.Flags(r.IntN(256)),
		}
	}
	feed.AddAll(ds)
}

// An annotation has the note of the goroutine that makes it, whatever was in its place before.
func TestNoteOfAnnotation(t *testing.T) {
	l, b := ledger.New(), ledger.Block{}
	for range 2 {
		b.Decisions = []reference.Decision{
			{Time: 1, Kind: reference.KindStart, G: 1, P: 0, Class: 5, By: reference.NoG, Victim: reference.NoP},
			{Time: 2, Kind: reference.KindStart, G: 2, P: 1, Class: 6, By: reference.NoG, Victim: reference.NoP, Flags: reference.FlagSystem},
			{Time: 3, Kind: reference.KindRegionBegin, G: 1, P: 0, By: reference.NoG, Victim: reference.NoP},
			{Time: 4, Kind: reference.KindRegionBegin, G: 2, P: 1, By: reference.NoG, Victim: reference.NoP},
		}
		l.Annotate(&b)
		for i, g := range []int{0, 1} {
			n, start := &b.Notes[2+i], &b.Notes[g]
			if n.Class != start.Class || n.Flags != start.Flags || n.Was != ledger.Running {
				t.Errorf("%+v, at the start %+v", n, start)
			}
		}
		slices.Reverse(b.Notes)
	}
}

// TestRuns holds run intervals, and the Ps of wakers, against what a map by id says of random
// streams, however they are cut into blocks.
func TestRuns(t *testing.T) {
	for seed := range uint64(20) {
		s := procstest.Generate(rand.New(rand.NewPCG(seed, 4)).IntN, procstest.Options{Steps: 1000, Ps: 6, Gaps: seed%2 == 1, NoTruth: true})
		on := map[int64]ledger.Run{} // by goroutine
		var want, got []ledger.Run
		end := func(d *reference.Decision, why reference.Why) {
			if r, ok := on[d.G]; ok {
				r.To, r.Class, r.Why, r.Flags = d.Time, d.Class, why, d.Flags&reference.FlagsRuntime
				want = append(want, r)
				delete(on, d.G)
			}
		}
		feed := ledger.NewFeed(func(b *ledger.Block) {
			for _, r := range b.Runs {
				if int(r.At) < len(b.Decisions) && (b.Decisions[r.At].G != r.G || b.Decisions[r.At].Time != r.To || b.Notes[r.At].G != r.Slot) {
					t.Errorf("seed %d: %+v ends with %+v", seed, r, b.Decisions[r.At])
				}
				r.At, r.Slot, r.Class = 0, 0, b.Classes[r.Class]
				got = append(got, r)
			}
			for i := range b.Decisions {
				d := &b.Decisions[i]
				switch d.Kind {
				case reference.KindReady:
					if r, ok := on[d.By]; ok && b.WakerP(i) != r.P || !ok && b.WakerP(i) >= 0 {
						t.Errorf("seed %d: %+v: waker on %d, want %+v", seed, d, b.WakerP(i), r)
					}
				case reference.KindStart:
					on[d.G] = ledger.Run{From: d.Time, G: d.G, M: d.M, Wait: d.Wait, P: d.P, Started: true, Src: d.Src}
				case reference.KindSyscallExit:
					if d.P >= 0 {
						on[d.G] = ledger.Run{From: d.Time, G: d.G, M: d.M, Wait: -1, P: d.P}
					}
				case reference.KindStop:
					end(d, d.Why)
				case reference.KindSyscall:
					end(d, reference.WhySyscall)
				}
			}
		})
		feed.Runs = true
		for ds := range slices.Chunk(s.Decisions, 1+int(seed)*7) {
			feed.AddAll(ds)
		}
		done := len(want)
		if diff := cmp.Diff(want, got); diff != "" || done == 0 {
			t.Errorf("seed %d: -want +got:\n%s", seed, diff)
		}
		feed.Close(s.End)
		if len(got) != done+len(on) {
			t.Errorf("seed %d: %d are open, want %d", seed, len(got)-done, len(on))
		}
		for _, r := range got[done:] {
			if o := on[r.G]; r.To != s.End || r.From != o.From || r.P != o.P || r.Why != reference.WhyUnknown {
				t.Errorf("seed %d: open: %+v, want %+v", seed, r, o)
			}
		}
	}
}
