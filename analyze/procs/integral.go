package procs

import "math/bits"

// Integral is the exact integral over time of a level that changes in steps, such as a
// queue's length, in level × ns, with 128 bits. The zero value is ready to use.
type Integral struct{ hi, lo uint64 }

// Add adds a level that held for ns. Negative arguments add nothing.
func (i *Integral) Add(level, ns int64) {
	if level > 0 && ns > 0 {
		i.add(uint64(level), uint64(ns))
	}
}

// add is Add for arguments that are known not to be negative.
func (i *Integral) add(level, ns uint64) {
	hi, lo := bits.Mul64(level, ns)
	var carry uint64
	i.lo, carry = bits.Add64(i.lo, lo, 0)
	i.hi, _ = bits.Add64(i.hi, hi, carry)
}

// Plus adds the integral of another level, or of the same level over another time.
func (i *Integral) Plus(j Integral) {
	var carry uint64
	i.lo, carry = bits.Add64(i.lo, j.lo, 0)
	i.hi, _ = bits.Add64(i.hi, j.hi, carry)
}

// Float returns the integral, rounded to a float64.
func (i Integral) Float() float64 { return float64(i.hi)*(1<<64) + float64(i.lo) }

// Mean returns the mean level over ns; 0 if ns is 0.
func (i Integral) Mean(ns int64) float64 {
	if ns <= 0 {
		return 0
	}
	return i.Float() / float64(ns)
}
