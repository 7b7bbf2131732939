package blockedonothers_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	blockedonothers "github.com/gmpscope/gmpscope/analyze/findings/blocked-on-others"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	client = int64(1)
	server = int64(2)

	inAsk   = int32(7)
	inServe = int32(8)
	inLock  = int32(9)
	inStop  = int32(10)
)

func detect(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string {
		switch h {
		case inAsk:
			return []string{"runtime.chanrecv1 (chan.go:506)", "main.(*batcher).Add (main.go:7)", "main.upload (main.go:3)"}
		case inServe:
			return []string{"runtime.chansend1 (chan.go:161)", "main.(*batcher).run (main.go:9)"}
		case inStop:
			return []string{"main.(*batcher).stop (main.go:21)"}
		case inLock:
			return []string{"sync.(*Mutex).Lock (mutex.go:46)", "main.(*batcher).Add (main.go:7)", "main.upload (main.go:3)"}
		}
		return nil
	}
	return s.DetectWith(blockedonothers.New(blockedonothers.Default()), f)
}

// answers has a client ask n times, and a server answer after 4 ms for which it is blocked
// for a reason; asks says whether the question wakes the server.
func answers(n int, waits, serves reference.Reason, stack int32, asks bool) *Stream {
	s := New(1).Class(2, server)
	s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonSelect)
	s.Local(client, 0, reference.WhyCreate).Start(client, 0)
	for range n {
		if asks {
			s.Wake(server, client)
		}
		s.Pass(10*Us).Block(client, waits)
		s.Decisions[len(s.Decisions)-1].Stack = stack
		if !asks {
			s.Local(server, 0, reference.WhyTimer)
		}
		s.Start(server, 0).Pass(10*Us).Block(server, serves).Pass(4*Ms).Local(server, 0, reference.WhyTimer).Start(server, 0)
		s.Wake(client, server)
		s.Decisions[len(s.Decisions)-1].Stack = inServe
		s.Block(server, reference.ReasonSelect).Start(client, 0)
	}
	return s
}

func TestFindsWhoIsWaitedFor(t *testing.T) {
	x := One(t, detect(answers(50, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, true)), blockedonothers.ID, findings.Note)
	if x.Severity != findings.Note || !strings.HasPrefix(x.Headline, "main.(*batcher).Add waits for main.(*batcher).run: 20") {
		t.Errorf("%s: %s", x.Severity, x.Headline)
	}
	if !strings.Contains(x.Title, "mostly asleep") || !strings.HasPrefix(x.Advice[0], "main.(*batcher).run itself waits") {
		t.Errorf("%s %s", x.Title, x.Advice[0])
	}
}

func TestWaitsToSend(t *testing.T) {
	One(t, detect(answers(50, reference.ReasonChanSend, reference.ReasonSleep, inAsk, false)), blockedonothers.ID, findings.Note)
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"nothing to do": answers(50, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, false),
		"a lock":        answers(50, reference.ReasonSync, reference.ReasonSleep, inLock, true),
		"short":         answers(12, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, true),
		"seldom":        answers(50, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, true).Pass(900 * Ms),
	} {
		if list := detect(s); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}

// Goroutines that are there for one thing want it done; but those that come to their end as
// soon as a channel is closed have waited to be told to stop.
func TestOnesThatEnd(t *testing.T) {
	for name, c := range map[string]struct {
		wakes int32
		runs  int64
		found bool
	}{
		"sent to":                {inServe, 10 * Us, true},
		"closed, then goes on":   {inStop, 200 * Us, true},
		"closed, then ends":      {inStop, 10 * Us, false},
		"told of by none, ended": {0, 10 * Us, true},
	} {
		s := New(1).Class(2, server)
		s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonSelect)
		for g := int64(100); g < 130; g++ {
			s.Create(g, server)
			s.Class(3, g).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonChanReceive)
			s.Decisions[len(s.Decisions)-1].Stack = inAsk
			s.Pass(4*Ms).Local(server, 0, reference.WhyTimer).Start(server, 0).Wake(g, server)
			s.Decisions[len(s.Decisions)-1].Stack = c.wakes
			s.Block(server, reference.ReasonSelect).Start(g, 0).Pass(c.runs).Stop(g, reference.WhyExit)
		}
		if list := detect(s); c.found != (len(list) == 1) {
			t.Errorf("%s: found %t\n%s", name, !c.found, Text(list))
		}
	}
}
