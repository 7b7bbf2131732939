package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// TestTooFewStolen has P 1 start goroutine 2 out of the ring of P 0: with what stands in front of it
// that is half of 3 or 4, as a thief takes. Of 6 that were all there before P 1 had nothing to
// run, it is too few: the steal is emitted, but as one that contradicts the model. Had those
// behind come since, it would be half again.
func TestTooFewStolen(t *testing.T) {
	for _, c := range []struct {
		name string
		ring int64
		late bool // those behind the fourth came after P 1 had nothing to run
		want reference.Basis
	}{
		{"half", 4, false, byRule},
		{"a third", 6, false, reference.Known(reference.Ambiguous, reference.RuleQueue)},
		{"half at that time", 6, true, byRule},
	} {
		r := ahead(20, upTo(3, c.ring), upTo(1, c.ring))
		other(r, 20, 2, 1)
		g := r.step.model.goroutine(2)
		if c.late {
			for late := int64(5); late <= c.ring; late++ {
				r.step.ahead.gStates.At(r.step.model.goroutine(late)).ringSince = r.step.ahead.freeSince(g) + 1
			}
		}
		got := r.step.dequeuer.steal(g, 1, 0)
		if got.src != reference.SrcSteal || got.batch != 2 || got.basis != c.want {
			t.Errorf("%s: %+v, want the basis %v", c.name, got, c.want)
		}
	}
}
