package compare

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
)

// TestGapsAreLeftOut gives a trace a gap: nothing that is described changes.
func TestGapsAreLeftOut(t *testing.T) {
	sound := &analyze.Result{}
	sound.Trace.DurationNs = 2e9
	sound.Reconstruction.Starts = 500
	sound.Procs.Ps = []procs.Proc{{LifetimeNs: 2e9, RunningNs: 1e9, GCNs: 5e8, IdleNs: 5e8}}
	gap := &analyze.Result{}
	gap.Trace.DurationNs, gap.Trace.LostNs = 5e9, 3e9
	gap.Reconstruction.Starts = 500
	gap.Procs.Ps = []procs.Proc{{LifetimeNs: 5e9, RunningNs: 1e9, GCNs: 5e8, IdleNs: 5e8, NotRecordedNs: 3e9}}
	for _, m := range described {
		if x, y := m.of(sound), m.of(gap); x != y {
			t.Errorf("%s is %v, and %v with a gap", m.name, x, y)
		}
	}
	if x, y := sideOf([]*analyze.Result{sound}), sideOf([]*analyze.Result{gap}); x.DurationNs != y.DurationNs || x.RunningNs != y.RunningNs {
		t.Errorf("sides: %+v, and %+v with a gap", x, y)
	}
	for _, b := range []Basis{PerTrace, PerSecond, PerRunning} {
		if x, y := b.scale(sound), b.scale(gap); x != y {
			t.Errorf("%v is scaled by %v, and by %v with a gap", b, x, y)
		}
	}
}
