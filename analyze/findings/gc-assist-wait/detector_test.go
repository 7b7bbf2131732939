package gcassistwait_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	gcassistwait "github.com/gmpscope/gmpscope/analyze/findings/gc-assist-wait"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding { return s.Detect(gcassistwait.New(gcassistwait.Default())) }

// begin and end are those of an assist of goroutine g of class 2.
func begin(s *Stream, g int64) *Stream {
	return s.Emit(reference.Decision{Kind: reference.KindAssistBegin, G: g, Class: 2, Stack: int32(100 + g)})
}

func end(s *Stream, g int64) *Stream {
	return s.Emit(reference.Decision{Kind: reference.KindAssistEnd, G: g, Class: 2})
}

// rounds has goroutine 9 run for ran, mark for mark, be blocked for block, and
// stand in the queue for 1 ms.
func rounds(n int, ran, mark, block int64) *Stream {
	s := New(1).Class(2, 9)
	for range n {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(ran)
		begin(s, 9).Pass(mark)
		if block > 0 {
			s.Block(9, reference.ReasonAssist).Pass(block).Local(9, 0, reference.WhyUnblock).Pass(Ms).Start(9, 0)
		}
		end(s, 9).Stop(9, reference.WhyBlock).Pass(Ms)
	}
	return s
}

func TestFindsLongBlocks(t *testing.T) {
	x := One(t, detect(rounds(20, 10*Ms, Ms, 4*Ms)), gcassistwait.ID, findings.Critical)
	// The wait for a P is none for the collector.
	if want := 20 * (Ms + 4*Ms); x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if a := x.Actors[0]; a.Role != findings.Victim || a.Class != "main.class2" || a.G != 9 || !strings.Contains(a.Stack[0], "main.f9") {
		t.Errorf("actor %v", a)
	}
	if x.Basis != findings.Certain || x.ToNs-x.FromNs != 4*Ms || !strings.Contains(x.Advice[0].String(), "main.f9") {
		t.Error(Text([]findings.Finding{x}), x.Advice)
	}
}

func TestFindsMuchMarking(t *testing.T) {
	x := One(t, detect(rounds(200, 10*Ms, 1800*Us, 0)), gcassistwait.ID, findings.Warning)
	if want := 200 * 1800 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if !strings.Contains(x.Actors[0].Stack[0], "main.f109") {
		t.Errorf("not where it allocated: %v", x.Actors)
	}
}

func TestSomeMarkingIsANote(t *testing.T) {
	if x := One(t, detect(rounds(200, 10*Ms, 600*Us, 0)), gcassistwait.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestLittleMarkingIsSilent(t *testing.T) {
	None(t, detect(rounds(200, 10*Ms, 400*Us, 0)))
	None(t, detect(rounds(200, 20*Ms, 100*Us, 800*Us)))
}

func TestFewLongBlocksAreANote(t *testing.T) {
	s := rounds(2, 100*Ms, 10*Us, 9*Ms)
	if x := One(t, detect(s.Pass(Ms)), gcassistwait.ID, findings.Note); x.Severity == findings.Critical {
		t.Error(x.Severity)
	}
	s = rounds(2, 300*Ms, 10*Us, 9*Ms)
	if x := One(t, detect(s), gcassistwait.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// Who is blocked while others have the P loses nothing by it, but is a victim.
func TestBlockedBesideABusyPCostsNothing(t *testing.T) {
	s := New(1).Class(2, 9)
	for range 20 {
		s.Local(9, 0, reference.WhyUnblock).Local(1, 0, reference.WhyUnblock).Start(9, 0)
		begin(s, 9).Pass(Ms).Block(9, reference.ReasonAssist).Run(1, 0, 5*Ms, reference.WhyBlock).
			Local(9, 0, reference.WhyUnblock).Start(9, 0)
		end(s, 9).Stop(9, reference.WhyBlock).Pass(Ms)
	}
	if x := One(t, detect(s), gcassistwait.ID, findings.Warning); x.CostNs != 20*Ms {
		t.Errorf("cost %d, want the marking", x.CostNs)
	}
}

func TestBlocksUntilTheEndOfTheCycleAreTold(t *testing.T) {
	s := New(2).Class(2, 9)
	s.Class(3, 1).Local(1, 1, reference.WhyCreate).Start(1, 1)
	for range 20 {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0)
		begin(s, 9).Pass(Ms).Block(9, reference.ReasonAssist).Pass(5 * Ms)
		s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 1}).Local(9, 1, reference.WhySystem)
		s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 1}).Start(9, 0)
		end(s, 9).Stop(9, reference.WhyBlock).Pass(Ms)
	}
	x := One(t, detect(s), gcassistwait.ID, findings.Warning)
	if !strings.Contains(x.Advice[len(x.Advice)-1].String(), "linked list") {
		t.Error(x.Advice)
	}
}

func TestShowsWhatTheEndCutOff(t *testing.T) {
	s := New(1).Class(2, 9).Local(9, 0, reference.WhyUnblock).Start(9, 0).Pass(Ms)
	begin(s, 9).Pass(Ms).Block(9, reference.ReasonAssist).Pass(198 * Ms)
	if x := One(t, detect(s), gcassistwait.ID, findings.Critical); x.CostNs != 199*Ms || x.ToNs != s.Now {
		t.Errorf("cost %d, to %d", x.CostNs, x.ToNs)
	}
}

func TestShortRecordingsAreMilder(t *testing.T) {
	if x := One(t, detect(rounds(5, 10*Ms, Ms, 4*Ms)), gcassistwait.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestTheRuntimesOwnAssistsDoNotCount(t *testing.T) {
	s := rounds(20, 10*Ms, Ms, 4*Ms)
	for i := range s.Decisions {
		if s.Decisions[i].G == 9 {
			s.Decisions[i].Flags |= reference.FlagSystem
		}
	}
	None(t, detect(s))
}
