package timerlateness_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding {
	return s.Detect(timerlateness.New(timerlateness.Default()))
}

// held has goroutine 1 sleep beside goroutine 9 of class 2, which runs for so long,
// n times. It wakes up when that one is preempted after rounds runs.
func held(n, rounds int, run int64) *Stream {
	s := New(1).Class(2, 9).Local(1, 0, reference.WhyCreate).Run(1, 0, 20*Us, reference.WhyBlock)
	s.Global(9, reference.WhySlice)
	s.Start(1, 0).Pass(20*Us).Block(1, reference.ReasonSleep)
	for range n {
		for range rounds {
			s.Start(9, 0).Pass(run).Preempt(9)
		}
		s.Next(1, 0, reference.WhyTimer).Start(1, 0).Pass(20*Us).Block(1, reference.ReasonSleep)
	}
	return s
}

func TestFindsTimersHeldUp(t *testing.T) {
	x := One(t, detect(held(20, 1, 20*Ms)), timerlateness.ID, findings.Critical)
	if want := 20 * 20 * Ms / 2; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Actors[0].Class != "main.class1" || x.Actors[0].Role != findings.Victim || x.Actors[1].Class != "main.class2" || x.Actors[1].Role != findings.Cause || x.ToNs-x.FromNs != 20*Ms {
		t.Errorf("%+v", x)
	}
}

func TestNamesWhatRan(t *testing.T) {
	s := held(20, 1, 20*Ms)
	first := true // which is told where they were not interrupted so often
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.Kind == reference.KindStop && d.Why == reference.WhySlice {
			if !first {
				d.Stack = 7
			}
			first = false
		}
	}
	if x := One(t, detect(s), timerlateness.ID, findings.Critical); !strings.HasSuffix(x.Headline.String(), " late, after runs of main.f7") {
		t.Error(x.Headline)
	}
}

// The collector's mark workers are not to be split: who allocates makes their work.
func TestMarkWorkers(t *testing.T) {
	s := held(20, 1, 20*Ms)
	f := s.Facts()
	f.ClassName = func(c int32) (string, string) {
		return map[int32]string{1: "main.tick", 2: "runtime.gcBgMarkWorker"}[c], ""
	}
	x := One(t, s.DetectWith(timerlateness.New(timerlateness.Default()), f), timerlateness.ID, findings.Critical)
	if !strings.HasSuffix(x.Headline.String(), "after runs of mark workers of the garbage collector") || !strings.HasPrefix(x.Advice[0].String(), "Have fewer and shorter cycles") {
		t.Errorf("%s\n%s", x.Headline, x.Advice[0])
	}
}

func TestRunsUnderAMillisecond(t *testing.T) {
	One(t, detect(held(300, 1, 1*Ms)), timerlateness.ID, findings.Warning)
	None(t, detect(held(300, 1, 990*Us)))
}

func TestNineTimersAreTooFew(t *testing.T) {
	One(t, detect(held(10, 1, 20*Ms)), timerlateness.ID, findings.Warning)
	None(t, detect(held(9, 1, 20*Ms)))
}

// A sleep of 120 ms that ends up to 20 ms late does not mind much; one of a second
// does not mind at all.
func TestLongSleepsMindLess(t *testing.T) {
	x := One(t, detect(held(20, 6, 20*Ms)), timerlateness.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Errorf("%s", x.Severity)
	}
	None(t, detect(held(20, 30, 20*Ms)))
	// Nor does a ticker of 100 ms that half a time slice of 20 ms delays on average.
	if x := One(t, detect(held(20, 5, 20*Ms)), timerlateness.ID, findings.Note); x.Severity != findings.Note {
		t.Errorf("a ticker of 100 ms: %s", x.Severity)
	}
}

// While a P is idle it is woken for the timers.
func TestAnIdlePLooksAtTheTimers(t *testing.T) {
	s := New(2).PStop(1)
	s.Class(2, 9).Global(9, reference.WhySlice)
	s.Local(1, 0, reference.WhyCreate).Run(1, 0, 20*Us, reference.WhyBlock)
	for range 20 {
		s.Start(9, 0).Pass(20 * Ms).Preempt(9)
		s.Next(1, 0, reference.WhyTimer).Start(1, 0).Pass(20*Us).Block(1, reference.ReasonSleep)
	}
	None(t, detect(s))
}

// The other P was idle until 2 ms before the end of each run.
func TestOnlySinceTheLastPIsBusy(t *testing.T) {
	s := New(2).Class(2, 9, 8).Global(9, reference.WhySlice)
	s.Local(1, 0, reference.WhyCreate).Run(1, 0, 20*Us, reference.WhyBlock)
	s.Start(9, 0).Preempt(9).Local(1, 0, reference.WhyUnblock).Start(1, 0).Block(1, reference.ReasonSleep)
	for range 50 {
		s.PStop(1).Start(9, 0).Pass(4*Ms).PStart(1).Local(8, 1, reference.WhyNetwork).Start(8, 1).Pass(2 * Ms).Preempt(9)
		s.Next(1, 0, reference.WhyTimer).Start(1, 0).Pass(20*Us).Block(1, reference.ReasonSleep).Stop(8, reference.WhyBlock)
	}
	x := One(t, detect(s), timerlateness.ID, findings.Warning)
	if want := 50 * 2 * Ms / 2; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

// A thread without a CPU is not the program's doing.
func TestFreakRunsAreLeftOut(t *testing.T) {
	s := New(1).Class(2, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0).Block(1, reference.ReasonSleep)
	for i := range 2000 {
		ns := 20 * Us
		if i%100 == 99 {
			ns = 10 * Ms
		}
		s.Local(9, 0, reference.WhyUnblock).Run(9, 0, ns, reference.WhyBlock)
		if i%100 == 99 {
			s.Next(1, 0, reference.WhyTimer).Start(1, 0).Pass(20*Us).Block(1, reference.ReasonSleep)
		}
	}
	None(t, detect(s))
}

// storm has n goroutines whose timers fire at once, each 25 ms, and run for so long.
func storm(n int64, run int64) *Stream {
	s := New(1)
	for g := range n {
		s.Local(1+g, 0, reference.WhyCreate).Start(1+g, 0).Block(1+g, reference.ReasonChanReceive)
	}
	for range 20 {
		s.PStop(0).Pass(25*Ms - n*run).PStart(0)
		for g := range n {
			s.Local(1+g, 0, reference.WhyTimer)
		}
		for g := range n {
			s.Start(1+g, 0).Pass(run).Block(1+g, reference.ReasonChanReceive)
		}
	}
	return s
}

func TestFindsStorms(t *testing.T) {
	x := One(t, detect(storm(100, 100*Us)), timerlateness.ID, findings.Warning)
	// Those that wait for less than 1 ms do not count: 10 to 99 pieces of 100 µs.
	if want := 20 * (99*100/2 - 9*10/2) * 100 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if !strings.HasPrefix(x.Title.String(), "20 storms in which up to 100 timers") {
		t.Error(x.Title)
	}
}

func TestASmallStorm(t *testing.T) {
	One(t, detect(storm(32, 300*Us)), timerlateness.ID, findings.Warning)
	None(t, detect(storm(31, 300*Us)))
	None(t, detect(storm(100, 9*Us))) // nobody waits for 1 ms
}
