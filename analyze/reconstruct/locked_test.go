package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestStolenForItsThread has P 0 make goroutine 10 runnable and go idle. Thread 1 has
// stolen it for P 1 by then, and gives that P to thread 2, to which 10 is locked. Or
// 10 ran on thread 3 before, and is not.
func TestStolenForItsThread(t *testing.T) {
	for _, on := range []int64{2, 3} {
		last, corrections := stolenFor(on)
		stolen := last.G == 10 && last.Src == reference.SrcStealRunnext && last.Victim == 0 && last.Flags&reference.FlagLocked != 0 &&
			last.Basis.Level() >= reference.Inferred && corrections == 0
		if stolen != (on == 2) {
			t.Errorf("it ran on thread %d before: %+v, %d corrections", on, last, corrections)
		}
	}
}

// stolenFor returns the last start, of goroutine 10, which ran on a thread before, and
// how often the model was corrected.
func stolenFor(on int64) (last reference.Decision, corrections int64) {
	var f feed
	p := func(m, id int64, to events.State) {
		from := events.Idle
		if to == events.Idle {
			from = events.Running
		}
		f.add(events.Event{M: m, P: int32(id), G: events.None, Res: id, From: from, To: to})
		f.evs[len(f.evs)-1].Kind = events.Proc
	}
	g := func(m int64, p int32, id int64, from, to events.State) {
		f.add(events.Event{M: m, P: p, G: id, Res: id, From: from, To: to, Reason: events.ReasonSync})
	}
	p(0, 0, events.Running)
	f.add(events.Event{M: 0, P: 0, G: 1, Res: 1, From: events.Undetermined, To: events.Running})
	p(on, 1, events.Running)
	f.add(events.Event{M: 0, P: 0, G: 1, Res: 10, From: events.NotExist, To: events.Runnable})
	f.add(events.Event{M: on, P: 1, G: events.None, Res: 10, From: events.Runnable, To: events.Running})
	g(on, 1, 10, events.Running, events.Waiting)
	p(on, 1, events.Idle)
	p(1, 1, events.Running)
	f.add(events.Event{M: 0, P: 0, G: 1, Res: 10, From: events.Waiting, To: events.Runnable})
	g(0, 0, 1, events.Running, events.Waiting)
	p(0, 0, events.Idle)
	p(1, 1, events.Idle)
	p(2, 1, events.Running)
	f.add(events.Event{M: 2, P: 1, G: events.None, Res: 10, From: events.Runnable, To: events.Running})

	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		if d.Kind == reference.KindStart {
			last = *d
		}
	})})
	r.step.resize.setProcs(2)
	r.Add(f.evs)
	return last, r.Finish().Corrections
}
