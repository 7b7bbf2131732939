package report_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/report"
)

// TestNamesNoHarness reads traces of other people's tests and benchmarks: neither the verdict nor a
// finding is about package testing.
func TestNamesNoHarness(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "lab", "testdata", "sweep", "*.trace.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	harness := regexp.MustCompile(`\btesting\.[(tM]`)
	leftOut := 0
	for _, name := range files {
		src, err := input.Open(context.Background(), name, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		r, err := analyze.Run(context.Background(), src, analyze.Options{NoTimeline: true})
		if err != nil {
			t.Fatal(err)
		}
		about := func(text string) {
			if harness.MatchString(text) {
				t.Errorf("%s: %s", name, text)
			}
		}
		v := report.Build(r, "gmpscope").Verdict
		about(v.Headline)
		for _, line := range v.Lines {
			if strings.HasPrefix(line, "Left out: ") {
				leftOut++
				continue
			}
			about(line)
		}
		for i := range r.Findings {
			x := &r.Findings[i]
			about(x.Headline.String())
			about(x.Title.String())
			for _, a := range x.Actors {
				if len(a.Stack) == 0 && strings.HasPrefix(a.Class, "testing.") {
					t.Errorf("%s: %s: %s", name, x.ID, a.Class)
				}
			}
		}
	}
	if leftOut == 0 {
		t.Error("nothing is left out of any")
	}
}
