package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/compare"
)

func TestGateOf(t *testing.T) {
	verdicts := []compare.Verdict{compare.Better, compare.NoChange, compare.Inconclusive, compare.Mixed, compare.Worse}
	for failOn, want := range map[string][]error{
		"never": {nil, nil, nil, nil, nil},
		"worse": {nil, nil, errInconclusive, nil, errGate},
		"mixed": {nil, nil, errInconclusive, errGate, errGate},
	} {
		for i, v := range verdicts {
			if got := gateOf(v, failOn); got != want[i] {
				t.Errorf("gateOf(%q, %q) = %v, want %v", v, failOn, got, want[i])
			}
		}
	}
}

// TestDiffGate has diff fail with the exit code of a gate, and not because of an error.
func TestDiffGate(t *testing.T) {
	sides := func(before, after string) []string {
		args := []string{"diff", "--format", "json", "--fail-on", "worse"}
		for _, n := range []string{"0", "1", "2"} {
			args = append(args,
				"--before", filepath.Join(traces, "pairs", before+"-"+n+".trace.gz"),
				"--after", filepath.Join(traces, "pairs", after+"-"+n+".trace.gz"))
		}
		return args
	}
	for _, c := range []struct {
		before, after string
		want          int
	}{
		{"procs-halved-before", "procs-halved-after", exitGate},
		{"procs-halved-after", "procs-halved-before", exitOK},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), sides(c.before, c.after), nil, &out, &errs); code != c.want || out.Len() == 0 {
			t.Errorf("from %s to %s: exit code %d, want %d: %s", c.before, c.after, code, c.want, errs.String())
		}
	}
	one := filepath.Join(traces, "mutex-go1.26-p4.trace.gz")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"diff", one, one, "--fail-on", "worse"}, nil, &out, &errs); code != exitUnknown || errs.Len() > 0 {
		t.Errorf("of a trace in which few things happen: exit code %d: %s", code, errs.String())
	}
}
