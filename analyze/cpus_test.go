package analyze_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// What is measured does not depend on the CPUs that are told, only what is judged.
func TestCPUsOnlyJudge(t *testing.T) {
	for _, name := range []string{"cases/os-preemption-trigger-go1.26-p8", "cases/cpu-throttling-trigger-go1.26-p2", "gc-go1.26-p4"} {
		name = "../testdata/traces/" + name + ".trace.gz"
		run := func(cpus float64) (*analyze.Result, []findings.Finding) {
			res, err := analyze.Run(t.Context(), open(t, name), analyze.Options{CPUs: cpus})
			if err != nil {
				t.Fatal(err)
			}
			if res.Trace.CPUs != cpus {
				t.Errorf("the result has %v CPUs, told were %v", res.Trace.CPUs, cpus)
			}
			found := res.Findings
			// What follows from them: detectors' numbers, and what of the picture is kept.
			res.Trace.CPUs, res.Findings, res.Doubts, res.Detectors, res.Timeline.Windows = 0, nil, nil, nil, nil
			return res, found
		}
		want, unknown := run(0)
		for _, cpus := range []float64{0.25, 1, 64} {
			got, found := run(cpus)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %v CPUs: %s", name, cpus, d)
			}
			if cpus == 64 && len(found) != len(unknown) {
				t.Errorf("%s: %d findings with CPUs enough, %d without the number", name, len(found), len(unknown))
			}
		}
	}
}

func TestImpossibleCPUsAreRefused(t *testing.T) {
	for _, cpus := range []float64{-1, math.NaN(), math.Inf(1), 1e5 + 1} {
		if _, err := analyze.Run(t.Context(), open(t, "../testdata/traces/gc-go1.26-p4.trace.gz"), analyze.Options{CPUs: cpus}); err == nil {
			t.Errorf("%v CPUs are taken", cpus)
		}
	}
}
