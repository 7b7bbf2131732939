package gcdisplacement_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	gcdisplacement "github.com/gmpscope/gmpscope/analyze/findings/gc-displacement"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding { return detectWith(s, gcdisplacement.Default()) }

func detectWith(s *Stream, t gcdisplacement.Thresholds) []findings.Finding {
	f := s.Facts()
	for _, d := range s.Decisions {
		if d.Kind == reference.KindStart && d.Flags&reference.FlagSystem == 0 {
			f.Waits.User.TotalNs += d.Wait
		}
	}
	return s.DetectWith(gcdisplacement.New(t), f)
}

func cycle(s *Stream, k reference.Kind) *Stream { return s.Emit(reference.Decision{Kind: k}) }

// mark starts a mark worker on P p.
func mark(s *Stream, g int64, p int32, mode reference.Reason) *Stream {
	s.Flags(reference.FlagGC|reference.FlagSystem, g).Start(g, p)
	s.Decisions[len(s.Decisions)-1].Reason = mode
	return s
}

// waits has goroutine 9 of class 2 wait for ns while a mark worker has the only
// P, n times; it needs 1 ms. Then comes a wait of other for someone that runs.
func waits(n int, ns, other int64, mode reference.Reason) *Stream {
	s := New(1).Class(2, 9).Class(3, 8)
	for range n {
		cycle(s, reference.KindGCBegin)
		mark(s, 100, 0, mode).Local(9, 0, reference.WhyUnblock).Pass(ns).Block(100, reference.ReasonSystem)
		cycle(s, reference.KindGCEnd)
		s.Run(9, 0, Ms, reference.WhyBlock)
		if other > 0 {
			s.Local(8, 0, reference.WhyUnblock).Start(8, 0).Local(9, 0, reference.WhyUnblock).Pass(other).Stop(8, reference.WhyBlock)
			s.Run(9, 0, Ms, reference.WhyBlock)
		}
		s.Pass(Ms)
	}
	return s
}

func TestFindsWaitsForWorkers(t *testing.T) {
	x := One(t, detect(waits(20, 10*Ms, 0, reference.ReasonFractional)), gcdisplacement.ID, findings.Critical)
	if want := 20 * 10 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if a := x.Actors[0]; a.Role != findings.Victim || a.Class != "main.class2" || a.G != 9 {
		t.Errorf("actor %v", a)
	}
	text := Text([]findings.Finding{x})
	if x.Basis != findings.Inferred || !strings.Contains(text, "P-time of fractional workers: 200 ms in 20 runs") || !strings.Contains(text, "beside goroutines that waited: 0 ") {
		t.Error(text)
	}
	if !strings.Contains(x.Advice[1].String(), "fractional") {
		t.Error(x.Advice)
	}
}

// Cycles that package testing asks for are not the program's.
func TestLeavesCyclesOfPackageTestingOut(t *testing.T) {
	const byTesting, byProgram = 41, 42
	for _, mixed := range []bool{false, true} {
		s := New(1).Class(2, 9)
		for i := range 40 {
			stack := int32(byTesting)
			if mixed && i%2 == 0 {
				stack = byProgram
			}
			s.Emit(reference.Decision{Kind: reference.KindGCBegin, G: 9}).Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 9, Stack: stack})
			s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 9})
			mark(s, 100, 0, reference.ReasonFractional).Local(9, 0, reference.WhyUnblock).Pass(10*Ms).Block(100, reference.ReasonSystem)
			cycle(s, reference.KindGCEnd).Run(9, 0, Ms, reference.WhyBlock).Pass(Ms)
		}
		f := s.Facts()
		f.Waits.User.TotalNs = 40 * 10 * Ms
		f.Stack = func(stack int32) []string {
			switch stack {
			case byTesting:
				return []string{"runtime.GC (runtime/mgc.go:555)", "testing.(*B).runN (testing/benchmark.go:207)", "testing.(*B).launch (testing/benchmark.go:357)"}
			case byProgram:
				return []string{"runtime.mallocgc (runtime/malloc.go:1113)", "main.work (main.go:3)"}
			}
			return nil
		}
		list := s.DetectWith(gcdisplacement.New(gcdisplacement.Default()), f)
		if !mixed {
			None(t, list)
		} else if x, want := One(t, list, gcdisplacement.ID, findings.Warning), 20*10*Ms; x.CostNs != want {
			t.Errorf("cost %d, want %d", x.CostNs, want)
		}
	}
}

// Eight wait at first for one worker on two Ps; each needs 1 ms. Without it one
// more would run, and after each millisecond one more would be through, until
// half of the waiting is the worker's.
func TestCostFollowsWhatTheWorkersPWouldHaveServed(t *testing.T) {
	s := New(2).Class(2, 1, 2, 3, 4, 5, 6, 7, 8).Class(3, 50)
	s.Local(60, 1, reference.WhyUnblock).Run(60, 1, Ms, reference.WhyBlock) // the mean run
	s.Local(50, 1, reference.WhyUnblock).Start(50, 1)
	mark(cycle(s, reference.KindGCBegin), 100, 0, reference.ReasonDedicated)
	for g := range int64(8) {
		s.Local(1+g, 0, reference.WhyUnblock)
	}
	s.Pass(10*Ms).Block(100, reference.ReasonSystem)
	for g := range int64(8) {
		s.Start(1+g, 0).Stop(1+g, reference.WhyBlock)
	}
	f := gcdisplacement.Default()
	f.MinCount, f.LongNs = 1, Ms
	x := One(t, detectWith(s, f), gcdisplacement.ID, findings.Note)
	// 1 to 4 goroutines in the first 3 ms, then 4.
	want := 3*Ms + 9*Ms/2 + 4*7*Ms
	if d := x.CostNs - want; d < -100 || d > 100 {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

func TestIdleWorkersThatRunOnAreTold(t *testing.T) {
	x := One(t, detect(waits(20, 10*Ms, 0, reference.ReasonIdle)), gcdisplacement.ID, findings.Critical)
	c := x.Actors[len(x.Actors)-1]
	if c.Role != findings.Cause || c.G != 100 || *c.P != 0 || !strings.Contains(Text([]findings.Finding{x}), "beside goroutines that waited: 20 ") {
		t.Error(Text([]findings.Finding{x}))
	}
}

func TestShortPartsAreSilent(t *testing.T) {
	None(t, detect(waits(200, 990*Us, 0, reference.ReasonFractional)))
	None(t, detect(waits(2, 100*Ms, 0, reference.ReasonFractional)))
}

// Where other things make most of the waiting, it is a note, then nothing.
func TestSmallShares(t *testing.T) {
	if x := One(t, detect(waits(100, 2*Ms, 22*Ms, reference.ReasonDedicated)), gcdisplacement.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
	One(t, detect(waits(100, 2*Ms, 16*Ms, reference.ReasonDedicated)), gcdisplacement.ID, findings.Warning)
	None(t, detect(waits(100, 2*Ms, 40*Ms, reference.ReasonDedicated)))
}

// The wait began before the cycle: only what lies in it counts.
func TestWaitsFromBeforeTheCycle(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 20 {
		s.Local(8, 0, reference.WhyUnblock).Start(8, 0).Local(9, 0, reference.WhyUnblock).Pass(5*Ms).Stop(8, reference.WhyBlock)
		mark(cycle(s, reference.KindGCBegin), 100, 0, reference.ReasonDedicated).Pass(4*Ms).Block(100, reference.ReasonSystem)
		cycle(s, reference.KindGCEnd).Run(9, 0, Ms, reference.WhyBlock)
	}
	if x := One(t, detect(s), gcdisplacement.ID, findings.Warning); x.CostNs != 20*4*Ms {
		t.Errorf("cost %d", x.CostNs)
	}
}

// A wait may last through several cycles.
func TestWaitsOfMoreThanOneCycle(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 20 {
		mark(cycle(s, reference.KindGCBegin), 100, 0, reference.ReasonDedicated).Local(9, 0, reference.WhyUnblock).Pass(4*Ms).Block(100, reference.ReasonSystem)
		mark(cycle(cycle(s, reference.KindGCEnd), reference.KindGCBegin), 100, 0, reference.ReasonDedicated).Pass(4*Ms).Block(100, reference.ReasonSystem)
		cycle(s, reference.KindGCEnd).Run(9, 0, Ms, reference.WhyBlock)
	}
	if x := One(t, detect(s), gcdisplacement.ID, findings.Critical); x.CostNs != 20*8*Ms {
		t.Errorf("cost %d", x.CostNs)
	}
}

// The worker that ends the marking may keep its P.
func TestWorkersAfterTheCycle(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 20 {
		cycle(mark(cycle(s, reference.KindGCBegin), 100, 0, reference.ReasonDedicated), reference.KindGCEnd)
		s.Local(9, 0, reference.WhyUnblock).Pass(8*Ms).Block(100, reference.ReasonSystem).Run(9, 0, Ms, reference.WhyBlock)
	}
	if x := One(t, detect(s), gcdisplacement.ID, findings.Critical); x.CostNs != 20*8*Ms {
		t.Errorf("cost %d", x.CostNs)
	}
}

// Another P is idle, so it is not the worker that keeps it waiting.
func TestAnIdlePExcusesTheWorker(t *testing.T) {
	s := cycle(New(2).PStop(1), reference.KindGCBegin)
	for range 20 {
		mark(s, 100, 0, reference.ReasonDedicated).Local(9, 0, reference.WhyUnblock).Pass(10*Ms).Block(100, reference.ReasonSystem).Run(9, 0, Ms, reference.WhyBlock)
	}
	None(t, detect(s))
}

// So does one that has a thread and is about to take it.
func TestAWakingPExcusesTheWorker(t *testing.T) {
	s := cycle(New(2).PStop(1), reference.KindGCBegin)
	for range 20 {
		s.PStart(1)
		mark(s, 100, 0, reference.ReasonDedicated).Local(9, 0, reference.WhyUnblock).Pass(10*Ms).Start(9, 1)
		s.Block(100, reference.ReasonSystem).Stop(9, reference.WhyBlock).PStop(1)
	}
	None(t, detect(s))
}

func TestYieldedDoNotCount(t *testing.T) {
	s := cycle(New(1), reference.KindGCBegin)
	for range 20 {
		mark(s, 100, 0, reference.ReasonDedicated).Global(9, reference.WhyGosched).Pass(10*Ms).Block(100, reference.ReasonSystem).Run(9, 0, Ms, reference.WhyGosched)
	}
	None(t, detect(s))
}

func TestStrainedMachineIsSuspected(t *testing.T) {
	s := waits(20, 10*Ms, 0, reference.ReasonFractional)
	for i := range 2000 {
		ns := 20 * Us
		if i%100 == 99 {
			ns = 20 * Ms
		}
		s.Class(4, 5).Local(5, 0, reference.WhyUnblock).Run(5, 0, ns, reference.WhyBlock)
	}
	if x := One(t, detect(s), gcdisplacement.ID, findings.Note); x.Basis != findings.Suspected || x.Severity != findings.Warning {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}

func TestSaysWhoAllocatesAndThatTheHeapHasNoRoom(t *testing.T) {
	s := waits(20, 10*Ms, 0, reference.ReasonFractional)
	for range 3 {
		s.Emit(reference.Decision{Kind: reference.KindGCBegin, G: 9}).Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 9, Stack: 5})
		s.Emit(reference.Decision{Kind: reference.KindSTWEnd}).Emit(reference.Decision{Kind: reference.KindGCEnd})
	}
	f := s.Facts()
	f.Waits.User.TotalNs = 200 * Ms
	x := One(t, s.DetectWith(gcdisplacement.New(gcdisplacement.Default()), f), gcdisplacement.ID, findings.Critical)
	if want := "allocate less in main.f5 (main.go:5), keep"; !strings.Contains(x.Advice[0].String(), want) {
		t.Errorf("no %q in %q", want, x.Advice[0])
	}
	f.Headroom = timeline.Headroom{Cycles: 20, Tight: 20, Alive: 20 << 20, Goal: 20 << 20}
	x = One(t, s.DetectWith(gcdisplacement.New(gcdisplacement.Default()), f), gcdisplacement.ID, findings.Critical)
	if !strings.HasPrefix(x.Headline.String(), "The heap has no room to grow") || !strings.HasPrefix(x.Advice[0].String(), "Raise the memory limit") || !strings.Contains(x.Advice[0].String(), "main.f5") {
		t.Errorf("%s\n%q", x.Headline, x.Advice)
	}
}
