package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// ahead returns a Reconstructor that has judged nothing. Goroutines 1 to n were
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
	r.procs = 2
	r.Add(f.evs)
	r.now = n + 2 // the last of them was made runnable
	for i := range r.now + 1 {
		if it := r.win.at(i); it.ev.Kind == events.Go && it.ev.To == events.Runnable {
			r.gs.At(it.rg).start, r.gs.At(it.rg).ready = it.link, i
		}
	}
	r.ps[0].m = r.thread(0)
	r.ms[0].next = r.now + 1
	for _, g := range in {
		r.q.PutTail(0, r.gs.find(g))
	}
	return r
}

func upTo(from, to int64) (out []int64) {
	for g := from; g <= to; g++ {
		out = append(out, g)
	}
	return out
}

// TestResize has a newcomer that runs after the older half of the ring, as after
// an overflow, or after all of it.
func TestResize(t *testing.T) {
	const newcomer = 300
	for _, c := range []struct {
		name string
		ring int64
		over int64 // it runs after this one
	}{
		{"not full", 255, 255},
		{"full", 256, 128},
	} {
		order := append(append(upTo(1, c.over), newcomer), upTo(c.over+1, c.ring)...)
		r := ahead(newcomer, order, upTo(1, c.ring))
		if r.resize(0, r.gs.find(newcomer)); r.q.RingLen(0) != int(c.ring) {
			t.Errorf("%s: %d in the ring", c.name, r.q.RingLen(0))
		}
	}
}

// TestStranger has a goroutine in a full ring that runs much later than those
// around it: the batch that it came with ended before it.
func TestStranger(t *testing.T) {
	const newcomer, stranger = 300, 128
	order := append(append(upTo(1, stranger-1), upTo(stranger+1, 256)...), newcomer, 299, 298, stranger)
	r := ahead(newcomer, order, upTo(1, 256))
	for g := range int64(stranger) {
		r.gs.At(r.gs.find(g + 1)).fromGlobal = 0
	}
	if r.resize(0, r.gs.find(newcomer)); r.q.RingLen(0) != 255 || r.q.GlobalHead() != r.gs.find(stranger) {
		t.Errorf("%d in the ring, %d in the global queue", r.q.RingLen(0), r.q.GlobalLen())
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
		r.proc(1)
		for _, g := range upTo(1, 4) {
			r.q.PutTail(1, r.gs.find(g))
		}
		if got := r.thiefsOrder(r.gs.find(3), 0, 1); got != c.want {
			t.Errorf("%v: %v", c.order, got)
		}
	}
}

// TestFitsRing has a goroutine that the P runs after others that were queued
// before: so many cannot have stood in front of it in an empty ring.
func TestFitsRing(t *testing.T) {
	for _, before := range []int64{1, slack, slack + 1, 20} {
		r := ahead(30, append(upTo(1, before), 30), nil)
		if got := r.fitsRing(0, r.gs.find(30)); got != (before <= slack) {
			t.Errorf("%d before: %v", before, got)
		}
	}
}
