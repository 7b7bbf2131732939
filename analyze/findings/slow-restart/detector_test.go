package slowrestart_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	slowrestart "github.com/gmpscope/gmpscope/analyze/findings/slow-restart"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding { return s.Detect(slowrestart.New(slowrestart.Default())) }

// restarts stops a world of 3 Ps n times. Two goroutines of class 2 are in the
// global queue when it restarts; P1 takes one after ns, P2 the other after as
// long again.
func restarts(n int, ns int64) *Stream {
	s := New(3).Class(2, 8, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range n {
		restart(s, ns).Pass(10*Ms).Stop(8, reference.WhyBlock).Stop(9, reference.WhyBlock)
	}
	return s
}

func restart(s *Stream, ns int64) *Stream {
	s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 0, Label: 7})
	s.PStopFor(1, reference.WhySTW).PStopFor(2, reference.WhySTW).Global(8, reference.WhySystem).Global(9, reference.WhySystem).Pass(20 * Us)
	s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 0})
	return s.Pass(ns).PStart(1).Start(8, 1).Pass(ns).PStart(2).Start(9, 2)
}

func TestFindsSlowRestarts(t *testing.T) {
	x := One(t, detect(restarts(50, 600*Us)), slowrestart.ID, findings.Warning)
	// Two goroutines, and two Ps away, then one.
	if want := 50 * 3 * 600 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.ToNs-x.FromNs != 1200*Us || x.Actors[0].Class != "main.class2" || x.Actors[0].G != 9 {
		t.Errorf("%d %v", x.ToNs-x.FromNs, x.Actors)
	}
	text := Text([]findings.Finding{x})
	for _, want := range []string{"slow restarts: 50 of 50", "label 7: 50", "ran nothing at first: 2", "have run: 2, 2 in the global queue"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if x.Basis != findings.Inferred {
		t.Error(x.Basis)
	}
}

func TestUsualRestartsAreSilent(t *testing.T) { None(t, detect(restarts(200, 99*Us))) }

func TestTwoSlowRestartsAreSilent(t *testing.T) { None(t, detect(restarts(2, 4*Ms))) }

// Ps without work may stay away, and work without Ps may wait.
func TestNothingToRestartFor(t *testing.T) {
	s := New(2)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range 50 {
		s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 0}).PStopFor(1, reference.WhySTW)
		s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 0}).Pass(5 * Ms)
		s.PStart(1).Local(2, 1, reference.WhyTimer).Start(2, 1).Global(3, reference.WhySystem).Pass(5*Ms).Stop(2, reference.WhyBlock).Run(3, 1, Us, reference.WhyBlock)
	}
	None(t, detect(s))
}

func TestARestartIsNotFollowedForEver(t *testing.T) {
	s := restarts(20, 30*Ms)
	x := One(t, detect(s), slowrestart.ID, findings.Warning)
	if want := 20 * 2 * 10 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

// The next stop ends what the last one began.
func TestAStopEndsARestart(t *testing.T) {
	s := New(2)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0).Global(9, reference.WhySystem)
	for range 100 {
		s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 0}).PStopFor(1, reference.WhySTW).Pass(Ms)
		s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 0}).Pass(Ms)
	}
	x := One(t, detect(s), slowrestart.ID, findings.Critical)
	if x.CostNs != 100*Ms || x.ToNs-x.FromNs != Ms || x.Actors[0].G != 9 {
		t.Error(Text([]findings.Finding{x}))
	}
}

// Where the first P is back in time, the others may lack a CPU.
func TestLateOthersAreSuspected(t *testing.T) {
	s := New(3).Class(2, 7, 8, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range 50 {
		restart(s, 100*Us)
		s.Decisions = s.Decisions[:len(s.Decisions)-2] // P2 comes later
		s.Pass(5 * Ms).PStart(2)
		s.Decisions = append(s.Decisions, reference.Decision{Time: s.Now, Kind: reference.KindStart, G: 9, Class: 2, P: 2, Victim: reference.NoP, Src: reference.SrcGlobal, Wait: 5 * Ms})
		s.Pass(5*Ms).Stop(8, reference.WhyBlock).Stop(9, reference.WhyBlock)
	}
	x := One(t, detect(s), slowrestart.ID, findings.Warning)
	if x.Severity != findings.Warning || x.Basis != findings.Suspected {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}

func TestRareOnes(t *testing.T) {
	x := One(t, detect(every(3)), slowrestart.ID, findings.Note)
	if x.Severity != findings.Note || x.Basis != findings.Suspected {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
	None(t, detect(every(6)))
}

// every has each nth of 90 restarts be slow.
func every(n int) *Stream {
	s := New(3).Class(2, 8, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for i := range 90 {
		ns := 20 * Us
		if i%n == 0 {
			ns = 600 * Us
		}
		restart(s, ns).Pass(Ms).Stop(8, reference.WhyBlock).Stop(9, reference.WhyBlock)
	}
	return s
}

func TestStrainedMachineIsSuspected(t *testing.T) {
	s := restarts(50, 600*Us)
	for i := range 2000 {
		ns := 20 * Us
		if i%100 == 99 {
			ns = 40 * Ms
		}
		s.Class(4, 5).Local(5, 1, reference.WhyUnblock).Run(5, 1, ns, reference.WhyBlock)
	}
	if x := One(t, detect(s), slowrestart.ID, findings.Note); x.Basis != findings.Suspected {
		t.Error(x.Basis)
	}
}
