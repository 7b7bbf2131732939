package reconstruct

import (
	"math"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestStatusIsNoNews begins a new generation between a goroutine's wake-up and its
// start: what is said of it there hides neither its start from the look-ahead nor
// what its thread did before.
func TestStatusIsNoNews(t *testing.T) {
	r := New(&events.Tables{}, Options{Rules: reference.RulesFor(26)})
	evs := []events.Event{
		{Kind: events.Go, Time: 1, M: 1, P: 0, G: 1, Res: 2, From: events.Waiting, To: events.Runnable},
		{Kind: events.Go, Time: 2, M: 1, P: 0, G: 1, Res: 1, From: events.Running, To: events.Waiting},
		{Kind: events.Go, Time: 3, M: 1, P: 0, G: -1, Res: 2, From: events.Undetermined, To: events.Runnable},
		{Kind: events.Go, Time: 3, M: 1, P: 0, G: -1, Res: 2, From: events.Runnable, To: events.Running},
	}
	for i := range evs {
		r.link.enter(&evs[i])
	}
	if got := r.step.ahead.win.at(0).link; got != 3 {
		t.Errorf("the wake-up is linked to event %d, want the start, 3", got)
	}
	if got := r.step.ahead.win.at(3).prevM; got != 1 {
		t.Errorf("before the start its thread did event %d, want 1", got)
	}
}

// TestStatusOfP has a new generation say that a P runs, or a thread come for it: only
// that is something that the thread does before it starts a goroutine.
func TestStatusOfP(t *testing.T) {
	for _, c := range []struct {
		from events.State
		want int64 // event before the start
	}{{events.Undetermined, 0}, {events.Running, 0}, {events.Idle, 1}} {
		r := New(&events.Tables{}, Options{Rules: reference.RulesFor(26)})
		evs := []events.Event{
			{Kind: events.Go, Time: 1, M: 1, P: 0, G: 1, Res: 1, From: events.Running, To: events.Waiting},
			{Kind: events.Proc, Time: 2, M: 1, P: 0, G: -1, Res: 0, From: c.from, To: events.Running},
			{Kind: events.Go, Time: 3, M: 1, P: 0, G: -1, Res: 2, From: events.Runnable, To: events.Running},
		}
		for i := range evs {
			r.link.enter(&evs[i])
		}
		if got := r.step.ahead.win.at(2).prevM; got != c.want {
			t.Errorf("P from state %d: before the start its thread did event %d, want %d", c.from, got, c.want)
		}
	}
}

// TestNumberAgain has a goroutine's last event come, and another goroutine with its
// number, as in a damaged trace: that is not the one that has ended.
func TestNumberAgain(t *testing.T) {
	r := New(&events.Tables{}, Options{Rules: reference.RulesFor(26)})
	r.link.enter(&events.Event{Kind: events.Go, Time: 1, M: 1, P: 0, G: 1, Res: 1, From: events.Running, To: events.NotExist})
	r.step.next()
	if g := r.step.ahead.gStates.Find(1); g != 0 {
		t.Fatalf("it is still there, at %d", g)
	}
	r.link.enter(&events.Event{Kind: events.Go, Time: 2, M: 1, P: 0, G: 1, Res: 1, From: events.Running, To: events.Waiting})
	if of := r.step.ahead.win.at(1).of; of == 0 || of != r.step.ahead.gStates.Find(1) {
		t.Errorf("the event is linked to goroutine %d, want %d", of, r.step.ahead.gStates.Find(1))
	}
}

// TestWatch sees to it that what comes later than its event is looked at from the next
// event on, and not for ever.
func TestWatch(t *testing.T) {
	for name, expect := range map[string]func(r *Reconstructor, rec *record){
		"a put": func(r *Reconstructor, rec *record) {
			r.step.queues.PutGlobal(rec.of)
			r.step.ahead.gStates.At(rec.of).enqueuedBy = 100
			r.step.enqueuer.deferEnqueue(rec.of)
		},
		"an overflow": func(r *Reconstructor, rec *record) { r.step.enqueuer.deferOverflow(0, rec.of) },
		"a drain":     func(r *Reconstructor, rec *record) { r.step.workers.expectDrain(rec) },
		"a forEachP":  func(r *Reconstructor, rec *record) { r.step.requests.beginForEachP(rec, reference.WhyGC, false) },
	} {
		r := ahead(5, upTo(1, 5), nil)
		r.step.ahead.due = math.MaxInt64
		rec := r.step.ahead.win.at(r.step.ahead.now)
		if expect(r, rec); r.step.ahead.due > r.step.ahead.now+1 {
			t.Errorf("%s is looked at from event %d on, want %d", name, r.step.ahead.due, r.step.ahead.now+1)
		}
		r.step.enqueuer.list, r.step.workers.list, r.step.requests.current.m = nil, nil, nobody
		if r.step.settleDue(rec); r.step.ahead.due != math.MaxInt64 {
			t.Errorf("%s is over, but looked at from event %d on", name, r.step.ahead.due)
		}
	}
}
