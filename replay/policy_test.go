package replay

import (
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

func TestPolicy(t *testing.T) {
	for release, want := range map[string]string{"1.22": "go1.22", "1.24": "go1.22", "1.25": "go1.22", "1.26": "go1.26", "1.27": "go1.26"} {
		r, ok := reference.Release(release)
		if got := policyName(r); !ok || got != want {
			t.Errorf("Go %s: %s, not %s", release, got, want)
		}
	}
	r := reference.Latest()
	r.Release = "1.99"
	if got := policyName(r); got != "go1.26" {
		t.Errorf("a release with the same rules: %s", got)
	}
	r.GlobalPoll = 37
	if got := policyName(r); got != "go1.99" {
		t.Errorf("a release with rules of its own: %s", got)
	}
}
