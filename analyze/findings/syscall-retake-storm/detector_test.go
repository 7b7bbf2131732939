package syscallretakestorm_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	syscallretakestorm "github.com/gmpscope/gmpscope/analyze/findings/syscall-retake-storm"
	"github.com/gmpscope/gmpscope/reference"
)

// calls has goroutine 1 make n calls of ns that lose their P to goroutine 9,
// and wait as long as given for it afterwards; before each, kept calls of 1 µs
// that do not.
func calls(n, kept int, ns, wait int64, why reference.Why) *Stream {
	s := New(1).Class(2, 9)
	for range n {
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0)
		for range kept {
			s.Syscall(1).Pass(Us).SyscallExit(1).Pass(Us)
		}
		s.Local(9, 0, reference.WhyUnblock).Syscall(1).Pass(ns/2).Retake(1, why).PStart(0).Start(9, 0)
		s.Pass(ns-ns/2).SyscallExit(1).Global(1, reference.WhySyscallExit).Pass(wait).Stop(9, reference.WhyBlock)
		s.Run(1, 0, 20*Us, reference.WhyBlock)
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(syscallretakestorm.New(syscallretakestorm.Default()))
}

func TestFindsShortCallsThatWait(t *testing.T) {
	for _, why := range []reference.Why{reference.WhyRetakeSlow, reference.WhyRetakeReturn} {
		x := One(t, detect(calls(100, 0, 100*Us, 5*Ms, why)), syscallretakestorm.ID, findings.Critical)
		if want := 100 * 5 * Ms; x.CostNs != want {
			t.Errorf("cost %d, want %d", x.CostNs, want)
		}
		if len(x.Actors) != 1 || x.Actors[0].Class != "main.class1" || x.Actors[0].G != 1 || len(x.Actors[0].Stack) == 0 {
			t.Errorf("actors %v", x.Actors)
		}
		if x.Evidence[0].Value.String() != "100" || x.Evidence[1].Value.String() != "100 %" || x.ToNs-x.FromNs != 5*Ms {
			t.Errorf("%+v", x)
		}
	}
}

func TestLongCallsLoseTheirPRightly(t *testing.T) {
	None(t, detect(calls(100, 0, Ms+1, 5*Ms, reference.WhyRetakeSlow)))
}

func TestAWaitShorterThanTheCallIsFair(t *testing.T) {
	None(t, detect(calls(1000, 0, 200*Us, 199*Us, reference.WhyRetakeSlow)))
}

func TestTheRuntimeMayTakePs(t *testing.T) {
	for _, why := range []reference.Why{reference.WhyGC, reference.WhyGeneration} {
		None(t, detect(calls(100, 0, 100*Us, 5*Ms, why)))
	}
}

func TestFewCallsAreNoStorm(t *testing.T) {
	None(t, detect(calls(19, 0, 100*Us, 5*Ms, reference.WhyRetakeSlow)))
}

func TestASmallShareIsNoStorm(t *testing.T) {
	None(t, detect(calls(100, 25, 100*Us, 5*Ms, reference.WhyRetakeSlow)))
	One(t, detect(calls(100, 15, 100*Us, 5*Ms, reference.WhyRetakeSlow)), syscallretakestorm.ID, findings.Critical)
}

// A thousand a second are a storm, whatever their share.
func TestManyCallsAreAStorm(t *testing.T) {
	One(t, detect(calls(1000, 25, 50*Us, 200*Us, reference.WhyRetakeSlow)), syscallretakestorm.ID, findings.Warning)
}

// Calls that come back to a P at once have lost nothing.
func TestComingBackToAnIdlePCostsNothing(t *testing.T) {
	s := New(2).Class(2, 9)
	for range 100 {
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Local(9, 0, reference.WhyUnblock)
		s.Syscall(1).Pass(50*Us).Retake(1, reference.WhyRetakeSlow).PStart(0).Start(9, 0).Pass(50 * Us).SyscallExit(1)
		s.StartFrom(1, 1, reference.SrcSyscallExit).Pass(20*Us).Stop(1, reference.WhyBlock).Pass(Ms).Stop(9, reference.WhyBlock)
	}
	None(t, detect(s))
}

func TestStrainedMachineIsDoubted(t *testing.T) {
	s := calls(100, 0, 100*Us, 5*Ms, reference.WhyRetakeSlow)
	s.Local(50, 0, reference.WhyUnblock).Local(51, 0, reference.WhyUnblock).Run(50, 0, 10*Us, reference.WhyBlock).Pass(200*Ms).Run(51, 0, 10*Us, reference.WhyBlock)
	x := One(t, detect(s), syscallretakestorm.ID, findings.Warning)
	if x.Basis != findings.Suspected || x.Severity != findings.Warning {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
