package words

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
)

// TestExports names the trace, and the part of it that a result is about, for a shell.
func TestExports(t *testing.T) {
	for _, c := range []struct {
		name  string
		focus *analyze.Focused
		want  string
	}{
		{"a.trace", nil, "gmpscope export pprof a.trace -o waits.pprof"},
		{"it's", nil, `gmpscope export pprof 'it'\''s' -o waits.pprof`},
		{"a", &analyze.Focused{FromNs: 1_200_000_000, ToNs: 1_500_000_000}, "gmpscope export pprof a --from 1.2s --to 1.5s -o waits.pprof"},
		{"a", &analyze.Focused{ToNs: 9_000_000_000, Classes: []string{"main.(*T).run"}}, "gmpscope export pprof a --class 'main.(*T).run' -o waits.pprof"},
		{"a", &analyze.Focused{ToNs: 9_000_000_000, Goroutines: []int64{7, 8}}, "gmpscope export pprof a --goroutine 7 --goroutine 8 -o waits.pprof"},
	} {
		r := &analyze.Result{Trace: analyze.Trace{Name: c.name, DurationNs: 9_000_000_000}, Focus: c.focus}
		all := Exports(r)
		if got := all[0].Commands[0]; got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		for _, x := range all {
			if x.What == "" || !strings.Contains(x.Commands[0], " "+quoted(c.name)) || !strings.Contains(x.Commands[0], window(r)+" -o ") {
				t.Errorf("%+v", x)
			}
		}
	}
}
