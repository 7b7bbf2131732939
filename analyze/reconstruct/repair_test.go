package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// TestSwap has P 0 hold 1 and 2 of a batch from the global queue, which it runs in the
// order 1, 3, and which has 3 and 4 left: 3 was in the batch, and 2 was not.
func TestSwap(t *testing.T) {
	for _, c := range []struct {
		name    string
		order   []int64 // in which P 0 runs what it does
		alone   bool    // one thread has put them there
		batch   bool    // 2 came in a batch
		mistake bool
	}{
		{"put by two threads", []int64{1, 3, 4}, false, true, true},
		{"put by one", []int64{1, 3, 4}, true, true, false},
		{"not from the global queue", []int64{1, 3, 4}, false, false, false},
		{"the head is run before what is in front", []int64{3, 1, 4}, false, true, false},
		{"the head is not run here", []int64{1, 4}, false, true, false},
	} {
		r := ahead(4, c.order, []int64{1, 2})
		for _, g := range []int64{3, 4} {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		for g := range int64(4) {
			x := r.step.ahead.gStates.At(r.step.model.goroutine(g + 1))
			x.fromGlobal = nobody
			if g < 2 && (g == 0 || c.batch) {
				x.fromGlobal = 0
			}
			if !c.alone {
				x.readyM = int32(g)
			}
		}
		if got := r.step.dequeuer.exchangeEnqueues(r.step.model.goroutine(2), 0); got != c.mistake {
			t.Errorf("%s: swapped: %v", c.name, got)
		}
		ring, global := []int64{1, 2}, []int64{3, 4}
		if c.mistake {
			ring, global = []int64{1, 3}, []int64{2, 4}
		}
		if !slices.Equal(ringOf(r), ring) || !slices.Equal(globalOf(r), global) {
			t.Errorf("%s: ring %v, global queue %v", c.name, ringOf(r), globalOf(r))
		}
	}
}

// TestTradeIn has P 0 hold 1 and 2 of a batch from the global queue and start 3, which is
// left there, behind 4.
func TestTradeIn(t *testing.T) {
	for _, c := range []struct {
		name         string
		elsewhere    []int64 // run by P 1
		alone        bool    // one thread has put all there
		ring, global []int64
	}{
		{"2 runs elsewhere", []int64{2}, false, []int64{1, 3}, []int64{2, 4}},
		{"both do", []int64{1, 2}, false, []int64{3, 2}, []int64{1, 4}},
		{"one thread has put them there", []int64{2}, true, []int64{1, 2}, []int64{3, 4}},
		{"none does", nil, false, []int64{1, 2}, []int64{3, 4}},
	} {
		r := ahead(4, []int64{3, 1, 2}[:3-len(c.elsewhere)], upTo(1, 2))
		other(r, c.elsewhere...)
		for _, g := range []int64{3, 4} {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		for g := range int64(4) {
			x := r.step.ahead.gStates.At(r.step.model.goroutine(g + 1))
			x.fromGlobal = nobody
			if g < 2 {
				x.fromGlobal = 0
			}
			if !c.alone {
				x.readyM = int32(g)
			}
		}
		if got := r.step.dequeuer.exchangeForOwn(r.step.model.goroutine(3), 0); got != slices.Contains(c.ring, 3) {
			t.Errorf("%s: %v", c.name, got)
		}
		if !slices.Equal(ringOf(r), c.ring) || !slices.Equal(globalOf(r), c.global) {
			t.Errorf("%s: ring %v, global queue %v", c.name, ringOf(r), globalOf(r))
		}
	}
}

// TestTurned has P 0 run 2, which the model has behind 1 in its ring; 1 is run by P 1.
func TestTurned(t *testing.T) {
	for _, c := range []struct {
		name     string
		from     int32 // P that took 1 from the global queue
		m        int32 // thread that put 1 there
		putBatch int32 // with others
		alone    bool  // but alone at first, and so were the others
		ring     []int64
	}{
		{"of one batch, put by two threads", 0, 1, 0, false, []int64{1, 3}},
		{"put by one thread", 0, 0, 0, false, []int64{3}},
		{"put with others", 0, 1, 1, false, []int64{3}},
		{"put with others, but in the order in which they had been put alone", 0, 1, 1, true, []int64{1, 3}},
		{"not of one batch", nobody, 1, 0, false, []int64{3}},
	} {
		r := ahead(3, []int64{2, 3}, upTo(1, 3))
		other(r, 1)
		for g := range int64(3) {
			x := r.step.ahead.gStates.At(r.step.model.goroutine(g + 1))
			x.fromGlobal, x.readyM, x.overflowID = 0, 0, 0
			if c.alone {
				r.step.ahead.win.at(x.ready).From = events.Running
			}
		}
		first := r.step.ahead.gStates.At(r.step.model.goroutine(1))
		first.fromGlobal, first.readyM, first.overflowID = c.from, c.m, c.putBatch
		r.step.dequeuer.passOver(r.step.model.goroutine(2), 0)
		r.step.queues.Remove(r.step.model.goroutine(2))
		if !slices.Equal(ringOf(r), c.ring) {
			t.Errorf("%s: ring %v, want %v", c.name, ringOf(r), c.ring)
		}
	}
}

// TestFirstTick has P 0 start 1, from the global queue, although its ring holds some that
// other Ps will run.
func TestFirstTick(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int64 // in the ring
		known bool  // when the tick comes
		src   reference.Source
	}{
		{"too many for thieves", longBatch, false, reference.SrcGlobalTick},
		{"few", longBatch - 1, false, reference.SrcGlobal},
		{"it is not the tick", longBatch, true, reference.SrcGlobal},
	} {
		r := ahead(c.n+2, []int64{1}, upTo(3, c.n+2))
		other(r, upTo(3, c.n+2)...)
		r.step.queues.PutGlobal(r.step.model.goroutine(1))
		r.step.queues.PutGlobal(r.step.model.goroutine(2))
		f := &r.step.ps.pStates[0].tick
		*f = schedtick.Unknown(poll)
		if c.known {
			for range 4 {
				f.Learn(tickPastOwn)
			}
		} else {
			f.Learn(-9.2) // as in a young process
		}
		f.Next()
		for range 2 {
			f.Learn(-9.2)
		}
		if got := r.step.dequeuer.dequeueGlobal(r.step.model.goroutine(1), 0); got.src != c.src {
			t.Errorf("%s: from %v, want %v", c.name, got.src, c.src)
		}
	}
}

// TestRobs has P 1 start the tail of the global queue, and then one of P 0's ring.
func TestRobs(t *testing.T) {
	for next, want := range map[int64]bool{2: false, 3: true} {
		r := ahead(4, nil, []int64{2, 3, 4})
		other(r, 1, next)
		if got := r.step.model.stealsFromMiddle(r.step.model.goroutine(1), 0); got != want {
			t.Errorf("then %d: %v", next, got)
		}
	}
}

// TestAlone has P 0, which has 1 of its own, start 2, which the model has with 3 in a
// batch that P 1 took: only 2 is in the wrong place.
func TestAlone(t *testing.T) {
	for _, tick := range []bool{false, true} {
		r := ahead(4, []int64{2, 1}, []int64{1})
		other(r, 3, 4)
		p := r.link.proc(1)
		for _, g := range []int64{2, 3} {
			ix := r.step.model.goroutine(g)
			r.step.queues.PutTail(p, ix)
			r.step.ahead.gStates.At(ix).fromGlobal = p
		}
		r.step.queues.PutGlobal(r.step.model.goroutine(4))
		if !tick {
			r.step.ps.pStates[0].tick.Learn(tickPastOwn)
			r.step.ps.pStates[0].tick.Learn(tickPastOwn)
			r.step.ps.pStates[0].tick.Next()
		}
		want, src := 1, reference.SrcLocal
		if tick {
			want, src = 0, reference.SrcGlobalTick
		}
		got := r.step.dequeuer.dequeueByPlace(r.step.model.goroutine(2), 0)
		if left := r.step.queues.RingLen(p); got.src != src || left != want {
			t.Errorf("may be at the tick: %v: from %v, P 1 has %d left, want %v and %d", tick, got.src, left, src, want)
		}
	}
}
