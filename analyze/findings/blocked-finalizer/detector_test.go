package blockedfinalizer_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	blockedfinalizer "github.com/gmpscope/gmpscope/analyze/findings/blocked-finalizer"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	releases = int32(31)
	cleansUp = int32(32)
	signals  = int32(33)
	idles    = int32(34)
)

var stacks = map[int32][]string{
	releases: {"time.Sleep (time.go:1)", "main.(*handle).release (main.go:2)", "runtime.runFinalizers (mfinal.go:3)"},
	cleansUp: {"runtime.chansend1 (chan.go:1)", "main.forget (main.go:5)", "runtime.runCleanups (mcleanup.go:3)"},
	signals:  {"runtime.chanrecv1 (chan.go:1)", "os/signal.loop (signal.go:3)"},
	idles:    {"runtime.runFinalizers (mfinal.go:1)"},
}

// blocks has the runtime's goroutine 1 block n times for ns at a stack, and then passes
// the rest of the time.
func blocks(stack int32, reason reference.Reason, n int, ns, rest int64) *Stream {
	s := New(1).Flags(reference.FlagSystem, 1)
	s.Local(1, 0, reference.WhyTimer)
	for range n {
		s.Start(1, 0).Pass(1000).Block(1, reason)
		s.Decisions[len(s.Decisions)-1].Stack = stack
		s.Pass(ns).Local(1, 0, reference.WhyTimer)
	}
	return s.Start(1, 0).Pass(rest).Stop(1, reference.WhyExit)
}

func detect(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	return s.DetectWith(blockedfinalizer.New(blockedfinalizer.Default()), f)
}

func TestFinds(t *testing.T) {
	x := One(t, detect(blocks(releases, reference.ReasonSleep, 10, 9*Ms, 20*Ms)), blockedfinalizer.ID, findings.Critical)
	if x.CostNs != 90*Ms || !strings.HasPrefix(x.Title.String(), "main.(*handle).release, called by a finalizer, was blocked 10 times, for 90 ms") {
		t.Error(x.CostNs, x.Title)
	}
	x = One(t, detect(blocks(cleansUp, reference.ReasonChanSend, 10, 5*Ms, 100*Ms)), blockedfinalizer.ID, findings.Warning)
	if !strings.HasPrefix(x.Headline.String(), "main.forget blocks in a cleanup") {
		t.Error(x.Headline)
	}
	One(t, detect(blocks(releases, reference.ReasonSleep, 10, 2*Ms, 200*Ms)), blockedfinalizer.ID, findings.Note)
}

func TestStillBlocked(t *testing.T) {
	s := New(1).Flags(reference.FlagSystem, 1)
	s.Local(1, 0, reference.WhyTimer).Start(1, 0).Pass(Ms).Block(1, reference.ReasonNetwork)
	s.Decisions[len(s.Decisions)-1].Stack = releases
	s.Local(2, 0, reference.WhyTimer).Start(2, 0).Pass(200*Ms).Stop(2, reference.WhyExit)
	if x := One(t, detect(s), blockedfinalizer.ID, findings.Critical); x.CostNs != 200*Ms {
		t.Error(x.CostNs)
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"short":        blocks(releases, reference.ReasonSleep, 9, Ms, 0),
		"seldom":       blocks(releases, reference.ReasonSleep, 10, 2*Ms, 500*Ms),
		"idle":         blocks(idles, reference.ReasonSystem, 10, 20*Ms, 0),
		"others":       blocks(signals, reference.ReasonChanReceive, 10, 20*Ms, 0),
		"runtime's":    blocks(releases, reference.ReasonGCEnds, 10, 20*Ms, 0),
		"no finalizer": blocks(idles, reference.ReasonSync, 10, 20*Ms, 0),
	} {
		if list := detect(s); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}
