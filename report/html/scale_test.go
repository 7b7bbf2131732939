package html

import (
	"math"
	"testing"
)

func TestAxesAreLogarithmicWhereValuesSpanDecades(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   scale
	}{
		{"nothing", []float64{0, 0}, scale{}},
		{"one decade", []float64{0, 2, 3, 9, 20}, scale{top: 20}},
		{"one low value of many", []float64{0.001, 50, 60, 70, 80, 90, 100, 100}, scale{top: 100}},
		{"three decades", []float64{0, 0.3, 0.4, 1, 5, 20, 640}, scale{floor: 0.1, top: 1000}},
		{"more than are shown", []float64{1e-9, 1e-9, 1e-9, 1, 1e3}, scale{floor: 1e-2, top: 1e3}},
		{"not a number of a page", []float64{1, 2, math.Inf(1)}, scale{top: 2}},
	} {
		got := scaleOf([]line{{Values: c.values}})
		if math.Abs(got.floor-c.want.floor) > 1e-12 || math.Abs(got.top-c.want.top) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestPlacesOnALogarithmicAxis(t *testing.T) {
	s := scale{floor: 0.1, top: 1000}
	for v, want := range map[float64]float64{0: 0, 0.01: 0, 0.1: 0, 1: 0.25, 100: 0.75, 1000: 1} {
		if got := s.place(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v lies at %v, want %v", v, got, want)
		}
	}
	if n := len(s.ticks()); n != 5 {
		t.Errorf("%d ticks, want 5", n)
	}
}
