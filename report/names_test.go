package report_test

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/report"
)

func TestTraceNames(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{nil, nil},
		{[]string{"trace.out"}, []string{"trace.out"}},
		{[]string{"/home/me/secret/trace.out"}, []string{"trace.out"}},
		{[]string{"./trace.out"}, []string{"trace.out"}},
		{[]string{"standard input"}, []string{"standard input"}},
		{[]string{"http://localhost:6060/debug/pprof/trace"}, []string{"http://localhost:6060/debug/pprof/trace"}},
		{[]string{"/x/http:/y://z"}, []string{"z"}},
		{[]string{"/x/a.out", "/y/b.out"}, []string{"a.out", "b.out"}},
		{[]string{"/x/before/t.out", "/x/after/t.out"}, []string{"before/t.out", "after/t.out"}},
		{[]string{"/x/1/run/t.out", "/x/2/run/t.out", "/x/2/run/u.out"}, []string{"1/run/t.out", "2/run/t.out", "u.out"}},
		{[]string{"/x/1/t.out", "/x/2/t.out", "/y/2/t.out"}, []string{"1/t.out", "x/2/t.out", "y/2/t.out"}},
		{[]string{"t.out", "a/t.out"}, []string{"t.out", "a/t.out"}},
		{[]string{"d/t.out", "/d/t.out"}, []string{"d/t.out", "/d/t.out"}},
		{[]string{"t.out", "./t.out", "t.out"}, []string{"t.out (1)", "t.out (2)", "t.out (3)"}},
		{[]string{"/x/1/t.out", "/x/2/t.out", "/x/1/t.out"}, []string{"1/t.out (1)", "2/t.out", "1/t.out (2)"}},
		{[]string{"/x/t.out", "/x/t.out"}, []string{"t.out (1)", "t.out (2)"}},
		{[]string{"trace", "trace"}, []string{"trace (1)", "trace (2)"}},
		{[]string{"https://a/t", "https://a/t"}, []string{"https://a/t (1)", "https://a/t (2)"}},
	} {
		if got := report.TraceNames(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q are called %q, want %q", c.paths, got, c.want)
		}
	}
}
