package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
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
		r.step.ahead.traits = stacks.Given(stacks.SysStack, stacks.Scavenger)
		r.link.enter(&events.Event{Kind: events.Go, M: 1, P: 0, G: 1, Res: 2, Stack: system, From: events.Waiting, To: events.Runnable})
		rec := r.step.ahead.win.at(0)
		gp := r.step.ahead.gStates.At(rec.of)
		gp.reason, gp.stack = c.why, c.stack
		if got := r.step.targets.target(rec, gp).to; got != c.want {
			t.Errorf("%s: into %v, want %v", c.name, got, c.want)
		}
	}
}

// TestWokenBySweep has a goroutine that blocked before the trace began woken on the
// collector's own stack: by gcStart, that is the scavenger (finishsweep_m); by
// gcMarkTermination, the sweeper, which goes into runnext.
func TestWokenBySweep(t *testing.T) {
	for caller, want := range map[string]reference.Queue{
		"runtime.gcStart":           reference.QueueLocal,
		"runtime.gcMarkTermination": reference.QueueRunnext,
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		r.step.ahead.traits = stacks.Given(stacks.Classify([]*events.Frame{{Func: "runtime.systemstack_switch"}, {Func: caller}}))
		r.link.enter(&events.Event{Kind: events.Go, M: 1, P: 0, G: 1, Res: 2, Stack: 1, From: events.Waiting, To: events.Runnable})
		rec := r.step.ahead.win.at(0)
		if got := r.step.targets.target(rec, r.step.ahead.gStates.At(rec.of)).to; got != want {
			t.Errorf("%s: into %v, want %v", caller, got, want)
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
		r.link.enter(&e)
	}
	rec := r.step.ahead.win.at(0)
	gp := r.step.ahead.gStates.At(rec.of)
	r.step.out.setClass(gp, r.step.ahead.classes.Started("runtime/trace.Start.func1", ""))
	if got := r.step.targets.target(rec, gp).direct; got != reference.SrcTraceReader {
		t.Errorf("it is taken for %v", got)
	}
	if r.step.ahead.win.at(1).mark != 0 {
		t.Error("its start is that of a worker")
	}
}
