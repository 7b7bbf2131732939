package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// TestForEachPGoesOn has the tracer call forEachP, and have no event for long: the
// garbage collector's forEachP after it, or its other requests, count then.
func TestForEachPGoesOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    int64 // since the forEachP began
		gc    bool  // marks
		ahead []forEachPAhead
		want  reference.Why
	}{
		{"just begun", 1000, true, nil, reference.WhyGeneration},
		{"long ago", forEachPTime + 1, false, nil, reference.WhyGeneration},
		{"long ago, and the collector marks", forEachPTime + 1, true, nil, reference.WhyUnknown},
		{"another began after it", 1000, true, []forEachPAhead{{from: 12, to: 30, why: reference.WhyGC}}, reference.WhyGC},
		{"another may have begun after it", 1000, true, []forEachPAhead{{from: 8, to: 30, why: reference.WhyGC}}, reference.WhyGeneration},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(22)})
		r.step.ahead.now, r.step.ahead.time, r.step.requests.gcOpen, r.step.requests.forEachPsAhead = 20, c.at, c.gc, c.ahead
		r.step.requests.current = forEachP{why: reference.WhyGeneration, from: 10}
		if got := func() reference.Why { why, _ := r.step.requests.forEachPNow(); return why }(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestForEachPResumed has the tracer's goroutine stop between the begin of a generation and
// its forEachP, and go on.
func TestForEachPResumed(t *testing.T) {
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
		r.step.ahead.traits = stacks.Given(stacks.Advance)
		r.Add(f.evs)
		r.Finish()
		if got := func() reference.Why { why, _ := r.step.requests.forEachPNow(); return why }(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestForEachPByWorker has a worker end the mark phase, or a goroutine that assists, which may run
// on after the forEachP.
func TestForEachPByWorker(t *testing.T) {
	for flags, want := range map[reference.Flags]bool{reference.FlagGC: true, 0: false} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(25)})
		r.step.ahead.gStates.At(r.step.model.goroutine(3)).flags = flags
		r.step.ps.stw = stwState{open: true, g: 3, why: "GC mark termination"}
		r.link.enter(&events.Event{Kind: events.Procs, M: 1, P: 0, G: 3, Res: 2})
		r.step.next()
		if why, sure := r.step.requests.forEachPNow(); why != reference.WhyGC || sure != want {
			t.Errorf("%v: %v, %v", flags, why, sure)
		}
	}
}
