package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestWokenByCollector has the garbage collector, on its own stack, wake
// goroutines that wait for different things.
func TestWokenByCollector(t *testing.T) {
	const system, scavenger = 1, 2
	for _, c := range []struct {
		name  string
		why   events.Handle
		stack events.Handle
		want  reference.Queue
	}{
		{"the end of the cycle: a list (gcMarkTermination)", events.ReasonGCEnds, 0, reference.QueueLocal},
		{"the scavenger asleep: a list (scavengerState.wake)", events.ReasonSleep, scavenger, reference.QueueLocal},
		{"the scavenger suspended: alone (resumeG)", events.ReasonPreempted, scavenger, reference.QueueRunnext},
		{"a semaphore: alone (readyWithTime)", events.ReasonSync, 0, reference.QueueRunnext},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		r.stk.known = []trait{traitSeen, traitSeen | traitSysStack, traitSeen | traitScavenger}
		r.enter(&events.Event{Kind: events.Go, M: 1, P: 0, G: 1, Res: 2, Stack: system, From: events.Waiting, To: events.Runnable})
		it := r.win.at(0)
		g := r.gs.At(it.of)
		g.reason, g.stack = c.why, c.stack
		if got := r.target(it, g).to; got != c.want {
			t.Errorf("%s: into %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLabelledReader has a P that is in a mark worker's mode already start the
// trace reader, which gets the worker's label.
func TestLabelledReader(t *testing.T) {
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	for _, e := range []events.Event{
		{Kind: events.Go, M: 1, P: 0, G: events.None, Res: 2, From: events.Waiting, To: events.Runnable},
		{Kind: events.Go, M: 1, P: 0, G: events.None, Res: 2, From: events.Runnable, To: events.Running},
		{Kind: events.Label, M: 1, P: 0, G: 2, Reason: events.LabelDedicated},
	} {
		r.enter(&e)
	}
	it := r.win.at(0)
	g := r.gs.At(it.of)
	r.setClass(g, r.cls.id("runtime/trace.Start.func1", ""))
	if got := r.target(it, g).direct; got != reference.SrcTraceReader {
		t.Errorf("it is taken for %v", got)
	}
	if r.win.at(1).ev.mark != 0 {
		t.Error("its start is that of a worker")
	}
}
