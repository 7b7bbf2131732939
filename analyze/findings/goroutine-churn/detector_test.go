package goroutinechurn_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	goroutinechurn "github.com/gmpscope/gmpscope/analyze/findings/goroutine-churn"
	"github.com/gmpscope/gmpscope/reference"
)

// churn has goroutine 9 create n others, each of which takes gap to be started
// when its P is free and then runs for ns; pause passes after each.
func churn(n int, gap, ns, pause int64) *Stream {
	s := New(1).Class(2, 9)
	for i := range int64(n) {
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Create(1000+i, 9).Stop(9, reference.WhyBlock)
		s.Pass(gap).Run(1000+i, 0, ns, reference.WhyExit).Pass(pause)
	}
	return s
}

func detect(s *Stream) []findings.Finding {
	return s.Detect(goroutinechurn.New(goroutinechurn.Default()))
}

func TestFindsChurn(t *testing.T) {
	x := One(t, detect(churn(20_000, Us, 2*Us, 17*Us)), goroutinechurn.ID, findings.Warning)
	if want := 20_000 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Severity != findings.Warning || !strings.Contains(x.Title.String(), "50,000 a second") {
		t.Errorf("%s %s", x.Severity, x.Title)
	}
	if len(x.Actors) != 2 || x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || x.Actors[1].Stack[0] != "main.f9 (main.go:9)" {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"1,500 a second, of 440 µs": churn(1_000, Us, 440*Us, 225*Us),
		"enough to do":              churn(20_000, Us, 25*Us, 0),
		"seldom":                    churn(2_000, Us, 2*Us, 98*Us),
	} {
		t.Run(name, func(t *testing.T) { None(t, detect(s)) })
	}
}

// What runs for long in pieces is not short.
func TestTheWholeLifeCounts(t *testing.T) {
	s := New(1)
	for i := range int64(10_000) {
		g := 1000 + i
		s.Local(g, 0, reference.WhyCreate)
		for range 4 {
			s.Run(g, 0, 7*Us, reference.WhyBlock).Local(g, 0, reference.WhyUnblock)
		}
		s.Run(g, 0, Us, reference.WhyExit)
	}
	None(t, detect(s))
}

func TestABurstIsANote(t *testing.T) {
	s := churn(5_000, Us, 2*Us, 17*Us).Pass(3000 * Ms)
	if x := One(t, detect(s), goroutinechurn.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestGoroutinesOfTheRuntimeDoNotCount(t *testing.T) {
	s := New(1)
	for i := range int64(20_000) {
		s.Flags(reference.FlagSystem, 1000+i).Local(1000+i, 0, reference.WhyCreate).Pass(Us).Run(1000+i, 0, Us, reference.WhyExit)
	}
	None(t, detect(s))
}

// What a package of the standard library starts for itself is no more than a note; it is not
// if the package was given what to run.
func TestGoroutinesOfTheLibrary(t *testing.T) {
	for class, want := range map[[2]string]findings.Severity{
		{"net/http.(*connReader).backgroundRead", "net/http.(*connReader).startBackgroundRead"}: findings.Note,
		{"context.(*afterFuncCtx).cancel.func1", "context.(*afterFuncCtx).cancel"}:              findings.Warning,
		{"net/http.(*conn).serve", "main.main"}:                                                 findings.Warning,
		{"main.watch", "main.main"}:                                                             findings.Warning,
	} {
		s := churn(20_000, Us, 2*Us, 17*Us)
		f := s.Facts()
		f.ClassName = func(int32) (string, string) { return class[0], class[1] }
		list := s.DetectWith(goroutinechurn.New(goroutinechurn.Default()), f)
		if x := One(t, list, goroutinechurn.ID, findings.Note); x.Severity != want {
			t.Errorf("%s: %s, want %s", class, x.Severity, want)
		}
	}
}

func TestShortRecordings(t *testing.T) {
	if x := One(t, detect(churn(3_000, Us, 2*Us, 17*Us)), goroutinechurn.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

// A lack of CPUs does not create goroutines.
func TestAStrainedMachineChangesNothing(t *testing.T) {
	s := churn(20_000, Us, 2*Us, 17*Us)
	for i := range 1000 {
		ns := 2 * Us
		if i%100 == 99 {
			ns = 10 * Ms
		}
		s.Class(5, 50).Local(50, 0, reference.WhyUnblock).Run(50, 0, ns, reference.WhyBlock)
	}
	if x := One(t, detect(s), goroutinechurn.ID, findings.Warning); x.Basis != findings.Inferred {
		t.Errorf("%s %s", x.Severity, x.Basis)
	}
}
