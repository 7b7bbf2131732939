package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
)

// TestMissed has a P that may have been at the 61st tick when it took a batch.
func TestMissed(t *testing.T) {
	r := ahead(1, nil, nil)
	pp := &r.step.ps.pStates[0]
	pp.tick = schedtick.Unknown(poll)
	for _, c := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"something is queued", func() { r.step.queues.PutGlobal(r.step.model.goroutine(1)) }, true},
		{"nothing is", func() { r.step.queues.Remove(r.step.model.goroutine(1)) }, false},
		{"the tick is known", func() {
			r.step.queues.PutGlobal(r.step.model.goroutine(1))
			pp.tick.Learn(tickPastOwn)
			pp.tick.Learn(tickPastOwn)
		}, false},
	} {
		pp.taint.missed = true
		c.change()
		if got := r.step.model.mayHaveMissedTick(0); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
