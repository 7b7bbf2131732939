package analyze

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/timeline"
)

// followHeap has the timeline take what events say about the heap. The scheduler has no part in
// that, so no decision tells it.
func followHeap(h *timeline.HeapAccumulator, evs []events.Event, until int64) {
	if until <= 0 {
		until = math.MaxInt64
	}
	for i := range evs {
		e := &evs[i]
		if e.Kind < events.SweepBegin || e.Kind > events.HeapGoal || e.Time > until {
			continue
		}
		switch e.Kind {
		case events.SweepBegin, events.SweepEnd:
			h.Sweep(e.Time, int32(e.Res), e.Kind == events.SweepBegin)
		case events.HeapAlloc:
			h.Alloc(e.Time, e.Res)
		case events.HeapGoal:
			h.Goal(e.Time, e.Res)
		}
	}
}
