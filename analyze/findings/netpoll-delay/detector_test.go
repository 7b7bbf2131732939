package netpolldelay_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding {
	return s.Detect(netpolldelay.New(netpolldelay.Default()))
}

// sysmon has the network wake a goroutine by a thread without a P.
func sysmon(s *Stream, g int64) {
	s.Global(g, reference.WhyNetwork)
	s.Decisions[len(s.Decisions)-1].Flags |= reference.FlagNoP
}

// served has a goroutine of class 2 run for so long, n times; 5 ms before its end
// sysmon wakes a reader.
func served(n int, ns int64) *Stream {
	s := New(1).Class(2, 9)
	for range n {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(ns - 5*Ms)
		sysmon(s, 1)
		s.Pass(5*Ms).Stop(9, reference.WhySlice).Run(1, 0, 20*Us, reference.WhyBlock)
	}
	return s
}

func TestFindsANetworkLeftToSysmon(t *testing.T) {
	x := One(t, detect(served(20, 20*Ms)), netpolldelay.ID, findings.Warning)
	if want := 20 * 5 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if len(x.Actors) != 2 || x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || x.ToNs-x.FromNs != 5*Ms {
		t.Errorf("%+v", x)
	}
}

func TestFourWakeUpsAreTooFew(t *testing.T) {
	One(t, detect(served(5, 20*Ms)), netpolldelay.ID, findings.Warning)
	None(t, detect(served(4, 20*Ms)))
}

func TestWakeUpsByPsAreInOrder(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 20 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Local(1, 0, reference.WhyNetwork).Pass(5*Ms).Stop(9, reference.WhySlice).Run(1, 0, 20*Us, reference.WhyBlock)
	}
	None(t, detect(s))
}

func TestWakeUpsBesideAnIdleP(t *testing.T) {
	s := New(2).PStop(1)
	for range 20 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
		sysmon(s, 1)
		s.Pass(5*Ms).Stop(9, reference.WhySlice).Run(1, 0, 20*Us, reference.WhyBlock)
	}
	None(t, detect(s))
}

func TestNobodyWaitedAfterwards(t *testing.T) {
	s := New(1)
	for range 50 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
		sysmon(s, 1)
		s.Pass(900*Us).Stop(9, reference.WhyBlock).Run(1, 0, 20*Us, reference.WhyBlock)
	}
	None(t, detect(s))
}

// Many wake-ups that Ps made, and ten that they did not.
func TestShareOfTheWakeUps(t *testing.T) {
	few := func(n int) *Stream {
		s := New(1)
		for range n {
			s.Local(1, 0, reference.WhyNetwork).Run(1, 0, 20*Us, reference.WhyBlock)
		}
		for range 10 {
			s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(10 * Ms)
			sysmon(s, 1)
			s.Pass(10*Ms).Stop(9, reference.WhySlice).Run(1, 0, 20*Us, reference.WhyBlock)
		}
		return s
	}
	One(t, detect(few(9_000)), netpolldelay.ID, findings.Warning)
	None(t, detect(few(10_000)))
}

// Long queues of short runs: there is nobody to blame.
func TestQueuesThatNeverRunEmpty(t *testing.T) {
	s := New(1)
	for range 20 {
		for g := range int64(100) {
			s.Local(100+g, 0, reference.WhyUnblock)
		}
		sysmon(s, 1)
		for g := range int64(100) {
			s.Run(100+g, 0, 100*Us, reference.WhyBlock)
		}
		s.Run(1, 0, 20*Us, reference.WhyBlock)
	}
	x := One(t, detect(s), netpolldelay.ID, findings.Warning)
	if len(x.Actors) != 1 || !strings.Contains(x.Advice[0].String(), "queues never ran empty") {
		t.Errorf("%+v", x)
	}
}

// One that still waits when the trace ends counts.
func TestOpenWaits(t *testing.T) {
	s := served(10, 20*Ms)
	s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
	sysmon(s, 1)
	s.Pass(7 * Ms)
	x := One(t, detect(s), netpolldelay.ID, findings.Warning)
	if want := 10*5*Ms + 7*Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}
