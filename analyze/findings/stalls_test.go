package findings_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func TestStoodStill(t *testing.T) {
	for _, c := range []struct {
		stalls findings.Stalls
		want   bool
	}{
		{findings.Stalls{}, false},
		{findings.Stalls{N: 4, Ns: 9_000_000}, false},
		{findings.Stalls{N: 5, Ns: 5_000_000}, true},
		{findings.Stalls{N: 1, Ns: 10_000_000}, true},
	} {
		if got := (&findings.Facts{Stalls: c.stalls}).StoodStill(); got != c.want {
			t.Errorf("%+v: %t", c.stalls, got)
		}
	}
}
