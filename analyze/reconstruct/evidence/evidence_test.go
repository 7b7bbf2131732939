package evidence

import (
	"math"
	"testing"
)

// TestNats has evidence for a ratio of likelihoods be that ratio again, and add up where
// ratios are multiplied.
func TestNats(t *testing.T) {
	nats := func(ratio float64) Nats { return Nats(math.Log(ratio)) }
	for _, ratio := range []float64{1e-3, 0.5, 1, 2, 1000} {
		if got := nats(ratio).Ratio(); math.Abs(got/ratio-1) > 1e-12 {
			t.Errorf("a ratio of %v becomes %v", ratio, got)
		}
	}
	if sum := nats(2) + nats(5); math.Abs(sum.Ratio()-10) > 1e-12 {
		t.Errorf("twice and five times as often are %v times", sum.Ratio())
	}
}
