package findings

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

func TestSwitch(t *testing.T) {
	w, feed := Follow()
	kinds := []reference.Kind{reference.KindGCBegin, reference.KindGCEnd}
	var got []string
	note := func(name string) *Switch {
		return w.Decisions(DecisionFilter{Kinds: kinds}, func(d *reference.Decision) { got = append(got, name) })
	}
	first, second := note("first"), note("second")
	for _, c := range []struct {
		first, second bool
		want          []string
	}{
		{true, true, []string{"first", "second", "first", "second"}},
		{false, true, []string{"second", "second"}},
		{false, false, nil},
		{true, false, []string{"first", "first"}},
		{true, true, []string{"first", "second", "first", "second"}},
	} {
		got = nil
		first.Set(c.first)
		second.Set(c.second)
		second.Set(c.second)
		for _, k := range kinds {
			feed.Add(&reference.Decision{Kind: k, G: reference.NoG, P: reference.NoP})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("on %v, %v: called %v, want %v", c.first, c.second, got, c.want)
		}
	}
}

// All fields of a filter must hold, also where others ask for less.
func TestFiltersOfIntervals(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter RunFilter
		want   int
	}{
		{"all", RunFilter{}, 4},
		{"long", RunFilter{MinNs: 20}, 2},
		{"longer", RunFilter{MinNs: 30}, 1},
		{"preempted", RunFilter{Whys: []reference.Why{reference.WhySlice}}, 2},
		{"long and preempted", RunFilter{MinNs: 20, Whys: []reference.Why{reference.WhySlice}}, 1},
		{"waited", RunFilter{MinWaitNs: 5}, 2},
		{"waited, long", RunFilter{MinWaitNs: 5, MinNs: 30}, 1},
		{"moved", RunFilter{Moved: true}, 2},
		{"stolen", RunFilter{Stolen: true}, 1},
		{"moved and stolen", RunFilter{Moved: true, Stolen: true}, 1},
		{"stolen and preempted", RunFilter{Stolen: true, Whys: []reference.Why{reference.WhySlice}}, 0},
	} {
		w := newFollower()
		n := 0
		w.Runs(c.filter, func(*Run) { n++ })
		w.Runs(RunFilter{MinNs: 1}, func(*Run) {})
		w.Runs(RunFilter{MinWaitNs: 1}, func(*Run) {})
		for _, r := range []Run{
			{To: 10, Wait: 7, Why: reference.WhySlice},
			{To: 20, Wait: -1, Why: reference.WhySlice, Moved: true},
			{To: 30, Wait: 7, Why: reference.WhyBlock, Moved: true, Src: reference.SrcSteal},
			{To: 9, Why: reference.WhyBlock, System: true, Moved: true, Src: reference.SrcSteal},
		} {
			w.emitRun(&r)
		}
		if n != c.want {
			t.Errorf("%s: %d run intervals, want %d", c.name, n, c.want)
		}
	}
	w := newFollower()
	got := map[string]int{}
	w.Slices(SliceFilter{MinNs: 5}, func(*Slice) { got["long slice"]++ })
	w.Slices(SliceFilter{MinNs: 9, Whys: []reference.Why{reference.WhySlice}}, func(*Slice) { got["long preempted slice"]++ })
	w.Slices(SliceFilter{Whys: []reference.Why{reference.WhySlice}}, func(*Slice) { got["preempted slice"]++ })
	w.Syscalls(SyscallFilter{MinNs: 5}, func(*Syscall) { got["long call"]++ })
	w.Syscalls(SyscallFilter{MinNs: 9, Lost: true}, func(*Syscall) { got["long or lost call"]++ })
	w.Syscalls(SyscallFilter{Lost: true}, func(*Syscall) { got["lost call"]++ })
	w.Syscalls(SyscallFilter{}, func(*Syscall) { got["call"]++ })
	for _, why := range []reference.Why{reference.WhySlice, reference.WhyBlock} {
		w.emitSlice(&Slice{To: 5, Why: why})
		w.emitSlice(&Slice{To: 10, Why: why})
	}
	for _, why := range []reference.Why{reference.WhySyscallExit, reference.WhyRetakeSlow} {
		w.emitSyscall(&Syscall{To: 4, Why: why})
		w.emitSyscall(&Syscall{To: 10, Why: why})
	}
	for name, want := range map[string]int{
		"long slice": 4, "long preempted slice": 1, "preempted slice": 2,
		"long call": 2, "long or lost call": 3, "lost call": 2, "call": 4,
	} {
		if got[name] != want {
			t.Errorf("%s: %d, want %d", name, got[name], want)
		}
	}
}

func TestDecisionFiltersThatMeanNothing(t *testing.T) {
	start := []reference.Kind{reference.KindStart}
	whys := []reference.Why{reference.WhyTimer}
	for _, f := range []DecisionFilter{
		{},
		{Whys: whys},
		{Kinds: start, Whys: whys, When: FirstOnP},
		{Kinds: start, Reasons: []reference.Reason{reference.ReasonSync}},
		{Kinds: start, When: Crowded},
		{Kinds: []reference.Kind{reference.KindStop}, ReadyWhys: whys},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken", f)
				}
			}()
			newFollower().Decisions(f, func(*reference.Decision) {})
		}()
	}
}

func TestWakeUpsByTheNetwork(t *testing.T) {
	f := newFeeder()
	var noP []int64
	f.w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: WithoutP}, func(d *reference.Decision) { noP = append(noP, d.G) })
	f.procs(1).ready(1, reference.NoG)
	f.add(reference.Decision{Kind: reference.KindReady, G: 2, Why: reference.WhyNetwork})
	f.add(reference.Decision{Kind: reference.KindReady, G: 3, Why: reference.WhyNetwork, Flags: reference.FlagNoP})
	f.add(reference.Decision{Kind: reference.KindReady, G: 4, Why: reference.WhyNetwork, Flags: reference.FlagSystem})
	if f.w.Totals().NetworkWakes != 2 || !slices.Equal(noP, []int64{3}) {
		t.Errorf("%d wake-ups of the program, without a P those of %v", f.w.Totals().NetworkWakes, noP)
	}
}

// Each subscription gets the decisions that it is for, and no others.
func TestDecisionFilters(t *testing.T) {
	w, feed := Follow()
	got := map[string][]int64{}
	note := func(name string) func(*reference.Decision) {
		return func(d *reference.Decision) { got[name] = append(got[name], d.G) }
	}
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyTimer}}, note("timer"))
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Reasons: []reference.Reason{reference.ReasonSync}}, note("sync"))
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Reasons: []reference.Reason{reference.ReasonSync}}, note("block"))
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, ReadyWhys: []reference.Why{reference.WhyTimer}}, note("after timer"))
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: MarkWorker}, note("gc"))
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: FirstOnP}, note("first"))
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: Unexplained}, note("unexplained"))
	mark := w.NewMark()
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Mark: mark}, note("marked"))
	w.Runs(RunFilter{MinNs: 50}, func(s *Run) { got["long"] = append(got["long"], s.G) })
	w.Runs(RunFilter{Whys: []reference.Why{reference.WhyExit}}, func(s *Run) { got["ended"] = append(got["ended"], s.G) })
	w.Runs(RunFilter{MinWaitNs: 100}, func(s *Run) {
		got["waited"] = append(got["waited"], s.G)
		if s.Load != 2 {
			t.Errorf("load %v", s.Load)
		}
	})
	w.LongQueues(2, func(some *bool) {
		n := int64(0)
		if *some {
			n = 1
		}
		got["queue"] = append(got["queue"], n)
	})

	known := reference.Known(reference.Observed, reference.RuleNone)
	at := int64(0)
	add := func(d reference.Decision) {
		d.Time, d.Victim = at, reference.NoP
		if d.By == 0 {
			d.By = reference.NoG
		}
		feed.Add(&d)
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
	if g := w.Ended(); g.ID != 2 {
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
	if s := w.LastRun(0); s == nil || s.G != 2 || s.Ns() != 10 || w.History(0).StopAt != 110 || w.History(0).Starts != 3 || w.Totals().Runs != 2 || w.Totals().Stops != 1 {
		t.Errorf("%+v, stopped at %d, %d starts, %d run intervals, %d stops", s, w.History(0).StopAt, w.History(0).Starts, w.Totals().Runs, w.Totals().Stops)
	}
	add(reference.Decision{Kind: reference.KindPStop, G: reference.NoG, Why: reference.WhyIdle})
	if w.LastRun(0) != nil {
		t.Error("a P without a thread has a last run interval")
	}
}

// Whoever asks when all marks are taken is called for all goroutines.
func TestMoreMarksThanThereAre(t *testing.T) {
	w, feed := Follow()
	var called int
	for range maxMarks {
		w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Mark: w.NewMark()}, func(*reference.Decision) { t.Error("called for a goroutine without mark") })
	}
	m := w.NewMark()
	if m != 0 {
		t.Errorf("mark %#x", m)
	}
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Mark: m}, func(*reference.Decision) { called++ })
	d := reference.Decision{Kind: reference.KindStop, G: 1, P: reference.NoP, By: reference.NoG, Why: reference.WhyBlock}
	feed.Add(&d)
	if called != 1 {
		t.Errorf("%d calls", called)
	}
}
