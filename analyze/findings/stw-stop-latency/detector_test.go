package stwstoplatency_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	stwstoplatency "github.com/gmpscope/gmpscope/analyze/findings/stw-stop-latency"
	"github.com/gmpscope/gmpscope/reference"
)

func detect(s *Stream) []findings.Finding {
	return s.Detect(stwstoplatency.New(stwstoplatency.Default()))
}

// begin has goroutine 1, which runs on P0, ask for a stop.
func begin(s *Stream) *Stream {
	return s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 0, Why: reference.WhySTW, Label: 7, Stack: 1})
}

func end(s *Stream) *Stream {
	return s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 0, Why: reference.WhySTW})
}

// give stops goroutine g, which runs on P p, for a stop-the-world.
func give(s *Stream, g int64, p int32) *Stream {
	return s.Stop(g, reference.WhySTW).Next(g, p, reference.WhySTW).PStopFor(p, reference.WhySTW)
}

// stops has goroutine 1 stop the world n times. Goroutine 2 on P1 stops at once,
// goroutine 9 of class 2 on P2 after ns.
func stops(n int, ns int64) *Stream {
	s := New(3).Class(2, 9)
	for g := range int64(3) {
		s.Local([]int64{1, 2, 9}[g], int32(g), reference.WhyCreate).Start([]int64{1, 2, 9}[g], int32(g))
	}
	for range n {
		s.Pass(10 * Ms)
		give(begin(s), 2, 1).Pass(ns)
		end(give(s, 9, 2).Pass(20 * Us))
		s.PStart(1).PStart(2).Start(2, 1).Start(9, 2)
	}
	return s.Pass(10 * Ms)
}

func TestFindsWhoWasLate(t *testing.T) {
	x := One(t, detect(stops(20, 5*Ms)), stwstoplatency.ID, findings.Critical)
	// 1, who asked, and 2, whose P stood still.
	if want := 20 * 2 * 5 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if got := x.ToNs - x.FromNs; got != 5*Ms {
		t.Errorf("window of %d, want the latest stop", got)
	}
	last := x.Actors[len(x.Actors)-1]
	if x.Actors[0].Role != findings.Victim || last.Role != findings.Cause || last.Class != "main.class2" || last.G != 9 || *last.P != 2 || !strings.Contains(last.Stack[0], "main.f9") {
		t.Errorf("actors %v", x.Actors)
	}
	if x.Basis != findings.Inferred || !strings.Contains(Text([]findings.Finding{x}), "label 7: 20") {
		t.Error(Text([]findings.Finding{x}))
	}
}

// It did not hear of the request before it blocked by itself.
func TestTellsWhoStoppedByItself(t *testing.T) {
	s := New(3).Class(2, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	for range 20 {
		s.Local(9, 2, reference.WhyUnblock).Start(9, 2).Pass(10 * Ms)
		begin(s).Pass(5*Ms).Stop(9, reference.WhyBlock).PStopFor(2, reference.WhySTW)
		end(s).PStart(2)
	}
	text := Text([]findings.Finding{One(t, detect(s), stwstoplatency.ID, findings.Warning)})
	if !strings.Contains(text, "yielded or ended: 20") {
		t.Error(text)
	}
}

func TestStopsInTimeAreSilent(t *testing.T) {
	None(t, detect(stops(100, 99*Us)))
}

// Each takes over 100 µs, none a millisecond.
func TestStopsThatAreNotSevereAreSilent(t *testing.T) {
	None(t, detect(stops(50, 900*Us)))
}

func TestFewStopsAreSilent(t *testing.T) {
	None(t, detect(stops(2, 9*Ms)))
	s := stops(2, 10*Ms).Pass(300 * Ms)
	One(t, detect(s), stwstoplatency.ID, findings.Warning)
}

// Nobody else wants to run: it asks for the runtime.
func TestNobodyWaitsIsANote(t *testing.T) {
	s := New(2).Class(2, 9).Flags(reference.FlagSystem, 1)
	s.Local(1, 0, reference.WhySystem).Start(1, 0).Local(9, 1, reference.WhyCreate).Start(9, 1)
	for range 20 {
		end(give(begin(s.Pass(10*Ms)).Pass(5*Ms), 9, 1)).PStart(1).Start(9, 1)
	}
	if x := One(t, detect(s), stwstoplatency.ID, findings.Note); x.Severity != findings.Note || x.CostNs != 0 {
		t.Errorf("%s, cost %d", x.Severity, x.CostNs)
	}
}

func TestShortRecordingsAreMilder(t *testing.T) {
	if x := One(t, detect(stops(4, 9*Ms)), stwstoplatency.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// It stops at once as a rule: a thread without a CPU looks just so.
func TestRareLateStopsAreSuspected(t *testing.T) {
	s := New(3).Class(2, 9)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0).Local(9, 2, reference.WhyCreate).Start(9, 2)
	for i := range 40 {
		ns := 20 * Us
		if i%8 == 0 {
			ns = 5 * Ms
		}
		s.Pass(Ms)
		end(give(begin(s).Pass(ns), 9, 2))
		s.PStart(2).Start(9, 2)
	}
	s.Pass(100 * Ms)
	x := One(t, detect(s), stwstoplatency.ID, findings.Note)
	if x.Basis != findings.Suspected || x.Severity != findings.Note {
		t.Errorf("%s %s", x.Basis, x.Severity)
	}

	// But samples show that it ran.
	for i := range s.Decisions {
		if d := s.Decisions[i]; d.Kind == reference.KindSTWBegin {
			d.Kind, d.G, d.P, d.Stack = reference.KindSample, 9, 2, 77
			s.Decisions = append(s.Decisions[:i+1], append([]reference.Decision{d}, s.Decisions[i+1:]...)...)
		}
	}
	x = One(t, detect(s), stwstoplatency.ID, findings.Warning)
	if c := x.Actors[len(x.Actors)-1]; x.Basis != findings.Inferred || !strings.Contains(c.Stack[0], "main.f77") {
		t.Errorf("%s %v", x.Basis, c)
	}
}

// A P in a system call, and one that ran nothing, are stopped by others, or by
// themselves at once, whatever the times say.
func TestNobodyRanOn(t *testing.T) {
	s := New(3)
	s.Local(1, 0, reference.WhyCreate).Start(1, 0)
	// What P2 ran at an earlier stop says nothing about later ones.
	s.Local(4, 2, reference.WhyCreate).Start(4, 2)
	end(begin(s).Stop(4, reference.WhyBlock).PStopFor(2, reference.WhySTW)).PStart(2)
	for range 20 {
		s.Pass(10*Ms).Local(2, 1, reference.WhyUnblock).Start(2, 1).Syscall(2)
		begin(s).Pass(5*Ms).PStopFor(1, reference.WhySTW)
		end(s.PStopFor(2, reference.WhySTW))
		s.SyscallExit(2).PStart(1).PStart(2)
	}
	None(t, detect(s))
}

// Freaks of another class show that threads lacked CPUs.
func TestStrainedMachineIsSuspected(t *testing.T) {
	s := stops(20, 5*Ms)
	s.Class(3, 5)
	for i := range 2000 {
		ns := 20 * Us
		if i%100 == 99 {
			ns = 20 * Ms
		}
		s.Local(5, 1, reference.WhyUnblock).Pass(Us)
		if i == 0 {
			s.Stop(2, reference.WhyBlock)
		}
		s.Run(5, 1, ns, reference.WhyBlock)
	}
	x := One(t, detect(s), stwstoplatency.ID, findings.Note)
	if x.Basis != findings.Suspected {
		t.Error(x.Basis)
	}
}
