package yieldspinning_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	yieldspinning "github.com/gmpscope/gmpscope/analyze/findings/yield-spinning"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
)

func detector() findings.Detector { return yieldspinning.New(yieldspinning.Default()) }

// spin has goroutine 1 look for run and yield, n times; it is back on the P after
// turn. Others do what between says meanwhile.
func spin(s *Stream, n int, run, turn int64, between func()) *Stream {
	s.Class(2, 1).Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range n {
		s.Pass(run).Stop(1, reference.WhyGosched).Global(1, reference.WhyGosched)
		if between != nil {
			between()
		}
		s.Pass(turn).Start(1, 0)
	}
	return s.Pass(run).Block(1, reference.ReasonCond)
}

func TestFindsPolling(t *testing.T) {
	s := spin(New(2), 100_001, 2*Us, 500, nil)
	x := One(t, s.Detect(detector()), yieldspinning.ID, findings.Warning)
	// The first yield is no repetition; after the last but one it comes back.
	if want := 100_000*(2*Us+500) + 500; x.CostNs < want-500 || x.CostNs > want+500 {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Severity == findings.Critical {
		t.Error("critical, though nobody else wanted the P")
	}
	a := x.Actors[0]
	if a.Role != findings.Cause || a.Class != "main.class2" || a.G != 1 || !strings.Contains(x.Title.String(), "main.f1 polled") {
		t.Errorf("%q %+v", x.Title, x.Actors)
	}
}

// With others in line behind it, it takes their time.
func TestOthersInLineMakeItCritical(t *testing.T) {
	s := New(1)
	s.Local(9, 0, reference.WhyUnblock).Local(8, 0, reference.WhyUnblock)
	x := One(t, spin(s, 100_000, 2*Us, 0, nil).Detect(detector()), yieldspinning.ID, findings.Critical)
	if want := 3 * 99_999 * 2 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

// However little it costs, and whoever calls it from where: what one function does counts as a whole.
func TestFindsManyYieldsOfOneFunction(t *testing.T) {
	for _, c := range []struct {
		each int
		want findings.Severity
	}{{3_000, findings.Warning}, {500, findings.Note}} {
		s := New(1).Class(2, 1, 2).Local(1, 0, reference.WhyCreate).Local(2, 0, reference.WhyCreate)
		for g := int64(1); g <= 2; g++ {
			s.Start(g, 0)
			for range c.each {
				s.Pass(500).Stop(g, reference.WhyGosched)
				s.Decisions[len(s.Decisions)-1].Stack = int32(g)
				s.Global(g, reference.WhyGosched).Pass(500).Start(g, 0)
			}
			s.Block(g, reference.ReasonCond)
		}
		f := s.Pass(200*Ms - 2*int64(c.each)*Us).Facts()
		f.Stack = func(h int32) []string {
			return []string{"runtime.Gosched (proc.go:1)", "main.poll (main.go:1)", []string{1: "main.a (main.go:2)", 2: "main.b (main.go:3)"}[h]}
		}
		x := One(t, s.DetectWith(detector(), f), yieldspinning.ID, c.want)
		if want := "main.poll polls and yields, "; !strings.HasPrefix(x.Headline.String(), want) {
			t.Errorf("%q, want %q", x.Headline, want)
		}
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"few":   spin(New(2), 255, 20*Us, 0, nil),
		"slow":  spin(New(2), 1000, 10*Us, Ms, nil),
		"cheap": spin(New(2), 1000, 500, 0, nil),
	} {
		if list := s.Pass(200 * Ms).Detect(detector()); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
	if list := spin(New(2), 257, 20*Us, 0, nil).Pass(200 * Ms).Detect(detector()); len(list) != 1 {
		t.Error("enough, but not found")
	}
}

// What yields after longer runs may poll, or be polite.
func TestYieldsAfterLongerRuns(t *testing.T) {
	long := func() *Stream { return spin(New(2), 5000, 30*Us+1, 0, nil) }
	f := func(ran int64) *findings.Facts {
		f := long().Facts()
		f.Procs.Ps = []procs.Proc{{RunningNs: ran}}
		return f
	}
	x := One(t, long().DetectWith(detector(), f(300*Ms)), yieldspinning.ID, findings.Note)
	if x.Severity != findings.Note || x.Basis != findings.Suspected || !strings.HasPrefix(x.Headline.String(), "main.f1 yields 5,000 times") {
		t.Errorf("%s, %s: %s", x.Severity, x.Basis, x.Headline)
	}
	None(t, long().DetectWith(detector(), f(301*Ms))) // most of what ran was something else
}

// Who is kept from the Ps by others takes nothing from them.
func TestStarvedSpinners(t *testing.T) {
	crowd := func(own, others int64) *Stream {
		s := New(1).Class(2, 9)
		s.Local(1, 0, reference.WhyCreate).Local(9, 0, reference.WhyCreate)
		for range 10_000 {
			s.Start(1, 0).Pass(own).Stop(1, reference.WhyGosched).Global(1, reference.WhyGosched)
			s.Start(9, 0).Pass(others).Block(9, reference.ReasonChanReceive).Local(9, 0, reference.WhyUnblock)
		}
		return s
	}
	for _, c := range []struct {
		others int64
		want   findings.Severity
	}{{61 * Us, findings.Note}, {45 * Us, findings.Critical}} {
		s := crowd(20*Us, c.others)
		f := s.Facts()
		f.Procs.Ps = []procs.Proc{{RunningNs: s.Now}}
		if x := One(t, s.DetectWith(detector(), f), yieldspinning.ID, c.want); x.Severity != c.want {
			t.Errorf("behind runs of %d ns: %s", c.others, x.Severity)
		}
	}
}

// One that mostly stops otherwise is no spinner.
func TestWorkInBetween(t *testing.T) {
	work := func(ns int64, yields, blocks int) *Stream {
		s := New(2).Local(1, 0, reference.WhyCreate).Start(1, 0)
		for range 20_000 {
			for range yields {
				s.Pass(2*Us).Stop(1, reference.WhyGosched).Global(1, reference.WhyGosched).Start(1, 0)
			}
			for range blocks {
				s.Pass(ns).Block(1, reference.ReasonChanReceive).Local(1, 0, reference.WhyUnblock).Start(1, 0)
			}
		}
		return s
	}
	None(t, work(500, 2, 3).Detect(detector()))
	One(t, work(500, 3, 2).Detect(detector()), yieldspinning.ID, findings.Note)
}

// The runtime's own yields have the same reason.
func TestYieldsOfTheRuntimeAreNone(t *testing.T) {
	s := spin(New(2), 100_000, 2*Us, 500, nil)
	f := s.Facts()
	f.Stack = func(int32) []string {
		return []string{"runtime.Gosched (proc.go:1)", "runtime.gcAssistAlloc (mgcmark.go:1)", "runtime.mallocgc (malloc.go:1)", "main.f (main.go:1)"}
	}
	None(t, s.DetectWith(detector(), f))
	f.Stack = nil
	None(t, s.DetectWith(detector(), f))
	system := New(2).Flags(reference.FlagSystem, 1)
	None(t, spin(system, 100_000, 2*Us, 500, nil).Detect(detector()))
}

// A slot that is used again is another goroutine.
func TestGoroutinesThatEnd(t *testing.T) {
	s := New(2)
	for g := range int64(100) {
		s.Local(1+g, 0, reference.WhyCreate).Start(1+g, 0)
		for range 201 {
			s.Pass(10*Us).Stop(1+g, reference.WhyGosched).Global(1+g, reference.WhyGosched).Start(1+g, 0)
		}
		s.Stop(1+g, reference.WhyExit)
	}
	None(t, s.Detect(detector()))
}

func TestShortRecordingsAreMilder(t *testing.T) {
	s := spin(New(2), 20_000, 2*Us, 500, nil)
	if x := One(t, s.Detect(detector()), yieldspinning.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestOnlyTheCostliestPlaces(t *testing.T) {
	s := New(2)
	for k := range int64(4) {
		g := 1 + k
		s.Class(int32(1+k), g).Local(g, 0, reference.WhyCreate).Start(g, 0)
		for range 30_000 + 1000*k {
			s.Pass(2*Us).Stop(g, reference.WhyGosched).Global(g, reference.WhyGosched).Start(g, 0)
		}
		s.Block(g, reference.ReasonCond)
	}
	list := s.Detect(detector())
	if len(list) != 2 || list[0].Actors[0].G != 4 || list[1].Actors[0].G != 3 {
		t.Error(Text(list))
	}
}
