package blockedonothers_test

import (
	"slices"
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
	inWrite = int32(11)
	inRead  = int32(12)
	inLook  = int32(13)
	inDial  = int32(14)
	inOnce  = int32(15)
	inLoop  = int32(16)
	inTick  = int32(17)
)

func detect(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string {
		switch h {
		case inAsk:
			return []string{"runtime.chanrecv1 (chan.go:506)", "main.(*batcher).Add (main.go:7)", "main.upload (main.go:3)"}
		case inServe:
			return []string{"runtime.chansend1 (chan.go:161)", "main.(*batcher).run (main.go:9)"}
		case inWrite:
			return []string{"internal/poll.(*FD).Write (fd_unix.go:9)", "net.(*conn).Write (net.go:9)", "main.(*session).send (main.go:7)", "main.(*hub).publish (main.go:5)", "main.upload (main.go:3)"}
		case inRead:
			return []string{"internal/poll.(*FD).Read (fd_unix.go:9)", "main.(*session).send (main.go:7)", "main.upload (main.go:3)"}
		case inLook:
			return []string{"time.Sleep (time.go:9)", "main.(*session).look (main.go:7)", "main.upload (main.go:3)"}
		case inDial:
			return []string{"internal/poll.(*FD).WaitWrite (fd_unix.go:9)", "net.(*netFD).connect (fd_unix.go:9)", "main.(*session).dial (main.go:8)", "main.upload (main.go:3)"}
		case inOnce:
			return []string{"sync.(*Mutex).Lock (mutex.go:46)", "sync.(*Once).doSlow (once.go:73)", "main.(*pool).open (main.go:7)", "main.upload (main.go:3)"}
		case inStop:
			return []string{"main.(*batcher).stop (main.go:21)"}
		case inLoop:
			return []string{"runtime.selectgo (select.go:351)", "main.(*worker).run (main.go:33)"}
		case inTick:
			return []string{"runtime.selectgo (select.go:351)", "main.(*session).tick (main.go:7)", "main.upload (main.go:3)"}
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
	if x.Severity != findings.Note || !strings.HasPrefix(x.Headline.String(), "main.(*batcher).Add waits for main.(*batcher).run: 20") {
		t.Errorf("%s: %s", x.Severity, x.Headline)
	}
	if !strings.Contains(x.Title.String(), "mostly asleep") || !strings.HasPrefix(x.Advice[0].String(), "main.(*batcher).run itself waits") {
		t.Errorf("%s %s", x.Title, x.Advice[0])
	}
}

// A few goroutines that wait once each before they end are there for what they wait for.
func TestWaitOnce(t *testing.T) {
	for _, times := range []int{1, 3} {
		s := New(1).Class(2, server)
		s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonSelect)
		for g := range int64(8) {
			s.Class(1, 100+g).Local(100+g, 0, reference.WhyCreate).Start(100+g, 0)
			for range times {
				s.Block(100+g, reference.ReasonChanReceive)
				s.Decisions[len(s.Decisions)-1].Stack = inAsk
				s.Local(server, 0, reference.WhyTimer).Start(server, 0).Pass(10*Ms).Block(server, reference.ReasonSleep).Pass(10*Ms).Local(server, 0, reference.WhyTimer).Start(server, 0)
				s.Wake(100+g, server)
				s.Decisions[len(s.Decisions)-1].Stack = inServe
				s.Block(server, reference.ReasonSelect).Start(100+g, 0)
			}
			s.Stop(100+g, reference.WhyExit)
		}
		if got := len(detect(s)); got != 1 && times == 1 || got != 0 && times > 1 {
			t.Errorf("%d times each: %d findings", times, got)
		}
	}
}

// Who computes for those that wait is preempted meanwhile, which does not end its round.
func TestComputesForOthers(t *testing.T) {
	s := New(1).Class(2, server)
	s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonSelect)
	s.Local(client, 0, reference.WhyCreate).Start(client, 0)
	for range 50 {
		s.Wake(server, client).Pass(10*Us).Block(client, reference.ReasonChanReceive)
		s.Decisions[len(s.Decisions)-1].Stack = inAsk
		s.Start(server, 0)
		for range 3 {
			s.Pass(10*Ms).Preempt(server).Start(server, 0)
		}
		s.Pass(Ms).Wake(client, server)
		s.Decisions[len(s.Decisions)-1].Stack = inServe
		s.Block(server, reference.ReasonSelect).Start(client, 0)
	}
	x := One(t, detect(s), blockedonothers.ID, findings.Note)
	if want := "main.(*batcher).run had run for most of its last round"; !strings.Contains(x.Title.String(), want) {
		t.Errorf("%s %s", x.Title, Text([]findings.Finding{x}))
	}
	if e := x.Evidence[slices.IndexFunc(x.Evidence, func(e findings.Evidence) bool { return strings.HasSuffix(e.What.String(), "ran") })]; e.Value.String() != ">99.9 %" {
		t.Errorf("%+v", e)
	}
}

// asked has a client ask 50 times, and wait for what a server that it wakes does before it answers.
func asked(serves func(s *Stream)) *Stream {
	s := New(1).Class(2, server)
	s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonSelect)
	s.Local(client, 0, reference.WhyCreate).Start(client, 0)
	for range 50 {
		s.Wake(server, client).Pass(10*Us).BlockAt(client, reference.ReasonChanReceive, inAsk).Start(server, 0)
		serves(s)
		s.Pass(Ms).Wake(client, server)
		s.Decisions[len(s.Decisions)-1].Stack = inServe
		s.Block(server, reference.ReasonSelect).Start(client, 0)
	}
	return s
}

// What a server did for most of a wait is told, be it a long block before a short one, or system calls.
func TestServes(t *testing.T) {
	for want, serves := range map[string]func(s *Stream){
		"main.(*batcher).run had itself waited before in main.(*session).tick, mostly for a timer": func(s *Stream) {
			s.BlockAt(server, reference.ReasonSelect, inTick).Pass(10*Ms).Local(server, 0, reference.WhyTimer)
			s.Start(server, 0).Block(server, reference.ReasonNetwork).Pass(100*Us).Local(server, 0, reference.WhyNetwork).Start(server, 0)
		},
		"main.(*batcher).run had been in system calls in main.(*session).send for most of its time": func(s *Stream) {
			s.Syscall(server)
			s.Decisions[len(s.Decisions)-1].Stack = inWrite
			s.Pass(10 * Ms).SyscallExit(server)
		},
	} {
		if x := One(t, detect(asked(serves)), blockedonothers.ID, findings.Note); !strings.HasSuffix(x.Title.String(), want) {
			t.Errorf("%s, want …%s", x.Title, want)
		}
	}
}

// It is followed for whom those wait that others wait for, up to what is outside.
func TestFollowsWhoWaitsForWhom(t *testing.T) {
	const store, inFetch, inStore = int64(3), int32(14), int32(15)
	s := New(1).Class(2, server).Class(3, store)
	s.Local(store, 0, reference.WhyCreate).Start(store, 0).Block(store, reference.ReasonChanReceive)
	s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonChanReceive)
	s.Local(client, 0, reference.WhyCreate).Start(client, 0)
	at := func(stack int32) { s.Decisions[len(s.Decisions)-1].Stack = stack }
	for range 50 {
		s.Wake(server, client).Pass(10*Us).Block(client, reference.ReasonChanReceive)
		at(inAsk)
		s.Start(server, 0).Pass(10*Us).Wake(store, server).Block(server, reference.ReasonChanReceive)
		at(inFetch)
		s.Start(store, 0).Pass(10*Us).Block(store, reference.ReasonSleep)
		at(inLook)
		s.Pass(4*Ms).Local(store, 0, reference.WhyTimer).Start(store, 0).Pass(10*Us).Wake(server, store)
		at(inStore)
		s.Block(store, reference.ReasonChanReceive).Start(server, 0).Pass(10*Us).Wake(client, server)
		at(inServe)
		s.Block(server, reference.ReasonChanReceive).Start(client, 0)
	}
	f := s.Facts()
	f.Stack = func(h int32) []string {
		return map[int32][]string{
			inAsk:   {"runtime.chanrecv1 (chan.go:506)", "main.ask (main.go:7)"},
			inServe: {"runtime.chansend1 (chan.go:161)", "main.serve (main.go:9)"},
			inFetch: {"runtime.chanrecv1 (chan.go:506)", "main.fetch (main.go:11)", "main.serve (main.go:9)"},
			inStore: {"runtime.chansend1 (chan.go:161)", "main.store (main.go:13)"},
			inLook:  {"time.Sleep (time.go:9)", "main.store (main.go:13)"},
		}[h]
	}
	f.ClassName = func(class int32) (string, string) {
		return map[int32]string{1: "main.ask", 2: "main.serve", 3: "main.store"}[class], ""
	}
	x := One(t, s.DetectWith(blockedonothers.New(blockedonothers.Default()), f), blockedonothers.ID, findings.Note)
	if want := "main.ask waits for main.serve, and that for main.store: 20"; !strings.HasPrefix(x.Headline.String(), want) {
		t.Errorf("%q, want %q", x.Headline, want)
	}
	if want := "main.serve had itself waited for main.store, which waited for a timer"; !strings.HasSuffix(x.Title.String(), want) || !strings.HasPrefix(x.Advice[0].String(), "Begin with main.store,") {
		t.Errorf("%s\n%s", x.Title, x.Advice[0])
	}
}

// Who works for others and waits for the network meanwhile is named first, by where it does; who waits
// for it comes after.
func TestNamesWhoWaitsForTheNetwork(t *testing.T) {
	const inUpload = int32(21)
	s := answers(50, reference.ReasonChanSend, reference.ReasonNetwork, inAsk, false)
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.G == server && d.Kind == reference.KindStop && d.Reason == reference.ReasonNetwork {
			d.Stack = inUpload
		}
		if d := &s.Decisions[i]; d.G == server && d.Kind == reference.KindReady && i > 3 && s.Decisions[i-1].Kind == reference.KindStop && s.Decisions[i-1].Stack == inUpload {
			d.Why = reference.WhyNetwork
		}
	}
	f := s.Facts()
	f.Stack = func(h int32) []string {
		return map[int32][]string{
			inAsk:    {"runtime.chansend1 (chan.go:161)", "main.walk (main.go:7)"},
			inServe:  {"runtime.chanrecv1 (chan.go:506)", "main.save (main.go:9)"},
			inUpload: {"net.(*conn).Read (net.go:9)", "main.upload (main.go:12)", "main.save (main.go:10)"},
		}[h]
	}
	f.ClassName = func(class int32) (string, string) { return map[int32]string{1: "main.walk", 2: "main.save"}[class], "" }
	x := One(t, s.DetectWith(blockedonothers.New(blockedonothers.Default()), f), blockedonothers.ID, findings.Note)
	if want := "main.upload waits for the network, and main.walk for it: 20"; !strings.HasPrefix(x.Headline.String(), want) || !strings.HasPrefix(x.Advice[0].String(), "Have goroutines of their own do what main.upload does") {
		t.Errorf("%s\n%s", x.Headline, x.Advice[0])
	}
}

// Of a library's goroutine that reads from a connection, it is the network that is waited for.
func TestWaitsForTheNetwork(t *testing.T) {
	s := answers(50, reference.ReasonChanReceive, reference.ReasonNetwork, inAsk, true)
	f := s.Facts()
	f.Stack = func(h int32) []string {
		if h == inServe {
			return []string{"runtime.chansend1 (chan.go:161)", "net/http.(*persistConn).readLoop (transport.go:9)"}
		}
		return []string{"runtime.chanrecv1 (chan.go:506)", "main.ask (main.go:7)"}
	}
	f.ClassName = func(class int32) (string, string) {
		return map[int32]string{1: "main.upload", 2: "net/http.(*persistConn).readLoop"}[class], ""
	}
	x := One(t, s.DetectWith(blockedonothers.New(blockedonothers.Default()), f), blockedonothers.ID, findings.Note)
	if want := "main.ask waits for the network (net/http.(*persistConn).readLoop): 20"; !strings.HasPrefix(x.Headline.String(), want) || strings.Contains(x.Advice[0].String(), "readLoop") {
		t.Errorf("%s\n%s", x.Headline, x.Advice[0])
	}
}

// connected has a client ask over a connection whose other end is in the program, too: a
// library's goroutine reads the answers, which come early or late after they are written.
func connected(late int64, writes int32) *Stream {
	const reader, inRead = int64(3), int32(20)
	s := New(2).Class(2, server).Class(3, reader)
	at := func(stack int32) { s.Decisions[len(s.Decisions)-1].Stack = stack }
	s.Local(server, 1, reference.WhyCreate).Start(server, 1).Block(server, reference.ReasonNetwork)
	at(inRead)
	s.Local(reader, 1, reference.WhyCreate).Start(reader, 1).Block(reader, reference.ReasonNetwork)
	at(inRead)
	s.Local(client, 0, reference.WhyCreate).Start(client, 0)
	for range 50 {
		s.Pass(10*Us).Block(client, reference.ReasonChanReceive)
		at(inAsk)
		s.Pass(10*Us).Local(server, 1, reference.WhyNetwork).Start(server, 1).Pass(10*Us).Block(server, reference.ReasonSleep)
		at(inLook)
		s.Pass(4*Ms).Local(server, 1, reference.WhyTimer).Start(server, 1).Syscall(server)
		at(writes)
		s.Pass(5*Us).SyscallExit(server).Block(server, reference.ReasonNetwork)
		at(inRead)
		s.Pass(late).Local(reader, 1, reference.WhyNetwork).Start(reader, 1).Pass(10*Us).Wake(client, reader)
		at(inServe)
		s.Block(reader, reference.ReasonNetwork).Start(client, 0)
		at(inRead)
	}
	return s
}

func detectConnected(s *Stream) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string {
		return map[int32][]string{
			20:      {"internal/poll.(*FD).Read (fd_unix.go:9)", "net.(*conn).Read (net.go:9)"},
			inAsk:   {"runtime.chanrecv1 (chan.go:506)", "main.ask (main.go:7)"},
			inServe: {"runtime.chansend1 (chan.go:161)", "net/http.(*persistConn).readLoop (transport.go:9)"},
			inLook:  {"time.Sleep (time.go:9)", "main.look (main.go:11)", "net/http.(*conn).serve (server.go:9)"},
			inWrite: {"syscall.write (z.go:9)", "internal/poll.(*FD).Write (fd_unix.go:9)", "net.(*conn).Write (net.go:9)", "net/http.(*conn).serve (server.go:9)"},
			inTick:  {"syscall.write (z.go:9)", "internal/poll.(*FD).Write (fd_unix.go:9)", "os.(*File).Write (file.go:9)", "net/http.(*conn).serve (server.go:9)"},
		}[h]
	}
	f.ClassName = func(class int32) (string, string) {
		return map[int32]string{1: "main.upload", 2: "net/http.(*conn).serve", 3: "net/http.(*persistConn).readLoop"}[class], ""
	}
	t := blockedonothers.Default()
	t.IdleLine = 0.5
	return s.DetectWith(blockedonothers.New(t), f)
}

// Who writes just before what comes over the network is whom those wait for that wait for it.
func TestAnswersOfTheProgram(t *testing.T) {
	for _, late := range []int64{20 * Us, 500 * Us} {
		x := One(t, detectConnected(connected(late, inWrite)), blockedonothers.ID, findings.Note)
		if want := "main.ask waits for main.look over the network: 2"; !strings.HasPrefix(x.Headline.String(), want) {
			t.Errorf("%q, want %q", x.Headline, want)
		}
		if !strings.HasSuffix(x.Title.String(), "it seems to come from main.look, which waited for a timer before") || !strings.HasPrefix(x.Advice[0].String(), "Begin with main.look,") {
			t.Errorf("%s\n%s", x.Title, x.Advice[0])
		}
	}
	for name, s := range map[string]*Stream{"long after": connected(2*Ms, inWrite), "to a file": connected(20*Us, inTick)} {
		x := One(t, detectConnected(s), blockedonothers.ID, findings.Note)
		if want := "main.ask waits for the network (net/http.(*persistConn).readLoop): "; !strings.HasPrefix(x.Headline.String(), want) {
			t.Errorf("%s: %q, want %q", name, x.Headline, want)
		}
	}
}

// It tells where those wait for a timer that others wait for.
func TestTellsWhereThatOneWaits(t *testing.T) {
	s := answers(50, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, true)
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.G == server && d.Kind == reference.KindStop && d.Reason == reference.ReasonSleep {
			d.Stack = inLook
		}
	}
	x := One(t, detect(s), blockedonothers.ID, findings.Note)
	if !strings.HasPrefix(x.Headline.String(), "main.(*batcher).Add waits for main.(*batcher).run, waiting in main.(*session).look: 20") {
		t.Error(x.Headline)
	}
	if !strings.Contains(x.Title.String(), "had itself waited before in main.(*session).look, mostly asleep") {
		t.Error(x.Title)
	}
}

func TestWaitsToSend(t *testing.T) {
	One(t, detect(answers(50, reference.ReasonChanSend, reference.ReasonSleep, inAsk, false)), blockedonothers.ID, findings.Note)
}

func TestWaitsForACondition(t *testing.T) {
	One(t, detect(answers(50, reference.ReasonCond, reference.ReasonSleep, inAsk, true)), blockedonothers.ID, findings.Note)
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"nothing to do": answers(50, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, false),
		"no condition":  answers(50, reference.ReasonCond, reference.ReasonSleep, inAsk, false),
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

// What no goroutine ends is told where nothing else is.
func TestOutside(t *testing.T) {
	for name, c := range map[string]struct {
		reason reference.Reason
		why    reference.Why
		stack  int32
		n      int
		busy   int64 // ns that the goroutine runs between
		want   string
	}{
		"writes":             {reference.ReasonNetwork, reference.WhyNetwork, inWrite, 50, 10 * Us, "main.(*session).send (called by main.(*hub).publish) waits until the other end reads: 2"},
		"reads":              {reference.ReasonNetwork, reference.WhyNetwork, inRead, 50, 10 * Us, ""},
		"writes fast":        {reference.ReasonNetwork, reference.WhyNetwork, inWrite, 9, 10 * Us, ""},
		"sleeps":             {reference.ReasonSleep, reference.WhyTimer, inLook, 50, 10 * Us, ""},
		"starts, and sleeps": {reference.ReasonSleep, reference.WhyCreate, inLook, 50, 10 * Us, "main.(*session).look (called by main.upload) sleeps for 99."},
		"sleeps seldom":      {reference.ReasonSleep, reference.WhyTimer, inLook, 50, 9 * Ms, ""},
		"has a ticker":       {reference.ReasonSelect, reference.WhyTimer, inAsk, 50, 10 * Us, ""},
		"is in system call":  {reference.ReasonNone, reference.WhySyscallExit, inWrite, 50, 10 * Us, "main.(*session).send (called by main.(*hub).publish) is in system calls: 2"},
		"calls seldom":       {reference.ReasonNone, reference.WhySyscallExit, inWrite, 50, 9 * Ms, ""},
	} {
		s, made := New(1).Class(2, client), int64(100)
		s.Local(client, 0, reference.WhyCreate).Start(client, 0)
		for range c.n {
			if s.Pass(c.busy); c.reason == reference.ReasonNone {
				s.Syscall(client)
				s.Decisions[len(s.Decisions)-1].Stack = c.stack
				s.Pass(1*Ms).Retake(client, reference.WhyRetakeSlow).Pass(4*Ms).SyscallExit(client).Local(client, 0, reference.WhySyscallExit)
			} else {
				why := c.why
				if why == reference.WhyCreate {
					made++
					s.Create(made, client)
					why = reference.WhyTimer
				}
				s.Block(client, c.reason)
				s.Decisions[len(s.Decisions)-1].Stack = c.stack
				if made > 100 {
					s.Start(made, 0).Stop(made, reference.WhyExit)
				}
				s.Pass(5*Ms).Local(client, 0, why)
			}
			s.Start(client, 0)
		}
		list := detect(s)
		if c.want == "" {
			None(t, list)
			continue
		}
		if x := One(t, list, blockedonothers.ID, findings.Note); !strings.HasPrefix(x.Headline.String(), c.want) || x.CostNs > 250*Ms || x.CostNs < 249*Ms {
			t.Errorf("%s: %s: %s, %d ns", name, x.Severity, x.Headline, x.CostNs)
		}
	}
}

// Answers that come one after another are told of those who ask: goroutines that come to their
// end, that begin a round by a timer, or that open connections. Who serves waits like that.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answers int
		ends    bool // each goroutine after its answers
		timed   reference.Reason
		takes   int64 // ns, each
		dials   bool
		found   bool
	}{
		"five each":           {5, true, 0, 5 * Ms, false, true},
		"five fast ones each": {5, true, 0, 800 * Us, false, false},
		"two each":            {2, true, 0, 5 * Ms, false, false},
		"serves":              {150, false, 0, 5 * Ms, false, false},
		"opens a connection":  {150, false, 0, 5 * Ms, true, true},
		"sleeps in between":   {5, false, reference.ReasonSleep, 5 * Ms, false, true},
		"has a ticker":        {5, false, reference.ReasonChanReceive, 5 * Ms, false, true},
		"one for each ticker": {1, false, reference.ReasonChanReceive, 5 * Ms, false, false},
	} {
		s := New(1)
		g := int64(100)
		s.Local(g, 0, reference.WhyCreate).Class(3, g).Start(g, 0)
		wait := func(r reference.Reason, why reference.Why, stack int32, ns int64) {
			s.Pass(10*Us).Block(g, r)
			s.Decisions[len(s.Decisions)-1].Stack = stack
			s.Pass(ns).Local(g, 0, why).Start(g, 0)
		}
		if c.dials {
			wait(reference.ReasonNetwork, reference.WhyNetwork, inDial, 100*Us)
		}
		for range 30 {
			for range c.answers {
				wait(reference.ReasonNetwork, reference.WhyNetwork, inRead, c.takes)
			}
			if c.timed != 0 {
				wait(c.timed, reference.WhyTimer, inAsk, 1*Ms)
			}
			if c.ends {
				s.Stop(g, reference.WhyExit)
				g++
				s.Local(g, 0, reference.WhyCreate).Class(3, g).Start(g, 0)
			}
		}
		list := detect(s)
		if c.found != (len(list) == 1) {
			t.Errorf("%s: found %t\n%s", name, !c.found, Text(list))
			continue
		}
		if c.found && !strings.HasPrefix(list[0].Headline.String(), "main.(*session).send (called by main.upload) waits for answers from the network, one by one: ") {
			t.Error(list[0].Headline)
		}
	}
}

// Nobody wants to wait for the end of collections, again and again.
func TestCollections(t *testing.T) {
	for n, want := range map[int]findings.Severity{30: findings.Warning, 4: findings.Note} {
		s := New(1)
		s.Local(client, 0, reference.WhyCreate).Start(client, 0)
		for range n {
			s.Pass(10*Us).Block(client, reference.ReasonGCEnds)
			s.Decisions[len(s.Decisions)-1].Stack = inAsk
			s.Pass(20*Ms).Wake(client, 77).Start(client, 0)
		}
		x := One(t, detect(s), blockedonothers.ID, findings.Note)
		if x.Severity != want || !strings.HasPrefix(x.Headline.String(), "main.(*batcher).Add waits for the end of garbage collections: ") {
			t.Errorf("%d: %s: %s, want %s", n, x.Severity, x.Headline, want)
		}
	}
}

// All callers of a sync.Once wait for the first one; that is no lock in whose line to stand.
func TestOnce(t *testing.T) {
	x := One(t, detect(answers(50, reference.ReasonSync, reference.ReasonNetwork, inOnce, true)), blockedonothers.ID, findings.Note)
	if want := "main.(*pool).open waits for the first caller of a sync.Once: 20"; !strings.HasPrefix(x.Headline.String(), want) {
		t.Errorf("%s, want %s", x.Headline, want)
	}
}

// Deadlines that pass one after another are told, with those who wait for them; one is not.
func TestDeadlines(t *testing.T) {
	for n, found := range map[int]bool{20: true, 4: false} {
		s := New(1)
		for i := range int64(n) {
			g, timer := 100+i, 1000+i
			s.Local(g, 0, reference.WhyCreate).Class(3, g).Class(9, timer).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonSelect)
			s.Decisions[len(s.Decisions)-1].Stack = inAsk
			s.Pass(20*Ms).Local(timer, 0, reference.WhyCreate).Start(timer, 0).Wake(g, timer)
			s.Stop(timer, reference.WhyExit).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonSleep)
		}
		f := s.Facts()
		f.ClassName = func(class int32) (string, string) {
			return map[int32]string{3: "main.upload", 9: "context.WithDeadlineCause.func2"}[class], ""
		}
		f.Stack = func(h int32) []string {
			if h == inAsk {
				return []string{"runtime.selectgo (select.go:351)", "main.(*pool).acquire (main.go:7)", "main.show (main.go:5)", "main.upload (main.go:3)"}
			}
			return nil
		}
		list := s.DetectWith(blockedonothers.New(blockedonothers.Default()), f)
		if found != (len(list) == 1) {
			t.Errorf("%d: found %t\n%s", n, !found, Text(list))
		}
		if found && !strings.HasPrefix(list[0].Headline.String(), "main.(*pool).acquire (called by main.show) runs into its timeout") {
			t.Error(list[0].Headline)
		}
	}
}

// Who is there for one thing should not sleep; who lives as long as the recording may.
func TestSleepersThatEnd(t *testing.T) {
	for _, together := range []bool{false, true} {
		s := New(1).Class(2, server)
		s.Local(server, 0, reference.WhyCreate).Start(server, 0)
		sleep := func(g int64) {
			s.Create(g, server).Class(3, g).Block(server, reference.ReasonSelect).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonSleep)
			s.Decisions[len(s.Decisions)-1].Stack = inLook
		}
		wake := func(g int64) {
			s.Local(g, 0, reference.WhyTimer).Start(g, 0).Pass(10*Us).Stop(g, reference.WhyExit)
			s.Local(server, 0, reference.WhyTimer).Start(server, 0)
		}
		for g := int64(100); g < 130; g++ {
			if sleep(g); together {
				s.Local(server, 0, reference.WhyTimer).Start(server, 0)
				continue
			}
			s.Pass(5 * Ms)
			wake(g)
		}
		if together {
			s.Block(server, reference.ReasonSelect).Pass(150 * Ms)
			for g := int64(100); g < 130; g++ {
				if wake(g); g < 129 {
					s.Block(server, reference.ReasonSelect)
				}
			}
		}
		if list := detect(s); together == (len(list) == 1) {
			t.Errorf("together %t:\n%s", together, Text(list))
		}
	}
}

// Who has answered one and waits for the next to ask has nothing to do, though it has just
// woken one of those that ask.
func TestServesMany(t *testing.T) {
	s := New(1).Class(2, server)
	s.Local(server, 0, reference.WhyCreate).Start(server, 0)
	for i := range int64(50) {
		s.Class(3, 100+i%5)
		if i >= 5 {
			s.Wake(100+(i-1)%5, server) // the answer
		}
		s.Pass(10*Us).Block(server, reference.ReasonChanReceive)
		s.Decisions[len(s.Decisions)-1].Stack = inAsk
		if i >= 5 {
			s.Start(100+(i-1)%5, 0).Pass(10*Us).Block(100+(i-1)%5, reference.ReasonSleep)
		}
		s.Pass(4*Ms).Local(100+i%5, 0, reference.WhyTimer).Start(100+i%5, 0).Wake(server, 100+i%5)
		s.Decisions[len(s.Decisions)-1].Stack = inServe
		s.Block(100+i%5, reference.ReasonChanReceive).Start(server, 0)
	}
	None(t, detect(s))
}

// What others ended is not booked to the one that ended most.
func TestOthers(t *testing.T) {
	s := answers(60, reference.ReasonChanReceive, reference.ReasonSleep, inAsk, true)
	const other = int64(3)
	s.Class(5, other).Local(other, 0, reference.WhyCreate)
	for range 40 {
		s.Wake(server, client)
		s.Pass(10*Us).Block(client, reference.ReasonChanReceive)
		s.Decisions[len(s.Decisions)-1].Stack = inAsk
		s.Start(other, 0).Pass(10*Us).Block(other, reference.ReasonSleep).Pass(4*Ms).Local(other, 0, reference.WhyTimer).Start(other, 0)
		s.Wake(client, other)
		s.Decisions[len(s.Decisions)-1].Stack = inServe
		s.Preempt(other).Start(client, 0)
	}
	found := detect(s)
	if len(found) != 1 || !strings.Contains(found[0].Headline.String(), " and others: ") || !strings.Contains(found[0].Title.String(), " of that time) or others went on") {
		t.Errorf("%+v", found)
	}
}

// Who takes one thing after another in the loop of its start function, and comes to its end with
// nothing done but to tell of it, waited to be told to stop; and who waits more often than it
// comes to an end serves. Neither wants anything.
func TestWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		stack    int32   // where each waits
		waits    int     // of each goroutine, all but the last 200 µs long
		last     int64   // ns
		notifies []int32 // where it wakes somebody before its end
		found    bool
	}{
		"stops":                        {inLoop, 2, 5 * Ms, nil, false},
		"stops, and tells":             {inLoop, 2, 5 * Ms, []int32{inStop}, false},
		"works, and tells":             {inLoop, 2, 5 * Ms, []int32{inServe, inStop}, true},
		"waits once":                   {inLoop, 1, 5 * Ms, []int32{inStop}, true},
		"waits longer before":          {inLoop, 11, 1 * Ms, []int32{inStop}, true},
		"waits for what it has called": {inAsk, 2, 5 * Ms, []int32{inStop}, true},
		"waits again and again":        {inAsk, 41, 5 * Ms, []int32{inServe, inStop}, false},
	} {
		s := New(1).Class(2, server)
		s.Local(server, 0, reference.WhyCreate).Start(server, 0).Block(server, reference.ReasonSelect)
		at := func(stack int32) { s.Decisions[len(s.Decisions)-1].Stack = stack }
		for g := int64(100); g < 130; g++ {
			for i := range c.notifies {
				w := g + 1000*int64(1+i)
				s.Local(w, 0, reference.WhyCreate).Class(4, w).Start(w, 0).Block(w, reference.ReasonChanReceive)
			}
			s.Local(g, 0, reference.WhyCreate).Class(3, g).Start(g, 0)
			for i := range c.waits {
				s.Pass(10*Us).Block(g, reference.ReasonSelect)
				at(c.stack)
				ns := 200 * Us
				if i == c.waits-1 {
					ns = c.last
				}
				s.Pass(ns).Local(server, 0, reference.WhyTimer).Start(server, 0).Wake(g, server)
				at(inServe)
				s.Block(server, reference.ReasonSelect).Start(g, 0)
			}
			for i, stack := range c.notifies {
				s.Wake(g+1000*int64(1+i), g)
				at(stack)
			}
			s.Pass(10*Us).Stop(g, reference.WhyExit)
			for i := range c.notifies {
				s.Start(g+1000*int64(1+i), 0).Block(g+1000*int64(1+i), reference.ReasonSleep)
			}
		}
		if list := detect(s); c.found != (len(list) == 1) {
			t.Errorf("%s: found %t\n%s", name, !c.found, Text(list))
		}
	}
}

// One long wait among many short ones is not what goroutines do.
func TestOneWait(t *testing.T) {
	for longest, found := range map[int64]bool{150 * Ms: true, 300 * Ms: false} {
		s := answers(50, reference.ReasonChanSend, reference.ReasonSleep, inAsk, false)
		s.Block(client, reference.ReasonChanSend)
		s.Decisions[len(s.Decisions)-1].Stack = inAsk
		s.Pass(longest).Local(server, 0, reference.WhyTimer).Start(server, 0).Wake(client, server).Block(server, reference.ReasonSelect).Start(client, 0)
		if list := detect(s); found != (len(list) == 1) {
			t.Errorf("%d: found %t\n%s", longest, !found, Text(list))
		}
	}
}

// Who sleeps, or is in system calls, is named also in a library.
func TestOutsideInALibrary(t *testing.T) {
	s := New(1)
	for g := int64(100); g < 130; g++ {
		s.Local(g, 0, reference.WhyCreate).Class(3, g).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonSleep)
		s.Decisions[len(s.Decisions)-1].Stack = inLook
		s.Pass(5*Ms).Local(g, 0, reference.WhyTimer).Start(g, 0).Pass(10*Us).Stop(g, reference.WhyExit)
	}
	f := s.Facts()
	f.Stack = func(int32) []string {
		return []string{"time.Sleep (time.go:9)", "example.org/rpc.(*Client).retry (example.org/rpc@v1.2.0/client.go:7)", "main.ask (main.go:5)", "main.upload (main.go:3)"}
	}
	x := One(t, s.DetectWith(blockedonothers.New(blockedonothers.Default()), f), blockedonothers.ID, findings.Note)
	if want := "example.org/rpc.(*Client).retry (called by main.ask) sleeps"; !strings.HasPrefix(x.Headline.String(), want) {
		t.Errorf("%s, want %s", x.Headline, want)
	}
}

// Who sleeps between tries, now and then in vain, polls; who always sleeps again at once has a
// pace, and who always does something in between, too.
func TestTries(t *testing.T) {
	for vain, found := range map[int]bool{0: false, 1: true, 20: false} {
		s := New(1).Class(2, client)
		s.Local(client, 0, reference.WhyCreate).Start(client, 0)
		for range 60 / (vain + 1) {
			s.Pass(100 * Us)
			for range vain + 1 {
				s.Pass(5*Us).Block(client, reference.ReasonSleep)
				s.Decisions[len(s.Decisions)-1].Stack = inLook
				s.Pass(5*Ms).Local(client, 0, reference.WhyTimer).Start(client, 0)
			}
		}
		list := detect(s)
		if found != (len(list) == 1) {
			t.Errorf("%d in vain: found %t\n%s", vain, !found, Text(list))
		} else if want := "main.(*session).look (called by main.upload) sleeps between its tries"; found && !strings.HasPrefix(list[0].Headline.String(), want) {
			t.Error(list[0].Headline)
		}
	}
}

// Timers that end a select are timeouts, but for those of the loop of a start function, and of
// goroutines that wait there again and again: that is a period.
func TestTickers(t *testing.T) {
	for name, c := range map[string]struct {
		stack int32
		times int
		found bool
	}{
		"once":            {inTick, 1, true},
		"again":           {inTick, 2, true},
		"again and again": {inTick, 8, false},
		"a loop":          {inLoop, 1, false},
	} {
		s := New(1)
		for g := int64(100); g < 130; g++ {
			s.Local(g, 0, reference.WhyCreate).Class(3, g).Start(g, 0)
			for range c.times {
				s.Pass(10*Us).Block(g, reference.ReasonSelect)
				s.Decisions[len(s.Decisions)-1].Stack = c.stack
				s.Pass(5*Ms).Local(g, 0, reference.WhyTimer).Start(g, 0)
			}
			s.Pass(10*Us).Stop(g, reference.WhyExit)
		}
		list := detect(s)
		if c.found != (len(list) == 1) {
			t.Errorf("%s: found %t\n%s", name, !c.found, Text(list))
		}
		found := len(list) == 1
		if found && !strings.HasPrefix(list[0].Headline.String(), "main.(*session).tick (called by main.upload) runs into its timeout") {
			t.Error(list[0].Headline)
		}
	}
}
