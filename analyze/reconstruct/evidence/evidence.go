// Package evidence is the unit in which the hypotheses of the reconstruction weigh what
// they see. Constants are for what their names say: those called cost are against it.
package evidence

import "math"

// Nats is the weight of evidence for one hypothesis against another: the natural logarithm of
// the likelihood ratio. 0 is neutral, 2.3 is ten times as likely, and evidence against the
// first is negative. Independent observations add up.
type Nats float64

// Ratio returns the likelihood ratio, by which odds are multiplied.
func (n Nats) Ratio() float64 { return math.Exp(float64(n)) }
