package reconstruct

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// TestCopies lets copies step ahead: they come to what the model comes to
// afterwards, and change nothing of it.
func TestCopies(t *testing.T) {
	const far = 1000
	for _, name := range []string{"thousand-by-thousand-go1.26-p4", "gc-go1.25-p4", "blocking-syscalls-go1.26-p4"} {
		t.Run(name, func(t *testing.T) {
			alone, r := reader(t, name), reader(t, name)
			copies := 0
			for r.step.ahead.win.tail < r.step.ahead.win.head {
				var c *stepper
				if r.step.ahead.win.tail%(3*far) == far {
					c = r.step.engine.copy(copies % 2)
					copies++
					for c.ahead.win.tail < min(r.step.ahead.win.tail+far, r.step.ahead.win.head) {
						c.next()
					}
				}
				r.step.engine.spent, r.step.ahead.depth = 1<<62, 0 // no forks of its own
				until := min(r.step.ahead.win.tail+far, r.step.ahead.win.head)
				for r.step.ahead.win.tail < until {
					r.step.next()
				}
				if c != nil && (c.out.summary.Corrections != r.step.out.summary.Corrections || !c.state.meets(&r.step.state) || !reflect.DeepEqual(c.out.starts, r.step.out.starts)) {
					t.Fatalf("at event %d, the copy has %d corrections, starts %d, %d queued globally; the model %d, %d, %d",
						until, c.out.summary.Corrections, c.out.starts, c.queues.GlobalLen(), r.step.out.summary.Corrections, r.step.out.starts, r.step.queues.GlobalLen())
				}
			}
			alone.step.engine.spent = 1 << 62
			if got, want := r.Finish(), alone.Finish(); !reflect.DeepEqual(got, want) {
				t.Errorf("with copies %+v, without %+v", got, want)
			}
			if copies == 0 {
				t.Error("no copies")
			}
		})
	}
}

// reader returns a Reconstructor that has as much of a trace as fits its window, and
// has handled the rest without forks.
func reader(t *testing.T, name string) *Reconstructor {
	src, err := input.Open(t.Context(), "../../testdata/traces/"+name+".trace.gz", input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	s := events.New(context.Background(), src, events.Options{Workers: 1})
	t.Cleanup(func() { s.Close() })
	r := New(s.Tables, Options{Rules: reference.RulesFor(src.Header().Minor)})
	r.step.engine.spent = 1 << 62
	for {
		evs, err := s.Next()
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Add(evs)
	}
}

// TestCompare tries a queue in the order in which it is run against others.
func TestCompare(t *testing.T) {
	var f feed
	f.begin(1000)
	const n = 40
	for g := range int64(n) {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
	f.stop(1000, events.Waiting, events.ReasonSleep)
	f.start(n) // from runnext
	for g := range int64(n - 1) {
		f.stop((g+n-1)%n+1, events.NotExist, 0)
		f.start(g + 1)
	}
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.Add(f.evs)
	for r.step.ahead.win.tail < n+5 {
		r.step.next()
	}
	right := choice{}
	turned := func(by int) choice {
		return choice{apply: func(c *stepper) {
			for range by {
				x := c.queues.Head(0)
				c.queues.Remove(x)
				c.queues.PutTail(0, x)
			}
		}}
	}
	before := r.step.queues.Head(0)
	if got := r.step.engine.compare(hypForks, right, right, forkLen); got != 0 {
		t.Errorf("the same: %v", got)
	}
	if got := r.step.engine.compare(hypForks, right, turned(3), forkLen); got >= 0 {
		t.Errorf("right, wrong: %v", got)
	}
	if got := r.step.engine.compare(hypForks, turned(3), right, forkLen); got <= 0 {
		t.Errorf("wrong, right: %v", got)
	}
	if r.step.queues.Head(0) != before || r.step.out.summary.Corrections != 0 {
		t.Error("the forks changed the model")
	}
	if r.step.engine.spent == 0 {
		t.Error("the forks cost nothing")
	}
}

// TestSureAtOnce has two choices of which one is wrong at once, and in which much else goes
// wrong later: they are tried no further than that.
func TestSureAtOnce(t *testing.T) {
	const n = 20
	var f feed
	f.begin(1000)
	lot := func(from int64, turned bool) {
		for g := range int64(n) {
			f.add(events.Event{G: 1000, Res: from + g, From: events.NotExist, To: events.Runnable})
		}
		f.stop(1000, events.Waiting, events.ReasonSleep)
		order := append([]int64{from + n - 1}, upTo(from, from+n-2)...)
		if turned {
			slices.Reverse(order[1:])
		}
		for _, g := range order {
			f.start(g)
			f.stop(g, events.NotExist, 0)
		}
		f.add(events.Event{G: events.None, Res: 1000, From: events.Waiting, To: events.Runnable})
		f.start(1000)
	}
	for i := range int64(40) {
		lot(1+i*n, i == 10) // which is more than forkStep away
	}
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.Add(f.evs)
	for r.step.ahead.win.tail < n+5 {
		r.step.next()
	}
	idle, never := r.link.proc(1), r.step.model.goroutine(5000)
	r.step.ahead.gStates.At(never).state = events.Runnable
	turned := choice{apply: func(c *stepper) {
		x := c.queues.Head(0)
		c.queues.Remove(x)
		c.queues.PutTail(0, x)
		c.queues.PutTail(idle, never) // so that they do not meet
	}}
	if got := r.step.engine.compare(hypForks, choice{}, turned, forkLen); got >= 0 || got <= -forkSure {
		t.Errorf("right, wrong: %v", got)
	}
	if most := int64(2 * (11*3*n + 2*forkStep)); r.step.engine.spent > most {
		t.Errorf("%d events tried, want at most %d", r.step.engine.spent, most)
	}
}

// TestMeets has two models whose global queues have the same ends and length: they go on
// alike only if what is in between is in the same order.
func TestMeets(t *testing.T) {
	r := ahead(4, upTo(1, 4), nil)
	for _, g := range upTo(1, 4) {
		r.step.queues.PutGlobal(r.step.model.goroutine(g))
	}
	c := r.step.engine.copy(0)
	if !c.state.meets(&r.step.state) {
		t.Error("a copy does not meet its model")
	}
	x := r.step.model.goroutine(2)
	c.queues.Remove(x)
	c.queues.PutGlobalAfter(r.step.model.goroutine(3), x)
	if c.state.meets(&r.step.state) {
		t.Error("another order in the middle meets")
	}
}

// TestOverflowAfterDrain has a goroutine go to the tail of a full ring that a late drain
// empties first: that comes before the decision whether it overflows.
func TestOverflowAfterDrain(t *testing.T) {
	const n = 256
	r := ahead(n+2, upTo(1, n+2), upTo(2, n+1))
	r.step.queues.PutGlobal(r.step.model.goroutine(1))
	r.step.ahead.time = drainLag
	r.step.workers.list = []drain{{p: 0, m: 0, g: nobody, due: r.step.ahead.time}}
	if r.step.enqueuer.overflows(0, r.step.model.goroutine(n+2), true) {
		t.Error("overflows a ring that has been drained")
	}
	if got := r.step.queues.GlobalLen(); got != n+1 {
		t.Errorf("%d are queued globally, want %d", got, n+1)
	}
}

// TestSeedsOfTheOnlyP has a goroutine that was runnable before the trace began when
// one P ran, and another P run it: it was in the queue of the one.
func TestSeedsOfTheOnlyP(t *testing.T) {
	var f feed
	f.begin(1000)
	f.add(events.Event{G: 1000, Res: 1, From: events.NotExist, To: events.Runnable})
	f.evs = append(f.evs, events.Event{Kind: events.Proc, Time: f.now, G: events.None, M: 1, P: 1, Res: 1, From: events.Idle, To: events.Running},
		events.Event{Kind: events.Go, Time: f.now, G: events.None, M: 1, P: 1, Res: 5, From: events.Undetermined, To: events.Runnable},
		events.Event{Kind: events.Go, Time: f.now, G: events.None, M: 1, P: 1, Res: 5, From: events.Runnable, To: events.Running})
	var steals int
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		if d.Kind == reference.KindStart && d.G == 5 && d.Src == reference.SrcSteal && d.Victim == 0 {
			steals++
		}
	})})
	r.Add(f.evs)
	r.Finish()
	if steals != 1 {
		t.Error("not stolen from the P that ran")
	}
}
