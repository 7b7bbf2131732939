package preemptionthrash_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	preemptionthrash "github.com/gmpscope/gmpscope/analyze/findings/preemption-thrash"
	"github.com/gmpscope/gmpscope/reference"
)

// turns has n goroutines compute in turns of ns, on procs Ps, each turn ended
// by a preemption.
func turns(procs, n, rounds int, ns int64) *Stream {
	s := New(procs)
	for g := range n {
		s.Global(int64(1+g), reference.WhyCreate)
	}
	next := 0
	for range rounds {
		first := next
		for p := range procs {
			s.Start(int64(1+next%n), int32(p))
			next++
		}
		s.Pass(ns)
		for i := first; i < next; i++ {
			s.Preempt(int64(1 + i%n))
		}
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(preemptionthrash.New(preemptionthrash.Default()))
}

func TestFindsTurns(t *testing.T) {
	x := One(t, detect(turns(2, 4, 50, 20*Ms)), preemptionthrash.ID, findings.Warning)
	// Each turn but the last is followed by a wait of one turn, for two goroutines.
	if want := 49 * 2 * 20 * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Actors[0].Role != findings.Victim || x.Actors[0].Class != "main.class1" || x.Actors[1].Role != findings.Cause {
		t.Errorf("actors %v", x.Actors)
	}
	if x.Basis != findings.Inferred {
		t.Error(x.Basis)
	}
}

// It names the function in which the goroutines compute.
func TestNamesWhatComputes(t *testing.T) {
	f := turns(2, 4, 50, 20*Ms)
	for i := range f.Decisions {
		if d := &f.Decisions[i]; d.Kind == reference.KindStop {
			d.Stack = 7
		}
	}
	x := One(t, detect(f), preemptionthrash.ID, findings.Warning)
	if !strings.HasPrefix(x.Headline.String(), "Too much computing at once in main.f7: ") || !strings.Contains(x.Advice[0].String(), "goroutines of main.f7 (run by main.class1) work") {
		t.Errorf("%s\n%s", x.Headline, x.Advice[0])
	}
}

// However much waits: the Ps are busy with what was asked for.
func TestIsNeverCritical(t *testing.T) {
	x := One(t, detect(turns(1, 20, 50, 20*Ms)), preemptionthrash.ID, findings.Warning)
	if x.Severity != findings.Warning {
		t.Error(x.Severity)
	}
}

func TestAsManyAsPsGoOnAtOnce(t *testing.T) {
	None(t, detect(turns(2, 2, 100, 20*Ms)))
}

func TestOneTooManyIsANote(t *testing.T) {
	x := One(t, detect(turns(2, 3, 50, 20*Ms)), preemptionthrash.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestFewPreemptionsAreANote(t *testing.T) {
	x := One(t, detect(turns(1, 3, 15, 20*Ms)), preemptionthrash.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestShortRunsAreNotCPUBound(t *testing.T) {
	None(t, detect(turns(2, 4, 200, 4*Ms)))
}

func TestLongTurnsAreNoThrash(t *testing.T) {
	None(t, detect(turns(2, 6, 20, 75*Ms)))
}

func TestMustLast(t *testing.T) {
	None(t, detect(turns(1, 3, 8, 20*Ms)))
}

// One computation that makes way for short requests is what preemption is for.
func TestShortRequestsBehindOneComputation(t *testing.T) {
	s := New(1).Class(2, 9).Global(9, reference.WhyCreate)
	for range 100 {
		s.Start(9, 0).Local(1, 0, reference.WhyUnblock).Pass(20*Ms).Preempt(9).Run(1, 0, 2*Ms, reference.WhyBlock)
	}
	None(t, detect(s))
}
