package analyze

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// However many decisions change many Ps at once, a block has few of them, and all
// come through in their order.
func TestBlocksHaveFewChanges(t *testing.T) {
	kinds := []reference.Kind{reference.KindProcs, reference.KindReady, reference.KindSTWBegin, reference.KindSTWEnd, reference.KindLost}
	const ps = 1000
	next := int64(0)
	p := newPipeline(t.Context(), func(b *block) {
		wide := 0
		for i := range b.Decisions {
			d := &b.Decisions[i]
			if d.Time != next {
				t.Errorf("decision %d comes where %d should", d.Time, next)
			}
			next++
			if d.Kind != reference.KindReady {
				wide++
			}
		}
		if changes := wide * ps; changes > maxChanges {
			t.Errorf("%d changes of Ps in a block", changes)
		}
	})
	var ds []reference.Decision
	at := int64(0)
	for _, n := range []int{0, 1, 500, 3, 100} {
		for range n {
			ds = append(ds, reference.Decision{Time: at, Kind: kinds[at%5], Batch: ps})
			at++
		}
		ds = p.add(ds, events.View{})
	}
	p.wait()
	if next != at {
		t.Errorf("%d decisions of %d came through", next, at)
	}
}
