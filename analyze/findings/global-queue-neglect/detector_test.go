package globalqueueneglect_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	globalqueueneglect "github.com/gmpscope/gmpscope/analyze/findings/global-queue-neglect"
	"github.com/gmpscope/gmpscope/reference"
)

// rounds has goroutine 9 stand in the global queue during n local starts of
// 50 µs each.
func rounds(times, n int, why reference.Why) *Stream {
	s := New(1).Class(2, 9)
	for range times {
		s.Global(9, why)
		for i := range int64(n) {
			s.Local(1+i%3, 0, reference.WhyUnblock).Run(1+i%3, 0, 50*Us, reference.WhyBlock)
		}
		s.StartFrom(9, 0, reference.SrcGlobalTick).Pass(10*Us).Stop(9, reference.WhyBlock)
	}
	return s
}

func TestFindsNeglect(t *testing.T) {
	x := One(t, rounds(20, 610, reference.WhySyscallExit).Detect(globalqueueneglect.New(globalqueueneglect.Default())), globalqueueneglect.ID, findings.Critical)
	if want := 20 * 549 * 50 * Us; x.CostNs != want {
		t.Errorf("cost %d, want nine tenths of the waiting, %d", x.CostNs, want)
	}
	if x.Actors[0].G != 9 || x.Actors[1].Class != "main.class1" {
		t.Errorf("actors %v", x.Actors)
	}
}

// Among much waiting of other kinds it is not what to look at first.
func TestSmallPartIsNotCritical(t *testing.T) {
	s := rounds(20, 610, reference.WhySyscallExit)
	cost := 20 * 549 * 50 * Us
	for waiting, want := range map[int64]findings.Severity{100 * cost: findings.Critical, 101 * cost: findings.Warning} {
		f := s.Facts()
		f.Waits.User.TotalNs = waiting
		if x := One(t, s.DetectWith(globalqueueneglect.New(globalqueueneglect.Default()), f), globalqueueneglect.ID, findings.Warning); x.Severity != want {
			t.Errorf("%s with %d ns of %d, want %s", x.Severity, cost, waiting, want)
		}
	}
}

func TestTheTickIsInTime(t *testing.T) {
	None(t, rounds(100, 61, reference.WhySyscallExit).Detect(globalqueueneglect.New(globalqueueneglect.Default())))
}

// Who yields lets those run first that are in line, not all that come later.
func TestYieldedMayNotWaitForLong(t *testing.T) {
	d := globalqueueneglect.New(globalqueueneglect.Default())
	None(t, rounds(20, 61, reference.WhyGosched).Detect(d))
	One(t, rounds(20, 610, reference.WhyGosched).Detect(d), globalqueueneglect.ID, findings.Critical)
}

// What stood in the local queues before was there first.
func TestEarlierOnesMayGoFirst(t *testing.T) {
	s := New(1).Class(2, 999)
	for range 20 {
		for i := range int64(200) {
			s.Local(1+i, 0, reference.WhyUnblock)
		}
		s.Global(999, reference.WhySyscallExit)
		for i := range int64(200) {
			s.Run(1+i, 0, 50*Us, reference.WhyBlock)
		}
		s.Run(999, 0, 10*Us, reference.WhyBlock)
	}
	None(t, s.Detect(globalqueueneglect.New(globalqueueneglect.Default())))
}
