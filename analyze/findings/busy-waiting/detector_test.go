package busywaiting_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	busywaiting "github.com/gmpscope/gmpscope/analyze/findings/busy-waiting"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	selects = int32(51)
	clock   = int32(52)
	loops   = int32(53)
	several = int32(54)
	timing  = int32(55)
)

var stacks = map[int32][]string{
	selects: {"runtime.chanrecv (chan.go:1)", "runtime.selectnbrecv (chan.go:2)", "main.poll (main.go:3)", "main.main (main.go:4)"},
	clock:   {"time.Now (time.go:1)", "main.pace (main.go:5)"},
	several: {"runtime.sellock (select.go:1)", "runtime.selectgo (select.go:2)", "main.match (main.go:7)"},
	timing:  {"time.Since (time.go:1)", "main.hash (main.go:8)"},
	loops:   {"runtime.asyncPreempt (preempt.s:1)", "main.compute (main.go:6)"},
}

// hog has n goroutines take turns on P 0, one slice of 10 ms each, and then be idle.
func hog(n int64, slices int, stack int32, idle int64) *Stream {
	s := New(2).Class(2, 1, 2, 3)
	for g := int64(1); g <= n; g++ {
		s.Global(g, reference.WhyCreate)
	}
	for i := range int64(slices) {
		g := 1 + i%n
		s.Start(g, 0).Pass(10*Ms).Stop(g, reference.WhySlice)
		s.Decisions[len(s.Decisions)-1].Stack = stack
		s.Global(g, reference.WhySlice)
	}
	return s.Pass(idle).Local(9, 1, reference.WhyTimer).Run(9, 1, 1000, reference.WhyBlock)
}

// both has two goroutines keep both Ps, one slice of 10 ms after the other.
func both(slices int) *Stream {
	s := New(2).Class(2, 1, 2)
	s.Global(1, reference.WhyCreate).Global(2, reference.WhyCreate).Start(1, 0).Start(2, 1)
	for range slices {
		s.Pass(10 * Ms)
		for g := int64(1); g <= 2; g++ {
			s.Stop(g, reference.WhySlice)
			s.Decisions[len(s.Decisions)-1].Stack = clock
			s.Global(g, reference.WhySlice)
		}
		s.Start(2, 0).Start(1, 1)
	}
	return s
}

// calls has one goroutine keep a P, in slices of 10 ms, of which it spends ns in system calls.
func calls(ns int64) *Stream {
	s := New(2).Class(2, 1).Global(1, reference.WhyCreate)
	for range 20 {
		s.Start(1, 0).Pass(10*Ms-ns).Syscall(1).Pass(ns).SyscallExit(1).Stop(1, reference.WhySlice)
		s.Decisions[len(s.Decisions)-1].Stack = clock
		s.Global(1, reference.WhySlice)
	}
	return s
}

func detect(s *Stream, behind int64) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	f.Waits.Classes = []waits.Class{{Name: "main.class1",
		Waits:       waits.Summary{Causes: []waits.CauseTime{{Cause: waits.CauseQueueing, Ns: behind}}},
		Antagonists: []waits.Antagonist{{Name: "main.class2", Ns: behind}}}}
	return s.DetectWith(busywaiting.New(busywaiting.Default()), f)
}

func TestFindsWhoPolls(t *testing.T) {
	x := One(t, detect(hog(1, 20, selects, 10*Ms), 0), busywaiting.ID, findings.Critical)
	if want := "main.poll, called by main.class2, polls (select with a default case) instead of blocking, and kept a P for 95 % of the time"; x.Title.String() != want || x.Basis != findings.Inferred || x.CostNs != 200*Ms {
		t.Errorf("%q %s %d, want %q", x.Title, x.Basis, x.CostNs, want)
	}
	x = One(t, detect(hog(3, 30, clock, 10*Ms), 50*Ms), busywaiting.ID, findings.Critical)
	if !strings.Contains(x.Title.String(), "polls (the clock)") || !strings.Contains(x.Title.String(), "others waited 50 ms behind it") {
		t.Error(x.Title)
	}
}

// A select of several cases may be one that blocks: of a goroutine that mostly does not.
func TestFindsASelectOfSeveralCases(t *testing.T) {
	x := One(t, detect(hog(1, 20, several, 10*Ms), 0), busywaiting.ID, findings.Critical)
	if !strings.HasPrefix(x.Title.String(), "main.match, called by main.class2, polls (select)") {
		t.Error(x.Title)
	}
}

// It may send something now and then, and it may take all Ps from others.
func TestFindsWhoPollsTheClock(t *testing.T) {
	One(t, detect(calls(50_000), 0), busywaiting.ID, findings.Critical)
	One(t, detect(both(20), 50*Ms), busywaiting.ID, findings.Critical)
}

func TestSuspectsWhoNeverBlocks(t *testing.T) {
	x := One(t, detect(hog(1, 20, loops, 10*Ms), 150*Ms), busywaiting.ID, findings.Critical)
	if x.Basis != findings.Suspected || x.CostNs != 150*Ms || !strings.HasPrefix(x.Title.String(), "main.compute, called by main.class2, never blocked") {
		t.Error(x.Title, x.Basis, x.CostNs)
	}
}

func TestNearMisses(t *testing.T) {
	for name, list := range map[string][]findings.Finding{
		"nobody waits":      detect(hog(1, 20, loops, 10*Ms), 0),
		"as many as Ps":     detect(hog(2, 20, loops, 10*Ms), 150*Ms),
		"seldom":            detect(hog(1, 3, selects, 10*Ms), 0),
		"runs for a moment": detect(hog(1, 4, selects, 200*Ms), 0),
		"system calls":      detect(calls(Ms/2), 0),
		"all Ps":            detect(both(20), 0),
		"times its work":    detect(hog(1, 20, timing, 10*Ms), 0),
		"half idle":         detect(hog(1, 20, loops, 250*Ms), 150*Ms),
	} {
		if len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}
