package reconstruct

import (
	"math"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestComesLater has goroutine 1 at the tail of the global queue and 2 come next.
func TestComesLater(t *testing.T) {
	for _, c := range []struct {
		name   string
		order  []int64
		queued int64 // also in the global queue, if not 0
		limit  int64
		want   bool
	}{
		{"runs next", []int64{1, 2, 3, 4}, 0, math.MaxInt64, false},
		{"runs next but for the 61st tick", []int64{1, 3, 2, 4}, 0, math.MaxInt64, false},
		{"others first", []int64{1, 3, 4, 2}, 0, math.MaxInt64, true},
		{"that are queued already", []int64{1, 3, 4, 2}, 4, math.MaxInt64, false},
		{"that do not come in time", []int64{1, 3, 4, 2}, 0, 1, false},
	} {
		r := ahead(4, c.order, nil)
		if c.queued != 0 {
			r.step.queues.PutGlobal(r.step.model.goroutine(c.queued))
		}
		if got := r.step.model.comesLater(r.step.model.goroutine(1), r.step.model.goroutine(2), c.limit); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRanBefore has a goroutine wake another, which runs from runnext: it came
// from no queue.
func TestRanBefore(t *testing.T) {
	var f feed
	f.begin(1000)
	for g := range int64(3) {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
	f.stop(1000, events.Waiting, events.ReasonSleep)
	f.start(1)
	f.stop(1, events.NotExist, 0)
	f.start(2)
	f.add(events.Event{G: 2, Res: 4, From: events.NotExist, To: events.Runnable})
	f.stop(2, events.NotExist, 0)
	f.start(4)
	f.stop(4, events.NotExist, 0)
	f.start(3)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.Add(f.evs)
	s := r.step.ahead.win.at(r.step.ahead.ranBefore(r.step.ahead.win.head - 1))
	if s == nil || r.step.ahead.gStates.At(s.of).id != 2 {
		t.Errorf("before goroutine 3: %+v", s)
	}
}

// TestDeferOverflow has an overflow of which another put, that comes later in the trace,
// comes first: the thread had lost its CPU in the middle of it.
func TestDeferOverflow(t *testing.T) {
	const tail, newcomer, other = 299, 257, 300
	order := append([]int64{tail, 298, other}, upTo(1, 257)...)
	for _, c := range []struct {
		name string
		put  bool // the other one
	}{
		{"before the other put's successor", true},
		{"with the thread's next event", false},
	} {
		r := ahead(other, order, upTo(1, 256))
		r.step.queues.PutGlobal(r.step.model.goroutine(tail))
		r.step.enqueuer.displace(0, r.step.model.goroutine(newcomer))
		if r.step.queues.RingLen(0) != 256 || r.step.queues.GlobalLen() != 1 {
			t.Fatalf("%d in the ring, %d in the global queue: not late", r.step.queues.RingLen(0), r.step.queues.GlobalLen())
		}
		n := 1
		if c.put {
			r.step.queues.PutGlobal(r.step.model.goroutine(other))
			r.step.enqueuer.catchUp()
			n++
		} else {
			r.step.enqueuer.enqueuesDue(r.step.ahead.win.at(r.step.ahead.now).nextM)
		}
		if r.step.queues.RingLen(0) != 128 || r.step.queues.GlobalLen() != n+129 || r.step.queues.GlobalTail() != r.step.model.goroutine(newcomer) {
			t.Errorf("%s: %d in the ring, %d in the global queue", c.name, r.step.queues.RingLen(0), r.step.queues.GlobalLen())
		}
	}
}

// TestHoldOverflow has a thief take from a ring of which the older half has left for the
// global queue, but is not there yet.
func TestHoldOverflow(t *testing.T) {
	for _, c := range []struct {
		name string
		k    int // size of the batch, if nothing had left
		want bool
	}{
		{"half of the whole ring", 128, false},
		{"half of the rest", 192, true},
		{"more than that", 193, false},
	} {
		r := ahead(257, upTo(1, 257), upTo(1, 256))
		newcomer := r.step.model.goroutine(257)
		r.step.enqueuer.deferOverflow(0, newcomer)
		left, global := 256, 0
		if c.want {
			left = 128
		}
		if got := r.step.enqueuer.holdOverflow(0, c.k); got != c.want || r.step.queues.RingLen(0) != left || r.step.queues.GlobalLen() != global {
			t.Errorf("%s: %v, %d in the ring, %d in the global queue", c.name, got, r.step.queues.RingLen(0), r.step.queues.GlobalLen())
		}
		if !c.want {
			continue
		}
		r.step.enqueuer.enqueueDeferred(r.step.model.goroutine(1)) // one of them runs
		if r.step.queues.RingLen(0) != 128 || r.step.queues.GlobalLen() != 129 || r.step.queues.GlobalHead() != r.step.model.goroutine(1) || r.step.queues.GlobalTail() != newcomer || len(r.step.enqueuer.list) > 0 {
			t.Errorf("%s, later: %d in the ring, %d in the global queue", c.name, r.step.queues.RingLen(0), r.step.queues.GlobalLen())
		}
	}
}

// TestLostCPU has the thread of P 0 go on after some events, of which one may be the
// start of what is first in the global queue.
func TestLostCPU(t *testing.T) {
	for _, c := range []struct {
		name        string
		next, start int64 // events from now
		global      int   // how many are in the global queue
		want        bool
	}{
		{"it goes on soon", 2, 3, 1, false},
		{"somebody takes before that", 3, 2, 1, true},
		{"with that", 3, 3, 1, false},
		{"as many as anybody takes", 3, 2, 129, false},
		{"nobody takes", 3, 2, 0, false},
		{"who starts has taken before", 3, 0, 1, false},
		{"it goes on after long", meanwhile + 1, 0, 0, true},
		{"not so long", meanwhile, 0, 0, false},
		{"it does not go on in sight", none, 2, 1, false},
	} {
		r := ahead(200, nil, nil)
		for g := range int64(c.global) {
			r.step.queues.PutGlobal(r.step.model.goroutine(g + 1))
		}
		r.step.ahead.gStates.At(r.step.model.goroutine(1)).start = r.step.ahead.now + c.start
		if r.step.ahead.win.at(r.step.ahead.now).nextM = r.step.ahead.now + c.next; c.next == none {
			r.step.ahead.win.at(r.step.ahead.now).nextM = none
		}
		if got := r.step.enqueuer.mayHaveLostCPU(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
