package analyze_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// TestFocusOnTasks finds the slowest tasks: their bounds, and who worked for them.
func TestFocusOnTasks(t *testing.T) {
	name := filepath.Join("..", "testdata", "traces", "real", "annot-go1.26-p4to8.trace.gz")
	open := func() *input.Source {
		src, err := input.Open(t.Context(), name, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		return src
	}
	res, err := analyze.Run(t.Context(), open(), analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	regions := 0
	for _, k := range res.Work.Kinds {
		if k.How != "task" {
			continue
		}
		for _, x := range k.Slowest {
			regions += len(x.Regions)
			f, err := analyze.FocusOnTasks(t.Context(), open(), analyze.Options{}, []int64{x.Task})
			if err != nil {
				t.Fatal(err)
			}
			missing := func(r work.TaskRegion) bool { return !slices.Contains(f.Goroutines, r.G) }
			if f.From != x.BeginNs || f.To != x.EndNs || slices.ContainsFunc(x.Regions, missing) {
				t.Errorf("task %d, from %d to %d, regions %v: %+v", x.Task, x.BeginNs, x.EndNs, x.Regions, f)
			}
		}
	}
	if regions == 0 {
		t.Error("no task has regions")
	}
}
