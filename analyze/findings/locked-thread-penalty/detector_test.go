package lockedthreadpenalty_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	lockedthreadpenalty "github.com/gmpscope/gmpscope/analyze/findings/locked-thread-penalty"
	"github.com/gmpscope/gmpscope/reference"
)

// trips has goroutine 1 ask 9, which is wired to a thread, n times. Each way
// the P changes threads in gap; both work for ns.
func trips(n int, gap, ns int64) *Stream {
	s := New(1).Class(2, 9).Flags(reference.FlagLocked, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range n {
		s.Pass(ns).Wake(9, 1).Block(1, reference.ReasonChanReceive).PStopFor(0, reference.WhyLocked)
		s.Pass(gap).PStart(0).Start(9, 0)
		s.Pass(ns).Wake(1, 9).Block(9, reference.ReasonChanReceive).PStopFor(0, reference.WhyLocked)
		s.Emit(reference.Decision{Kind: reference.KindHandoff, P: 0, Why: reference.WhyLocked})
		s.Pass(gap).PStart(0).Start(1, 0)
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(lockedthreadpenalty.New(lockedthreadpenalty.Default()))
}

func TestFindsPingPong(t *testing.T) {
	x := One(t, detect(trips(4000, 20*Us, 5*Us)), lockedthreadpenalty.ID, findings.Critical)
	if want := 4000 * 40 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	a := x.Actors[len(x.Actors)-1]
	if a.Role != findings.Cause || a.Class != "main.class2" || a.G != 9 || x.Evidence[0].Value.String() != "4,000 and 4,000" {
		t.Errorf("%+v", x)
	}
}

func TestFastSwitchesAreNoPenalty(t *testing.T) {
	None(t, detect(trips(100_000, Us-1, 5*Us)))
}

func TestFewSwitchesAreNoPenalty(t *testing.T) {
	None(t, detect(trips(19, 500*Us, 5*Us)))
}

func TestRareSwitchesAreNoPenalty(t *testing.T) {
	None(t, detect(trips(500, 20*Us, 3*Ms)))
}

// No switch of threads takes milliseconds.
func TestThreadsWithoutCPUAreLeftOut(t *testing.T) {
	None(t, detect(trips(100, 2*Ms, 5*Us)))
}

// The same, without a thread to change to.
func TestUnlockedPingPong(t *testing.T) {
	s := New(1).Class(2, 9).Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range 4000 {
		s.Pass(5*Us).Wake(9, 1).Block(1, reference.ReasonChanReceive).Pass(20*Us).Start(9, 0)
		s.Pass(5*Us).Wake(1, 9).Block(9, reference.ReasonChanReceive).Pass(20*Us).Start(1, 0)
	}
	None(t, detect(s))
}

func TestShortRecordingIsMilder(t *testing.T) {
	x := One(t, detect(trips(1000, 20*Us, 5*Us)), lockedthreadpenalty.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestStrainedMachineIsDoubted(t *testing.T) {
	s := trips(8000, 20*Us, 5*Us)
	s.Local(50, 0, reference.WhyUnblock).Local(51, 0, reference.WhyUnblock).Block(1, reference.ReasonSleep).Run(50, 0, 10*Us, reference.WhyBlock).Pass(100*Ms).Run(51, 0, 10*Us, reference.WhyBlock)
	x := One(t, detect(s), lockedthreadpenalty.ID, findings.Warning)
	if x.Basis != findings.Suspected || x.Severity != findings.Warning {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
