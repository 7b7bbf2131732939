package findings

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

func TestCallsBeyondTheSwitches(t *testing.T) {
	var c calls[int]
	var got []int
	var switches []*Switch
	for i := range maxCalls + 3 {
		switches = append(switches, c.ask(func(*int) { got = append(got, i) }))
	}
	for i, s := range switches {
		s.Set(i == 1)
	}
	c.call(new(int))
	if want := []int{1, maxCalls, maxCalls + 1, maxCalls + 2}; !slices.Equal(got, want) {
		t.Errorf("called %v, want %v", got, want)
	}
	got = nil
	switches[0].Set(true)
	switches[1].Set(false)
	c.call(new(int))
	if want := []int{0, maxCalls, maxCalls + 1, maxCalls + 2}; !slices.Equal(got, want) {
		t.Errorf("called %v, want %v", got, want)
	}
}

func TestWakeUpsByTheNetwork(t *testing.T) {
	f := &feeder{w: NewWorld()}
	var noP []int64
	f.w.OnNoP(func(d *reference.Decision) { noP = append(noP, d.G) })
	f.procs(1).ready(1, reference.NoG)
	f.add(reference.Decision{Kind: reference.KindReady, G: 2, Why: reference.WhyNetwork})
	f.add(reference.Decision{Kind: reference.KindReady, G: 3, Why: reference.WhyNetwork, Flags: reference.FlagNoP})
	f.add(reference.Decision{Kind: reference.KindReady, G: 4, Why: reference.WhyNetwork, Flags: reference.FlagSystem})
	if f.w.NetworkWakes() != 2 || !slices.Equal(noP, []int64{3}) {
		t.Errorf("%d wake-ups of the program, without a P those of %v", f.w.NetworkWakes(), noP)
	}
}

// Each request gets the decisions that it is for, and no others.
func TestRequests(t *testing.T) {
	w := NewWorld()
	got := map[string][]int64{}
	note := func(name string) func(*reference.Decision) {
		return func(d *reference.Decision) { got[name] = append(got[name], d.G) }
	}
	w.OnWhy(note("timer"), reference.KindReady, reference.WhyTimer)
	w.OnWake(note("sync"), reference.ReasonSync)
	w.OnBlock(note("block"), reference.ReasonSync)
	w.OnStart(note("after timer"), reference.WhyTimer)
	w.OnGC(note("gc"), reference.KindStart)
	w.OnFirst(note("first"))
	w.OnUnexplained(note("unexplained"))
	mark := w.OnMarked(note("marked"), reference.KindStop)
	w.OnLongStint(func(s *Stint) { got["long"] = append(got["long"], s.G) }, 50)
	w.OnStintWhy(func(s *Stint) { got["ended"] = append(got["ended"], s.G) }, reference.WhyExit)
	w.OnLongWait(func(s *Stint) {
		got["waited"] = append(got["waited"], s.G)
		if s.Load != 2 {
			t.Errorf("load %v", s.Load)
		}
	}, 100)
	w.OnLongQueue(func(some *bool) {
		n := int64(0)
		if *some {
			n = 1
		}
		got["queue"] = append(got["queue"], n)
	}, 2)

	known := reference.Known(reference.Observed, reference.RuleNone)
	at := int64(0)
	add := func(d reference.Decision) {
		d.Time, d.Victim = at, reference.NoP
		if d.By == 0 {
			d.By = reference.NoG
		}
		w.add(&d)
	}
	add(reference.Decision{Kind: reference.KindProcs, G: reference.NoG, P: reference.NoP, Batch: 1})
	add(reference.Decision{Kind: reference.KindPStart, G: reference.NoG})
	add(reference.Decision{Kind: reference.KindReady, G: 1, To: reference.QueueLocal, Why: reference.WhyTimer})
	add(reference.Decision{Kind: reference.KindReady, G: 2, To: reference.QueueLocal, Why: reference.WhyCreate})
	add(reference.Decision{Kind: reference.KindStart, G: 1, Src: reference.SrcLocal, Basis: known})
	w.Mark(w.Slot(), mark)
	at = 100
	add(reference.Decision{Kind: reference.KindStop, G: 1, Why: reference.WhyBlock, Reason: reference.ReasonSync})
	add(reference.Decision{Kind: reference.KindStart, G: 2, Src: reference.SrcLocal, Wait: 100})
	add(reference.Decision{Kind: reference.KindReady, G: 1, By: 2, To: reference.QueueLocal, Why: reference.WhyUnblock})
	at = 110
	add(reference.Decision{Kind: reference.KindStop, G: 2, Why: reference.WhyExit})
	if _, g := w.Ended(); g.ID != 2 {
		t.Errorf("goroutine %d ended", g.ID)
	}
	add(reference.Decision{Kind: reference.KindStart, G: 3, Flags: reference.FlagGC, Src: reference.SrcGCWorker, Basis: known})

	for name, want := range map[string][]int64{
		"timer": {1}, "sync": {1}, "block": {1}, "after timer": {1}, "gc": {3}, "first": {1}, "unexplained": {2}, "marked": {1},
		"long": {1}, "ended": {2}, "waited": {2}, "queue": {1, 0},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if s := w.LastStint(0); s == nil || s.G != 2 || s.Ns() != 10 || w.StoppedAt(0) != 110 || w.Began(0) != 3 || w.Stints() != 2 || w.Stops() != 1 {
		t.Errorf("%+v, stopped at %d, %d starts, %d run intervals, %d stops", s, w.StoppedAt(0), w.Began(0), w.Stints(), w.Stops())
	}
	add(reference.Decision{Kind: reference.KindPStop, G: reference.NoG, Why: reference.WhyIdle})
	if w.LastStint(0) != nil {
		t.Error("a P without a thread has a last run interval")
	}
}

// Whoever asks when all marks are taken is called for all goroutines.
func TestMoreMarksThanThereAre(t *testing.T) {
	w := NewWorld()
	var called int
	for range maxMarks {
		w.OnMarked(func(*reference.Decision) { t.Error("called for a goroutine without mark") }, reference.KindStop)
	}
	if m := w.OnMarked(func(*reference.Decision) { called++ }, reference.KindStop); m != 0 {
		t.Errorf("mark %#x", m)
	}
	d := reference.Decision{Kind: reference.KindStop, G: 1, P: reference.NoP, By: reference.NoG, Why: reference.WhyBlock}
	w.add(&d)
	if called != 1 {
		t.Errorf("%d calls", called)
	}
}
