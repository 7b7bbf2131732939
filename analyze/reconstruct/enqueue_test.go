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
		r.traits = stacks.Given(stacks.SysStack, stacks.Scavenger)
		r.enter(&events.Event{Kind: events.Go, M: 1, P: 0, G: 1, Res: 2, Stack: system, From: events.Waiting, To: events.Runnable})
		rec := r.win.at(0)
		gp := r.gStates.At(rec.of)
		gp.reason, gp.stack = c.why, c.stack
		if got := r.targets.target(rec, gp).to; got != c.want {
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
		r.traits = stacks.Given(stacks.Classify([]events.Frame{{Func: "runtime.systemstack_switch"}, {Func: caller}}))
		r.enter(&events.Event{Kind: events.Go, M: 1, P: 0, G: 1, Res: 2, Stack: 1, From: events.Waiting, To: events.Runnable})
		rec := r.win.at(0)
		if got := r.targets.target(rec, r.gStates.At(rec.of)).to; got != want {
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
		r.enter(&e)
	}
	rec := r.win.at(0)
	gp := r.gStates.At(rec.of)
	r.setClass(gp, r.classes.Started("runtime/trace.Start.func1", ""))
	if got := r.targets.target(rec, gp).direct; got != reference.SrcTraceReader {
		t.Errorf("it is taken for %v", got)
	}
	if r.win.at(1).mark != 0 {
		t.Error("its start is that of a worker")
	}
}

// TestVisitThatGoesOn has the tracer visit all Ps, and have no event for long: the
// garbage collector's visit after it, or its other requests, count then.
func TestVisitThatGoesOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     int64 // since the visit began
		gc     bool  // marks
		visits []forEachPAhead
		want   reference.Why
	}{
		{"just begun", 1000, true, nil, reference.WhyGeneration},
		{"long ago", forEachPTime + 1, false, nil, reference.WhyGeneration},
		{"long ago, and the collector marks", forEachPTime + 1, true, nil, reference.WhyUnknown},
		{"another began after it", 1000, true, []forEachPAhead{{from: 12, to: 30, why: reference.WhyGC}}, reference.WhyGC},
		{"another may have begun after it", 1000, true, []forEachPAhead{{from: 8, to: 30, why: reference.WhyGC}}, reference.WhyGeneration},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(22)})
		r.now, r.time, r.gcOpen, r.forEachPsAhead = 20, c.at, c.gc, c.visits
		r.current = forEachP{why: reference.WhyGeneration, from: 10}
		if got := r.forEachPReason(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestVisitResumed has the tracer's goroutine stop between the begin of a generation and
// its visit of all Ps, and go on.
func TestVisitResumed(t *testing.T) {
	const advance, waker = 1, 8
	for _, c := range []struct {
		name  string
		to    events.State
		why   events.Handle
		stack events.Handle
		by    int64
		want  reference.Why
	}{
		{"preempted", events.Runnable, events.ReasonPreempted, 0, 0, reference.WhyGeneration},
		{"waits for the reader, after it", events.Waiting, events.ReasonSync, advance, events.None, reference.WhyUnknown},
		{"waits for worldsema, before it", events.Waiting, events.ReasonSync, advance, waker, reference.WhyGeneration},
		{"has only begun the trace, and waits for something", events.Waiting, events.ReasonSync, 0, waker, reference.WhyUnknown},
	} {
		var f feed
		f.begin(7)
		f.evs = append(f.evs, events.Event{Kind: events.Procs, Time: f.now, G: 7, Res: 2})
		f.stop(7, c.to, c.why)
		f.evs[len(f.evs)-1].TStack = c.stack
		if c.to == events.Waiting {
			f.add(events.Event{G: c.by, Res: 7, From: events.Waiting, To: events.Runnable})
		}
		f.start(7)
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(22)})
		r.traits = stacks.Given(stacks.Advance)
		r.Add(f.evs)
		r.Finish()
		if got := r.forEachPReason(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
