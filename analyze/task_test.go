package analyze_test

import (
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
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
	for _, of := range res.Requests.Tasks {
		for _, x := range of.Slowest {
			f, err := analyze.FocusOnTasks(t.Context(), open(), analyze.Options{}, []int64{x.Task})
			if err != nil {
				t.Fatal(err)
			}
			if f.From != x.FromNs || f.To != x.ToNs || int64(len(f.Goroutines)) < x.Goroutines {
				t.Errorf("task %d, %d to %d, %d goroutines: %+v", x.Task, x.FromNs, x.ToNs, x.Goroutines, f)
			}
		}
	}
}
