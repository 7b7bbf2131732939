package reconstruct

import (
	"math"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/reference"
)

// TestPutsAround has a mark worker make goroutines runnable, in two lots, and then
// stop.
func TestPutsAround(t *testing.T) {
	const p = putsPause
	times := []int64{100, 100 + p, 200 + p, 201 + 2*p, 202 + 2*p}
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	var f feed
	f.begin(1000)
	first := int64(len(f.evs))
	for i, at := range times {
		f.evs = append(f.evs, events.Event{Kind: events.Go, G: 1000, Time: at, Res: int64(i) + 1, From: events.Waiting, To: events.Runnable})
	}
	f.evs = append(f.evs, events.Event{Kind: events.Go, G: 1000, Time: 9 * p, Res: 1000, From: events.Running, To: events.Waiting})
	r.Add(f.evs)
	for _, c := range []struct {
		next     int64 // the thread's
		now      int64 // what is under judgement
		begun    int
		from, to int64
	}{
		{0, 0, 0, 100, 201 + p},
		{2, 0, 2, 200 + p, 201 + p},
		{2, 1, 1, 200 + p, 201 + p},
		{3, 0, 0, 201 + 2*p, 203 + 2*p},
		{5, 0, 0, 9 * p, 9 * p},
		{6, 0, 0, 0, 0},
	} {
		r.mStates[0].next, r.now = first+c.next, first+c.now
		if c.now == 0 {
			r.now = 0
		}
		if begun, from, to := r.putsAround(0); begun != c.begun || from != c.from || to != c.to {
			t.Errorf("before event %d, judging %d: %d begun, from %d to %d, want %d, %d, %d", c.next, c.now, begun, from, to, c.begun, c.from, c.to)
		}
	}
}

// TestKept has a worker's P go on with what is first in its own queue.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		name       string
		in, global []int64
		elsewhere  int64 // starts elsewhere before
		due        int64
		says, kept bool
	}{
		{"a queue that is kept", []int64{1, 2}, []int64{3}, 0, 0, false, true},
		{"which may have come back from the global queue", []int64{1, 2}, nil, 0, 0, false, false},
		{"the head of the global queue before it", []int64{2}, []int64{1, 3}, 0, 0, true, false},
		{"which has run elsewhere by then", []int64{2}, []int64{1, 3}, 1, 0, false, true},
		{"one alone, before the time slice is over", []int64{2}, nil, 1, 1, false, true},
		{"which a thief would not take", []int64{2}, []int64{1, 3}, 0, 1, true, false},
		{"two, before the time slice is over", []int64{2, 3}, []int64{1}, 0, 1, true, false},
		{"nothing in the queue", nil, []int64{1, 2, 3}, 0, 0, false, true},
	} {
		r := ahead(3, upTo(1, 3), c.in)
		for _, g := range c.global {
			r.queues.PutGlobal(r.goroutine(g))
		}
		for g := range int64(3) {
			r.gStates.At(r.goroutine(g + 1)).state = events.Runnable
		}
		if c.elsewhere != 0 {
			r.gStates.At(r.goroutine(c.elsewhere)).start = r.now + 1
		}
		r.pStates[0].tick.Learn(tickPastOwn)
		r.pStates[0].tick.Learn(tickPastOwn)
		r.pStates[0].tick.Next() // no tick
		if says, kept := r.workers.drained(drain{p: 0, m: 0, g: nobody, due: c.due}); says != c.says || kept != c.kept {
			t.Errorf("%s: drained %v, kept %v", c.name, says, kept)
		}
	}
}

// TestPicked has P 1 run what is in the ring of P 0 in its order, but one before it.
func TestPicked(t *testing.T) {
	for n, want := range map[int64]bool{60: false, 61: true} {
		r := ahead(n, nil, upTo(1, n))
		other(r, append([]int64{5, 1, 2, 3, 4}, upTo(6, n)...)...)
		if says, _ := r.workers.drained(drain{p: 0, m: 0, g: nobody}); says != want {
			t.Errorf("one of %d: drained %v", n, says)
		}
	}
}

// TestDrainEarly has a worker that makes goroutines runnable, and is asked to yield
// between two lots of them, long before its time slice is over: another P runs the first
// lot in its order, which no thief does, and then steals from the second.
func TestDrainEarly(t *testing.T) {
	const worker, lot, n = 2000, 10, 14
	var f feed
	f.begin(1000)
	f.evs[0].Res = 2 // Ps
	for g := range int64(n) {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
	f.stop(1000, events.Waiting, events.ReasonSleep)
	for _, g := range append([]int64{n}, upTo(1, n-1)...) {
		f.start(g)
		f.stop(g, events.Waiting, events.ReasonAssist)
	}
	f.add(events.Event{G: events.None, Res: worker, From: events.Waiting, To: events.Runnable})
	f.start(worker)
	f.evs = append(f.evs, events.Event{Kind: events.Label, Time: f.now, G: worker, Reason: events.LabelDedicated})
	for g := range int64(n) {
		if g == lot {
			f.now += 10 * putsPause
		}
		f.add(events.Event{G: worker, Res: g + 1, From: events.Waiting, To: events.Runnable})
	}
	f.now += 10 * putsPause
	f.evs = append(f.evs, events.Event{Kind: events.Proc, Time: f.now, G: events.None, M: 1, P: 1, Res: 1, From: events.Idle, To: events.Running})
	other := len(f.evs)
	for _, g := range append(upTo(1, lot), lot+2, lot+1) {
		f.start(g)
		f.stop(g, events.Waiting, events.ReasonSleep)
	}
	for i := range f.evs[other:] {
		f.evs[other+i].M, f.evs[other+i].P = 1, 1
	}
	f.stop(worker, events.Waiting, events.ReasonSystem)
	for _, g := range upTo(lot+3, n) {
		f.start(g)
		f.stop(g, events.Waiting, events.ReasonSleep)
	}

	var stolen, drained []int64
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		switch {
		case d.Kind == reference.KindSteal:
			stolen = append(stolen, d.G, int64(d.Batch))
		case d.Kind == reference.KindMove && d.Why == reference.WhyGC:
			drained = append(drained, d.G)
		}
	})})
	r.Add(f.evs)
	sum := r.Finish()
	if !slices.Equal(drained, upTo(1, lot)) || !slices.Equal(stolen, []int64{lot + 2, 2}) || sum.Corrections != 0 {
		t.Errorf("drained %v, stolen (goroutine, batch) %v, %d corrections", drained, stolen, sum.Corrections)
	}
}

// TestDrainsAtOnce has a worker on P 0 whose queue somebody drains long before its time
// slice is over, or nobody does. P 1 takes batches from the global queue, and picks at its
// 61st tick what is in front there.
func TestDrainsAtOnce(t *testing.T) {
	const ring, n = 8, 28
	for _, c := range []struct {
		name  string
		order []int64 // which P 1 starts
		picks bool
		want  bool
	}{
		{"drained", append(append(upTo(11, 26), 3), append(upTo(27, 30), 1, 2, 4, 5, 6, 7, 8)...), true, true},
		{"stolen", append(upTo(11, 30), 4, 1, 2, 3), false, false},
	} {
		r := ahead(30, nil, upTo(1, ring))
		other(r, c.order...)
		for _, g := range upTo(11, 30) {
			r.queues.PutGlobal(r.goroutine(g))
		}
		for _, g := range upTo(1, 30) {
			r.gStates.At(r.goroutine(g)).state = events.Runnable
		}
		r.time, r.win.tail = r.win.at(r.now).Time, r.now
		if got := r.workers.pickedFrom(0); got != c.picks {
			t.Errorf("%s: picked %v", c.name, got)
		}
		r.workers.list = []drain{{p: 0, m: 0, g: nobody, due: math.MaxInt64, asked: nobody, early: 2, tail: nobody}}
		if c.want {
			r.workers.list[0].lead = evidence.Nats(math.Inf(1))
			if r.workers.drainsAtOnce(); r.queues.GlobalLen() != n-ring || r.engine.spent == 0 {
				t.Errorf("%s, by less than it must be better: %d in the global queue", c.name, r.queues.GlobalLen())
			}
			r.workers.list[0].lead, r.workers.list[0].tail = 0, nobody
		}
		r.workers.drainsAtOnce()
		left := ring
		if c.want {
			left = 0
		}
		if r.queues.RingLen(0) != left || r.queues.GlobalLen() != n-left || c.want && r.workers.list[0].early != 0 {
			t.Errorf("%s: %d in the ring, %d in the global queue", c.name, r.queues.RingLen(0), r.queues.GlobalLen())
		}
		if spent := r.engine.spent; c.want {
			r.workers.list[0].early, r.workers.list[0].tail = 1, nobody
			if r.workers.drainsAtOnce(); r.engine.spent != spent {
				t.Errorf("%s: tried with nothing in the ring", c.name)
			}
		} else {
			if r.workers.drainsAtOnce(); r.engine.spent != spent {
				t.Errorf("%s: tried again, and nothing has changed", c.name)
			}
			r.queues.PutGlobal(r.goroutine(9))
			if r.workers.drainsAtOnce(); r.engine.spent == spent || r.workers.list[0].early != 0 {
				t.Errorf("%s: not tried again", c.name)
			}
			spent = r.engine.spent
			r.queues.PutGlobal(r.goroutine(10))
			if r.workers.drainsAtOnce(); r.engine.spent != spent {
				t.Errorf("%s: tried too often", c.name)
			}
		}
	}
}

// TestExpectDrain has a worker start on P 0, whose ring goroutine 1 begins.
func TestExpectDrain(t *testing.T) {
	for _, c := range []struct {
		name  string
		order []int64 // which P 1 starts
		early int
		lead  evidence.Nats
	}{
		{"picked between two of the global queue", []int64{3, 1, 4}, earlyTries, 0},
		{"run after the tail of the global queue", []int64{3, 4, 1}, earlyTries, 0},
		{"nothing tells", []int64{1, 3, 4}, 1, unseenLead},
	} {
		r := ahead(4, nil, upTo(1, 2))
		other(r, c.order...)
		for _, g := range upTo(3, 4) {
			r.queues.PutGlobal(r.goroutine(g))
		}
		for range 2 { // the first one's end was lost
			r.workers.expectDrain(r.win.at(0))
		}
		if d := r.workers.list[0]; len(r.workers.list) != 1 || d.early != c.early || d.lead != c.lead {
			t.Errorf("%s: %d drains, %d tries, lead %v", c.name, len(r.workers.list), d.early, d.lead)
		}
	}
}

// TestPickedFrom has P 0 start what it has in its ring between two of the global queue.
func TestPickedFrom(t *testing.T) {
	r := ahead(3, []int64{2, 1, 3}, []int64{1})
	for _, g := range upTo(2, 3) {
		r.queues.PutGlobal(r.goroutine(g))
	}
	if r.workers.pickedFrom(0) {
		t.Error("picked, by its own P")
	}
}

// TestDrainsAtOnceInATrace is TestDrainsAtOnce, from the events on.
func TestDrainsAtOnceInATrace(t *testing.T) {
	const worker, ring = 2000, 8
	var f feed
	f.begin(1000)
	f.evs[0].Res = 2 // Ps
	for g := range int64(ring) {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
	f.add(events.Event{G: 1000, Res: 9, From: events.NotExist, To: events.Runnable})
	for _, g := range upTo(11, 30) { // made runnable by a thread without a P
		f.add(events.Event{G: events.None, M: 7, P: events.None, Res: g, From: events.NotExist, To: events.Runnable})
	}
	f.stop(1000, events.Waiting, events.ReasonSleep)
	f.start(9)
	f.stop(9, events.NotExist, 0)
	f.add(events.Event{G: events.None, Res: worker, From: events.Waiting, To: events.Runnable})
	f.start(worker)
	f.evs = append(f.evs, events.Event{Kind: events.Label, Time: f.now, G: worker, Reason: events.LabelDedicated})
	f.now += 10 * putsPause
	f.evs = append(f.evs, events.Event{Kind: events.Proc, Time: f.now, G: events.None, M: 1, P: 1, Res: 1, From: events.Idle, To: events.Running})
	other := len(f.evs)
	for _, g := range append(append(upTo(11, 26), 3), append(upTo(27, 30), 1, 2, 4, 5, 6, 7, 8)...) {
		f.start(g)
		f.stop(g, events.NotExist, 0)
	}
	for i := range f.evs[other:] {
		f.evs[other+i].M, f.evs[other+i].P = 1, 1
	}
	f.stop(worker, events.Waiting, events.ReasonSystem)
	var drained []int64
	at := int64(-1)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		if d.Kind == reference.KindMove && d.Why == reference.WhyGC {
			drained, at = append(drained, d.G), d.Time
		}
	})})
	r.Add(f.evs)
	sum := r.Finish()
	if !slices.Equal(drained, upTo(1, ring)) || at >= f.evs[other].Time || sum.Corrections != 0 {
		t.Errorf("drained %v at %d, P 1 came at %d, %d corrections", drained, at, f.evs[other].Time, sum.Corrections)
	}
}
