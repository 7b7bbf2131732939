package reference

import (
	"slices"
	"testing"
)

func TestRulesFor(t *testing.T) {
	for _, c := range []struct {
		format int
		want   string
	}{
		{11, "1.22"}, {21, "1.22"}, // older than all
		{22, "1.22"},
		{23, "1.23"}, {24, "1.23"}, // Go 1.24 has no format of its own
		{25, "1.25"},
		{26, "1.26"}, {27, "1.26"},
	} {
		if got := RulesFor(c.format); got.Release != c.want {
			t.Errorf("a trace of format go 1.%d gets the rules of Go %s, not %s", c.format, got.Release, c.want)
		}
	}
}

func TestReleases(t *testing.T) {
	for i, r := range Releases() {
		if found, ok := Release(r.Release); !ok || found != r {
			t.Errorf("Go %s is not found by its name", r.Release)
		}
		if !slices.Contains(Writers(r.TraceFormat), r) {
			t.Errorf("Go %s is none of those that write its format", r.Release)
		}
		if i > 0 && r.TraceFormat < Releases()[i-1].TraceFormat {
			t.Errorf("Go %s writes an older format than the release before it", r.Release)
		}
	}
	if r, ok := Release("1.99"); ok {
		t.Errorf("Go 1.99 has the rules of Go %s", r.Release)
	}
	if w := Writers(21); w != nil {
		t.Errorf("%v write a format without rules", w)
	}
}

// TestChanges holds some releases against what is known of their sources.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		release                                    string
		injectWakes, preemptsSyscall, keepsRunnext bool
	}{
		{"1.22", false, true, false},
		{"1.23", true, true, false},
		{"1.25", true, true, false},
		{"1.26", true, false, true},
		{"1.27", true, false, true},
	} {
		r, ok := Release(c.release)
		if !ok || r.InjectWakes != c.injectWakes || r.PreemptsSyscall != c.preemptsSyscall || r.STWKeepsRunnext != c.keepsRunnext {
			t.Errorf("Go %s: known %v, %+v", c.release, ok, r)
		}
	}
	old, _ := Release("1.23")
	if same, _ := Release("1.24"); !same.Same(old) {
		t.Error("Go 1.24 has not the rules of 1.23")
	}
	if other, _ := Release("1.26"); other.Same(old) {
		t.Error("Go 1.26 has the rules of 1.23")
	}
}

// TestMarkWorkers holds the workers against figures of startCycle, mgcpacer.go.
func TestMarkWorkers(t *testing.T) {
	for _, c := range []struct {
		procs, dedicated int
		share            float64
	}{{1, 0, 0.25}, {2, 0, 0.25}, {3, 0, 0.25}, {4, 1, 0}, {5, 1, 0}, {6, 1, 0.5 / 6}, {7, 2, 0}, {8, 2, 0}, {16, 4, 0}} {
		n, share := Latest().MarkWorkers(c.procs)
		if n != c.dedicated || share != c.share {
			t.Errorf("%d Ps: %d dedicated workers and %g of each P, want %d and %g", c.procs, n, share, c.dedicated, c.share)
		}
	}
}
