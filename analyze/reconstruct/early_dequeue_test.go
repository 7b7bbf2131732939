package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestDequeueAtOnce has P 0 stop what it runs, and then start goroutine 3, while P 1 makes
// another one runnable in between, or runs goroutines itself.
func TestDequeueAtOnce(t *testing.T) {
	const put = 9
	for _, c := range []struct {
		name   string
		pause  int64   // until the start
		alone  bool    // P 1 does nothing in between
		p1     []int64 // which P 1 starts afterwards
		global []int64
		own    []int64 // ring of P 0
		ring   []int64 // ring of P 1
		batch  int32   // 0: it is not taken before its start
	}{
		{name: "a batch", pause: stalled, global: upTo(3, 8), batch: 4},
		{name: "a single one", pause: stalled, global: []int64{3}, batch: 1},
		{name: "nobody sees the difference", pause: stalled, alone: true, global: upTo(3, 8)},
		{name: "the thread may have lost its CPU before", pause: stalled + 1, global: upTo(3, 8)},
		{name: "its own queue comes first", pause: stalled, global: upTo(3, 8), own: []int64{1}},
		{name: "another one is in front", pause: stalled, global: []int64{1, 3}},
		{name: "a steal", pause: stalled, ring: []int64{1, 2, 3, 4, 5, 6}, batch: 3},
		{name: "a steal from an odd ring", pause: stalled, ring: []int64{1, 2, 3, 4, 5}, batch: 3},
		{name: "a steal, and the thread lost its CPU", pause: stalled + 1, ring: []int64{1, 2, 3, 4, 5, 6}, batch: 3},
		{name: "no thief takes so few", pause: stalled, ring: []int64{1, 2, 3, 4, 5, 6, 7}},
		{name: "the ring is too short yet", pause: stalled, ring: []int64{1, 2, 3, 4}},
		{name: "the victim runs first", pause: stalled, ring: []int64{1, 2, 3, 4, 5, 6}, p1: []int64{1}},
		{name: "the global queue comes first", pause: stalled, ring: []int64{3, 4}, global: []int64{1}},
	} {
		var f feed
		f.twoPs(8)
		f.stop(1000, events.Waiting, events.ReasonSleep)
		now, began := len(f.evs)-1, f.now
		if !c.alone {
			f.add(events.Event{M: 1, P: 1, G: busy, Res: put, From: events.NotExist, To: events.Runnable})
		}
		f.now = began + c.pause - 1_000 // it goes on by as much
		f.start(3)
		for _, g := range c.p1 {
			f.add(events.Event{M: 1, P: 1, G: events.None, Res: g, From: events.Runnable, To: events.Running})
		}
		r := f.model(now, c.global, c.own, c.ring)
		r.step.dequeuer.dequeueEarly(r.step.ahead.win.at(r.step.ahead.now))
		r.step.model.pass()
		gp := r.step.ahead.gStates.At(r.step.model.goroutine(3))
		if gp.isDequeued != (c.batch > 0) || gp.isDequeued && gp.dequeued.batch != c.batch {
			t.Errorf("%s: taken %v, %d with it", c.name, gp.isDequeued, gp.dequeued.batch)
		}
		if r.step.out.summary.Corrections > 0 {
			t.Errorf("%s: %d corrections", c.name, r.step.out.summary.Corrections)
		}
	}
}

// busy runs on P 1.
const busy = 2000

// twoPs has goroutine 1000 on P 0 make n others runnable, and another one run on P 1.
func (f *feed) twoPs(n int64) {
	f.begin(1000)
	f.add(events.Event{M: 1, P: 1, G: busy, Res: busy, From: events.Undetermined, To: events.Running})
	for g := range n {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
}

// model is that of two Ps while event now is handled, with what is in the global queue
// and the rings.
func (f *feed) model(now int, global []int64, rings ...[]int64) *Reconstructor {
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.step.ps.gomaxprocs = 2
	r.Add(f.evs)
	for i := range int64(now) {
		if rec := r.step.ahead.win.at(i); rec.Kind == events.Go && rec.To == events.Runnable {
			gp := r.step.ahead.gStates.At(rec.of)
			gp.state, gp.start, gp.ready, gp.readyM = events.Runnable, rec.link, i, rec.m
		}
	}
	for _, g := range global {
		r.step.queues.PutGlobal(r.step.model.goroutine(g))
	}
	for p, ring := range rings {
		for _, g := range ring {
			r.step.queues.PutTail(int32(p), r.step.model.goroutine(g))
		}
	}
	r.step.ahead.now, r.step.ahead.win.tail = int64(now), int64(now)
	r.step.ahead.time = r.step.ahead.win.at(r.step.ahead.now).Time
	return r
}

// TestDequeueEarly has P 0 take a batch that goroutine 3 begins, and P 1 what is left.
func TestDequeueEarly(t *testing.T) {
	for _, c := range []struct {
		p0, p1 []int64
		want   int
	}{
		{upTo(3, 6), upTo(7, 8), 4},
		{upTo(3, 7), upTo(8, 8), 5},
	} {
		var f feed
		f.twoPs(8)
		f.stop(1000, events.Waiting, events.ReasonSleep)
		now := len(f.evs) - 1
		f.add(events.Event{M: 1, P: 1, G: busy, Res: busy, From: events.Running, To: events.Waiting, Reason: events.ReasonSleep})
		f.start(c.p0[0])
		for _, g := range c.p1 {
			f.add(events.Event{M: 1, P: 1, G: events.None, Res: g, From: events.Runnable, To: events.Running})
			f.add(events.Event{M: 1, P: 1, G: g, Res: g, From: events.Running, To: events.NotExist})
		}
		f.stop(c.p0[0], events.NotExist, 0)
		for _, g := range c.p0[1:] {
			f.start(g)
			f.stop(g, events.NotExist, 0)
		}
		r := f.model(now, upTo(3, 8))
		if got := r.step.sizes.testBatchSize(r.step.model.goroutine(3), 4, 5); got != c.want {
			t.Errorf("P 0 runs %v: %d", c.p0, got)
		}
	}
}

// TestDequeueUnsure has P 0 take a batch from a global queue of 4, while P 1 has
// stopped a goroutine that it has not put there yet, for all that is known.
func TestDequeueUnsure(t *testing.T) {
	for _, c := range []struct {
		name string
		next int64 // events until P 1's thread goes on
		want int
	}{
		{"it goes on before the take", 1, 0},
		{"it goes on later", 4, 1},
	} {
		r := ahead(4, []int64{1, 2, 3}, nil)
		other(r, 4)
		for _, g := range upTo(1, 4) {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		last := r.step.ahead.gStates.At(r.step.model.goroutine(4))
		last.ready, last.readyM = r.step.ahead.now-1, r.link.mix.Find(1)
		r.step.ahead.now++ // the stop before the take
		r.step.enqueuer.noteEnqueue(r.step.model.goroutine(4), r.step.ahead.now-1+c.next)
		if got := r.step.sizes.unsure(r.step.model.goroutine(1)); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}

// TestExpectThief has a thread come for a P and start something sooner or later.
func TestExpectThief(t *testing.T) {
	for _, c := range []struct {
		lag  int64
		want int
	}{{thiefWakes - 1, 0}, {thiefWakes, 1}, {thiefLacks, 1}} {
		r := New(&events.Tables{}, Options{Rules: reference.RulesFor(26)})
		for _, e := range []events.Event{
			{Kind: events.Proc, M: 1, P: 1, G: -1, Res: 1, From: events.Idle, To: events.Running},
			{Kind: events.Go, M: 1, P: 1, G: -1, Res: 2, From: events.Runnable, To: events.Running, Time: c.lag},
		} {
			r.link.enter(&e)
		}
		if r.step.waking.expectThief(r.step.ahead.win.at(0)); len(r.step.waking.list) != c.want {
			t.Errorf("after %d ns: %d thieves", c.lag, len(r.step.waking.list))
		}
	}
}

// TestWakingThieves has P 1 start what stands in the ring of P 0.
func TestWakingThieves(t *testing.T) {
	for _, c := range []struct {
		name   string
		x      int64 // what it starts
		ring   int64 // of so many
		lag    int64 // from its take to the start
		early  int64 // ns before its take
		global int64 // in the global queue, if not 0
		takes  int   // from the ring
	}{
		{name: "half of the ring", x: 2, ring: 4, takes: 2},
		{name: "not yet", x: 2, ring: 4, early: 1},
		{name: "not half of the ring", x: 3, ring: 4},
		{name: "it would have looked into the global queue first", x: 2, ring: 4, global: 5},
		{name: "soon before its start", x: 2, ring: 4, lag: thiefLags - 1, takes: 2},
		{name: "longer before its start", x: 2, ring: 4, lag: thiefLags},
		{name: "not so long before that it lacked a CPU", x: 2, ring: 4, lag: thiefLacks - 1},
		{name: "it lacked a CPU", x: 2, ring: 4, lag: thiefLacks, takes: 2},
		{name: "it lacked a CPU, and took one alone", x: 1, ring: 2, lag: thiefLacks, takes: 1},
	} {
		r := ahead(5, nil, upTo(1, c.ring))
		other(r, c.x)
		if c.global != 0 {
			r.step.queues.PutGlobal(r.step.model.goroutine(c.global))
		}
		start := r.step.ahead.startOf(r.step.model.goroutine(c.x))
		r.step.ahead.gStates.At(r.step.model.goroutine(c.x)).state = events.Runnable
		r.step.ahead.win.at(start).Time = r.step.ahead.time + c.early + c.lag
		r.step.waking.list = []wakingThief{{at: r.step.ahead.time + c.early, start: start}}
		r.step.waking.wakingThievesSteal()
		if got := int(c.ring) - r.step.queues.RingLen(0); got != c.takes || len(r.step.waking.list) != int(c.early) {
			t.Errorf("%s: takes %d, %d thieves", c.name, got, len(r.step.waking.list))
		}
	}
}
