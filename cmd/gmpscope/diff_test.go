package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/compare"
)

func TestAsBadAs(t *testing.T) {
	verdicts := []compare.Verdict{compare.Better, compare.NoChange, compare.Inconclusive, compare.Mixed, compare.Worse}
	for failOn, fails := range map[string]int{"never": 0, "worse": 1, "mixed": 2} {
		for i, v := range verdicts {
			if got, want := asBadAs(v, failOn), i >= len(verdicts)-fails; got != want {
				t.Errorf("asBadAs(%q, %q) = %v, want %v", v, failOn, got, want)
			}
		}
	}
}

// TestDiffGate has diff fail with the exit code of a gate, and not because of an error.
func TestDiffGate(t *testing.T) {
	sides := func(before, after string) []string {
		args := []string{"diff", "--format", "json", "--fail-on", "worse"}
		for _, n := range []string{"0", "1", "2", "3", "4"} {
			args = append(args,
				"--before", filepath.Join(traces, "pairs", "procs-halved-"+before+"-"+n+".trace.gz"),
				"--after", filepath.Join(traces, "pairs", "procs-halved-"+after+"-"+n+".trace.gz"))
		}
		return args
	}
	for _, c := range []struct {
		before, after string
		want          int
	}{
		{"before", "after", exitGate},
		{"after", "before", exitOK},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), sides(c.before, c.after), nil, &out, &errs); code != c.want || out.Len() == 0 {
			t.Errorf("from %s to %s: exit code %d, want %d: %s", c.before, c.after, code, c.want, errs.String())
		}
	}
}
