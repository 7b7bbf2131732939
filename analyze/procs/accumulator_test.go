package procs_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

func run(ds []reference.Decision, end int64) procs.Result {
	a := procs.New()
	feed := ledger.NewFeed(a.Add)
	feed.AddAll(ds)
	feed.Close(end)
	return a.Finish()
}

// TestByHand checks a stream whose account was made up with pencil and paper.
func TestByHand(t *testing.T) {
	const noP = reference.NoP
	ds := []reference.Decision{
		{Time: 0, Kind: reference.KindProcs, Batch: 2},
		{Time: 0, Kind: reference.KindPStart, P: 0, Flags: reference.FlagFirst},
		{Time: 0, Kind: reference.KindReady, G: 1, P: noP, To: reference.QueueGlobal, Global: 1},
		{Time: 10, Kind: reference.KindStart, G: 1, P: 0, Victim: noP, Src: reference.SrcGlobal},
		// Two goroutines are made, P1 wakes up and steals the older.
		{Time: 20, Kind: reference.KindReady, G: 2, P: 0, To: reference.QueueRunnext, Local: 1},
		{Time: 30, Kind: reference.KindReady, G: 3, P: 0, To: reference.QueueRunnext, Local: 2},
		{Time: 30, Kind: reference.KindMove, G: 2, P: 0, Victim: 0, To: reference.QueueLocal, Local: 2, Why: reference.WhyDisplaced},
		{Time: 40, Kind: reference.KindPStart, P: 1},
		{Time: 45, Kind: reference.KindSteal, P: 1, Victim: 0, Batch: 1},
		{Time: 45, Kind: reference.KindStart, G: 2, P: 1, Victim: 0, Src: reference.SrcSteal},
		// G2 enters a system call, P1 is retaken, handed off, and parks.
		{Time: 50, Kind: reference.KindSyscall, G: 2, P: 1},
		{Time: 70, Kind: reference.KindRetake, P: 1, Why: reference.WhyRetakeSlow},
		{Time: 71, Kind: reference.KindHandoff, P: 1, M: 4, Why: reference.WhyRetakeSlow},
		{Time: 75, Kind: reference.KindPStart, P: 1},
		{Time: 80, Kind: reference.KindPStop, P: 1, Why: reference.WhyIdle},
		// The world stops; P0 runs a mark worker afterwards.
		{Time: 90, Kind: reference.KindPreempt, G: 1, P: 0, Why: reference.WhySTW},
		{Time: 90, Kind: reference.KindStop, G: 1, P: 0, Why: reference.WhySTW},
		{Time: 90, Kind: reference.KindReady, G: 1, P: 0, To: reference.QueueRunnext, Local: 2},
		{Time: 90, Kind: reference.KindPStop, P: 0, Why: reference.WhySTW},
		{Time: 95, Kind: reference.KindPStart, P: 0},
		{Time: 96, Kind: reference.KindSTWEnd},
		{Time: 97, Kind: reference.KindReady, G: 9, P: 0, To: reference.QueueDirect, Local: 2, Flags: reference.FlagGC},
		{Time: 97, Kind: reference.KindStart, G: 9, P: 0, Victim: noP, Src: reference.SrcGCWorker, Local: 2, Flags: reference.FlagGC},
	}
	got := run(ds, 100)
	want := procs.Result{
		Ps: []procs.Proc{
			{
				P: 0, LifetimeNs: 100, RunningNs: 80, GCNs: 3, SchedNs: 10 + 2, StoppedNs: 5, Starts: 2,
				QueueMean: (1*10 + 2*15 + 1*45 + 2*10) / 100.0, QueueMax: 2,
			},
			{
				P: 1, LifetimeNs: 100, RunningNs: 5, SyscallNs: 20, SchedNs: 5 + 5, IdleNs: 40 + 5 + 20,
				Starts: 1, Parks: 1,
			},
		},
		Steals:      procs.Steals{Count: 1, Moved: 1, Matrix: [][]int64{{0, 0}, {1, 0}}},
		Handoffs:    procs.Counts{Count: 1, ByCause: map[string]int64{"sysmon": 1}},
		Retakes:     procs.Counts{Count: 1, ByCause: map[string]int64{"sysmon": 1}},
		Preemptions: procs.Counts{Count: 1, ByCause: map[string]int64{"stw": 1}},
		GlobalTakes: 1,
		Queues: procs.Queues{
			GlobalMean: 10.0 / 100, GlobalMax: 1, LocalMean: 105.0 / 100,
			RunnableMean: (10 + 105) / 100.0, RunnableMax: 3, // the worker is runnable for an instant
		},
		Procs: []procs.Procs{{AtNs: 0, N: 2}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestTruth compares the account with that of the slow oracle, P by P.
func TestTruth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := procstest.Generate(
			func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") },
			procstest.Options{Steps: 60, Gaps: rapid.Bool().Draw(rt, "gaps")},
		)
		check(rt, s)
	})
	for seed := range uint64(100) {
		check(t, procstest.Generate(rand.New(rand.NewPCG(seed, 1)).IntN, procstest.Options{Steps: 2000, Ps: 9, Gaps: seed%2 == 1}))
	}
}

type failer interface {
	Errorf(format string, args ...any)
}

func check(t failer, s procstest.Stream) {
	got := run(s.Decisions, s.End)

	type truth struct {
		times [ledger.NotRecorded + 1]int64
		queue float64
		life  int64
	}
	var ps []truth
	var global, local, runnable, recorded float64
	for _, m := range s.Moments {
		dt := m.To - m.From
		if !m.Gap {
			recorded += float64(dt)
		}
		if ps == nil {
			ps = make([]truth, len(m.States))
		}
		for p, known := range m.Known {
			local += float64(m.Local[p]) * float64(dt)
			if !known {
				continue
			}
			ps[p].times[m.States[p]] += dt
			ps[p].queue += float64(m.Local[p]) * float64(dt)
			ps[p].life += dt
		}
		global += float64(m.Global) * float64(dt)
		for _, g := range m.Gs {
			if g.Runnable {
				runnable += float64(dt)
			}
		}
	}
	for _, p := range got.Ps {
		sum := p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs + p.SyscallNs + p.SchedNs + p.IdleNs + p.StoppedNs + p.UnusedNs + p.NotRecordedNs
		if sum != p.LifetimeNs {
			t.Errorf("P%d: times sum to %d, lifetime %d", p.P, sum, p.LifetimeNs)
		}
		if len(ps) == 0 {
			continue
		}
		w := ps[p.P]
		want := procs.Proc{
			P: p.P, LifetimeNs: w.life, RunningNs: w.times[ledger.User], SystemNs: w.times[ledger.System],
			GCNs: w.times[ledger.GC], TracerNs: w.times[ledger.Tracer], SyscallNs: w.times[ledger.Syscall],
			SchedNs: w.times[ledger.Sched], IdleNs: w.times[ledger.Idle], StoppedNs: w.times[ledger.Stopped],
			UnusedNs: w.times[ledger.Unused], NotRecordedNs: w.times[ledger.NotRecorded], Starts: p.Starts, Parks: p.Parks, QueueMax: p.QueueMax,
			QueueMean: p.QueueMean,
		}
		if life := float64(w.life - w.times[ledger.NotRecorded]); life > 0 && math.Abs(p.QueueMean-w.queue/life) > 1e-9 {
			t.Errorf("P%d: mean queue %v, want %v", p.P, p.QueueMean, w.queue/life)
		}
		if d := cmp.Diff(want, p); d != "" {
			t.Errorf("P%d: -want +got:\n%s", p.P, d)
		}
	}
	if recorded > 0 {
		for _, q := range []struct {
			name      string
			got, want float64
		}{
			{"global", got.Queues.GlobalMean, global / recorded},
			{"local", got.Queues.LocalMean, local / recorded},
			{"runnable", got.Queues.RunnableMean, runnable / recorded},
		} {
			if math.Abs(q.got-q.want) > 1e-9 {
				t.Errorf("mean %s length %v, want %v", q.name, q.got, q.want)
			}
		}
	}
	var steals, moved int64
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.Kind == reference.KindSteal {
			steals++
			moved += int64(d.Batch)
		}
	}
	for _, row := range got.Steals.Matrix {
		for _, n := range row {
			steals -= n
		}
	}
	if steals != 0 || got.Steals.Moved != moved {
		t.Errorf("steals: matrix is off by %d; %d moved, want %d", steals, got.Steals.Moved, moved)
	}
}

// TestHostile feeds decisions that no scheduler makes: the account must still
// sum up, in bounded memory, and say what it left out.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pick := []int32{-7, -1, 0, 1, 2, 511, 512, 4095, 4096, 1 << 20, math.MaxInt32, math.MinInt32}
	any32 := func() int32 { return pick[r.IntN(len(pick))] }
	var ds []reference.Decision
	for range 20000 {
		ds = append(ds, reference.Decision{
			Time: int64(r.Uint64N(math.MaxInt64)) >> r.IntN(63), G: int64(any32()), P: any32(), Victim: any32(), Batch: any32(),
			Local: any32(), Global: any32(), Kind: reference.Kind(r.IntN(24)), Src: reference.Source(r.IntN(256)),
			Why: reference.Why(r.IntN(256)), Flags: reference.Flags(r.IntN(256)),
		})
	}
	got := run(ds, 5)
	for _, p := range got.Ps {
		sum := p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs + p.SyscallNs + p.SchedNs + p.IdleNs + p.StoppedNs + p.UnusedNs + p.NotRecordedNs
		if sum != p.LifetimeNs {
			t.Errorf("P%d: times sum to %d, lifetime %d", p.P, sum, p.LifetimeNs)
		}
	}
	if len(got.Ps) > ledger.MaxPs || got.OmittedPs == 0 || got.OmittedMentions == 0 {
		t.Errorf("%d Ps, %d omitted, %d mentions", len(got.Ps), got.OmittedPs, got.OmittedMentions)
	}
	if got.Steals.Matrix != nil {
		t.Error("steal matrix for more than 512 Ps")
	}
}

func TestIntegral(t *testing.T) {
	var i procs.Integral
	i.Add(math.MaxInt64, math.MaxInt64)
	i.Add(-1, 5)
	i.Add(5, -1)
	j := i
	i.Plus(j)
	if got, want := i.Mean(math.MaxInt64), 2*float64(math.MaxInt64); got != want {
		t.Errorf("got %g, want %g", got, want)
	}
	if got := i.Mean(0); got != 0 {
		t.Errorf("mean over nothing is %g", got)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, ps := range []int{4, 64} {
		b.Run(map[int]string{4: "ps=4", 64: "ps=64"}[ps], func(b *testing.B) {
			s := procstest.Generate(rand.New(rand.NewPCG(1, 2)).IntN, procstest.Options{
				Steps: 100_000, Ps: ps, Live: 4 * ps, Ring: 256, NoTruth: true,
			})
			ds := s.Decisions
			a := procs.New()
			feed := ledger.NewFeed(a.Add)
			b.ReportAllocs()
			base := int64(0)
			i := 0
			for b.Loop() {
				d := ds[i]
				d.Time += base
				feed.Add(&d)
				if i++; i == len(ds) {
					i = 0
					base += s.End
				}
			}
		})
	}
}
