package slowstage_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	slowstage "github.com/gmpscope/gmpscope/analyze/findings/slow-stage"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
)

// stage has goroutine 1 work for ns at a time, and each time wake one of n that wait
// for it to send or receive; it rests after each.
func stage(n int64, items int, ns, rest int64) *Stream { return stageFor(reason, n, items, ns, rest) }

// stageFor is stage where the others wait for what reason says.
func stageFor(reason func(int64) reference.Reason, n int64, items int, ns, rest int64) *Stream {
	s := New(2).Class(3, 1)
	for g := int64(1); g <= 1+n; g++ {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0)
		if g > 1 {
			s.Block(g, reason(g))
		} else {
			s.Block(g, reference.ReasonSleep)
		}
	}
	s.Local(1, 0, reference.WhyTimer).Start(1, 0)
	for i := range int64(items) {
		g := 2 + i%n
		s.Pass(ns).Wake(g, 1).Start(g, 1).Pass(1*Us).Block(g, reason(g))
		if rest > 0 {
			s.Block(1, reference.ReasonSleep).Pass(rest).Local(1, 0, reference.WhyTimer).Start(1, 0)
		}
	}
	return s
}

func reason(g int64) reference.Reason {
	if g%2 == 0 {
		return reference.ReasonChanSend
	}
	return reference.ReasonChanReceive
}

func receive(int64) reference.Reason { return reference.ReasonChanReceive }

func detect(s *Stream, idle int64) []findings.Finding {
	f := s.Facts()
	f.Procs.Ps = append(f.Procs.Ps, procs.Proc{IdleNs: idle})
	return s.DetectWith(slowstage.New(slowstage.Default()), f)
}

func TestFindsTheStageThatAllWaitFor(t *testing.T) {
	x := One(t, detect(stage(6, 1000, 400*Us, 0), 300*Ms), slowstage.ID, findings.Critical)
	if x.Actors[0].Role != findings.Cause || x.Actors[0].Class != "main.class3" || !strings.HasPrefix(x.Title.String(), "main.f1 (run by main.class3) is the stage") {
		t.Errorf("%s %+v", x.Title, x.Actors)
	}
	// Six wait, but for the first round and the open waits at the end.
	if all := 6 * 401 * Ms; x.CostNs < all*98/100 || x.CostNs > all {
		t.Errorf("cost %d of %d", x.CostNs, all)
	}
	One(t, detect(stage(2, 1000, 400*Us, 0), 300*Ms), slowstage.ID, findings.Warning)
}

func TestNearMisses(t *testing.T) {
	for name, c := range map[string]struct {
		s    *Stream
		idle int64
	}{
		"one that waits":              {stage(1, 1000, 400*Us, 0), 300 * Ms},
		"it has nothing to do":        {stageFor(receive, 6, 1000, 300*Us, 100*Us), 300 * Ms},
		"no P is idle":                {stage(6, 1000, 400*Us, 0), 20 * Ms},
		"woken once each, at last":    {stage(19, 19, 50*Ms, 0), 300 * Ms},
		"Ps that nothing is known of": {New(2), 0},
	} {
		if list := detect(c.s, c.idle); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}

// Who wants to send to one that sleeps waits for that as well.
func TestFindsAStageThatWaitsForTheOutside(t *testing.T) {
	x := One(t, detect(stage(6, 1000, 100*Us, 300*Us), 300*Ms), slowstage.ID, findings.Critical)
	if !strings.Contains(x.Title.String(), "it was asleep or waited for the network itself") || !strings.Contains(x.Advice[0].String(), "several requests under way") {
		t.Error(x.Title, x.Advice)
	}
}

// One that serves others and blocks on a slow receiver is named, with the receiver, and where that is.
func TestNamesTheLoopThatOneReceiverBlocks(t *testing.T) {
	const loop, away = int64(50), int32(9)
	s := New(2).Class(3, 1).Class(4, loop)
	for _, g := range []int64{1, loop, 2, 3, 4} {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0).Block(g, reference.ReasonChanSend)
	}
	s.Local(1, 0, reference.WhyTimer).Start(1, 0)
	for i := range int64(300) {
		g := 2 + i%3
		s.Pass(5*Us).Wake(loop, 1).Block(1, reference.ReasonNetwork)
		s.Decisions[len(s.Decisions)-1].Stack = away
		s.Start(loop, 0).Wake(g, loop).Start(g, 1).Block(g, reference.ReasonChanReceive).Block(loop, reference.ReasonChanSend)
		s.Pass(2*Ms).Local(1, 0, reference.WhyNetwork).Start(1, 0)
	}
	f := s.Facts()
	f.Procs.Ps = append(f.Procs.Ps, procs.Proc{IdleNs: 300 * Ms})
	f.Stack = func(h int32) []string {
		if h == away {
			return []string{"net.(*conn).Read (net.go:1)", "main.store (main.go:9)", "main.class3 (main.go:8)"}
		}
		return []string{"runtime.chansend1 (chan.go:1)", "main.notify (main.go:7)"}
	}
	x := One(t, s.DetectWith(slowstage.New(slowstage.Default()), f), slowstage.ID, findings.Note)
	if want := "main.notify blocks on main.class3, and 2.9"; !strings.HasPrefix(x.Headline.String(), want) || !strings.HasPrefix(x.Title.String(), "main.store (run by main.class3) is the stage") ||
		!strings.HasPrefix(x.Advice[0].String(), "Let main.notify not block on one slow receiver, main.class3") {
		t.Errorf("%s\n%s\n%s", x.Headline, x.Title, x.Advice[0])
	}
}

// One worker of four gets most of the work: who hands it out waits for it, and the
// others wait for that.
func TestFindsAHotShard(t *testing.T) {
	s := New(2).Class(3, 1, 2, 3, 4).Class(4, 9)
	for _, g := range []int64{1, 2, 3, 4, 9} {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0).Block(g, reference.ReasonChanReceive)
	}
	s.Local(1, 0, reference.WhyTimer).Start(1, 0)
	s.Local(9, 1, reference.WhyTimer).Start(9, 1).Block(9, reference.ReasonChanSend)
	for i := range int64(1000) {
		s.Pass(300*Us).Wake(9, 1).Start(9, 1).Pass(5 * Us)
		if i%10 == 0 {
			g := 2 + i/10%3
			s.Wake(g, 9).Block(9, reference.ReasonChanSend).Start(g, 1).Pass(2*Us).Block(g, reference.ReasonChanReceive)
		} else {
			s.Block(9, reference.ReasonChanSend)
		}
	}
	x := One(t, detect(s, 300*Ms), slowstage.ID, findings.Note)
	if !strings.HasPrefix(x.Title.String(), "One goroutine of main.f1 (run by main.class3) was busy") || x.Actors[0].G != 1 || !strings.Contains(x.Advice[0].String(), "evenly") ||
		!strings.Contains(x.Headline.String(), "3.87 others wait behind it") || !strings.Contains(x.Title.String(), "0.98 goroutines (main.f9) waited for it on average, and another 2.89 for those") {
		t.Error(x.Headline, x.Title, x.Actors)
	}
}

// A parent that waits to send to its child waits for a stage; one that waits for the result
// calls it.
func TestParents(t *testing.T) {
	parent := func(r reference.Reason) *Stream {
		s := New(2).Class(3, 1).Class(4, 9).Class(5, 2, 3)
		s.Local(9, 0, reference.WhyCreate).Start(9, 0).Create(1, 9).Start(1, 1)
		for g := int64(2); g <= 3; g++ {
			s.Create(g, 9).Start(g, 1).Block(g, reference.ReasonChanReceive)
		}
		s.Block(9, r).Start(1, 1)
		for i := range int64(500) {
			s.Pass(300*Us).Wake(9, 1).Start(9, 0).Pass(5*Us).Wake(2+i%2, 9).Block(9, r).Start(2+i%2, 0).Pass(1*Us).Block(2+i%2, reference.ReasonChanReceive)
		}
		return s
	}
	x := One(t, detect(parent(reference.ReasonChanSend), 300*Ms), slowstage.ID, findings.Warning)
	if !strings.HasPrefix(x.Headline.String(), "f1 (run by class3) is the bottleneck") && x.Actors[0].G != 1 {
		t.Error(x.Headline, x.Actors)
	}
	if list := detect(parent(reference.ReasonChanReceive), 300*Ms); len(list) > 0 && list[0].Actors[0].G == 1 {
		t.Error(Text(list))
	}
}

// One that lies in the runnext slot of the stage that woke it, until another P steals it,
// waits for the stage all the while.
func TestWaitsForATheftAreForTheStage(t *testing.T) {
	stolen := func(late int64) []findings.Finding {
		s := New(2).Class(3, 1).Class(4, 9).Class(5, 2, 3)
		for _, g := range []int64{1, 9, 2, 3} {
			s.Local(g, 0, reference.WhyCreate).Start(g, 0).Block(g, reference.ReasonChanReceive)
		}
		s.Local(1, 0, reference.WhyTimer).Start(1, 0)
		s.Local(9, 1, reference.WhyTimer).Start(9, 1).Block(9, reference.ReasonChanSend)
		for i := range int64(1000) {
			s.Pass(300*Us-late).Wake(9, 1).Pass(late).Start(9, 1).Pass(5*Us).Wake(2+i%2, 9).Block(9, reference.ReasonChanSend).Start(2+i%2, 1).Pass(1*Us).Block(2+i%2, reference.ReasonChanReceive)
		}
		return detect(s, 300*Ms)
	}
	for _, late := range []int64{1 * Us, 250 * Us} {
		if x := One(t, stolen(late), slowstage.ID, findings.Warning); x.Actors[0].G != 1 || !strings.Contains(x.Headline.String(), "2.9") {
			t.Errorf("after %d ns: %s %+v", late, x.Headline, x.Actors)
		}
	}
}
