package html

import (
	"fmt"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// scale is the upright axis of curves: from 0 to top; or, where their values
// span decades, logarithmic from floor to top, both powers of ten.
type scale struct {
	floor float64 // 0: linear
	top   float64 // 0: nothing to draw
}

// Values span decades if the largest is so many times the lower quartile of
// those above 0. A logarithmic axis shows at most so many decades.
const (
	spread  = 100
	decades = 5
)

// scalePoints is by how many points of each curve the axis is chosen, more than are drawn.
const scalePoints = 1_000

func scaleOf(ls []line) scale {
	var above []float64
	for _, l := range ls {
		for _, v := range l.Values {
			if v > 0 && !math.IsInf(v, 0) {
				above = append(above, v)
			}
		}
	}
	if len(above) == 0 {
		return scale{}
	}
	slices.Sort(above)
	most := above[len(above)-1]
	if most < spread*above[len(above)/4] {
		return scale{top: nice(most)}
	}
	top := math.Ceil(math.Log10(most))
	low := math.Floor(math.Log10(above[len(above)/20]))
	return scale{floor: math.Pow(10, max(low, top-decades)), top: math.Pow(10, top)}
}

// place reports where v lies between the lower end, 0, and the upper, 1.
func (s scale) place(v float64) float64 {
	if s.floor == 0 {
		return v / s.top
	}
	return math.Log10(max(v, s.floor)/s.floor) / math.Log10(s.top/s.floor)
}

// ticks are the values with a label, largest first.
func (s scale) ticks() []float64 {
	var out []float64
	if s.floor == 0 {
		for i := 4; i >= 0; i-- {
			out = append(out, s.top*float64(i)/4)
		}
		return out
	}
	for n := math.Round(math.Log10(s.top / s.floor)); n >= 0; n-- {
		out = append(out, s.floor*math.Pow(10, n))
	}
	return out
}

// note warns the reader of a logarithmic axis; "" for a linear one.
func (s scale) note() string {
	if s.floor == 0 {
		return ""
	}
	return fmt.Sprintf("The axis is logarithmic: each line is ten times the one below, and what is under %s lies on the lowest.", quantity.Number(s.floor))
}
