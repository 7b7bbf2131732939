package reconstruct

import "testing"

// TestMissed has a P that may have been at the 61st tick when it took a batch.
func TestMissed(t *testing.T) {
	r := ahead(1, nil, nil)
	ps := &r.ps[0]
	ps.phase = newPhase(poll)
	for _, c := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"something is queued", func() { r.q.PutGlobal(r.gs.find(1)) }, true},
		{"nothing is", func() { r.q.Remove(r.gs.find(1)) }, false},
		{"the tick is known", func() {
			r.q.PutGlobal(r.gs.find(1))
			ps.phase.saw(plain)
			ps.phase.saw(plain)
		}, false},
	} {
		ps.doubt.missed = true
		c.change()
		if got := r.missed(0); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
