package wakeupcost_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	wakeupcost "github.com/gmpscope/gmpscope/analyze/findings/wakeup-cost"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	wakes  = int32(41)
	sleeps = int32(42)
)

// pair has goroutines 1 and 2 wake one another n times, each running for ns, and then
// pass time.
func pair(n int, ns, rest int64) *Stream {
	s := New(1).Class(2, 2)
	s.Local(1, 0, reference.WhyCreate).Local(2, 0, reference.WhyCreate)
	s.Start(1, 0).Block(1, reference.ReasonChanReceive).Start(2, 0)
	at, next := int64(2), int64(1)
	for range n {
		s.Wake(next, at)
		s.Decisions[len(s.Decisions)-1].Stack = wakes
		s.Block(at, reference.ReasonChanReceive).Pass(200).Start(next, 0).Pass(ns)
		at, next = next, at
	}
	s.Block(at, reference.ReasonChanReceive)
	s.Pass(rest).Local(1, 0, reference.WhyTimer).Run(1, 0, 10, reference.WhyExit)
	return s
}

func detect(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string {
		switch h {
		case wakes:
			return []string{"runtime.chansend1 (chan.go:1)", "main.ping (main.go:9)", "main.main (main.go:3)"}
		case sleeps:
			return []string{"time.Sleep (sleep.go:1)", "main.poll (main.go:7)", "main.main (main.go:3)"}
		}
		return nil
	}
	return s.DetectWith(wakeupcost.New(wakeupcost.Default()), f)
}

func TestFindsAPair(t *testing.T) {
	const n = 250_000
	x := One(t, detect(pair(n, 400, 50*Ms)), wakeupcost.ID, findings.Critical)
	if want := int64(n*600 - 400); x.CostNs < want-1000 || x.CostNs > want+1000 {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if !strings.HasPrefix(x.Title.String(), "main.ping (run by main.class") || !strings.Contains(x.Title.String(), "400 ns of work") || x.Basis != findings.Certain {
		t.Error(x.Title, x.Basis)
	}
}

func TestSeverityByShare(t *testing.T) {
	One(t, detect(pair(20_000, 400, 60*Ms)), wakeupcost.ID, findings.Note)
	if x := One(t, detect(pair(50_000, 400, 150*Ms)), wakeupcost.ID, findings.Warning); x.Severity != findings.Warning {
		t.Error(x.Severity)
	}
}

// sleeper has a goroutine sleep and look n times, ns at a time; every other time it goes
// on to wait for something else, if so told.
func sleeper(n int, ns int64, elsewhere bool) *Stream {
	s := New(1)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for i := range n {
		s.Pass(ns).Block(1, reference.ReasonSleep)
		s.Decisions[len(s.Decisions)-1].Stack = sleeps
		if elsewhere && i%2 == 0 {
			s.Decisions[len(s.Decisions)-1].Stack = wakes
		}
		s.Pass(100).Local(1, 0, reference.WhyTimer).Pass(300).Start(1, 0)
	}
	return s
}

func TestFindsOneThatSleepsAndLooks(t *testing.T) {
	x := One(t, detect(sleeper(250_000, 400, false)), wakeupcost.ID, findings.Critical)
	if !strings.HasPrefix(x.Headline.String(), "main.poll sleeps and wakes up for next to nothing") || !strings.Contains(x.Title.String(), "400 ns of work") {
		t.Error(x.Headline, x.Title)
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"more work":  pair(100_000, 2001, 10*Ms),
		"seldom":     pair(5_000, 1900, 500*Ms),
		"little":     pair(20_000, 400, 900*Ms),
		"no P-time":  New(1),
		"with calls": calls(100_000),

		"sleeps and works":           sleeper(100_000, 2001, false),
		"sleeps and waits elsewhere": sleeper(100_000, 400, true),
	} {
		if list := detect(s); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}

// calls has them make a system call each time.
func calls(n int) *Stream {
	s := New(1)
	s.Local(1, 0, reference.WhyCreate).Local(2, 0, reference.WhyCreate)
	s.Start(1, 0).Block(1, reference.ReasonChanReceive).Start(2, 0)
	at, next := int64(2), int64(1)
	for range n {
		s.Wake(next, at)
		s.Decisions[len(s.Decisions)-1].Stack = wakes
		s.Block(at, reference.ReasonChanReceive).Pass(200).Start(next, 0).Pass(200).Syscall(next).Pass(1000).SyscallExit(next)
		at, next = next, at
	}
	return s
}
