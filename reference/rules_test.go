package reference

import (
	"fmt"
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
	var names []string
	for i, r := range Releases() {
		names = append(names, r.Release)
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
	if want := "[1.22 1.23 1.24 1.25 1.26 1.27]"; fmt.Sprint(names) != want {
		t.Errorf("%v, not %s", names, want)
	}
	if Latest().Release != "1.27" {
		t.Errorf("the latest is Go %s", Latest().Release)
	}
	if r, ok := Release("1.99"); ok {
		t.Errorf("Go 1.99 has the rules of Go %s", r.Release)
	}
	if w := Writers(21); w != nil {
		t.Errorf("%v write a format without rules", w)
	}
}

// TestChanges tells the releases that changed something.
func TestChanges(t *testing.T) {
	var changed []string
	for i, r := range Releases() {
		if i > 0 && !r.Same(Releases()[i-1]) {
			changed = append(changed, r.Release)
		}
	}
	if fmt.Sprint(changed) != "[1.23 1.26]" {
		t.Errorf("%v changed the rules", changed)
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
