package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// poll is how often the tick comes: each so many slices.
const poll = 61

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		minor, procs int
		a, b         int32
		want         int
	}{
		{25, 8, 1, 0, 1},
		{25, 8, 7, 0, 7},
		{26, 8, 7, 0, 1}, // the list of idle Ps begins with the last
		{26, 8, 2, 7, 3},
		{26, 1, 2, 0, schedtick.Distant}, // GOMAXPROCS will be larger
	} {
		var r lookahead
		r.rules, r.ps.gomaxprocs = reference.RulesFor(c.minor), c.procs
		if got := r.places(c.a, c.b); got != c.want {
			t.Errorf("go1.%d, %d Ps: P%d is %d places from P%d, want %d", c.minor, c.procs, c.a, got, c.b, c.want)
		}
	}
}

// TestTickLearnedLater has a goroutine that yields to itself, which leaves the tick
// open, until the P twice passes over its own queue: that shows the ticks
// before, too.
func TestTickLearnedLater(t *testing.T) {
	for _, shows := range []bool{true, false} {
		const offset = 17
		var f feed
		var want []reference.Source
		tick := int64(offset)
		take := func(g int64, src reference.Source) {
			f.start(g)
			want = append(want, src)
			if src != reference.SrcRunnext {
				tick++
			}
		}
		f.begin(1000)
		for len(want) < 6*poll {
			src := reference.SrcGlobal
			if tick%poll == 0 {
				src = reference.SrcGlobalTick
			}
			if src == reference.SrcGlobalTick && tick > 4*poll && shows {
				f.add(events.Event{G: 1000, Res: 2000 + tick, From: events.NotExist, To: events.Runnable})
				f.add(events.Event{G: 1000, Res: 3000 + tick, From: events.NotExist, To: events.Runnable})
				f.stop(1000, events.Runnable, events.ReasonGosched)
				a, b := 3000+tick, 2000+tick
				take(1000, src)
				f.stop(1000, events.Runnable, events.ReasonGosched)
				take(a, reference.SrcRunnext)
				f.stop(a, events.NotExist, 0)
				take(b, reference.SrcLocal)
				f.stop(b, events.NotExist, 0)
				take(1000, reference.SrcGlobal)
				continue
			}
			f.stop(1000, events.Runnable, events.ReasonGosched)
			take(1000, src)
		}
		got := f.starts(nil)
		if len(got) != len(want) {
			t.Fatalf("%d starts, not %d", len(got), len(want))
		}
		ticks := 0
		for i, d := range got {
			switch {
			case shows && (d.Src != want[i] || d.Basis.Level() < reference.Inferred):
				t.Errorf("start %d is from %v, %v, not from %v", i, d.Src, d.Basis, want[i])
			case !shows && (d.Src != reference.SrcGlobal || d.Basis != reference.Known(reference.Ambiguous, reference.RuleTick)):
				t.Errorf("start %d is from %v, %v, though nothing shows it", i, d.Src, d.Basis)
			}
			if d.Src == reference.SrcGlobalTick {
				ticks++
			}
		}
		if shows != (ticks == 6) {
			t.Errorf("%d ticks", ticks)
		}
	}
}

// TestHeldBack bounds how long a decision waits for evidence.
func TestHeldBack(t *testing.T) {
	var f feed
	f.begin(1000)
	for range patience {
		f.stop(1000, events.Runnable, events.ReasonGosched)
		f.start(1000)
	}
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	emitted := 0
	r.step.out.sink = each(func(*reference.Decision) { emitted++ })
	for e := range slices.Values(f.evs) {
		r.Add([]events.Event{e})
		if h := &r.step.out.held; len(h.pending) > 0 && h.held-h.pending[0].decision > patience {
			t.Fatalf("%d decisions are held back", h.held-h.pending[0].decision)
		}
		if n := len(r.step.out.held.pending); n > patience {
			t.Fatalf("%d pending ticks are kept", n)
		}
	}
	if emitted == 0 {
		t.Fatal("nothing was emitted before the end")
	}
	if sum := r.Finish(); sum.Starts != patience || emitted < 3*patience {
		t.Errorf("%d starts, %d decisions", sum.Starts, emitted)
	}
}
