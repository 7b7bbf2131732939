package localityloss_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	localityloss "github.com/gmpscope/gmpscope/analyze/findings/locality-loss"
	"github.com/gmpscope/gmpscope/reference"
)

// moves has goroutine 1 run n times; after each per starts on one P it goes to
// the other. It runs for stay, and for moved after a change; pause passes
// between.
func moves(n, per int, stay, moved, pause int64) *Stream {
	s := New(2)
	p := int32(0)
	for i := range n {
		ns := stay
		if i%per == 0 {
			p, ns = 1-p, moved
		}
		s.Local(1, p, reference.WhyUnblock).Run(1, p, ns, reference.WhyBlock).Pass(pause)
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(localityloss.New(localityloss.Default()))
}

func TestFindsSlowMovers(t *testing.T) {
	x := One(t, detect(moves(20_000, 2, 10*Us, 16*Us, 0)), localityloss.ID, findings.Warning)
	// All in one bar: the medians are its middle, 10.2 and 14.3 µs, within a
	// fifth of what they are.
	if want := 10_000 * 6 * Us; x.CostNs < want/2 || x.CostNs > want*2 {
		t.Errorf("cost %d, want about %d", x.CostNs, want)
	}
	if x.Severity != findings.Warning || x.Basis != findings.Suspected || !strings.HasPrefix(x.Title.String(), "50 % of the starts of main.class1") {
		t.Errorf("%s %s %s", x.Severity, x.Basis, x.Title)
	}
	if len(x.Actors) != 1 || x.Actors[0].Class != "main.class1" || x.Actors[0].Stack[0] != "main.f1 (main.go:1)" {
		t.Errorf("actors %v", x.Actors)
	}
	if !strings.Contains(x.Advice[0].String(), "waker") {
		t.Error(x.Advice[0])
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"no slower":      moves(20_000, 2, 90*Us, 92*Us, 50*Us),
		"other work":     moves(20_000, 2, 10*Us, 60*Us, 0),
		"not so often":   moves(20_000, 4, 10*Us, 16*Us, 0),
		"long pieces":    moves(5_000, 2, 110*Us, 170*Us, 0),
		"seldom":         moves(2_000, 2, 10*Us, 16*Us, 1*Ms),
		"too few to say": moves(190, 2, 10*Us, 16*Us, 0),
	} {
		t.Run(name, func(t *testing.T) { None(t, detect(s)) })
	}
}

// Without a difference it has no cost, and is worth a note if it is very often.
func TestMovesAloneAreANote(t *testing.T) {
	x := One(t, detect(moves(20_000, 2, 10*Us, 11*Us, 0)), localityloss.ID, findings.Note)
	if x.Severity != findings.Note || x.CostNs != 0 {
		t.Errorf("%s, cost %d", x.Severity, x.CostNs)
	}
}

// A class that lost a little does not hide one that moves much more often.
func TestWhoMovesMostIsNoted(t *testing.T) {
	s := moves(20_000, 2, 10*Us, 11*Us, 0)
	p := int32(0)
	for i := range 600 {
		ns := int64(200)
		if i%2 == 0 {
			p, ns = 1-p, 300
		}
		s.Class(2, 2).Local(2, p, reference.WhyUnblock).Run(2, p, ns, reference.WhyBlock)
	}
	x := One(t, detect(s), localityloss.ID, findings.Note)
	if x.Severity != findings.Note || x.Actors[0].Class != "main.class1" {
		t.Errorf("%s, %v", x.Severity, x.Actors)
	}
}

// Yielding ends a piece of work as blocking does.
func TestYieldersMoveThroughTheGlobalQueue(t *testing.T) {
	s := New(2)
	for i := range 20_000 {
		ns, p := 10*Us, int32(i/2%2)
		if i%2 == 0 {
			ns = 16 * Us
		}
		s.Global(1, reference.WhyGosched).Run(1, p, ns, reference.WhyGosched)
	}
	x := One(t, detect(s), localityloss.ID, findings.Warning)
	if !strings.Contains(x.Advice[0].String(), "global queue") {
		t.Error(x.Advice[0])
	}
}

// A goroutine that is wired to a thread runs where that gets a P.
func TestLockedGoroutinesDoNotCount(t *testing.T) {
	s := moves(20_000, 2, 10*Us, 16*Us, 0)
	for i := range s.Decisions {
		if s.Decisions[i].Kind == reference.KindStart {
			s.Decisions[i].Flags |= reference.FlagLocked
		}
	}
	None(t, detect(s))
}

// The first start of a goroutine is not a move, nor a stay.
func TestFirstStartsDoNotCount(t *testing.T) {
	s := New(2)
	for i := range int64(20_000) {
		p := int32(i % 2)
		s.Local(100+i, p, reference.WhyCreate).Run(100+i, p, 10*Us, reference.WhyExit)
	}
	None(t, detect(s))
}

func TestHowTheyMove(t *testing.T) {
	s := New(2)
	for i := range 20_000 {
		ns := 10 * Us
		if i%2 == 0 {
			ns = 16 * Us
		}
		p := int32(i / 2 % 2)
		if i%2 == 0 {
			s.Local(1, 1-p, reference.WhyUnblock) // and stolen from there
		} else {
			s.Local(1, p, reference.WhyUnblock)
		}
		s.Run(1, p, ns, reference.WhyBlock)
	}
	x := One(t, detect(s), localityloss.ID, findings.Warning)
	if !strings.Contains(x.Advice[0].String(), "steals") {
		t.Error(x.Advice[0])
	}
}

func TestGCIsTold(t *testing.T) {
	s := New(2).Emit(reference.Decision{Kind: reference.KindGCBegin})
	s.Decisions = append(s.Decisions, moves(20_000, 2, 10*Us, 16*Us, 0).Decisions...)
	s.Now = s.Decisions[len(s.Decisions)-1].Time
	x := One(t, detect(s), localityloss.ID, findings.Warning)
	if e := x.Evidence[len(x.Evidence)-1]; !strings.Contains(e.What.String(), "garbage") || e.Value.String() != "100 %" {
		t.Errorf("%v", e)
	}
}

func TestAStrainedMachineAndAShortRecording(t *testing.T) {
	s := moves(20_000, 2, 10*Us, 16*Us, 0)
	for i := range 1000 {
		ns := 2 * Us
		if i%100 == 99 {
			ns = 10 * Ms
		}
		s.Class(5, 50).Local(50, 0, reference.WhyUnblock).Run(50, 0, ns, reference.WhyBlock)
	}
	for _, s := range []*Stream{s, moves(6_000, 2, 10*Us, 16*Us, 0)} {
		if x := One(t, detect(s), localityloss.ID, findings.Note); x.Severity != findings.Note {
			t.Error(x.Severity)
		}
	}
}
