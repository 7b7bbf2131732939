// Package pricing values bonds.
package pricing

import "math"

type Bond struct {
	Coupon, Years, Yield float64
}

// Value is the present value of a bond.
func Value(b Bond) float64 {
	sum := 0.0
	for half := 1.0; half <= 2*b.Years; half++ {
		sum += b.Coupon / 2 / math.Pow(1+b.Yield/2, half)
	}
	return sum + 100/math.Pow(1+b.Yield/2, 2*b.Years)
}

// Quote values a bond and its neighbours.
func Quote(b Bond) (total float64) {
	for step := range 10 {
		b.Yield += 0.0001 * float64(step)
		total += Value(b)
	}
	return total
}
