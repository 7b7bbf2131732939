package convoy_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// rounds has one goroutine of class 2 run for long, with three of class 1
// behind it that run for short.
func rounds(n int, long, short int64, global bool) *Stream {
	s := New(1).Class(2, 9)
	for range n {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
		for g := range int64(3) {
			if global {
				s.Global(1+g, reference.WhyNetwork)
			} else {
				s.Local(1+g, 0, reference.WhyUnblock)
			}
		}
		s.Pass(long).Stop(9, reference.WhyBlock)
		for g := range int64(3) {
			s.Run(1+g, 0, short, reference.WhyBlock)
		}
		s.Pass(2 * Ms)
	}
	return s
}

func TestFindsLongRunsBeforeShortOnes(t *testing.T) {
	for _, global := range []bool{false, true} {
		x := One(t, rounds(50, 5*Ms, 20*Us, global).Detect(convoy.New(convoy.Default())), convoy.ID, findings.Warning)
		if want := 50 * 3 * 5 * Ms; x.CostNs != want {
			t.Errorf("cost %d, want %d", x.CostNs, want)
		}
		if x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || !strings.Contains(x.Actors[1].Stack[0], "main.f9") {
			t.Errorf("actors %v", x.Actors)
		}
	}
}

// Where those that they held up waited three times as long as that, it was for something else.
func TestLittleOfWhatTheyWaited(t *testing.T) {
	for total, want := range map[int64]findings.Severity{2 * 750 * Ms: findings.Critical, 3 * 750 * Ms: findings.Note} {
		s := rounds(50, 5*Ms, 20*Us, false)
		f := s.Facts()
		f.Waits.Classes = []waits.Class{{ID: 1, Waits: waits.Summary{TotalNs: total}}, {ID: 2, Waits: waits.Summary{TotalNs: 100 * total}}}
		if x := One(t, s.DetectWith(convoy.New(convoy.Default()), f), convoy.ID, findings.Note); x.Severity != want {
			t.Errorf("%d: %s, want %s", total, x.Severity, want)
		}
	}
}

// What long runs do is told by where they were interrupted, if that was often enough, and in
// one function; where they end by themselves, their work is done.
func TestNamesWhereLongRunsWereInterrupted(t *testing.T) {
	for _, c := range []struct {
		n, other int // interruptions in one function, and in another
		want     string
	}{
		{8, 2, "main.work"}, {4, 0, "main.send"}, {6, 6, "main.class2"},
	} {
		s := rounds(50, 5*Ms, 20*Us, false)
		at := func(n int, stack int32) {
			for range n {
				s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(2 * Ms).Preempt(9)
				s.Decisions[len(s.Decisions)-2].Stack = stack
				s.Start(9, 0).Pass(10*Us).Stop(9, reference.WhyBlock)
			}
		}
		at(c.n, 101)
		at(c.other, 102)
		f := s.Facts()
		f.Stack = func(h int32) []string {
			switch h {
			case 101:
				return []string{"main.work (main.go:1)", "main.class2 (main.go:9)"}
			case 102:
				return []string{"main.read (main.go:2)", "main.class2 (main.go:9)"}
			}
			return []string{"main.send (main.go:3)", "main.class2 (main.go:9)"}
		}
		list := s.DetectWith(convoy.New(convoy.Default()), f)
		if x := One(t, list, convoy.ID, findings.Warning); !strings.HasPrefix(x.Headline.String(), "Runs of "+c.want+" ") {
			t.Errorf("%d and %d: %s, want %s", c.n, c.other, x.Headline, c.want)
		}
	}
}

func TestRunsOfLikeLengthAreNoConvoy(t *testing.T) {
	None(t, rounds(50, 5*Ms, 600*Us, false).Detect(convoy.New(convoy.Default())))
}

// fed has workers of class 2 take values from a sender, which each time stands
// behind the one that took its value, or, without wakes, behind others.
func fed(n int, wakes bool) *Stream {
	s := New(1).Class(2, 9)
	for range n {
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(20*Us).Block(1, reference.ReasonChanSend)
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
		if wakes {
			s.Wake(1, 9)
		} else {
			s.Local(1, 0, reference.WhyNetwork)
		}
		s.Pass(5*Ms).Stop(9, reference.WhyBlock).Run(1, 0, 20*Us, reference.WhyBlock)
	}
	return s
}

func TestASenderBehindItsReceiverIsNoConvoy(t *testing.T) {
	None(t, fed(50, true).Detect(convoy.New(convoy.Default())))
	One(t, fed(50, false).Detect(convoy.New(convoy.Default())), convoy.ID, findings.Warning)
}

func TestRunsUnderAMillisecondAreNoConvoy(t *testing.T) {
	None(t, rounds(500, 900*Us, 10*Us, false).Detect(convoy.New(convoy.Default())))
}

func TestOneLongRunIsANote(t *testing.T) {
	s := rounds(1, 40*Ms, 20*Us, false)
	x := One(t, s.Detect(convoy.New(convoy.Default())), convoy.ID, findings.Note)
	if x.Severity == findings.Critical {
		t.Error(x.Severity)
	}
}

// Freak runs of a class that is short otherwise are what a thread without a CPU
// looks like.
func TestFreakRunsAreSuspected(t *testing.T) {
	s := New(1)
	for i := range 4000 {
		ns := 20 * Us
		if i%400 == 0 {
			ns = 4 * Ms
		}
		s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Local(2, 0, reference.WhyUnblock).Pass(ns).Stop(1, reference.WhyBlock).Run(2, 0, 20*Us, reference.WhyBlock)
	}
	x := One(t, s.Detect(convoy.New(convoy.Default())), convoy.ID, findings.Note)
	if x.Basis != findings.Suspected || x.Severity != findings.Note {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}

// What waits for a system call to end, or to lose the P, waits for no run.
func TestBehindSystemCallsIsNoConvoy(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 50 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(5*Ms).Local(1, 0, reference.WhyUnblock)
		s.Syscall(9).Pass(5*Ms).SyscallExit(9).Stop(9, reference.WhyBlock).Run(1, 0, 20*Us, reference.WhyBlock)
	}
	None(t, s.Detect(convoy.New(convoy.Default())))
}

// A writer takes what workers have hashed, or they run dry without it: behind them it waits
// for Ps that work for the same end, or holds them up.
func TestAStageBehindItsOwnWorkers(t *testing.T) {
	pipeline := func(dry bool) *Stream {
		s := New(1).Class(1, 9).Class(2, 1, 2)
		s.Local(9, 0, reference.WhyCreate).Start(9, 0).Block(9, reference.ReasonChanReceive)
		s.Local(1, 0, reference.WhyCreate).Local(2, 0, reference.WhyCreate)
		for range 20 {
			s.Start(1, 0).Pass(Ms).Wake(9, 1)
			if dry {
				s.Block(1, reference.ReasonChanReceive).Start(2, 0).Pass(20*Ms).Block(2, reference.ReasonChanReceive)
				s.Start(9, 0).Pass(20*Us).Wake(1, 9).Wake(2, 9).Block(9, reference.ReasonChanReceive)
				continue
			}
			s.Pass(9*Ms).Preempt(1).Start(2, 0).Pass(10 * Ms).Preempt(2)
			s.Start(9, 0).Pass(20*Us).Block(9, reference.ReasonChanReceive)
		}
		return s
	}
	d := convoy.New(convoy.Default())
	None(t, pipeline(false).Detect(d))
	One(t, pipeline(true).Detect(d), convoy.ID, findings.Warning)
}

// Of a run that ends with the goroutine no stack tells where it was; where it was blocked
// before it does, somewhat.
func TestAfterWhichWait(t *testing.T) {
	s := New(1).Class(2, 9)
	for g := int64(100); g < 150; g++ {
		s.Class(2, g).Local(g, 0, reference.WhyCreate).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonNetwork)
		s.Local(g, 0, reference.WhyNetwork).Start(g, 0).Local(1, 0, reference.WhyUnblock)
		s.Pass(5*Ms).Stop(g, reference.WhyExit)
		s.Decisions[len(s.Decisions)-1].Stack = 0
		s.Run(1, 0, 20*Us, reference.WhyBlock).Pass(2 * Ms)
	}
	f := s.Facts()
	f.Stack = func(h int32) []string {
		if h < 100 {
			return nil
		}
		return []string{"internal/poll.(*FD).Read (fd_unix.go:9)", "main.read (main.go:7)", "main.render (main.go:5)", "main.serve (main.go:3)"}
	}
	x := One(t, s.DetectWith(convoy.New(convoy.Default()), f), convoy.ID, findings.Warning)
	if want := "Split the long work of main.class2 after its wait in main.read (called by main.render) into"; !strings.HasPrefix(x.Advice[0].String(), want) {
		t.Error(x.Advice[0])
	}
}

// Where a crowd is in one function at once, and usually does less, they may all do the same; not
// if that is the function that they begin with, or if they had stopped elsewhere.
func TestACrowdInOneFunction(t *testing.T) {
	for name, c := range map[string]struct {
		n       int64 // that wait behind one
		stopped []string
		found   bool
	}{
		"crowd":              {5, []string{"time.Sleep (time.go:3)", "main.reload (main.go:5)", "main.class1 (main.go:3)"}, true},
		"few":                {3, []string{"time.Sleep (time.go:3)", "main.reload (main.go:5)", "main.class1 (main.go:3)"}, false},
		"stopped elsewhere":  {5, []string{"time.Sleep (time.go:3)", "main.price (main.go:5)", "main.class1 (main.go:3)"}, false},
		"the start function": {5, []string{"time.Sleep (time.go:3)", "main.class1 (main.go:3)"}, false},
		"after a wait":       {5, []string{"time.Sleep (time.go:3)", "main.ask (main.go:9)", "main.reload (main.go:5)", "main.class1 (main.go:3)"}, true},
	} {
		const reloads, sleeps = int32(7), int32(8)
		s := New(1).Class(1, 1, 2, 3, 4, 5, 6)
		wait := func(g int64, stack int32) {
			s.Local(g, 0, reference.WhyTimer).Start(g, 0).Pass(10*Us).Block(g, reference.ReasonSleep)
			s.Decisions[len(s.Decisions)-1].Stack = stack
		}
		for range 10 {
			for range 100 { // what they do usually
				wait(1, sleeps)
			}
			for g := range 1 + c.n {
				wait(1+g, sleeps)
			}
			for g := range 1 + c.n {
				s.Local(1+g, 0, reference.WhyTimer)
			}
			for g := range 1 + c.n {
				s.Start(1+g, 0).Pass(5*Ms).Stop(1+g, reference.WhyBlock)
				if s.Decisions[len(s.Decisions)-1].Stack = reloads; name == "after a wait" {
					s.Decisions[len(s.Decisions)-1].Stack = 0
				}
			}
		}
		f := s.Facts()
		f.Stack = func(h int32) []string {
			if h == reloads && name != "the start function" {
				return []string{"main.reload (main.go:7)", "main.class1 (main.go:3)"}
			}
			return c.stopped
		}
		list := s.DetectWith(convoy.New(convoy.Default()), f)
		if len(list) != 1 {
			t.Errorf("%s:\n%s", name, Text(list))
			continue
		}
		want := "See whether the up to 6 goroutines that are in main.reload at once do the same"
		if name == "after a wait" {
			want = "See whether the up to 6 goroutines that come from main.ask (called by main.reload) at once do the same"
		}
		if got := list[0].Advice[0]; c.found != strings.HasPrefix(got.String(), want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
