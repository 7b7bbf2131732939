package compare

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// TestClassesToldApart holds traces against each other in which a wrapper's goroutines are
// told apart, in both or in one only.
func TestClassesToldApart(t *testing.T) {
	result := func(cs ...waits.Class) []*analyze.Result {
		r := &analyze.Result{}
		for i := range cs {
			cs[i].Goroutines, cs[i].Waits.TotalNs = 1, 10
			r.Waits.User.TotalNs += 10
		}
		r.Waits.Classes = cs
		return []*analyze.Result{r}
	}
	apart := func() []*analyze.Result {
		return result(waits.Class{Name: "f, started by s", StartedBy: "s"}, waits.Class{Name: "g, started by s", StartedBy: "s"})
	}
	together := func() []*analyze.Result { return result(waits.Class{Name: "s"}) }
	for _, c := range []struct {
		name          string
		before, after []*analyze.Result
		want          []classKey
		goroutines    int64 // of the first, after
	}{
		{"both", apart(), apart(), []classKey{{"f, started by s", ""}, {"g, started by s", ""}}, 1},
		{"one", together(), apart(), []classKey{{"s", ""}}, 2},
	} {
		whole := plain(append(c.before, c.after...))
		b, a := accountOf(c.before, PerTrace, whole), accountOf(c.after, PerTrace, whole)
		cs := classesOf(&b, &a)
		if len(cs) != len(c.want) {
			t.Errorf("%s: %d classes, want %d: %+v", c.name, len(cs), len(c.want), cs)
			continue
		}
		for i, x := range cs {
			if (classKey{x.Name, x.Creator}) != c.want[i] || x.In != "both" {
				t.Errorf("%s: %q in %s, want %q in both", c.name, x.Name, x.In, c.want[i].name)
			}
		}
		if cs[0].AfterGoroutines != c.goroutines {
			t.Errorf("%s: %d goroutines after, want %d", c.name, cs[0].AfterGoroutines, c.goroutines)
		}
	}
}
