package compare

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
)

// TestGapsAreLeftOut gives a trace a gap: nothing that is compared changes but its
// duration.
func TestGapsAreLeftOut(t *testing.T) {
	sound := &analyze.Result{}
	sound.Trace.DurationNs = 2e9
	sound.Reconstruction.Starts = 500
	sound.Procs.Ps = []procs.Proc{{LifetimeNs: 2e9, RunningNs: 1e9, GCNs: 5e8, IdleNs: 5e8}}
	sound.Timeline = timeline.Result{
		BinNs: 1e9, Bins: 2, EndNs: 2e9,
		Runnable: timeline.Series{Mean: []float32{1, 2}}, Lanes: []timeline.Lane{{User: []uint8{255, 0}}},
	}
	gap := &analyze.Result{}
	gap.Trace.DurationNs, gap.Trace.LostNs = 5e9, 3e9
	gap.Reconstruction.Starts = 500
	gap.Procs.Ps = []procs.Proc{{LifetimeNs: 5e9, RunningNs: 1e9, GCNs: 5e8, IdleNs: 5e8, NotRecordedNs: 3e9}}
	gap.Timeline = timeline.Result{
		BinNs: 1e9, Bins: 5, EndNs: 5e9, NotRecorded: []timeline.Span{{From: 1e9, To: 4e9}},
		Runnable: timeline.Series{Mean: []float32{1, 0, 0, 0, 2}}, Lanes: []timeline.Lane{{User: []uint8{255, 0, 0, 0, 0}, NotRecorded: []uint8{0, 255, 255, 255, 0}}},
	}
	for _, m := range metrics {
		if x, y := m.of(sound), m.of(gap); x != y && m.name != durationName {
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
	if x, y := cells(sound), cells(gap); len(x) != len(y) || x[0] != y[0] || x[1] != y[1] {
		t.Errorf("windows %v, and %v with a gap", x, y)
	}
	// Of a window that is half recorded, half as much counts.
	gap.Timeline.NotRecorded[0].From = 5e8
	gap.Timeline.Lanes[0].User[0] = 127
	if c := cells(gap)[0]; c.waiting != 0.5 || c.running != 127.0/255 {
		t.Errorf("half a window is %+v", c)
	}
}
