package analyze_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// FuzzWindows damages real traces, and cuts what is left into windows: no panic, and they
// add up to the whole.
func FuzzWindows(f *testing.F) {
	victims := append([]string{"real/annot-go1.26-p4to8"}, victims...)
	var traces [][]byte
	for i, name := range victims {
		traces = append(traces, tracetest.Recorded(f, name))
		if tracetest.Long() || i < 2 {
			f.Add(byte(i), uint16(20_000), uint16(40_000), []byte(nil))
		}
	}
	step := byte(2)
	if !tracetest.Long() {
		step = 13
	}
	for op := byte(0); op < 26; op += step {
		f.Add(op%byte(len(victims)), uint16(op)*2000, uint16(op)*300, []byte{op, 0, 2, 0, 9, 2, 3})
	}
	f.Fuzz(func(t *testing.T, which byte, from, to uint16, program []byte) {
		if len(program) > 200 {
			return
		}
		trace := damage.Apply(traces[int(which)%len(traces)], program)
		run := func(f focus.Focus) *analyze.Result {
			src, err := input.New(bytes.NewReader(trace), "damaged")
			if err != nil {
				return nil
			}
			defer src.Close()
			res, err := analyze.Run(t.Context(), src, analyze.Options{Focus: f})
			if bug := (*analyze.Bug)(nil); errors.As(err, &bug) {
				t.Fatalf("%+v: %v", f, err)
			}
			return res
		}
		whole := run(focus.Focus{})
		if whole == nil || whole.Trace.DurationNs < 4 || whole.Trace.DurationNs > 1<<46 {
			return
		}
		a := 1 + (whole.Trace.DurationNs-3)*int64(min(from, to))>>16
		b := a + 1 + (whole.Trace.DurationNs-2-a)*int64(max(from, to))>>16
		middle := focus.Focus{From: a, To: b}
		if len(whole.Waits.Classes) > 0 {
			middle.Classes = []string{"*"}
		}
		parts := []*analyze.Result{run(focus.Focus{To: a}), run(middle), run(focus.Focus{From: b})}
		for i, r := range parts {
			if r == nil {
				t.Fatalf("%d to %d of %d: part %d has no result", a, b, whole.Trace.DurationNs, i)
			}
		}
		if d := cmp.Diff(times(whole), times(parts...)); d != "" {
			t.Errorf("%d to %d of %d: -whole +parts:\n%s", a, b, whole.Trace.DurationNs, d)
		}
	})
}

// times are sums without the causes: in a damaged trace GOMAXPROCS can change beside a
// stay in the global queue, and its causes are shares then.
func times(rs ...*analyze.Result) map[string]int64 {
	out := sums(false, rs...)
	maps.DeleteFunc(out, func(k string, _ int64) bool {
		for _, c := range waits.Causes() {
			if strings.HasSuffix(k, " "+string(c)) {
				return true
			}
		}
		return false
	})
	return out
}
