package analyze_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
)

// TestAnnotationsOverTime records a task with a region, and has them in the timeline, under
// numbers where names are to be hidden.
func TestAnnotationsOverTime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "own.trace")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		t.Skip(err) // this test is traced itself
	}
	ctx, task := trace.NewTask(t.Context(), "checkout")
	trace.WithRegion(ctx, "render", func() {})
	task.End()
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []analyze.Options{{}, {Anonymize: analyze.NewPseudonyms()}} {
		res, err := analyze.File(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		types := res.Timeline.Annotations
		var all []string
		for _, w := range res.Timeline.Windows {
			for _, x := range w.Annotations {
				s := types[x.Name]
				if x.Of > 0 {
					s += " of " + types[x.Of]
				}
				all = append(all, s)
			}
		}
		want := regexp.MustCompile(`^checkout$|^render of checkout$`)
		if o.Anonymize != nil {
			want = regexp.MustCompile(`^type\d+( of type\d+)?$`)
		}
		if len(all) != 2 || !want.MatchString(all[0]) || !want.MatchString(all[1]) || all[0] == all[1] {
			t.Errorf("%q", all)
		}
	}
}
