package latepreemption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	latepreemption "github.com/gmpscope/gmpscope/analyze/findings/late-preemption"
	"github.com/gmpscope/gmpscope/reference"
)

// turns has goroutine 9 run for ns until it is preempted, with 1 in the queue.
func turns(n int, ns int64) *Stream {
	s := New(1).Class(2, 9).Global(9, reference.WhyCreate)
	for range n {
		s.Start(9, 0).Local(1, 0, reference.WhyUnblock).Pass(ns).Preempt(9).Run(1, 0, 50*Us, reference.WhyBlock)
	}
	return s
}

func TestFindsLateSlices(t *testing.T) {
	x := One(t, turns(10, 80*Ms).Detect(latepreemption.New(latepreemption.Default())), latepreemption.ID, findings.Critical)
	if want := 10 * 70 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Actors[0].G != 1 || x.Actors[1].G != 9 {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestUsualSlicesAreInTime(t *testing.T) {
	for _, ns := range []int64{20 * Ms, 29 * Ms} {
		None(t, turns(30, ns).Detect(latepreemption.New(latepreemption.Default())))
	}
}

// Hops through runnext share one slice.
func TestChainsAreOneSlice(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 10 {
		s.Local(1, 0, reference.WhyUnblock).Local(7, 0, reference.WhyUnblock).Start(1, 0)
		g := int64(1)
		for range 50 {
			s.Pass(Ms).Next(3-g, 0, reference.WhyUnblock).Stop(g, reference.WhyBlock).Start(3-g, 0)
			g = 3 - g
		}
		s.Pass(Ms).Preempt(g).Run(7, 0, 10*Us, reference.WhyBlock).Run(g, 0, 10*Us, reference.WhyBlock)
	}
	x := One(t, s.Detect(latepreemption.New(latepreemption.Default())), latepreemption.ID, findings.Warning)
	if x.Evidence[2].Value.String() != "51" {
		t.Errorf("%v", x.Evidence[2])
	}
}

// A chain that goes on through runnext after a preemption was interrupted in
// time, though it keeps the slice.
func TestAPreemptionWithinASliceEndsIt(t *testing.T) {
	s := New(1)
	for range 10 {
		s.Local(7, 0, reference.WhyUnblock).Local(1, 0, reference.WhyUnblock).Start(7, 0)
		g := int64(7)
		for range 6 {
			s.Next(g+1, 0, reference.WhyTimer).Pass(10*Ms).Preempt(g).Start(g+1, 0)
			g++
		}
		s.Stop(g, reference.WhyBlock).Run(1, 0, 50*Us, reference.WhyBlock)
		for g := int64(7); g < 13; g++ {
			s.Run(g, 0, 10*Us, reference.WhyBlock)
		}
	}
	None(t, s.Detect(latepreemption.New(latepreemption.Default())))
}

// One of the runtime's that comes in at the end hides nothing.
func TestTheRuntimeAfterwards(t *testing.T) {
	s := New(1).Class(2, 9).Flags(reference.FlagSystem, 5).Global(9, reference.WhyCreate)
	for range 10 {
		s.Start(9, 0).Local(1, 0, reference.WhyUnblock).Next(5, 0, reference.WhyTimer).Pass(80 * Ms).Preempt(9)
		s.Run(5, 0, 10*Us, reference.WhyBlock).Run(1, 0, 50*Us, reference.WhyBlock)
	}
	x := One(t, s.Detect(latepreemption.New(latepreemption.Default())), latepreemption.ID, findings.Critical)
	if x.Actors[len(x.Actors)-1].G != 9 {
		t.Errorf("actors %v", x.Actors)
	}
}

// The blame is on the one that ran, not on who handed it the slice.
func TestTheLongestRunIsToBlame(t *testing.T) {
	s := New(1).Class(2, 9).Class(3, 8)
	for range 10 {
		s.Local(8, 0, reference.WhyUnblock).Local(1, 0, reference.WhyUnblock).Start(8, 0)
		s.Pass(10*Us).Next(9, 0, reference.WhyUnblock).Stop(8, reference.WhyBlock).Start(9, 0)
		s.Pass(80*Ms).Preempt(9).Run(1, 0, 50*Us, reference.WhyBlock).Run(9, 0, 10*Us, reference.WhyBlock)
	}
	x := One(t, s.Detect(latepreemption.New(latepreemption.Default())), latepreemption.ID, findings.Critical)
	if a := x.Actors[len(x.Actors)-1]; a.G != 9 || a.Class != "main.class2" {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestItsOwnStopExcusesAWhile(t *testing.T) {
	s := New(1)
	for range 10 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, reference.WhyUnblock).Pass(50*Ms).Stop(9, reference.WhyBlock).Run(1, 0, 10*Us, reference.WhyBlock)
	}
	None(t, s.Detect(latepreemption.New(latepreemption.Default())))
}

func TestSystemCallsAreNoRunning(t *testing.T) {
	s := New(1)
	for range 10 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, reference.WhyUnblock)
		s.Emit(reference.Decision{Kind: reference.KindSyscall, G: 9, Class: 1, P: 0}).Pass(80 * Ms)
		s.Emit(reference.Decision{Kind: reference.KindSyscallExit, G: 9, Class: 1, P: 0}).Pass(Ms).Preempt(9)
		s.Run(1, 0, 10*Us, reference.WhyBlock).Run(9, 0, 10*Us, reference.WhyBlock)
	}
	None(t, s.Detect(latepreemption.New(latepreemption.Default())))
}

func TestOneThatNobodyWaitedForIsANote(t *testing.T) {
	s := New(2).Local(9, 0, reference.WhyCreate).Start(9, 0).Pass(300 * Ms).Preempt(9)
	x := One(t, s.Detect(latepreemption.New(latepreemption.Default())), latepreemption.ID, findings.Note)
	if x.Severity != findings.Note || x.CostNs != 0 || x.Basis != findings.Suspected {
		t.Errorf("%s %d %s", x.Severity, x.CostNs, x.Basis)
	}
}

// Code that is interrupted anywhere could have been asked in time: a thread without a CPU makes it late.
func TestWhatIsInterruptedAnywhereIsANote(t *testing.T) {
	n := 0
	here := func() string { return "main.sum (main.go:7)" }
	there := func() string { n++; return fmt.Sprintf("main.parse (main.go:%d)", n) }
	signal := func() string { return "runtime.asyncPreempt (preempt_amd64.s:7)" }
	for _, c := range []struct {
		name string
		leaf func() string
		want findings.Severity
	}{{"one place", here, findings.Critical}, {"signals", signal, findings.Note}, {"many places", there, findings.Note}} {
		s := turns(10, 80*Ms)
		for i := range s.Decisions {
			if d := &s.Decisions[i]; d.Kind == reference.KindStop && d.Why == reference.WhySlice {
				d.Stack = int32(i)
			}
		}
		f := s.Facts()
		f.Stack = func(int32) []string { return []string{c.leaf(), "main.work (main.go:1)"} }
		x := One(t, s.DetectWith(latepreemption.New(latepreemption.Default()), f), latepreemption.ID, c.want)
		if note := c.want == findings.Note; (x.Basis == findings.Suspected) != note || strings.Contains(x.Advice[0].String(), "had no CPU") != note {
			t.Errorf("%s: %s; %s", c.name, x.Basis, x.Advice[0])
		}
	}
}
