package tracequality_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	tracequality "github.com/gmpscope/gmpscope/analyze/findings/trace-quality"
	"github.com/gmpscope/gmpscope/reference"
)

func sound() *Stream {
	s := New(1)
	for range 100 {
		s.Next(1, 0, reference.WhyUnblock).Run(1, 0, 5*Ms, reference.WhyBlock)
	}
	return s
}

func facts(s *Stream) *findings.Facts {
	f := s.Facts()
	f.Starts, f.Bytes = 1000, 5000
	return f
}

func TestSilentOnASoundTrace(t *testing.T) {
	s := sound()
	f := facts(s)
	f.Unexplained = 10 // 1 %, not more
	f.Annotations = f.EndNs / 10_000
	None(t, s.DetectWith(tracequality.New(tracequality.Default()), f))
}

func TestSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*findings.Facts)
		want   string
		least  findings.Severity
	}{
		"unexplained starts": {func(f *findings.Facts) { f.Unexplained = 20 }, "2 % of the starts", findings.Warning},
		"lost bytes":         {func(f *findings.Facts) { f.LostBytes = 100 }, "could not be read", findings.Warning},
		"warnings":           {func(f *findings.Facts) { f.Warnings = []string{"a\nb", "c", "d", "e"} }, "warnings", findings.Note},
		"tracer":             {func(f *findings.Facts) { f.TracerNs = f.EndNs / 20 }, "5 % of the P-time", findings.Note},
		"annotations": {func(f *findings.Facts) {
			f.Events, f.Annotations = 200_000, f.EndNs/1000
		}, "a region, task or log for each 1 µs of P-time", findings.Note},
		"reduced": {func(f *findings.Facts) { f.Reduced = true }, "older than Go 1.22", findings.Note},
	} {
		t.Run(name, func(t *testing.T) {
			s := sound()
			f := facts(s)
			c.change(f)
			x := One(t, s.DetectWith(tracequality.New(tracequality.Default()), f), tracequality.ID, c.least)
			if !strings.Contains(x.Title.String(), c.want) {
				t.Errorf("title %q, want %q in it", x.Title, c.want)
			}
			if x.Severity != c.least {
				t.Errorf("severity %s, want %s", x.Severity, c.least)
			}
		})
	}
}

func TestNotesAShortTrace(t *testing.T) {
	s := New(1).Next(1, 0, reference.WhyCreate).Run(1, 0, 2*Ms, reference.WhyExit)
	x := One(t, s.DetectWith(tracequality.New(tracequality.Default()), facts(s)), tracequality.ID, findings.Note)
	if !strings.Contains(x.Title.String(), "lasts only 2 ms") {
		t.Error(x.Title)
	}
}

func TestNotesFewGCCycles(t *testing.T) {
	s := sound()
	for range 3 {
		s.Emit(reference.Decision{Kind: reference.KindGCBegin}).Pass(100 * Ms)
	}
	x := One(t, s.DetectWith(tracequality.New(tracequality.Default()), facts(s)), tracequality.ID, findings.Note)
	if !strings.Contains(x.Title.String(), "GC") {
		t.Error(x.Title)
	}
}
