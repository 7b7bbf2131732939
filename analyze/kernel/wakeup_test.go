package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// wakeups is a stream in which thread 101 is woken for G2, which it steals, and thread 102
// for P0, whose goroutine is in a system call. Later 101 is woken before there is work.
var wakeups = []reference.Decision{
	{Kind: reference.KindProcs, Batch: 2, P: reference.NoP, G: reference.NoG, M: reference.NoM},
	{Time: 0, Kind: reference.KindPStart, P: 0, M: 100, G: reference.NoG},
	{Time: 0, Kind: reference.KindStart, P: 0, M: 100, G: 1, Wait: -1},
	{Time: 10_000, Kind: reference.KindReady, P: 0, M: 100, G: 2, By: 1, To: reference.QueueRunnext},
	{Time: 41_000, Kind: reference.KindPStart, P: 1, M: 101, G: reference.NoG},
	{Time: 60_000, Kind: reference.KindStart, P: 1, M: 101, G: 2, Wait: 50_000, Src: reference.SrcSteal},
	{Time: 100_000, Kind: reference.KindSyscall, P: 0, M: 100, G: 1},
	{Time: 120_000, Kind: reference.KindReady, P: 0, M: 101, G: 3, By: 2, To: reference.QueueRunnext},
	{Time: 150_000, Kind: reference.KindRetake, P: 0, M: 100, G: reference.NoG, Why: reference.WhySyscall},
	{Time: 156_000, Kind: reference.KindHandoff, P: 0, M: 102, G: reference.NoG, Why: reference.WhySyscall},
	{Time: 156_000, Kind: reference.KindPStart, P: 0, M: 102, G: reference.NoG},
	{Time: 160_000, Kind: reference.KindStart, P: 0, M: 102, G: 3, Wait: 40_000, Src: reference.SrcRunnext},
	{Time: 162_000, Kind: reference.KindStop, P: 1, M: 101, G: 2, Why: reference.WhyBlock},
	{Time: 165_000, Kind: reference.KindPStop, P: 1, M: 101, G: reference.NoG, Why: reference.WhyIdle},
	{Time: 174_000, Kind: reference.KindPStart, P: 1, M: 101, G: reference.NoG},
	{Time: 175_000, Kind: reference.KindReady, P: 0, M: 102, G: 4, By: 3, To: reference.QueueRunnext},
	{Time: 180_000, Kind: reference.KindStart, P: 1, M: 101, G: 4, Wait: 5_000, Src: reference.SrcSteal},
	{Time: 200_000, Kind: reference.KindStop, P: 0, M: 102, G: 3, Why: reference.WhyExit},
}

// wakeupRecords are the kernel's: 101 is woken at 12,000 ns, on a CPU from 40,000 on, and
// lacks it from 42,000 to 52,000; 102 is woken at 151,000 and on a CPU from 155,000 on.
// While no P is idle, 102 is woken, too, at 130,000 for 1,000 ns.
func wakeupRecords() string {
	text := write([]change{
		{-1000, 0, 0, 100, "R"}, {-1000, 1, 101, 0, "S"}, {-900, 1, 0, 7, "R"}, {-1000, 2, 102, 0, "S"},
		{40_000, 1, 7, 101, "R"}, {42_000, 1, 101, 7, "R"}, {52_000, 1, 7, 101, "R"},
		{131_000, 2, 0, 102, "R"}, {133_000, 2, 102, 0, "S"}, {155_000, 2, 0, 102, "R"},
		{166_000, 1, 101, 0, "S"}, {172_000, 1, 0, 101, "R"},
		{300_000, 0, 100, 0, "S"}, {300_000, 1, 101, 0, "S"}, {300_000, 2, 102, 0, "S"},
	})
	lines := strings.SplitAfter(text, "\n")
	for _, w := range []struct {
		before int
		at     int64
		tid    int
	}{{11, 170_000, 101}, {9, 151_000, 102}, {7, 130_000, 102}, {4, 12_000, 101}} {
		t := start + w.at
		line := fmt.Sprintf("x 1 [000] %d.%09d: sched:sched_waking: comm=t%d pid=%d prio=120 target_cpu=%03d\n", t/1e9, t%1e9, w.tid, w.tid, w.tid-100)
		lines = slices.Insert(lines, w.before, line)
	}
	return strings.Join(lines, "")
}

// followWakeups has an Accumulator take that, and the waits of G2 and G3.
func followWakeups(t *testing.T, o Options) *Machine {
	t.Helper()
	r, err := New(strings.NewReader(wakeupRecords()), "test")
	if err != nil {
		t.Fatal(err)
	}
	a := NewAccumulator(r, o)
	for _, d := range wakeups {
		if d.Kind == reference.KindStart {
			a.Sample(start+d.Time, d.M)
		}
	}
	for at := range int64(100) { // enough to compare the clocks
		a.Sample(start+100*at, 100)
	}
	if err := a.Start(start); err != nil {
		t.Fatal(err)
	}
	spans, ps := breakdown.New(ledger.Part{}), procs.New()
	feed := ledger.NewFeed(func(b *ledger.Block) {
		var ended []waits.EndedWait
		for i, d := range b.Decisions {
			w := waits.EndedWait{From: d.Time - d.Wait, To: d.Time, At: int32(i), Kind: waits.KindUser}
			switch {
			case d.Kind == reference.KindStart && d.G == 2:
				w.Causes[atMissed], w.Causes[atWaking] = 31_000, 19_000
			case d.Kind == reference.KindStart && d.G == 3:
				w.Causes[atMissed], w.Causes[atWaking] = 6_000, 4_000
			default:
				continue
			}
			ended = append(ended, w)
		}
		if err := a.Add(b, ended); err != nil {
			t.Fatal(err)
		}
	}, spans.Add, ps.Add)
	feed.AddAll(wakeups)
	feed.Close(200_000)
	b, p := spans.Finish(200_000, feed.Live(), nil), ps.Finish()
	m, err := a.Finish(Facts{EndNs: 200_000, RecordedNs: 200_000, Live: feed.Live(), Breakdown: &b, Procs: &p})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestIdleWaits splits a wait at the moments at which the thread was woken, was on a CPU,
// and lacked one again.
func TestIdleWaits(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		want []IdleWait
	}{
		{Options{}, []IdleWait{{CauseWakingRuntime, 13_000}, {CauseWakingKernel, 10_000}, {CauseMissedRuntime, 5_000}, {CauseMissedKernel, 32_000}}},
		{Options{From: 50_000}, []IdleWait{{CauseWakingRuntime, 21_000}, {CauseWakingKernel, 2_000}, {CauseMissedRuntime, 33_000}, {CauseMissedKernel, 4_000}}},
	} {
		if m := followWakeups(t, tc.o); !slices.Equal(m.IdleWaits, tc.want) {
			t.Errorf("from %d: %v, want %v", tc.o.From, m.IdleWaits, tc.want)
		}
	}
}

// TestWakePaths has a thread woken to steal, and one for a P that was retaken.
func TestWakePaths(t *testing.T) {
	m := followWakeups(t, Options{})
	want := map[string]string{
		"start":   "2: 2 31, 4 28, 5 20",
		"steal":   "1: 2 2, 28 28, 20 20",
		"handoff": "1: 1 1, 4 4, 5 5",
	}
	for _, p := range m.WakePaths {
		got := fmt.Sprintf("%d:", p.Count)
		for i, part := range []WakePart{p.Decided, p.Woken, p.Ran} {
			if i > 0 {
				got += ","
			}
			got += fmt.Sprintf(" %d %d", part.P50Ns/1000, part.P99Ns/1000)
		}
		if got != want[p.Kind] {
			t.Errorf("%s: µs %s, want %s", p.Kind, got, want[p.Kind])
		}
		delete(want, p.Kind)
	}
	if len(want) > 0 {
		t.Errorf("no %v", want)
	}
}
