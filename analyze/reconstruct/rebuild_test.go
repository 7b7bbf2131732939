package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// Unchecked has the stepper recover from panics for one test, as it does in production.
func Unchecked(t *testing.T) {
	was := checked
	checked = false
	t.Cleanup(func() { checked = was })
}

// waves has goroutine 1000 create goroutines, wait until they have run, and begin again.
func waves(n, size int64) *feed {
	f := &feed{}
	f.begin(1000)
	for i := range n {
		for g := range size {
			f.add(events.Event{G: 1000, Res: 1 + i*size + g, From: events.NotExist, To: events.Runnable})
		}
		f.stop(1000, events.Waiting, events.ReasonSleep)
		f.start((i + 1) * size) // out of runnext
		for g := range size - 1 {
			f.stop(1+i*size+(g+size-1)%size, events.NotExist, 0)
			f.start(1 + i*size + g)
		}
		f.stop((i+1)*size-1, events.NotExist, 0)
		f.add(events.Event{G: events.None, Res: 1000, From: events.Waiting, To: events.Runnable})
		f.start(1000)
	}
	return f
}

// TestRebuild breaks the model in the middle of a stream: what follows is reconstructed
// as if nothing had happened, but for the event at which the stepper panics.
func TestRebuild(t *testing.T) {
	const n, size = 10, 20
	for name, c := range map[string]struct {
		spoil      func(r *Reconstructor)
		violations int64
		lost       int64 // starts
	}{
		"nothing": {func(*Reconstructor) {}, 0, 0},
		// Goroutine 1000 runs: it shows when it becomes runnable.
		"a running goroutine is queued": {func(r *Reconstructor) { r.step.queues.PutGlobal(r.step.model.goroutine(1000)) }, 1, 0},
		"an index of no goroutine":      {func(r *Reconstructor) { r.step.ahead.mStates[0].lastG = 1 << 20 }, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			Unchecked(t)
			f := waves(n, size)
			var starts, lost int64
			last := int64(0)
			r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
				if d.Time < last {
					t.Errorf("a decision at %d after one at %d", d.Time, last)
				}
				last = d.Time
				switch {
				case d.Kind == reference.KindStart && d.Flags&reference.FlagFirst == 0:
					starts++
				case d.Kind == reference.KindStop && d.Why == reference.WhyLost:
					lost++
				}
			})})
			r.Add(f.evs)
			for r.step.ahead.win.tail < 3*(3*size+3)+size {
				r.step.next()
			}
			c.spoil(r)
			sum := r.Finish()
			if want := n*(size+1) - c.lost; starts != want || sum.Violations != c.violations || lost != c.violations {
				t.Errorf("%d starts, %d violations, %d goroutines lost sight of; want %d starts, %d violations", starts, sum.Violations, lost, want, c.violations)
			}
			if err := r.step.queues.Check(); err != nil || r.step.queues.Len(0)+r.step.queues.GlobalLen() != 0 {
				t.Errorf("the queues at the end: %d and %d goroutines, %v", r.step.queues.Len(0), r.step.queues.GlobalLen(), err)
			}
		})
	}
}

// TestRefuted has a choice break the model of its fork: it is not believed, whichever comes first.
func TestRefuted(t *testing.T) {
	Unchecked(t)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.Add(waves(2, 20).evs)
	for r.step.ahead.win.tail < 25 {
		r.step.next()
	}
	right, creator := choice{}, r.step.model.goroutine(1000)
	for name, wrong := range map[string]choice{
		"at once": {apply: func(fork *stepper) { fork.queues.PutGlobal(fork.queues.Head(0)) }},
		"later":   {apply: func(fork *stepper) { fork.queues.PutGlobal(creator) }},
	} {
		if got := r.step.engine.compare(hypForks, right, wrong, forkLen); got > -forkSure {
			t.Errorf("%s: right, wrong: %v", name, got)
		}
		if got := r.step.engine.compare(hypForks, wrong, right, forkLen); got < forkSure {
			t.Errorf("%s: wrong, right: %v", name, got)
		}
	}
	if got := r.step.out.summary.Violations; got != 4 {
		t.Errorf("%d violations, want 4", got)
	}
	if sum := r.Finish(); sum.Violations != 4 || sum.Unexplained != 0 {
		t.Errorf("the forks have changed the model: %+v", sum)
	}
}

// TestGivesUpRebuilding breaks the model again and again: then queues are not rebuilt any more.
func TestGivesUpRebuilding(t *testing.T) {
	Unchecked(t)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	r.Add(waves(2, 20).evs)
	for r.step.ahead.win.tail < 25 {
		r.step.next()
	}
	r.step.rebuilding = rebuildFirst + 1<<20
	r.step.queues.PutGlobal(r.step.model.goroutine(1000))
	if sum := r.Finish(); !r.step.ahead.reduced || sum.Violations != 1 || sum.Unexplained == 0 || sum.Starts == 0 {
		t.Errorf("reduced %t, %+v", r.step.ahead.reduced, sum)
	}
}

// TestPanicOfSink has the sink panic: that is not the stepper's mistake, and not recovered from.
func TestPanicOfSink(t *testing.T) {
	Unchecked(t)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: func([]reference.Decision) []reference.Decision { panic("full") }})
	defer func() {
		if got := recover(); got != "full" {
			t.Errorf("recovered %v", got)
		}
	}()
	r.Add(waves(2000, 40).evs) // more than the window has, and than a block
	r.Finish()
	t.Error("no panic")
}
