package serialization_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	"github.com/gmpscope/gmpscope/reference"
)

func detector() findings.Detector { return serialization.New(serialization.Default()) }

// pipeline has goroutine 1 of class 2 run for stage on P 0 and then wake 2, which
// runs for next on P 1; rounds times, with a pause after each.
func pipeline(procs int, rounds, stage, next, pause int64, reason reference.Reason) *Stream {
	s := New(procs).Class(2, 1).Class(3, 2)
	s.Local(2, 1, reference.WhyCreate).Start(2, 1).Block(2, reason)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range rounds {
		s.Pass(stage).Wake(2, 1)
		if pause > 0 {
			s.Block(1, reference.ReasonSleep)
		}
		s.Start(2, 1).Pass(next).Block(2, reason)
		if pause > 0 {
			s.Pass(pause-next).Local(1, 0, reference.WhyTimer).Start(1, 0)
		}
	}
	return s.Block(1, reference.ReasonSleep)
}

func TestFindsASerialStage(t *testing.T) {
	x := One(t, pipeline(2, 1000, 180*Us, 20*Us, 0, reference.ReasonChanReceive).Detect(detector()), serialization.ID, findings.Warning)
	// Half of the Ps for 180 µs of each 200.
	if want := 1000 * 90 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Severity == findings.Critical || x.FromNs != 0 || x.ToNs != 1000*200*Us-20*Us {
		t.Errorf("%s, %d to %d", x.Severity, x.FromNs, x.ToNs)
	}
	if x.Actors[0].Class != "main.class3" || x.Actors[0].Role != findings.Victim || x.Actors[1].Class != "main.class2" || x.Actors[1].Role != findings.Cause {
		t.Errorf("%+v", x.Actors)
	}
	text := Text([]findings.Finding{x})
	// T1 = 1000 x (200 + 20) µs, Tinf = 200 ms.
	for _, want := range []string{"any number of Ps could give: 1.1×", "work (T1): 220 ms", "critical path through wake-ups: 200 ms", "on average: 1", "main.class2: >99.9 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(x.Advice[0].String(), "Split what main.f1 (run by main.class2)") {
		t.Error(x.Advice[0])
	}
}

// One test, or benchmark, after the other is no chain of work.
func TestTestsInARow(t *testing.T) {
	s := pipeline(2, 1000, 180*Us, 20*Us, 0, reference.ReasonChanReceive)
	for _, class := range []string{"testing.(*B).run1.func1", "example.org/shop.TestPay, started by testing.tRunner"} {
		f := s.Facts()
		f.ClassName = func(int32) (string, string) { return class, "main.main" }
		None(t, s.DetectWith(detector(), f))
	}
}

func TestNearMisses(t *testing.T) {
	recv := reference.ReasonChanReceive
	for name, s := range map[string]*Stream{
		"one P":                  pipeline(1, 1000, 180*Us, 20*Us, 0, recv),
		"the other P is used":    pipeline(2, 1000, 70*Us, 110*Us, 0, recv),
		"idle":                   pipeline(2, 1000, 180*Us, 20*Us, 250*Us, recv),
		"too few hand-overs":     pipeline(2, 19, 19*Ms, Ms, 0, recv),
		"waits for outside":      pipeline(2, 1000, 190*Us, 10*Us, 0, reference.ReasonNetwork),
		"a fourth of many Ps":    wide(8, 4),
		"goroutine after itself": alone(),
		"somebody is ready":      busy(),
	} {
		if list := s.Detect(detector()); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
	One(t, pipeline(2, 1000, 120*Us, 80*Us, 0, recv).Detect(detector()), serialization.ID, findings.Warning)
	One(t, pipeline(2, 1000, 180*Us, 20*Us, 150*Us, recv).Detect(detector()), serialization.ID, findings.Warning)
	One(t, pipeline(2, 21, 19*Ms, Ms, 0, recv).Detect(detector()), serialization.ID, findings.Warning)
}

// busy is a pipeline with a goroutine that nobody runs, which is no fault of the
// program's.
func busy() *Stream {
	s := New(2).Local(9, 1, reference.WhyCreate)
	t := pipeline(2, 1000, 180*Us, 20*Us, 0, reference.ReasonChanReceive)
	t.Decisions = append(s.Decisions, t.Decisions...)
	return t
}

// wide has n goroutines run on n of procs Ps all the time: their chains are as
// long as the trace, but there are n of them.
func wide(procs int, n int64) *Stream {
	s := New(procs)
	for g := range n {
		s.Local(1+g, int32(g), reference.WhyCreate).Start(1+g, int32(g))
	}
	for range 500 {
		s.Pass(Ms)
		for g := range n {
			s.Block(1+g, reference.ReasonChanReceive).Local(1+g, int32(g), reference.WhyUnblock)
			s.Decisions[len(s.Decisions)-1].By = 1 + (g+1)%n
			s.Start(1+g, int32(g))
		}
	}
	return s
}

// alone is one goroutine, whose parent waits for it.
func alone() *Stream {
	s := New(4).Local(1, 0, reference.WhyCreate).Start(1, 0)
	for g := range int64(100) {
		s.Create(2+g, 1).Block(1, reference.ReasonChanReceive).Start(2+g, 0).Pass(5*Ms).Wake(1, 2+g).Stop(2+g, reference.WhyExit).Start(1, 0)
	}
	return s
}

// uneven has goroutine 1 create n others a round, of which the last runs for long, the
// others for short, and wait for all.
func uneven(n, short, long int64) *Stream {
	s := New(4).Class(2, 1).Local(1, 0, reference.WhyCreate).Start(1, 0)
	g := int64(2)
	for range 40 {
		for k := range n {
			s.Create(g+k, 1)
		}
		s.Block(1, reference.ReasonSync)
		for k := range n {
			s.Start(g+k, int32(k))
		}
		s.Pass(short)
		for k := range n - 1 {
			s.Stop(g+k, reference.WhyExit)
		}
		s.Pass(long-short).Wake(1, g+n-1).Stop(g+n-1, reference.WhyExit).Start(1, 0)
		g += n
	}
	return s
}

func TestFindsUnevenPieces(t *testing.T) {
	x := One(t, uneven(4, 300*Us, 9*Ms).Detect(detector()), serialization.ID, findings.Warning)
	if !strings.HasPrefix(x.Advice[0].String(), "Cut the work more evenly") {
		t.Error(x.Advice[0])
	}
	None(t, uneven(4, 8*Ms, 9*Ms).Detect(detector()))
	None(t, uneven(2, 300*Us, 9*Ms).Detect(detector())) // a call, and one for company
}

// Pieces that take equally long are cut evenly, however few they are.
func TestFewEvenPieces(t *testing.T) {
	for short, want := range map[int64]struct {
		findings.Severity
		headline string
	}{8700 * Us: {findings.Note, "Only 2 goroutines compute at a time, in "}, 6 * Ms: {findings.Warning, "One chain of work, mostly "}} {
		if x := One(t, uneven(2, short, 9*Ms).Detect(detector()), serialization.ID, findings.Note); x.Severity != want.Severity || !strings.HasPrefix(x.Headline.String(), want.headline) {
			t.Errorf("%d: %s: %s, want %v", short, x.Severity, x.Headline, want)
		}
	}
}

// With many Ps a fork followed by a long end is found by its two phases.
func TestPhases(t *testing.T) {
	forkJoin := func(procs int, both, end int64) *Stream {
		s := New(procs).Class(2, 1).Local(1, 0, reference.WhyCreate).Start(1, 0)
		n := int64(procs - 1)
		for i := range int64(50) {
			for k := range n {
				g := 10 + n*i + k
				s.Create(g, 1).Start(g, int32(1+k))
			}
			s.Pass(both)
			for k := range n {
				s.Stop(10+n*i+k, reference.WhyExit)
			}
			s.Pass(end)
		}
		return s
	}
	x := One(t, forkJoin(4, 2*Ms, 8*Ms).Detect(detector()), serialization.ID, findings.Warning)
	if want := 50 * 6 * Ms; x.CostNs != want { // three fourths of 8 ms
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Actors[0].Class != "main.class2" {
		t.Errorf("%+v", x.Actors)
	}
	None(t, forkJoin(4, 2*Ms, Ms).Detect(detector()))
	// T1/Tinf is 3.8: much, but less than half of 8 Ps.
	One(t, forkJoin(8, 4*Ms, 6*Ms).Detect(detector()), serialization.ID, findings.Warning)
	None(t, forkJoin(4, 4*Ms, 3*Ms).Detect(detector()))
}

// A question and its answer keep nobody from anything.
func TestQuestionAndAnswerIsANote(t *testing.T) {
	s := New(2).Class(2, 1).Class(3, 2).Class(4, 3)
	for g := int64(1); g <= 3; g++ {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0)
		if g < 3 {
			s.Block(g, reference.ReasonChanReceive)
		}
	}
	for i := range int64(900) {
		g, next := 1+(i+2)%3, 1+i%3
		s.Pass(200*Us).Wake(next, g).Block(g, reference.ReasonChanReceive).Start(next, 0)
	}
	x := One(t, s.Detect(detector()), serialization.ID, findings.Warning)
	if !strings.Contains(x.Advice[0].String(), "one at a time") {
		t.Error(x.Advice)
	}
	s = New(2).Class(2, 1).Class(3, 2).Class(4, 3)
	s.Local(2, 0, reference.WhyCreate).Start(2, 0).Block(2, reference.ReasonChanReceive).Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range 450 {
		// A third one takes part that nobody waits for.
		s.Pass(200*Us).Wake(2, 1).Block(1, reference.ReasonChanReceive).Start(2, 0).Pass(110*Us).Create(3, 2)
		s.Block(2, reference.ReasonChanReceive).Start(3, 0).Pass(100*Us).Wake(1, 3).Stop(3, reference.WhyExit).Start(1, 0)
	}
	if x := One(t, s.Detect(detector()), serialization.ID, findings.Note); x.Severity != findings.Note {
		t.Errorf("%s\n%s", x.Severity, Text([]findings.Finding{x}))
	}
}

// Where they wait for a lock, lock-convoy tells the story.
func TestALockIsForLockConvoy(t *testing.T) {
	s := pipeline(2, 1000, 180*Us, 20*Us, 0, reference.ReasonSync)
	f := s.Facts()
	f.Stack = func(int32) []string { return []string{"sync.(*Mutex).Lock (mutex.go:46)", "main.f (main.go:1)"} }
	x := One(t, s.DetectWith(detector(), f), serialization.ID, findings.Note)
	if x.Severity != findings.Note || !strings.Contains(x.Advice[2].String(), "lock-convoy") {
		t.Errorf("%s %v", x.Severity, x.Advice)
	}
	One(t, s.Detect(detector()), serialization.ID, findings.Warning)
}

func TestShortIsANote(t *testing.T) {
	x := One(t, pipeline(2, 400, 180*Us, 20*Us, 0, reference.ReasonChanReceive).Detect(detector()), serialization.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// What a stage computes is where its time slices end, and not where it then wakes somebody.
func TestNamesWhatIsComputed(t *testing.T) {
	for slices, want := range map[int]string{2: "main.wakes", 3: "main.computes"} {
		s := New(2).Class(2, 1).Class(3, 2)
		s.Local(2, 1, reference.WhyCreate).Start(2, 1).Block(2, reference.ReasonChanReceive)
		s.Local(1, 0, reference.WhyCreate).Start(1, 0)
		for i := range 100 {
			s.Pass(9 * Ms)
			if i < slices {
				s.Preempt(1)
				s.Start(1, 0)
			}
			s.Pass(10*Ms).Wake(2, 1)
			s.Decisions[len(s.Decisions)-1].Stack = 50
			s.Start(2, 1).Pass(Ms).Block(2, reference.ReasonChanReceive)
		}
		f := s.Facts()
		f.Stack = func(h int32) []string {
			if h == 50 {
				return []string{"runtime.chansend1 (chan.go:1)", "main.wakes (main.go:5)"}
			}
			return []string{"main.computes (main.go:7)", "main.wakes (main.go:5)"}
		}
		x := One(t, s.Block(1, reference.ReasonSleep).DetectWith(detector(), f), serialization.ID, findings.Warning)
		if i := len(x.Actors) - 1; string(x.Actors[i].Short()) != want && string(x.Actors[i-1].Short()) != want {
			t.Errorf("%d slices: %+v", slices, x.Actors)
		}
	}
}
