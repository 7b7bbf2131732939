package runnableburst_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	runnableburst "github.com/gmpscope/gmpscope/analyze/findings/runnable-burst"
	"github.com/gmpscope/gmpscope/reference"
)

// bursts has goroutine 999 create n goroutines at once, rounds times, which
// then run for ns each on one P.
func bursts(rounds int, n, ns int64, why reference.Why) *Stream {
	s := New(1).Class(2, 999)
	for range rounds {
		s.Local(999, 0, reference.WhyTimer).Start(999, 0)
		for g := range n {
			if why == reference.WhyCreate {
				s.Create(1+g, 999)
			} else {
				s.Global(1+g, why)
			}
		}
		s.Stop(999, reference.WhyBlock)
		for g := range n {
			s.Run(1+g, 0, ns, reference.WhyExit)
		}
		s.Pass(20 * Ms)
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(runnableburst.New(runnableburst.Default()))
}

func TestFindsBursts(t *testing.T) {
	x := One(t, detect(bursts(10, 100, 100*Us, reference.WhyCreate)), runnableburst.ID, findings.Warning)
	// Of 100 one runs at once, and 94 of the others stand beyond five: 94 + 93 + …
	if want := 10 * 94 * 95 / 2 * 100 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Severity != findings.Warning || !strings.Contains(x.Title.String(), "main.f999, called by main.class2, created goroutines faster than they ran: up to 100 goroutines") || x.ToNs-x.FromNs != 94*100*Us {
		t.Errorf("%s %s, from %d to %d", x.Severity, x.Title, x.FromNs, x.ToNs)
	}
	if len(x.Actors) != 2 || x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || x.Actors[1].Stack[0] != "main.f999 (main.go:999)" {
		t.Errorf("actors %v", x.Actors)
	}
	if !strings.Contains(x.Advice[0].String(), "SetLimit") {
		t.Error(x.Advice[0])
	}
}

// Who creates goroutines is named, not who wakes others at the same time, however often.
func TestNamesWhoCreates(t *testing.T) {
	s := New(2).Class(2, 999).Class(3, 500).Class(4, 501)
	s.Local(500, 1, reference.WhyCreate).Local(501, 1, reference.WhyCreate).Start(501, 1).Block(501, reference.ReasonChanSend).Start(500, 1)
	for range 10 {
		s.Local(999, 0, reference.WhyTimer).Start(999, 0)
		for g := range int64(100) {
			if s.Create(1+g, 999); g%3 == 0 {
				s.Pass(1*Us).Wake(501, 500).Block(500, reference.ReasonChanSend).Start(501, 1).Pass(1*Us).Wake(500, 501).Block(501, reference.ReasonChanSend).Start(500, 1)
			}
		}
		s.Stop(999, reference.WhyBlock)
		for g := range int64(100) {
			s.Run(1+g, 0, 100*Us, reference.WhyExit)
		}
		s.Pass(20 * Ms)
	}
	x := One(t, detect(s), runnableburst.ID, findings.Warning)
	for _, a := range x.Actors {
		if a.Role == findings.Cause && a.Class != "main.class2" {
			t.Errorf("%s: %+v", x.Headline, a)
		}
	}
}

// Those that were created do next to nothing: what others compute keeps them waiting.
func TestOthersCompute(t *testing.T) {
	s := New(1).Class(2, 999).Class(3, 998)
	for range 10 {
		s.Local(999, 0, reference.WhyTimer).Start(999, 0)
		for g := range int64(100) {
			s.Create(1+g, 999)
		}
		s.Stop(999, reference.WhyBlock).Local(998, 0, reference.WhyTimer).Run(998, 0, 20*Ms, reference.WhyBlock)
		for g := range int64(100) {
			s.Run(1+g, 0, 5*Us, reference.WhyExit)
		}
	}
	if x := One(t, detect(s), runnableburst.ID, findings.Note); x.Severity != findings.Note {
		t.Errorf("%s: %s", x.Severity, x.Headline)
	}
}

func TestAdviceFollowsTheCause(t *testing.T) {
	x := One(t, detect(bursts(10, 100, 100*Us, reference.WhyTimer)), runnableburst.ID, findings.Warning)
	if !strings.Contains(x.Advice[0].String(), "timers") {
		t.Error(x.Advice[0])
	}
}

// Of goroutines that slept it tells where; those that were just created did not.
func TestNamesWhereTheySlept(t *testing.T) {
	s := New(1)
	for g := int64(1); g <= 100; g++ {
		s.Local(g, 0, reference.WhyCreate)
	}
	for range 10 {
		for g := int64(1); g <= 100; g++ {
			s.Start(g, 0).Pass(100*Us).Block(g, reference.ReasonSleep)
			s.Decisions[len(s.Decisions)-1].Stack = 7
		}
		s.Pass(20 * Ms)
		for g := int64(1); g <= 100; g++ {
			s.Local(g, 0, reference.WhyTimer)
		}
	}
	if x := One(t, detect(s), runnableburst.ID, findings.Warning); x.Headline.String() != "Timers wake up to 100 goroutines in main.f7 at once" {
		t.Error(x.Headline)
	}
}

func TestFewForEachPAreANote(t *testing.T) {
	x := One(t, detect(bursts(20, 30, 100*Us, reference.WhyCreate)), runnableburst.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestOverloadIsCritical(t *testing.T) {
	One(t, detect(bursts(10, 2000, 100*Us, reference.WhyCreate)), runnableburst.ID, findings.Critical)
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"five for each P": bursts(200, 5, 500*Us, reference.WhyCreate),
		"soon over":       bursts(200, 100, 10*Us, reference.WhyCreate),
		"once":            bursts(1, 60, 100*Us, reference.WhyCreate).Pass(5000 * Ms),
		"yielded":         bursts(10, 100, 100*Us, reference.WhyGosched),
	} {
		t.Run(name, func(t *testing.T) { None(t, detect(s)) })
	}
}

func TestABurstThatIsNotOver(t *testing.T) {
	s := New(1)
	for g := range int64(50) {
		s.Global(1+g, reference.WhyNetwork)
	}
	x := One(t, detect(s.Pass(200*Ms)), runnableburst.ID, findings.Warning)
	if want := 45 * 200 * Ms; x.CostNs != want || x.ToNs != s.Now {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

func TestShortRecordings(t *testing.T) {
	if x := One(t, detect(bursts(2, 100, 100*Us, reference.WhyCreate)), runnableburst.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// A P that has work and a thread and yet runs nothing lacks a CPU, but that makes nobody
// runnable.
func TestAStrainedMachineChangesNothing(t *testing.T) {
	s := bursts(10, 100, 100*Us, reference.WhyCreate)
	for range 10 {
		s.Local(500, 0, reference.WhyUnblock).Run(500, 0, Us, reference.WhyBlock).
			Local(501, 0, reference.WhyUnblock).Local(500, 0, reference.WhyUnblock).Run(500, 0, Us, reference.WhyBlock).Pass(5*Ms).Run(501, 0, Us, reference.WhyBlock)
	}
	if x := One(t, detect(s), runnableburst.ID, findings.Warning); x.Basis != findings.Certain {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
