package lockconvoy

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Where a part of the line waits somewhere else, what is said of all of it is not said of
// those who are named.
func TestWhose(t *testing.T) {
	for _, c := range []struct {
		holder  findings.Name
		waiters []findings.Name
		want    string
	}{
		{"put", nil, "others in line for it"},
		{"put", []findings.Name{"put"}, "others in line for it"},
		{"put", []findings.Name{"get"}, "others in line in get"},
		{"put", []findings.Name{"get", "list"}, "others in line in get and list"},
		{"put", []findings.Name{"put", "get"}, "others in line for it, some in get"},
		{"put", []findings.Name{"get", "list", "drop"}, "others in line for it, some in get and list"},
	} {
		n := &evidence{waiters: c.waiters}
		n.chief.function = c.holder
		if got := n.whose(); got.String() != c.want {
			t.Errorf("%s holds it, %q wait: %q, want %q", c.holder, c.waiters, got, c.want)
		}
	}
}
