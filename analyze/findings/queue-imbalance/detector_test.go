package queueimbalance_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	queueimbalance "github.com/gmpscope/gmpscope/analyze/findings/queue-imbalance"
	"github.com/gmpscope/gmpscope/reference"
)

// rounds has goroutine 9 fill P0's queue with n others, which run there for ns
// each, while 8 runs on P1 for all the time, or not, if it is idle.
func rounds(r int, n, ns int64, idle bool) *Stream {
	s := New(2).Class(2, 9).Class(3, 8)
	if idle {
		s.PStop(1)
	} else {
		s.Local(8, 1, reference.WhyCreate).Start(8, 1)
	}
	for range r {
		s.Local(9, 0, reference.WhyTimer).Start(9, 0)
		for g := range n {
			s.Create(100+g, 9)
		}
		s.Stop(9, reference.WhyBlock)
		for g := range n {
			s.Run(100+g, 0, ns, reference.WhyExit)
		}
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(queueimbalance.New(queueimbalance.Default()))
}

func TestFindsALongQueueBesideAnEmptyOne(t *testing.T) {
	x := One(t, detect(rounds(50, 40, 100*Us, false)), queueimbalance.ID, findings.Warning)
	// 39 stand there while the first runs, and it counts down to 16, which are 8
	// more than the mean of two Ps: 39-19, 38-19, …, 16-8.
	sum := int64(0)
	for n := int64(39); n >= 16; n-- {
		sum += n - n/2
	}
	if want := 50 * sum * 100 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Severity != findings.Warning || !strings.HasPrefix(x.Title.String(), "P0 had up to 40 ") || x.ToNs-x.FromNs != 24*100*Us {
		t.Errorf("%s %s, %d", x.Severity, x.Title, x.ToNs-x.FromNs)
	}
	if len(x.Actors) != 3 || x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || x.Actors[2].Class != "main.class3" || *x.Actors[2].P != 1 {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"fifteen":              rounds(50, 15, 500*Us, false),
		"soon over":            rounds(50, 40, 40*Us, false),
		"beside an idle P":     rounds(50, 40, 100*Us, true),
		"both queues are long": both(),
		"once":                 rounds(1, 100, 100*Us, false).Pass(2000 * Ms),
	} {
		t.Run(name, func(t *testing.T) { None(t, detect(s)) })
	}
}

// both fills the queues in turns, so that none is empty.
func both() *Stream {
	s := New(2)
	for range 50 {
		for g := range int64(40) {
			s.Local(100+g, 0, reference.WhyUnblock)
		}
		s.Local(200, 1, reference.WhyUnblock)
		for g := range int64(40) {
			s.Run(100+g, 0, 100*Us, reference.WhyBlock)
		}
		s.Run(200, 1, Us, reference.WhyBlock)
	}
	return s
}

// inTurns has a long queue n times, on either P in its turn.
func inTurns(n int) *Stream {
	s := New(2)
	for i := range n {
		p := int32(i % 2)
		s.Local(8, 1-p, reference.WhyUnblock).Start(8, 1-p)
		for g := range int64(40) {
			s.Local(100+g, p, reference.WhyUnblock)
		}
		for g := range int64(40) {
			s.Run(100+g, p, 100*Us, reference.WhyBlock)
		}
		s.Stop(8, reference.WhyBlock)
	}
	return s
}

// The producer moves from P to P: over all the queued time is even, but each time
// forty wait for one P, and one goroutine has the other to itself.
func TestInTurnsIsUneven(t *testing.T) {
	One(t, detect(inTurns(50)), queueimbalance.ID, findings.Warning)
	None(t, detect(inTurns(2).Pass(20*Ms)))
}

func TestAFewAreANote(t *testing.T) {
	s := rounds(8, 40, 100*Us, false).Pass(1000 * Ms)
	if x := One(t, detect(s), queueimbalance.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestAStrainedMachineIsSuspected(t *testing.T) {
	s := rounds(50, 40, 100*Us, false)
	for i := range 1000 {
		ns := 2 * Us
		if i%100 == 99 {
			ns = 10 * Ms
		}
		s.Class(5, 50).Local(50, 0, reference.WhyUnblock).Run(50, 0, ns, reference.WhyBlock)
	}
	if x := One(t, detect(s), queueimbalance.ID, findings.Note); x.Severity != findings.Note || x.Basis != findings.Suspected {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
