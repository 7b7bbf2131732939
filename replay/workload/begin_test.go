package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// A goroutine that was in a queue before the trace began is there from the start, and a P that
// takes one from the global queue because it is its turn says where it is on the way to that.
func TestBegin(t *testing.T) {
	s := stream{NewExtractor(Options{GlobalPoll: 61})}
	s.start(0, 1)
	s.stop(100, 1, reference.WhyGosched)
	s.say(200, reference.KindReady, 2, func(d *reference.Decision) { d.Why, d.To = reference.WhyUnknown, reference.QueueLocal })
	s.start(200, 2)
	s.stop(300, 2, reference.WhyExit)
	s.say(310, reference.KindStart, 1, func(d *reference.Decision) { d.Src = reference.SrcGlobalTick })
	s.stop(400, 1, reference.WhyExit)
	w := s.e.Finish(400)
	if diff := cmp.Diff([]int32{61 - 2}, w.Ticks); diff != "" {
		t.Errorf("slices at the beginning: %s", diff)
	}
	for _, a := range w.outer {
		if w.gs[a.g].id == 2 && (a.at != 0 || a.queued != 1) {
			t.Errorf("comes at %d, in queue %d; want 0, in that of the first P", a.at, a.queued)
		}
	}
}

// The sweeper asks sysmon to wake the scavenger when it has ended a sweep, at the same point
// of its work under any schedule; without it sysmon does so at the time of the trace.
func TestScavengerIsAskedFor(t *testing.T) {
	const sweeper, scavenger = 3, 4
	for _, sweeps := range []bool{true, false} {
		s := stream{NewExtractor(Options{})}
		system := func(at int64, k reference.Kind, g int64, why reference.Why) {
			s.say(at, k, g, func(d *reference.Decision) { d.Why, d.Flags = why, reference.FlagSystem })
		}
		system(0, reference.KindStart, scavenger, 0)
		system(10, reference.KindStop, scavenger, reference.WhyBlock)
		system(20, reference.KindStart, sweeper, 0)
		if sweeps {
			system(30, reference.KindStop, sweeper, reference.WhyGosched)
			system(40, reference.KindStart, sweeper, 0)
		}
		system(50, reference.KindStop, sweeper, reference.WhyBlock)
		s.say(5_000_000, reference.KindReady, scavenger, func(d *reference.Decision) {
			d.Why, d.P, d.By, d.To, d.Flags = reference.WhySystem, reference.NoP, reference.NoG, reference.QueueGlobal, reference.FlagSystem
		})
		system(5_000_010, reference.KindStart, scavenger, 0)
		system(5_000_020, reference.KindStop, scavenger, reference.WhyExit)
		w := s.e.Finish(5_000_020)
		asks := 0
		for _, x := range steps(w, sweeper) {
			if x.kind == kAsk {
				asks++
			}
		}
		if (asks == 1) != sweeps {
			t.Errorf("sweeps: %v, and asks %d times", sweeps, asks)
		}
	}
}

// What the tracer writes is no answer that somebody waits for.
func TestTracerSendsNothing(t *testing.T) {
	for _, f := range []reference.Flags{0, reference.FlagTracer} {
		s := stream{NewExtractor(Options{})}
		s.start(0, 1)
		s.stop(10, 1, reference.WhyBlock)
		for i, k := range []reference.Kind{reference.KindStart, reference.KindSyscall, reference.KindSyscallExit} {
			s.say(20+10*int64(i), k, 2, func(d *reference.Decision) { d.Flags = f })
		}
		s.say(50, reference.KindStop, 2, func(d *reference.Decision) { d.Why, d.Flags = reference.WhyExit, f })
		s.ready(60, 1, reference.NoG, reference.WhyNetwork)
		s.start(70, 1)
		s.stop(80, 1, reference.WhyExit)
		if w := s.e.Finish(80); (w.Sent == 1) != (f == 0) {
			t.Errorf("flags %x: %d answers", int(f), w.Sent)
		}
	}
}

// What was seen at one poll of the network was not sent before another one.
func TestSeenBefore(t *testing.T) {
	for _, polled := range []bool{false, true} {
		s := stream{NewExtractor(Options{})}
		s.start(0, 1)
		s.stop(10, 1, reference.WhyBlock)
		s.start(20, 2)
		s.say(30, reference.KindSyscall, 2, nil)
		s.say(40, reference.KindSyscallExit, 2, nil)
		s.stop(50, 2, reference.WhyBlock)
		if polled {
			s.say(60, reference.KindPStop, reference.NoG, func(d *reference.Decision) { d.Why = reference.WhyIdle })
			s.say(5000, reference.KindPStart, reference.NoG, nil)
		}
		s.ready(5000, 1, reference.NoG, reference.WhyNetwork)
		s.start(5010, 1)
		s.stop(5020, 1, reference.WhyExit)
		if w := s.e.Finish(5020); (w.Sent == 0) != polled {
			t.Errorf("polled before: %v, and %d answers sent", polled, w.Sent)
		}
	}
}
