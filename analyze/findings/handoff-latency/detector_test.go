package handofflatency_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	handofflatency "github.com/gmpscope/gmpscope/analyze/findings/handoff-latency"
	"github.com/gmpscope/gmpscope/reference"
)

// handovers has P 0 taken out of a call of goroutine 9 and handed on, n times,
// with 1 and 2 in its queue, which wait as long as given for the thread. Then
// they run for ns each.
func handovers(n int, gap, ns int64, why reference.Why, thread func(i int) int64) *Stream {
	s := New(1).Class(2, 9)
	for i := range n {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, reference.WhyUnblock).Local(2, 0, reference.WhyUnblock).Syscall(9).Pass(50 * Us)
		if why == reference.WhyLocked {
			s.SyscallExit(9).Stop(9, reference.WhyExit).PStopFor(0, why)
		} else {
			s.Retake(9, why)
		}
		s.Emit(reference.Decision{Kind: reference.KindHandoff, P: 0, Why: why})
		s.Pass(gap).Emit(reference.Decision{Kind: reference.KindPStart, P: 0, M: thread(i)})
		s.Run(1, 0, ns, reference.WhyBlock).Run(2, 0, ns, reference.WhyBlock)
	}
	return s
}

func same(int) int64    { return 0 }
func other(i int) int64 { return int64(1 + i) }

func detect(s *Stream) []findings.Finding {
	return s.Detect(handofflatency.New(handofflatency.Default()))
}

func TestFindsLateHandovers(t *testing.T) {
	x := One(t, detect(handovers(1000, 60*Us, 50*Us, reference.WhyRetakeSlow, same)), handofflatency.ID, findings.Critical)
	if want := 1000 * 2 * 60 * Us; x.CostNs != want || x.Basis != findings.Certain {
		t.Errorf("cost %d, want %d; %s", x.CostNs, want, x.Basis)
	}
	if x.Actors[0].Role != findings.Victim || x.Actors[0].G != 1 || x.Actors[1].Role != findings.Cause || x.Actors[1].G != 9 || x.Actors[1].Class != "main.class2" {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestWakingAThreadIsNoDelay(t *testing.T) {
	None(t, detect(handovers(1000, 20*Us-1, 50*Us, reference.WhyRetakeSlow, same)))
}

func TestFewAreANote(t *testing.T) {
	x := One(t, detect(handovers(19, Ms, 5*Ms, reference.WhyRetakeSlow, same)), handofflatency.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestASmallShareOfThePTimeIsANote(t *testing.T) {
	x := One(t, detect(handovers(1000, 60*Us, 600*Us, reference.WhyRetakeSlow, same)), handofflatency.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// However many wait: it is critical only if the Ps stand still for long.
func TestATenthOfThePTimeIsAWarning(t *testing.T) {
	x := One(t, detect(handovers(3000, 60*Us, 220*Us, reference.WhyRetakeSlow, same)), handofflatency.ID, findings.Warning)
	if x.Severity != findings.Warning {
		t.Error(x.Severity)
	}
}

// Of those to and from wired threads only the new threads count.
func TestNewThreadsForLockedOnes(t *testing.T) {
	None(t, detect(handovers(1000, 60*Us, 50*Us, reference.WhyLocked, same)))
	One(t, detect(handovers(1000, 60*Us, 50*Us, reference.WhyLocked, other)), handofflatency.ID, findings.Critical)
}

func TestNobodyWaiting(t *testing.T) {
	s := New(1)
	for range 1000 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Syscall(9).Pass(50*Us).Retake(9, reference.WhyRetakeSlow)
		s.Emit(reference.Decision{Kind: reference.KindHandoff, P: 0, Why: reference.WhyRetakeSlow}).Pass(60 * Us).PStart(0)
		s.Local(1, 0, reference.WhyTimer).Run(1, 0, 50*Us, reference.WhyBlock)
	}
	None(t, detect(s))
}

func TestStrainedMachineIsDoubted(t *testing.T) {
	s := handovers(6000, 60*Us, 50*Us, reference.WhyRetakeSlow, same)
	s.Local(50, 0, reference.WhyUnblock).Local(51, 0, reference.WhyUnblock).Run(50, 0, 10*Us, reference.WhyBlock).Pass(100*Ms).Run(51, 0, 10*Us, reference.WhyBlock)
	x := One(t, detect(s), handofflatency.ID, findings.Warning)
	if x.Basis != findings.Suspected || x.Severity != findings.Warning {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
