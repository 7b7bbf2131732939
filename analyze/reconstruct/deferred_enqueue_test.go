package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// globalOf returns who is in the global queue, in order.
func globalOf(r *Reconstructor) (out []int64) {
	for x := r.step.queues.GlobalHead(); x != reference.None; x = r.step.queues.Next(x) {
		out = append(out, r.step.ahead.gStates.At(x).id)
	}
	return out
}

// TestDelay has goroutine 1, which stands in front in the model, run after others.
func TestDelay(t *testing.T) {
	const unknown, over = 1 << 40, 0
	for _, c := range []struct {
		name  string
		order []int64 // in which they run
		putBy int64   // event by which 1 had been put
		want  []int64
	}{
		{"its start shows its place", []int64{2, 3, 1, 4}, unknown, []int64{2, 3, 1, 4}},
		{"behind all: it may not have been put", []int64{2, 3, 4, 1}, unknown, []int64{2, 3, 4}},
		{"it had been put before the others", []int64{2, 3, 1, 4}, over, []int64{1, 2, 3, 4}},
	} {
		r := ahead(4, c.order, nil)
		for _, g := range upTo(1, 4) {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		r.step.ahead.gStates.At(r.step.model.goroutine(1)).enqueuedBy = c.putBy
		if got := r.step.enqueuer.reorderEnqueue(r.step.model.goroutine(1), r.step.model.goroutine(2)); got != (c.putBy == unknown) || !slices.Equal(globalOf(r), c.want) {
			t.Errorf("%s: %v, then %v", c.name, got, globalOf(r))
		}
	}
}

// TestStalls has the thread that put a goroutine go on sooner or later.
func TestStalls(t *testing.T) {
	for _, c := range []struct {
		pause int64 // until the thread goes on
		want  bool
	}{{stalled + 1, true}, {stalled, false}} {
		r := ahead(4, []int64{4, 1, 2, 3}, nil)
		gp := r.step.ahead.gStates.At(r.step.model.goroutine(1))
		gp.enqueuedBy = r.step.ahead.win.head - 1
		gp.readyAt = r.step.ahead.win.at(gp.enqueuedBy).Time - c.pause
		if got := r.step.ahead.enqueuerStalls(r.step.model.goroutine(1)); got != c.want {
			t.Errorf("stalls after %d ns: %v", c.pause, got)
		}
	}
}

// TestDelayInto has P 0 run goroutine 1 with the batch that 2 begins, and P 1 what
// stands behind that: 1 does not move behind it.
func TestDelayInto(t *testing.T) {
	r := ahead(4, []int64{2, 1}, nil)
	other(r, 3, 4)
	for _, g := range upTo(1, 4) {
		r.step.queues.PutGlobal(r.step.model.goroutine(g))
	}
	r.step.ahead.gStates.At(r.step.model.goroutine(1)).enqueuedBy = 1 << 40
	if got := r.step.enqueuer.reorderEnqueue(r.step.model.goroutine(1), r.step.model.goroutine(2)); !got || !slices.Equal(globalOf(r), []int64{2, 1, 3, 4}) {
		t.Errorf("%v, then %v", got, globalOf(r))
	}
}

// TestDelayInBatch has a goroutine in the middle of a batch that its taker runs
// after what stands behind the batch.
func TestDelayInBatch(t *testing.T) {
	for _, late := range []bool{true, false} {
		r := ahead(6, []int64{1, 2, 4, 5, 3, 6}, nil)
		for _, g := range upTo(1, 6) {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		want := upTo(1, 6)
		if late {
			r.step.ahead.gStates.At(r.step.model.goroutine(3)).enqueuedBy = 1 << 40
			want = []int64{1, 2, 4, 5, 3, 6}
		}
		if r.step.enqueuer.reorderInBatch(r.step.model.goroutine(1), 0, 4); !slices.Equal(globalOf(r), want) {
			t.Errorf("late %v: %v", late, globalOf(r))
		}
	}
}

// TestEndsBatch has P 0 take three of five, and P 1 the rest.
func TestEndsBatch(t *testing.T) {
	r := ahead(5, []int64{1, 2, 3}, nil)
	other(r, 4, 5)
	for _, g := range upTo(1, 5) {
		r.step.queues.PutGlobal(r.step.model.goroutine(g))
	}
	for _, g := range upTo(1, 5) {
		if got := r.step.enqueuer.endsBatch(r.step.model.goroutine(g), r.step.model.goroutine(1), 0); got != (g == 3) {
			t.Errorf("%d ends the batch: %v", g, got)
		}
	}
}

// TestFindLateOwn has two Ps yield at nearly the same time: the one that takes a
// batch first does not get what the other one's thread puts there and takes again.
func TestFindLateOwn(t *testing.T) {
	for _, same := range []bool{true, false} {
		var f feed
		f.begin(1000)
		for g := int64(1); g <= 2; g++ {
			f.add(events.Event{M: g, P: int32(g - 1), G: g, Res: g, From: events.Running, To: events.Runnable})
		}
		f.add(events.Event{M: 1, P: 0, G: events.None, Res: 1, From: events.Runnable, To: events.Running})
		f.add(events.Event{M: 2, P: 1, G: events.None, Res: 2, From: events.Runnable, To: events.Running})
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		r.step.ps.gomaxprocs = 2
		r.Add(f.evs)
		r.step.ahead.now = r.step.ahead.win.head - 3 // the second yield
		for g := int64(1); g <= 2; g++ {
			x := r.step.ahead.gStates.At(r.step.model.goroutine(g))
			x.ready = r.step.ahead.win.head - 5 + g
			x.start = r.step.ahead.win.at(x.ready).link
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		if !same {
			r.step.ahead.gStates.At(r.step.model.goroutine(2)).ready = r.step.ahead.gStates.At(r.step.model.goroutine(1)).ready
		}
		r.step.enqueuer.open = []openEnqueue{{r.step.model.goroutine(2), r.step.ahead.win.head}}
		r.step.ahead.gStates.At(r.step.model.goroutine(2)).enqueuedBy = r.step.ahead.win.head
		r.step.enqueuer.findDeferred(r.step.model.goroutine(1), r.step.ahead.win.at(r.step.ahead.gStates.At(r.step.model.goroutine(1)).start).p)
		if got := globalOf(r); slices.Equal(got, []int64{1}) != same {
			t.Errorf("its own thread takes it: %v, left in the queue: %v", same, got)
		}
	}
}

// TestFindLateJust has goroutine 4 run before 3, on another P, which stands in front of
// it. That shows that 3 was put later, but not where 4 has been put by the very thread
// that takes now.
func TestFindLateJust(t *testing.T) {
	for _, just := range []bool{true, false} {
		r := ahead(4, []int64{1, 2}, nil)
		other(r, 4)
		r.step.ps.gomaxprocs = 4 // for a batch of two
		f := feed{now: r.step.ahead.win.at(r.step.ahead.win.head - 1).Time}
		f.start(3)
		r.Add(f.evs)
		for _, g := range upTo(1, 4) {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		r.step.ahead.now++ // the stop before the take
		x, behind := r.step.ahead.gStates.At(r.step.model.goroutine(3)), r.step.ahead.gStates.At(r.step.model.goroutine(4))
		x.start, x.enqueuedBy = r.step.ahead.win.head-1, r.step.ahead.win.head-1
		if just {
			behind.ready = r.step.ahead.now
		}
		r.step.enqueuer.noteEnqueue(r.step.model.goroutine(3), x.enqueuedBy)
		if r.step.enqueuer.findDeferred(r.step.model.goroutine(1), 0); x.deferred == just {
			t.Errorf("just put %v: late %v", just, x.deferred)
		}
	}
}

// TestPutsBefore has goroutine 1, passed over in the global queue, be put before others
// that run after it.
func TestPutsBefore(t *testing.T) {
	const unknown = 1 << 40
	for _, c := range []struct {
		name   string
		order  []int64 // in which they run
		before int64   // event of the putting thread
		ahead  int64   // ns until they run
		want   bool
	}{
		{"runs before it", []int64{1, 2}, unknown, afar, true},
		{"runs after it", []int64{2, 1}, unknown, afar, false},
		{"its thread goes on before it runs", []int64{1, 2}, 3, afar, false},
		{"runs soon", []int64{1, 2}, unknown, 0, false},
	} {
		r := ahead(2, c.order, nil)
		r.step.ahead.time = -c.ahead
		x := r.step.model.goroutine(1)
		r.step.ahead.gStates.At(x).deferred = true
		r.step.enqueuer.list = []deferredEnqueue{{g: x, p: nobody, before: c.before}}
		r.step.enqueuer.enqueueBefore(r.step.model.goroutine(2))
		if got := r.step.queues.GlobalLen() == 1; got != c.want || len(r.step.enqueuer.list) == r.step.queues.GlobalLen() {
			t.Errorf("%s: put %v, %d late", c.name, got, len(r.step.enqueuer.list))
		}
	}
}
