package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestPutsUntil has a mark worker make goroutines runnable, in two lots.
func TestPutsUntil(t *testing.T) {
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	var f feed
	f.begin(1000)
	var evs []events.Event
	for _, e := range []struct{ at, g int64 }{{100, 1}, {100 + putsPause, 2}, {200 + putsPause, 3}, {201 + 2*putsPause, 4}} {
		evs = append(evs, events.Event{Kind: events.Go, G: 1000, Time: e.at, Res: e.g, From: events.Waiting, To: events.Runnable})
	}
	r.Add(append(f.evs, evs...))
	r.ms[0].next = int64(len(f.evs))
	if got, want := r.putsUntil(0), int64(201+putsPause); got != want {
		t.Errorf("the first lot ends before %d, want %d", got, want)
	}
	r.ms[0].next--
	if got := r.putsUntil(0); got != 0 {
		t.Errorf("the thread begins with something else, but its puts end at %d", got)
	}
}

// TestKept has a worker's P go on with what is first in its own queue.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		name       string
		in, global []int64
		says, kept bool
	}{
		{"a queue that is kept", []int64{1, 2}, []int64{3}, false, true},
		{"which may have come back from the global queue", []int64{1, 2}, nil, false, false},
		{"the head of the global queue before it", []int64{2}, []int64{1, 3}, true, false},
		{"nothing in the queue", nil, []int64{1, 2, 3}, false, true},
	} {
		r := ahead(3, upTo(1, 3), c.in)
		for _, g := range c.global {
			r.q.PutGlobal(r.gs.find(g))
		}
		for g := range int64(3) {
			r.gs.At(r.gs.find(g + 1)).state = events.Runnable
		}
		r.ps[0].phase.saw(plain)
		r.ps[0].phase.saw(plain)
		r.ps[0].phase.next() // no tick
		if says, kept := r.drained(drain{p: 0, m: 0, g: nobody}); says != c.says || kept != c.kept {
			t.Errorf("%s: drained %v, kept %v", c.name, says, kept)
		}
	}
}
