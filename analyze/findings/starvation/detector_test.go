package starvation_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	"github.com/gmpscope/gmpscope/reference"
)

// hogs lets n goroutines of class 2 take turns of 20 ms, and, if short, one of
// class 1 that needs 50 µs come in once a round.
func hogs(n int64, rounds int, short bool) *Stream {
	s := New(1)
	for g := range n {
		s.Class(2, 100+g).Global(100+g, reference.WhyCreate)
	}
	for range rounds {
		if short {
			s.Global(1, reference.WhyNetwork)
		}
		for g := range n {
			s.Start(100+g, 0).Pass(20 * Ms).Preempt(100 + g)
		}
		if short {
			s.Run(1, 0, 50*Us, reference.WhyBlock)
		}
	}
	return s
}

func TestFindsShortWorkThatWaitsForLongWork(t *testing.T) {
	x := One(t, hogs(3, 20, true).Detect(starvation.New(starvation.Default())), starvation.ID, findings.Warning)
	if x.Actors[0].Class != "main.class1" || x.Actors[0].Role != findings.Victim {
		t.Errorf("victim %v", x.Actors[0])
	}
	if x.CostNs < 1100*Ms || x.CostNs > 1200*Ms {
		t.Errorf("cost %d, want nearly 20 x 60 ms", x.CostNs)
	}
	if got := x.ToNs - x.FromNs; got != 60*Ms {
		t.Errorf("window of %d, want the longest wait", got)
	}
}

// Goroutine 1 fills a channel for two workers, one of which makes room and works on. Where
// the one that makes room blocks afterwards, it is what somebody waits for.
func TestWhoFeedsTheBusyIsNotStarved(t *testing.T) {
	feed := func(dry bool) *Stream {
		s := New(1).Class(2, 2, 3).Local(1, 0, reference.WhyCreate).Start(1, 0)
		s.Local(2, 0, reference.WhyCreate).Local(3, 0, reference.WhyCreate).Block(1, reference.ReasonChanSend)
		for range 20 {
			s.Start(2, 0).Pass(Ms).Wake(1, 2)
			if dry {
				s.Block(2, reference.ReasonChanReceive).Start(3, 0).Pass(20*Ms).Wake(2, 3).Preempt(3)
			} else {
				s.Pass(10*Ms).Preempt(2).Start(3, 0).Pass(10 * Ms).Preempt(3)
			}
			s.Start(1, 0).Pass(20*Us).Block(1, reference.ReasonChanSend)
		}
		return s
	}
	None(t, feed(false).Detect(starvation.New(starvation.Default())))
	One(t, feed(true).Detect(starvation.New(starvation.Default())), starvation.ID, findings.Warning)
}

// The near miss: waits as long, but those who wait take as much when they run.
func TestSharingIsNoStarvation(t *testing.T) {
	s := hogs(4, 20, false)
	f := s.Facts()
	f.Pressure.Some = 1
	x := One(t, s.DetectWith(starvation.New(starvation.Default()), f), starvation.ID, findings.Note)
	if x.Severity != findings.Note || !strings.Contains(x.Title.String(), "more work than Ps") {
		t.Errorf("%s %s", x.Severity, x.Title)
	}
}

// More Ps are no advice where there are no CPUs for them.
func TestAdviceKnowsTheCPUs(t *testing.T) {
	for cpus, want := range map[float64]string{
		0: "raise GOMAXPROCS if the machine has free cores.", 0.5: "give the process more CPUs: it had none for more Ps.",
		1.5: "give the process more CPUs: it had none for more Ps.", 3.5: "raise GOMAXPROCS up to 3: the process had so many CPUs, as told.",
	} {
		s := hogs(4, 20, false)
		f := s.Facts()
		f.Pressure.Some, f.CPUs, f.GOMAXPROCS = 1, cpus, 1
		x := One(t, s.DetectWith(starvation.New(starvation.Default()), f), starvation.ID, findings.Note)
		if !strings.HasSuffix(x.Advice[0].String(), want) {
			t.Errorf("%v CPUs: %s", cpus, x.Advice[0])
		}
	}
}

func TestABurstIsNoStarvation(t *testing.T) {
	s := New(1)
	for g := range int64(1000) {
		s.Global(1+g, reference.WhyCreate)
	}
	for g := range int64(1000) {
		s.Run(1+g, 0, 40*Us, reference.WhyExit)
	}
	s.Pass(200 * Ms)
	f := s.Facts()
	f.Pressure.Some = 0.2
	None(t, s.DetectWith(starvation.New(starvation.Default()), f))
}

func TestShortWaitsAreSilent(t *testing.T) {
	s := New(1)
	for range 1000 {
		s.Next(1, 0, reference.WhyUnblock).Pass(900*Us).Run(1, 0, 10*Us, reference.WhyBlock)
	}
	None(t, s.Detect(starvation.New(starvation.Default())))
}

func TestYieldedAndSystemGoroutinesDoNotCount(t *testing.T) {
	s := New(1).Flags(reference.FlagSystem, 2)
	for range 50 {
		s.Global(1, reference.WhyGosched).Global(2, reference.WhySystem).Pass(30*Ms).Run(1, 0, 10*Us, reference.WhyGosched).Run(2, 0, 10*Us, reference.WhyBlock)
	}
	None(t, s.Detect(starvation.New(starvation.Default())))
}

func TestCountsThoseThatNeverRan(t *testing.T) {
	s := New(1).Class(3, 9).Global(9, reference.WhyNetwork)
	for range 5000 {
		s.Next(1, 0, reference.WhyUnblock).Run(1, 0, 100*Us, reference.WhyBlock)
	}
	x := One(t, s.Detect(starvation.New(starvation.Default())), starvation.ID, findings.Critical)
	if x.Actors[0].Class != "main.class3" || x.Actors[0].G != 9 {
		t.Errorf("victim %v", x.Actors[0])
	}
}
