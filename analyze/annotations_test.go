package analyze_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// TestClassesKnowTheirTasksAndRegions reads a trace of a program that annotates
// itself, as it is and anonymized.
func TestClassesKnowTheirTasksAndRegions(t *testing.T) {
	file := filepath.Join("..", "testdata", "traces", "real", "annot-go1.26-p4to8.trace.gz")
	all := func(names *analyze.Pseudonyms) (tasks, regions []string) {
		src, err := input.Open(context.Background(), file, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		r, err := analyze.Run(context.Background(), src, analyze.Options{Anonymize: names})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Waits.Classes {
			tasks, regions = append(tasks, c.Tasks...), append(regions, c.Regions...)
		}
		return tasks, regions
	}
	tasks, regions := all(nil)
	for _, want := range []string{"round", "price", "order-0"} {
		if !slices.Contains(tasks, want) {
			t.Errorf("no class has task %q: %q", want, tasks)
		}
	}
	for _, want := range []string{"parse", "disk", "lookup"} {
		if !slices.Contains(regions, want) {
			t.Errorf("no class has region %q: %q", want, regions)
		}
	}
	hiddenTasks, hiddenRegions := all(analyze.NewPseudonyms())
	if len(hiddenTasks) != len(tasks) || len(hiddenRegions) != len(regions) {
		t.Errorf("anonymized there are %d and %d, want %d and %d", len(hiddenTasks), len(hiddenRegions), len(tasks), len(regions))
	}
	for _, s := range slices.Concat(hiddenTasks, hiddenRegions) {
		if !strings.HasPrefix(s, "type") {
			t.Errorf("%q was not replaced", s)
		}
	}
}
