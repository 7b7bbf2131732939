package reconstruct

import (
	"math"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// poll is how often the tick comes: each so many slices.
const poll = 61

// TestNoTick takes away the tick: nothing is evidence for it.
func TestNoTick(t *testing.T) {
	for _, f := range []schedtick{newSchedtick(0), youngSchedtick(0, distant)} {
		f.next()
		f.learn(plain)
		f.shift(1, slipped)
		if c := f.chance(f.at); c != 0 || f.isTick() || f.maybeTick() {
			t.Errorf("the tick has the probability %v", c)
		}
	}
}

func TestPhase(t *testing.T) {
	f := newSchedtick(poll)
	check := func(what string) {
		t.Helper()
		sum := 0.0
		for i := range f.weight {
			c := f.chance(uint16(i))
			if !(c > 0 && c <= 1) {
				t.Fatalf("%s: candidate %d has the probability %v", what, i, c)
			}
			sum += c
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("%s: the probabilities sum up to %v", what, sum)
		}
	}
	check("at first")
	for range 7 {
		f.next()
	}
	f.learn(plain)
	check("after one tick")
	if !f.isTick() || f.chance(f.at) > certain {
		t.Errorf("one tick that shows itself gives %v: likely, but not certain", f.chance(f.at))
	}
	f.learn(plain)
	if f.chance(f.at) < certain || f.chance(f.at+1) > never {
		t.Errorf("two give %v, and %v to another candidate", f.chance(f.at), f.chance(f.at+1))
	}
	f.shift(1, slipped)
	check("after a slip")
	if c := f.chance(f.at + 1); c < slipped/2 {
		t.Errorf("after a start that may have been counted wrongly the neighbour has %v", c)
	}

	// What excludes all others is as good as seeing the tick, and as often as one
	// likes.
	f = newSchedtick(poll)
	for range 1000 {
		for i := range poll {
			if i != 5 {
				f.learn(ownFirst)
			}
			f.next()
		}
	}
	check("after much evidence")
	if c := f.chance(5); c < certain {
		t.Errorf("the only one that is left has %v", c)
	}
	// None is ruled out.
	for range 3 {
		for range poll {
			if f.at == 9 {
				f.learn(plain)
			} else if f.at == 5 {
				f.learn(ownFirst)
			}
			f.next()
		}
	}
	if c := f.chance(9); c < certain {
		t.Errorf("a tick that comes at another time three times has %v", c)
	}
}

func TestYoungPhase(t *testing.T) {
	far := youngSchedtick(poll, distant)
	if src, basis := tickSource(far.chance(0)); src != reference.SrcGlobalTick || basis.Level() >= reference.Inferred {
		t.Errorf("a P that has most likely run nothing: %v, %v; a prior is no evidence", src, basis)
	}
	if far.chance(0) < far.chance(60) || far.chance(60) < far.chance(30) {
		t.Errorf("0, 1 and 31 starts behind: %v, %v, %v", far.chance(0), far.chance(60), far.chance(30))
	}
	first := youngSchedtick(poll, 0)
	if c := first.chance(0); c > 0.5 {
		t.Errorf("the P that the program runs on has run nothing with a probability of %v", c)
	}
	if beyond := youngSchedtick(poll, 5); !slices.Equal(beyond.weight, far.weight) {
		t.Error("farther than the farthest is not the same")
	}
}

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
		{26, 1, 2, 0, distant}, // GOMAXPROCS will be larger
	} {
		var r lookahead
		r.rules, r.procs = reference.RulesFor(c.minor), c.procs
		if got := r.places(c.a, c.b); got != c.want {
			t.Errorf("go1.%d, %d Ps: P%d is %d places from P%d, want %d", c.minor, c.procs, c.a, got, c.b, c.want)
		}
	}
}

// feed makes the events of one thread and P.
type feed struct {
	evs []events.Event
	now int64
}

func (f *feed) add(e events.Event) {
	f.now += 1_000
	e.Time, e.Kind = f.now, events.Go
	f.evs = append(f.evs, e)
}

func (f *feed) start(g int64) {
	f.add(events.Event{G: events.None, Res: g, From: events.Runnable, To: events.Running})
}

func (f *feed) stop(g int64, to events.State, why events.Handle) {
	f.add(events.Event{G: g, Res: g, From: events.Running, To: to, Reason: why})
}

// begin has goroutine g running. It is too high a number for a young process.
func (f *feed) begin(g int64) {
	f.evs = append(f.evs, events.Event{Kind: events.Procs, Res: 1, G: events.None},
		events.Event{Kind: events.Proc, G: events.None, From: events.Undetermined, To: events.Running})
	f.add(events.Event{G: g, Res: g, From: events.Undetermined, To: events.Running})
}

// each is an Emit that calls f with every decision.
func each(f func(d *reference.Decision)) func([]reference.Decision) []reference.Decision {
	return func(ds []reference.Decision) []reference.Decision {
		for i := range ds {
			f(&ds[i])
		}
		return ds[:0]
	}
}

// starts reconstructs, and returns the starts but the one of begin.
func (f *feed) starts(prepare func(*Reconstructor)) []reference.Decision {
	var out []reference.Decision
	last := int64(0)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		if d.Time < last {
			panic("decisions out of order")
		}
		last = d.Time
		if d.Kind == reference.KindStart && d.Flags&reference.FlagFirst == 0 {
			out = append(out, *d)
		}
	})})
	if prepare != nil {
		prepare(r)
	}
	r.Add(f.evs)
	sum := r.Finish()
	n := int64(0)
	for _, m := range sum.BySource {
		n += m
	}
	if n != int64(len(out)) || sum.Explained+sum.Ambiguous+sum.Unexplained != n {
		panic("the summary does not count what was told")
	}
	return out
}

// TestTickToldLater has a goroutine that yields to itself, which leaves the tick
// open, until the P twice passes over its own queue: that tells the ticks
// before, too.
func TestTickToldLater(t *testing.T) {
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
				t.Errorf("start %d is from %v, %v, though nothing tells", i, d.Src, d.Basis)
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
	told := 0
	r.sink = each(func(*reference.Decision) { told++ })
	for e := range slices.Values(f.evs) {
		r.Add([]events.Event{e})
		if n := r.held.held - r.held.given; n > patience {
			t.Fatalf("%d decisions are held back", n)
		}
		if n := len(r.held.pending); n > patience {
			t.Fatalf("%d asks are kept", n)
		}
	}
	if told == 0 {
		t.Fatal("nothing was told before the end")
	}
	if sum := r.Finish(); sum.Starts != patience || told < 3*patience {
		t.Errorf("%d starts, %d decisions", sum.Starts, told)
	}
}

// TestWokenByItsThread has a goroutine that blocks and is made runnable by
// nobody, and goes on on the same thread.
func TestWokenByItsThread(t *testing.T) {
	const root, scavenger, sleeps = 1, 2, 3 // stacks
	for _, c := range []struct {
		name  string
		why   events.Handle
		stack events.Handle
		gap   int64
		want  reference.Source
		sure  bool
	}{
		{"a timer", events.ReasonSleep, sleeps, 200, reference.SrcRunnext, true},
		{"a timer's channel", events.ReasonSelect, sleeps, 200, reference.SrcRunnext, true},
		{"the root of a bubble", events.ReasonSync, root, 200, reference.SrcDirect, true},
		{"the scavenger's timer", events.ReasonSleep, scavenger, 200, reference.SrcLocal, true},
		{"the poller was first", events.ReasonNetwork, sleeps, 200, reference.SrcDirect, false},
		{"a poll", events.ReasonNetwork, sleeps, 5_000, reference.SrcNetpoll, false},
	} {
		var f feed
		f.begin(1000)
		f.add(events.Event{G: 1000, Res: 1000, From: events.Running, To: events.Waiting, Reason: c.why, TStack: c.stack})
		f.now += c.gap - 1_000
		f.add(events.Event{G: events.None, Res: 1000, From: events.Waiting, To: events.Runnable})
		f.start(1000)
		got := f.starts(func(r *Reconstructor) {
			r.traits.known = []trait{traitSeen, traitSeen | traitBubble, traitSeen | traitScavenger, traitSeen}
		})
		if len(got) != 1 {
			t.Fatalf("%s: %d starts", c.name, len(got))
		}
		if d := got[0]; d.Src != c.want || (d.Basis.Level() >= reference.Inferred) != c.sure {
			t.Errorf("%s: from %v, %v", c.name, d.Src, d.Basis)
		}
	}
}

func TestBubbleRoot(t *testing.T) {
	for _, c := range []struct {
		frames []string
		root   bool
	}{
		{[]string{"internal/synctest.Run", "testing/synctest.Test"}, true},
		{[]string{"runtime.gopark", "internal/synctest.Run", "testing/synctest.Test"}, true},
		{[]string{"runtime.gopark", "internal/synctest.Wait", "testing/synctest.Wait"}, false},
		{[]string{"time.Sleep", "internal/synctest.Run"}, false},
	} {
		var f []events.Frame
		for _, name := range c.frames {
			f = append(f, events.Frame{Func: name})
		}
		if got := classify(f)&traitBubble != 0; got != c.root {
			t.Errorf("%v: %v", c.frames, got)
		}
	}
}
