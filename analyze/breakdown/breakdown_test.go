package breakdown_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

// run returns what an Accumulator says of a stream that ends at end.
func run(ds []reference.Decision, end int64) []breakdown.Class {
	a := breakdown.New(ledger.Part{})
	feed := ledger.NewFeed(a.Add)
	feed.AddAll(ds)
	return a.Finish(end, feed.Live(), nil).Classes
}

func ready(t, g int64, why reference.Why, f reference.Flags) reference.Decision {
	return reference.Decision{Time: t, Kind: reference.KindReady, G: g, Class: 1, P: 0, By: reference.NoG, Why: why, Flags: f}
}

func start(t, g int64) reference.Decision {
	return reference.Decision{Time: t, Kind: reference.KindStart, G: g, Class: 1, P: 0}
}

func stop(t, g int64, why reference.Why, r reference.Reason) reference.Decision {
	return reference.Decision{Time: t, Kind: reference.KindStop, G: g, Class: 1, P: 0, Why: why, Reason: r}
}

func syscall(t, g int64) reference.Decision {
	return reference.Decision{Time: t, Kind: reference.KindSyscall, G: g, Class: 1, P: 0}
}

func syscallExit(t, g int64, p int32) reference.Decision {
	return reference.Decision{Time: t, Kind: reference.KindSyscallExit, G: g, Class: 1, P: p}
}

func blockedFor(parts map[breakdown.Reason]int64) (ns [breakdown.Reasons]int64) {
	for r, n := range parts {
		ns[r] = n
	}
	return ns
}

func TestSplit(t *testing.T) {
	const end = 100
	first := reference.Decision{Time: 30, Kind: reference.KindStart, G: 5, Class: 1, P: 0, Wait: -1, Flags: reference.FlagFirst}
	for _, tc := range []struct {
		name   string
		stream []reference.Decision
		n      int64
		want   breakdown.TimeByState
	}{
		{"created, waits, runs, exits", []reference.Decision{
			ready(10, 5, reference.WhyCreate, 0), start(15, 5), stop(40, 5, reference.WhyExit, 0),
		}, 1, breakdown.TimeByState{RunnableNs: 5, RunningNs: 25}},
		{"blocked before the trace", []reference.Decision{
			ready(10, 5, reference.WhyUnblock, 0), start(15, 5), stop(40, 5, reference.WhyBlock, reference.ReasonNetwork),
		}, 1, breakdown.TimeByState{RunnableNs: 5, RunningNs: 25, BlockedNs: blockedFor(map[breakdown.Reason]int64{
			breakdown.ReasonUnrecorded: 10, breakdown.ReasonNetwork: 60})}},
		{"runnable before the trace", []reference.Decision{
			ready(10, 5, reference.WhyUnknown, reference.FlagFirst), start(15, 5), stop(40, 5, reference.WhyExit, 0),
		}, 1, breakdown.TimeByState{UnknownNs: 10, RunnableNs: 5, RunningNs: 25}},
		{"running before the trace", []reference.Decision{first}, 1, breakdown.TimeByState{UnknownNs: 30, RunningNs: 70}},
		{"in a system call before the trace", []reference.Decision{
			syscallExit(10, 5, reference.NoP), ready(10, 5, reference.WhySyscallExit, 0), start(15, 5),
		}, 1, breakdown.TimeByState{SyscallNs: 10, RunnableNs: 5, RunningNs: 85}},
		{"a coroutine's first switch", []reference.Decision{
			ready(10, 5, reference.WhyCoroutine, 0), start(12, 5), stop(40, 5, reference.WhyExit, 0),
		}, 1, breakdown.TimeByState{RunnableNs: 2, RunningNs: 28}},
		{"many reasons", []reference.Decision{
			ready(0, 5, reference.WhyCreate, 0), start(0, 5), stop(1, 5, reference.WhyBlock, reference.ReasonSelect),
			ready(3, 5, reference.WhyUnblock, 0), start(3, 5), stop(3, 5, reference.WhyBlock, reference.ReasonSleep),
			ready(6, 5, reference.WhyTimer, 0), start(6, 5), stop(6, 5, reference.WhyCoroutine, 0),
			ready(10, 5, reference.WhyCoroutine, 0), start(10, 5), syscall(10, 5), syscallExit(15, 5, 0),
			stop(15, 5, reference.WhyBlock, reference.ReasonSync),
			ready(21, 5, reference.WhyUnblock, 0), start(21, 5), stop(21, 5, reference.WhyBlock, reference.ReasonChanSend),
			ready(28, 5, reference.WhyUnblock, 0), start(28, 5), stop(28, 5, reference.WhyBlock, reference.ReasonSync),
			ready(29, 5, reference.WhyUnblock, 0), start(29, 5), stop(29, 5, reference.WhyBlock, reference.ReasonSelect),
			ready(30, 5, reference.WhyUnblock, 0), start(30, 5), stop(30, 5, reference.WhyExit, 0),
		}, 1, breakdown.TimeByState{RunningNs: 1, SyscallNs: 5, BlockedNs: blockedFor(map[breakdown.Reason]int64{
			breakdown.ReasonSelect: 3, breakdown.ReasonSleep: 3, breakdown.ReasonCoroutine: 4, breakdown.ReasonSync: 7, breakdown.ReasonChanSend: 7})}},
		{"brief system calls", []reference.Decision{
			ready(0, 5, reference.WhyCreate, 0), start(1, 5),
			syscall(5, 5), syscallExit(7, 5, 0), syscall(10, 5), syscallExit(14, 5, 0), stop(20, 5, reference.WhyExit, 0),
		}, 1, breakdown.TimeByState{RunnableNs: 1, RunningNs: 13, SyscallNs: 6}},
		{"a gap, then woken", []reference.Decision{
			ready(0, 5, reference.WhyCreate, 0), start(0, 5), stop(10, 5, reference.WhyBlock, reference.ReasonNetwork),
			{Time: 30, Kind: reference.KindLost, G: reference.NoG, P: reference.NoP, Wait: 20},
			ready(60, 5, reference.WhyNetwork, 0),
		}, 1, breakdown.TimeByState{RunningNs: 10, UnknownNs: 20, RunnableNs: 40, BlockedNs: blockedFor(map[breakdown.Reason]int64{
			breakdown.ReasonNetwork: 20, breakdown.ReasonUnrecorded: 10})}},
		{"a gap, lost there", []reference.Decision{
			ready(0, 5, reference.WhyCreate, 0), start(0, 5), stop(30, 5, reference.WhyLost, 0),
			{Time: 30, Kind: reference.KindLost, G: reference.NoG, P: reference.NoP, Wait: 20},
			ready(60, 5, reference.WhyNetwork, 0),
		}, 2, breakdown.TimeByState{RunningNs: 30, RunnableNs: 40, BlockedNs: blockedFor(map[breakdown.Reason]int64{
			breakdown.ReasonUnrecorded: 10})}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := []breakdown.Class{{ID: 1, Goroutines: tc.n, TimeByState: tc.want}}
			if diff := cmp.Diff(want, run(tc.stream, end), cmpopts.IgnoreFields(breakdown.Class{}, "Complete", "CompleteNs")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMoments compares random streams with what holds in each of their moments.
func TestMoments(t *testing.T) {
	for seed := range uint64(30) {
		s := procstest.Generate(rand.New(rand.NewPCG(seed, 2)).IntN, procstest.Options{Steps: 500, Gaps: seed%3 == 1})
		type sum struct{ running, runnable int64 }
		want, got := map[int32]sum{}, map[int32]sum{}
		for _, m := range s.Moments {
			for _, g := range m.Gs {
				w := want[g.Class]
				if g.Running {
					w.running += m.To - m.From
				}
				if g.Runnable {
					w.runnable += m.To - m.From
				}
				if w != (sum{}) {
					want[g.Class] = w
				}
			}
		}
		for _, c := range run(s.Decisions, s.End) {
			if w := (sum{c.RunningNs, c.RunnableNs}); w != (sum{}) {
				got[c.ID] = w
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sum{})); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// TestClassesAreBounded gives each goroutine a class of its own.
func TestClassesAreBounded(t *testing.T) {
	const n = 2500
	var ds []reference.Decision
	for g := range int64(n) {
		for _, d := range []reference.Decision{ready(g, g, reference.WhyCreate, 0), start(g, g), stop(g+1, g, reference.WhyExit, 0)} {
			d.Class = int32(g + 1)
			ds = append(ds, d)
		}
	}
	cs := run(ds, n)
	var others, all int64
	for _, c := range cs {
		all += c.RunningNs
		if c.ID == breakdown.ClassOthers {
			others = c.Goroutines
		}
	}
	if len(cs) != 2000 || others != n-1999 || all != n { // of 2000 accounts, one is of those whose class is unknown
		t.Errorf("%d classes, %d goroutines in others, %d ns", len(cs), others, all)
	}
}

// A life is complete if the stream has its beginning and its end.
func TestComplete(t *testing.T) {
	const end = 100
	for name, tc := range map[string]struct {
		stream []reference.Decision
		n, ns  int64
	}{
		"created and ended": {[]reference.Decision{ready(10, 5, reference.WhyCreate, 0), start(15, 5), stop(40, 5, reference.WhyExit, 0)}, 1, 30},
		"still there":       {[]reference.Decision{ready(10, 5, reference.WhyCreate, 0), start(15, 5)}, 0, 0},
		"there before":      {[]reference.Decision{ready(10, 5, reference.WhyUnblock, 0), start(15, 5), stop(40, 5, reference.WhyExit, 0)}, 0, 0},
		"lost":              {[]reference.Decision{ready(10, 5, reference.WhyCreate, 0), start(15, 5), stop(40, 5, reference.WhyLost, 0)}, 0, 0},
		"twice": {[]reference.Decision{
			ready(10, 5, reference.WhyCreate, 0), start(15, 5), stop(40, 5, reference.WhyExit, 0),
			ready(50, 6, reference.WhyCreate, 0), start(50, 6), stop(51, 6, reference.WhyExit, 0),
		}, 2, 31},
	} {
		if c := run(tc.stream, end)[0]; c.Complete != tc.n || c.CompleteNs != tc.ns {
			t.Errorf("%s: %d, %d ns; want %d, %d", name, c.Complete, c.CompleteNs, tc.n, tc.ns)
		}
	}
}
