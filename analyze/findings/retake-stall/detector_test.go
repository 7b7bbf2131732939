package retakestall_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	retakestall "github.com/gmpscope/gmpscope/analyze/findings/retake-stall"
	"github.com/gmpscope/gmpscope/reference"
)

// call has goroutine 9 in a call for ns, until sysmon takes the P, with 1 in
// the queue, which became runnable why.
func call(s *Stream, ns int64, why reference.Why) *Stream {
	s.Class(2, 9).Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, why).Syscall(9).Pass(ns)
	s.Retake(9, reference.WhyRetakeSlow).PStart(0).Run(1, 0, 10*Us, reference.WhyBlock)
	return s.SyscallExit(9).Global(9, reference.WhySyscallExit).Run(9, 0, 10*Us, reference.WhyBlock)
}

func calls(n int, ns, pause int64) *Stream {
	s := New(1)
	for range n {
		call(s, ns, reference.WhyUnblock).Pass(pause)
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(retakestall.New(retakestall.Default()))
}

func TestFindsStalls(t *testing.T) {
	x := One(t, detect(calls(12, 8*Ms, 20*Ms)), retakestall.ID, findings.Warning)
	if want := 12 * 8 * Ms; x.CostNs != want || x.ToNs-x.FromNs != 8*Ms {
		t.Errorf("cost %d, want %d; window %d to %d", x.CostNs, want, x.FromNs, x.ToNs)
	}
	if x.Actors[0].Role != findings.Victim || x.Actors[0].G != 1 || x.Actors[1].Role != findings.Cause || x.Actors[1].G != 9 || len(x.Actors[1].Stack) == 0 {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestCallsThatComeBackFirstStallToo(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 12 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, reference.WhyUnblock).Local(2, 0, reference.WhyUnblock)
		s.Syscall(9).Pass(8*Ms).SyscallExit(9).Stop(9, reference.WhyBlock).Run(1, 0, 10*Us, reference.WhyBlock).Run(2, 0, 10*Us, reference.WhyBlock).Pass(20 * Ms)
	}
	x := One(t, detect(s), retakestall.ID, findings.Critical)
	if want := 12 * 2 * 8 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

func TestUnderAMillisecondIsInTime(t *testing.T) {
	None(t, detect(calls(100, Ms-1, 20*Ms)))
}

func TestFewAreANote(t *testing.T) {
	x := One(t, detect(calls(9, 8*Ms, 20*Ms)), retakestall.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestNobodyBehindIsNoStall(t *testing.T) {
	s := New(1)
	for range 20 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Syscall(9).Pass(8*Ms).Retake(9, reference.WhyRetakeSlow).PStart(0).SyscallExit(9)
		s.Global(9, reference.WhySyscallExit).Run(9, 0, 10*Us, reference.WhyBlock).Pass(20 * Ms)
	}
	None(t, detect(s))
}

func TestYieldedMayWait(t *testing.T) {
	s := New(1)
	for range 20 {
		call(s, 8*Ms, reference.WhyGosched).Pass(20 * Ms)
	}
	None(t, detect(s))
}

// sysmon took a P a millisecond before, so it sleeps no more than that; a
// second call of 8 ms is a machine without CPUs.
func TestStallsAreNoLongerThanSysmonSleeps(t *testing.T) {
	s := New(1)
	for range 20 {
		call(s, 900*Us, reference.WhyUnblock).Pass(Ms)
		call(s, 8*Ms, reference.WhyUnblock).Pass(100 * Us)
	}
	None(t, detect(s))
}

// Most calls from that stack are short: the thread was off its CPU.
func TestRareCallsAreNoStall(t *testing.T) {
	s := New(1)
	for range 20 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
		for range 30 {
			s.Syscall(9).Pass(10 * Us).SyscallExit(9)
		}
		s.Stop(9, reference.WhyBlock)
		call(s, 8*Ms, reference.WhyUnblock).Pass(20 * Ms)
	}
	None(t, detect(s))
}

func TestStrainedMachineIsANote(t *testing.T) {
	s := calls(40, 8*Ms, 20*Ms)
	s.Local(50, 0, reference.WhyUnblock).Local(51, 0, reference.WhyUnblock).Run(50, 0, 10*Us, reference.WhyBlock).Pass(500*Ms).Run(51, 0, 10*Us, reference.WhyBlock)
	x := One(t, detect(s), retakestall.ID, findings.Note)
	if x.Basis != findings.Suspected || x.Severity != findings.Note {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
