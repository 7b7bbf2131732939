package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// TestWokenByItsThread has a goroutine that blocks and is made runnable by
// nobody, and goes on on the same thread.
func TestWokenByItsThread(t *testing.T) {
	const root, scavenger, sleeps = 1, 2, 3 // stacks
	for _, c := range []struct {
		name  string
		why   events.Handle
		stack events.Handle
		gap   int64
		want  reference.Source
		sure  bool
	}{
		{"a timer", events.ReasonSleep, sleeps, 200, reference.SrcRunnext, true},
		{"a timer's channel", events.ReasonSelect, sleeps, 200, reference.SrcRunnext, true},
		{"the root of a bubble", events.ReasonSync, root, 200, reference.SrcDirect, true},
		{"the scavenger's timer", events.ReasonSleep, scavenger, 200, reference.SrcLocal, true},
		{"the poller was first", events.ReasonNetwork, sleeps, 200, reference.SrcDirect, false},
		{"a poll", events.ReasonNetwork, sleeps, 5_000, reference.SrcNetpoll, false},
	} {
		var f feed
		f.begin(1000)
		f.add(events.Event{G: 1000, Res: 1000, From: events.Running, To: events.Waiting, Reason: c.why, TStack: c.stack})
		f.now += c.gap - 1_000
		f.add(events.Event{G: events.None, Res: 1000, From: events.Waiting, To: events.Runnable})
		f.start(1000)
		got := f.starts(func(r *Reconstructor) {
			r.step.ahead.traits = stacks.Given(stacks.Bubble, stacks.Scavenger, 0)
		})
		if len(got) != 1 {
			t.Fatalf("%s: %d starts", c.name, len(got))
		}
		if d := got[0]; d.Src != c.want || (d.Basis.Level() >= reference.Inferred) != c.sure {
			t.Errorf("%s: from %v, %v", c.name, d.Src, d.Basis)
		}
	}
}
