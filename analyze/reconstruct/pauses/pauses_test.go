package pauses

import "testing"

// TestPauses has batches take 300 ns and the own ring 100, but for one in a hundred.
func TestPauses(t *testing.T) {
	var p Pauses
	feed := func(n int) {
		for i := range n {
			own, batch := int64(100), int64(300)
			if i%100 == 0 {
				own, batch = batch, own
			}
			p.Add(Own, own)
			p.Add(Batch, batch)
		}
	}
	feed(few / 2)
	if says := p.Batch(300); says != 0 {
		t.Errorf("a few pauses say %v", says)
	}
	feed(2 * many) // old ones count less, and nothing grows
	for _, c := range []struct {
		ns       int64
		min, max float64
	}{
		{300, unsure, unsure},
		{100, -unsure, -unsure},
		{1_000, -0.1, 0.1}, // never seen: says nothing
		{-step, 0, 0},
		{step * steps, 0, 0},
	} {
		if says := float64(p.Batch(c.ns)); says < c.min || says > c.max {
			t.Errorf("a pause of %d ns says %v, not between %v and %v", c.ns, says, c.min, c.max)
		}
	}
	if p.n[Own] > many+1 || p.n[Batch] > many+1 {
		t.Errorf("%v pauses count", p.n)
	}
}
