package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/reference"
)

// ahead returns a Reconstructor that has handled nothing. Goroutines 1 to n were
// made runnable and then run on P 0 in this order; those of in are in its ring.
func ahead(n int64, order, in []int64) *Reconstructor {
	var f feed
	f.begin(1000)
	for g := range n {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
	f.stop(1000, events.Waiting, events.ReasonSleep)
	for _, g := range order {
		f.start(g)
		f.stop(g, events.NotExist, 0)
	}
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.step.ps.gomaxprocs = 2
	r.Add(f.evs)
	r.step.ahead.now = n + 2 // the last of them was made runnable
	for i := range r.step.ahead.now + 1 {
		if rec := r.step.ahead.win.at(i); rec.Kind == events.Go && rec.To == events.Runnable {
			r.step.ahead.gStates.At(rec.of).start, r.step.ahead.gStates.At(rec.of).ready = rec.link, i
		}
	}
	r.step.ps.pStates[0].m = r.link.mix.Find(0)
	r.step.ahead.mStates[0].next = r.step.ahead.now + 1
	for _, g := range in {
		r.step.queues.PutTail(0, r.step.model.goroutine(g))
	}
	return r
}

func upTo(from, to int64) (out []int64) {
	for g := from; g <= to; g++ {
		out = append(out, g)
	}
	return out
}

// TestFirstThief has a newcomer at a full ring of P 0. Either P 1 has stolen from it
// before, and runs what it stole while P 0 goes on with the rest; or the ring
// overflows, and P 1 takes the older half and the newcomer from the global queue.
func TestFirstThief(t *testing.T) {
	const ring, newcomer, stolen, own = 256, 257, 128, 258
	thief := append([]int64{stolen}, upTo(1, stolen-1)...)
	for _, c := range []struct {
		name   string
		p0, p1 []int64
		own    bool // P 1 has one of its own
		want   bool // it overflows
	}{
		{"stolen", upTo(stolen+1, newcomer), thief, false, false},
		{"no thief has anything of its own", upTo(stolen+1, newcomer), append(thief, own), true, true},
		{"overflow", upTo(ring/2+1, ring), append(upTo(1, ring/2), newcomer), false, true},
	} {
		r := ahead(own, c.p0, upTo(1, ring))
		var f feed
		f.now = r.step.ahead.win.at(r.step.ahead.win.head - 1).Time
		for _, g := range c.p1 {
			f.start(g)
			f.stop(g, events.NotExist, 0)
		}
		for i := range f.evs {
			f.evs[i].M, f.evs[i].P = 1, 1
		}
		r.Add(f.evs)
		for i := range r.step.ahead.now + 1 {
			if rec := r.step.ahead.win.at(i); rec.Kind == events.Go && rec.To == events.Runnable {
				r.step.ahead.gStates.At(rec.of).start = rec.link
			}
		}
		if c.own {
			r.step.queues.PutTail(1, r.step.model.goroutine(own))
		}
		for g := range int64(own) {
			r.step.ahead.gStates.At(r.step.model.goroutine(g + 1)).state = events.Runnable
		}
		r.step.ahead.time, r.step.ahead.win.tail = r.step.ahead.win.at(r.step.ahead.now).Time, r.step.ahead.now
		if got := r.step.enqueuer.overflows(0, r.step.model.goroutine(newcomer), true); got != c.want || r.step.queues.Full(0) != c.want {
			t.Errorf("%s: overflows %v, %d in the ring", c.name, got, r.step.queues.RingLen(0))
		}
		if forked := r.step.engine.spent > 0; forked == c.own {
			t.Errorf("%s: forks: %v", c.name, forked)
		}
	}
}

// TestThiefsOrder has a P run what is in another one's ring.
func TestThiefsOrder(t *testing.T) {
	for _, c := range []struct {
		order []int64
		want  bool
	}{
		{[]int64{3, 1, 2, 4}, true},
		{[]int64{3, 4, 1, 2}, false}, // the global queue's
		{[]int64{1, 2, 3, 4}, false},
	} {
		r := ahead(4, c.order, nil)
		r.link.proc(1)
		for _, g := range upTo(1, 4) {
			r.step.queues.PutTail(1, r.step.model.goroutine(g))
		}
		if got := r.step.model.inThiefsOrder(r.step.model.goroutine(3), 0, 1); got != c.want {
			t.Errorf("%v: %v", c.order, got)
		}
	}
}

// TestRobbed has P 0 run the second of another P's ring, and P 1 the fourth later.
func TestRobbed(t *testing.T) {
	for _, c := range []struct {
		name string
		ring int64
		want int64
	}{
		{"P 1 took half of eight, and P 0 half of that", 8, 4},
		{"P 0 took half of four", 4, 0},
	} {
		r := ahead(c.ring, []int64{2, 1}, nil)
		other(r, 4, 3)
		r.link.proc(2)
		for _, g := range upTo(1, c.ring) {
			r.step.queues.PutTail(2, r.step.model.goroutine(g))
		}
		got := int64(0)
		if x := r.step.steals.stolenBehind(2, r.step.model.goroutine(2), 2, 0); x != reference.None {
			got = r.step.ahead.gStates.At(x).id
		}
		if got != c.want {
			t.Errorf("%s: %d was the last of the other thief's, want %d", c.name, got, c.want)
		}
	}
}

// TestNeverMoved has P 1 start the fourth of what P 0 took from the global queue; P 0 runs
// the one in front of it. P 1 had nothing to run since it stopped goroutine 20.
func TestNeverMoved(t *testing.T) {
	for _, c := range []struct {
		name  string
		ring  int64
		front bool // P 1 runs that, too
		empty bool // the global queue was so since then
		want  bool
	}{
		{"just what a thief takes", 8, false, true, false},
		{"which would have looked into the global queue first", 8, false, false, true},
		{"no thief takes so few", 12, false, true, true},
		{"what a thief can have taken", 12, true, true, false},
		{"which would have looked there first", 12, true, false, true},
	} {
		r := ahead(20, upTo(5, c.ring), upTo(1, c.ring))
		if c.front {
			other(r, 20, 4, 3, 2, 1)
			r.step.queues.PutGlobal(r.step.model.goroutine(19))
		} else {
			r = ahead(20, append(upTo(5, c.ring), 3), upTo(1, c.ring))
			other(r, 20, 4, 2, 1)
		}
		for _, g := range upTo(1, c.ring) {
			r.step.ahead.gStates.At(r.step.model.goroutine(g)).fromGlobal = 0
		}
		ix := r.step.model.goroutine(4)
		if r.step.model.noGlobal = r.step.ahead.freeSince(ix); !c.empty {
			r.step.model.noGlobal--
		}
		if got := r.step.dequeuer.stayedGlobal(ix, 1, 0); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestLooksFirst has a thief that had nothing to run since before the global queue got
// something: it may have looked there in time, and lost its CPU.
func TestLooksFirst(t *testing.T) {
	r := ahead(5, nil, upTo(1, 4))
	other(r, 5, 2, 1)
	ix := r.step.model.goroutine(2)
	free := r.step.ahead.freeSince(ix)
	for _, g := range upTo(1, 4) {
		r.step.ahead.gStates.At(r.step.model.goroutine(g)).ringSince = free + 1
	}
	cost := func(noGlobal int64) evidence.Nats {
		r.step.model.noGlobal = noGlobal
		return r.step.steals.stealCost(0, r.step.queues.Head(0), ix, 2, 1)
	}
	if late, early := cost(free-1), cost(free); late-early != costGlobal {
		t.Errorf("%v, if it was empty then %v", late, early)
	}
}

// other has P 1 run these goroutines after all that is there.
func other(r *Reconstructor, order ...int64) {
	f := feed{now: r.step.ahead.win.at(r.step.ahead.win.head - 1).Time}
	for _, g := range order {
		f.start(g)
		f.stop(g, events.NotExist, 0)
	}
	for i := range f.evs {
		f.evs[i].M, f.evs[i].P = 1, 1
	}
	r.Add(f.evs)
	for _, g := range order {
		ix := r.step.model.goroutine(g)
		r.step.ahead.gStates.At(ix).start = r.step.ahead.win.at(r.step.ahead.gStates.At(ix).ready).link
	}
}

// TestFitsRing has a goroutine that the P runs after others that were queued
// before: so many cannot have stood in front of it in an empty ring.
func TestFitsRing(t *testing.T) {
	for _, before := range []int64{1, slack, slack + 1, 20} {
		r := ahead(30, append(upTo(1, before), 30), nil)
		if got := r.step.model.fitsRing(0, r.step.model.goroutine(30)); got != (before <= slack) {
			t.Errorf("%d before: %v", before, got)
		}
	}
}
