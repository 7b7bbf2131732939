package analyze_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// A panic of ours says where, and asks for a report.
func TestCaught(t *testing.T) {
	defer func() {
		if err := analyze.Caught(recover()); !strings.HasPrefix(err.Error(), "internal error in analyze_test.TestCaught (bug_test.go:") || !strings.Contains(err.Error(), "boom: please report it") {
			t.Error(err)
		}
	}()
	panic("boom")
}

// A panic, in whichever goroutine of the analysis, ends that and not the program.
func TestBug(t *testing.T) {
	trace := tracetest.Recorded(t, "steal-small-go1.26-p2")
	for _, beside := range []bool{false, true} { // in a goroutine of its own
		src, err := input.New(bytes.NewReader(trace), "sound")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		_, err = analyze.Run(t.Context(), src, analyze.Options{DecisionsOnly: beside, OnDecision: func(d *reference.Decision) error {
			if n++; n == 30 {
				panic("the thirtieth")
			}
			return nil
		}})
		var bug *analyze.Bug
		if !errors.As(err, &bug) || bug.Value != "the thirtieth" || !strings.HasPrefix(bug.At, "analyze_test.TestBug.func1 (bug_test.go:") ||
			!strings.HasPrefix(err.Error(), "analysing sound: the function in Options.OnDecision panicked: the thirtieth") {
			t.Errorf("beside: %v: %v", beside, err)
		}
		if n != 30 {
			t.Errorf("beside: %v: %d decisions after the panic", beside, n-30)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}
