package evidence

import (
	"math"
	"testing"
)

func TestNats(t *testing.T) {
	for _, ratio := range []float64{1e-3, 0.5, 1, 2, 1000} {
		if got := Ratio(ratio).Ratio(); math.Abs(got/ratio-1) > 1e-12 {
			t.Errorf("a ratio of %v becomes %v", ratio, got)
		}
	}
	if sum := Ratio(2) + Ratio(5); math.Abs(sum.Ratio()-10) > 1e-12 {
		t.Errorf("twice and five times as often are %v times", sum.Ratio())
	}
	for _, c := range []struct{ n, most, want Nats }{{3, 2, 2}, {-3, 2, -2}, {1, 2, 1}, {-1, 2, -1}} {
		if got := c.n.Within(c.most); got != c.want {
			t.Errorf("%v within %v is %v", c.n, c.most, got)
		}
	}
}
