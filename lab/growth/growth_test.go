package growth

import (
	"fmt"
	"testing"
)

func TestExponent(t *testing.T) {
	for _, c := range []struct {
		costs [sizes]float64
		want  string
	}{
		{[sizes]float64{6729, 6777, 6856, 6856}, "1.00"},
		{[sizes]float64{100, 100, 100, 200}, "1.50"},
		{[sizes]float64{1, 4, 16, 64}, "2.00"},
	} {
		if got := fmt.Sprintf("%.2f", exponent(c.costs)); got != c.want {
			t.Errorf("%v: %s, want %s", c.costs, got, c.want)
		}
	}
}
