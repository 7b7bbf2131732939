package findings

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// feeder feeds a View by hand. Decisions happen on P 0 unless they say so.
type feeder struct {
	w    *follower
	feed *ledger.Feed
	at   int64
}

func newFeeder() *feeder {
	w, feed := Follow()
	return &feeder{w: w, feed: feed}
}

func (f *feeder) add(d reference.Decision) *feeder {
	d.Time, d.Victim = f.at, reference.NoP
	if d.By == 0 {
		d.By = reference.NoG
	}
	if d.G == 0 {
		d.G = reference.NoG
	}
	f.feed.Add(&d)
	return f
}

func (f *feeder) pass(ns int64) *feeder { f.at += ns; return f }

// procs makes n Ps, all with a thread.
func (f *feeder) procs(n int32) *feeder {
	f.add(reference.Decision{Kind: reference.KindProcs, P: reference.NoP, Batch: n})
	for p := range n {
		f.add(reference.Decision{Kind: reference.KindPStart, P: p})
	}
	return f
}

func (f *feeder) ready(g, by int64) *feeder {
	return f.add(reference.Decision{Kind: reference.KindReady, G: g, By: by, To: reference.QueueLocal, Why: reference.WhyUnblock})
}

func (f *feeder) start(g int64, p int32, src reference.Source, flags reference.Flags) *feeder {
	return f.add(reference.Decision{Kind: reference.KindStart, G: g, P: p, Src: src, Flags: flags})
}

func (f *feeder) stop(g int64, p int32, why reference.Why) *feeder {
	d := reference.Decision{Kind: reference.KindStop, G: g, P: p, Why: why}
	if why == reference.WhyBlock {
		d.Reason = reference.ReasonChanReceive
	}
	return f.add(d)
}

// A preemption ends a turn, though the slice goes on with whoever inherits it.
func TestTurns(t *testing.T) {
	f := newFeeder()
	var got [][4]int64
	f.w.SliceParts(5, func(x *SlicePart) { got = append(got, [4]int64{x.From, x.To, x.G, int64(x.Runs)}) })
	f.procs(1)
	f.start(1, 0, reference.SrcLocal, 0).pass(3).stop(1, 0, reference.WhyBlock)
	f.start(2, 0, reference.SrcRunnext, reference.FlagInherits).pass(9).stop(2, 0, reference.WhySlice)
	f.start(3, 0, reference.SrcRunnext, reference.FlagInherits).pass(6).stop(3, 0, reference.WhyBlock)
	f.start(4, 0, reference.SrcLocal, 0).pass(4).stop(4, 0, reference.WhySlice)
	f.add(reference.Decision{Kind: reference.KindPStop, Why: reference.WhyIdle})
	want := [][4]int64{{0, 12, 2, 2}, {12, 18, 3, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRunIntervalsAskedForByKind(t *testing.T) {
	f := newFeeder()
	var moved, stolen, window []int64
	f.w.Runs(RunFilter{Moved: true}, func(s *Run) { moved = append(moved, s.From) })
	f.w.Runs(RunFilter{Stolen: true}, func(s *Run) { stolen = append(stolen, s.From) })
	f.w.Windows(100, func(s *Run) { window = append(window, s.To) })
	f.procs(2)
	for i, p := range []int32{0, 0, 1, 0} {
		src := reference.SrcLocal
		if i == 2 {
			src = reference.SrcSteal
		}
		f.start(1, p, src, 0).pass(40).stop(1, p, reference.WhyBlock)
	}
	f.start(2, 1, reference.SrcSteal, reference.FlagSystem).pass(100).stop(2, 1, reference.WhyBlock)
	f.start(1, 0, reference.SrcLocal, 0).pass(1).stop(1, 0, reference.WhyBlock)
	if !slices.Equal(moved, []int64{80, 120}) || !slices.Equal(stolen, []int64{80}) || !slices.Equal(window, []int64{120, 261}) {
		t.Errorf("moved %v, stolen %v, first in their windows %v", moved, stolen, window)
	}
	if h := f.w.History(0); h.StartAt != 260 || h.StartRan != 160 || f.w.History(1).SliceAt != 160 {
		t.Errorf("last start at %d, after %d ns of running; last slice of P 1 at %d", h.StartAt, h.StartRan, f.w.History(1).SliceAt)
	}
}

// What goroutines do again on their P is known by class.
func TestClassesKeepWhatDidNotMove(t *testing.T) {
	f := newFeeder()
	f.procs(2)
	f.start(1, 0, reference.SrcLocal, 0).pass(10).stop(1, 0, reference.WhyBlock)
	f.start(1, 0, reference.SrcLocal, 0).pass(20).stop(1, 0, reference.WhyBlock)
	f.start(1, 0, reference.SrcLocal, 0).pass(30).stop(1, 0, reference.WhySlice)
	f.start(1, 1, reference.SrcLocal, 0).pass(40).stop(1, 1, reference.WhyBlock)
	f.start(2, 0, reference.SrcLocal, 0).add(reference.Decision{Kind: reference.KindSyscall, G: 2}).
		pass(5).add(reference.Decision{Kind: reference.KindSyscallExit, G: 2})
	c := f.w.ClassStat(0)
	if kept := c.Kept(); c.Runs != 4 || c.Again != 2 || c.AgainNs != 50 || kept.N != 1 || kept.Median() < 16 || kept.Median() > 24 || c.Over(1) != 4 || c.Calls != 1 {
		t.Errorf("%d run intervals, %d on the same P, of %d ns, %d kept, about %d ns; %d calls", c.Runs, c.Again, c.AgainNs, kept.N, kept.Median(), c.Calls)
	}
}

// What a goroutine marks for the collector is told of each of its run intervals.
func TestRunsTellAssists(t *testing.T) {
	f := newFeeder()
	var got []int64
	f.w.Runs(RunFilter{}, func(r *Run) { got = append(got, r.AssistNs) })
	f.procs(1)
	f.start(1, 0, reference.SrcLocal, 0).pass(10).add(reference.Decision{Kind: reference.KindAssistBegin, G: 1}).pass(20).
		add(reference.Decision{Kind: reference.KindAssistEnd, G: 1}).pass(40).add(reference.Decision{Kind: reference.KindAssistBegin, G: 1}).pass(3).stop(1, 0, reference.WhyBlock)
	f.start(1, 0, reference.SrcLocal, 0).pass(5).add(reference.Decision{Kind: reference.KindAssistEnd, G: 1}).pass(7).stop(1, 0, reference.WhyBlock)
	f.start(1, 0, reference.SrcLocal, 0).pass(9).stop(1, 0, reference.WhyBlock)
	if want := []int64{23, 5, 0}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

func TestUseOfThePs(t *testing.T) {
	f := newFeeder()
	var uses []Use
	var held []HeldUp
	f.w.Uses(func(u *Use) { uses = append(uses, *u) })
	f.w.HeldUps(func(h *HeldUp) { held = append(held, *h) })
	f.procs(2)
	f.start(1, 0, reference.SrcLocal, 0).start(2, 1, reference.SrcLocal, 0).pass(7)
	f.stop(2, 1, reference.WhyBlock).pass(30).ready(2, 1).pass(100)
	f.start(2, 1, reference.SrcSteal, 0).pass(5).stop(2, 1, reference.WhyBlock).ready(2, reference.NoG).ready(2, 1)
	slack := 0
	for _, u := range uses {
		if u.Slack {
			slack++
		}
	}
	if slack != 3 || len(uses) != 6 || f.w.ParallelNs() != 12 {
		t.Errorf("%d of %d with slack, parallel for %d ns: %+v", slack, len(uses), f.w.ParallelNs(), uses)
	}
	if len(held) != 1 || held[0].G.ID != 2 || held[0].By.ID != 1 || held[0].Ns != 30 || held[0].To != 37 {
		t.Errorf("held up: %+v", held)
	}
	if r := f.w.RunIntegral(); r.Ns != 2*7+30+100+2*5 || r.BusyNs != 142 || r.Squares != 4*7+30+100+4*5 {
		t.Errorf("ran %+v", r)
	}
}

// System calls that are taken at once count as if each decision had been.
func TestUseDuringBriefCalls(t *testing.T) {
	var calls []reference.Decision
	for _, at := range []int64{10, 20, 25, 40, 40, 47} {
		d := reference.Decision{Time: at, G: 1, Kind: reference.KindSyscall, Victim: reference.NoP, By: reference.NoG, Stack: 3}
		if len(calls)%2 == 1 {
			d.Kind = reference.KindSyscallExit
		}
		calls = append(calls, d)
	}
	view := func(n int32) *feeder {
		f := newFeeder()
		f.procs(n)
		for p := range n {
			f.start(int64(p)+1, p, reference.SrcLocal, 0)
		}
		f.ready(9, 1).pass(5).stop(1, 0, reference.WhyGosched).start(1, 0, reference.SrcLocal, 0)
		return f
	}
	for _, n := range []int32{2, 3} { // one less than n is parallel only of three
		single, all := view(n), view(n).w
		one := single.w
		for i := range calls {
			single.feed.Add(&calls[i])
		}
		if got := all.addCalls(calls); got != len(calls) {
			t.Fatalf("%d Ps: took %d of %d decisions", n, got, len(calls))
		}
		one.finish(50)
		all.finish(50)
		if one.ParallelNs() != all.ParallelNs() || one.loadSum != all.loadSum || *one.RunIntegral() != *all.RunIntegral() {
			t.Errorf("%d Ps: parallel for %d ns one by one, %d ns at once; load %v and %v", n, one.ParallelNs(), all.ParallelNs(), one.loadSum, all.loadSum)
		}
		if got, want := all.ParallelNs(), map[int32]int64{2: 50 - 32, 3: 50}[n]; got != want {
			t.Errorf("%d Ps: parallel for %d ns, want %d", n, got, want)
		}
		if one.LastRun(0).SyscallNs != 32 || all.LastRun(0).SyscallNs != 32 {
			t.Errorf("%d Ps: %d ns and %d ns in system calls, want 32", n, one.LastRun(0).SyscallNs, all.LastRun(0).SyscallNs)
		}
	}
}

// An idle P beside a goroutine that it could run is lost, until it is on its way.
func TestLostPs(t *testing.T) {
	f := newFeeder()
	var lost []int64
	f.w.IdlePs(func(*reference.Decision) { lost = append(lost, f.w.UnservedByIdlePs()) })
	f.procs(2).add(reference.Decision{Kind: reference.KindPStop, P: 1, Why: reference.WhyIdle})
	f.start(1, 0, reference.SrcLocal, 0)
	lost = nil
	f.ready(2, 1).ready(3, 1).add(reference.Decision{Kind: reference.KindPStart, P: 1})
	if !slices.Equal(lost, []int64{1, 0}) {
		t.Errorf("%v", lost)
	}
}

func TestCrowds(t *testing.T) {
	f := newFeeder()
	var crowd []int64
	var calm []bool
	f.w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: Crowded}, func(d *reference.Decision) {
		crowd, calm = append(crowd, d.G), append(calm, f.w.UncrowdedSince())
	})
	f.procs(1).ready(1, reference.NoG).ready(2, reference.NoG).ready(3, reference.NoG)
	if !slices.Equal(crowd, []int64{2, 3}) || !slices.Equal(calm, []bool{true, false}) {
		t.Errorf("crowds with %v, calm before: %v", crowd, calm)
	}
}
