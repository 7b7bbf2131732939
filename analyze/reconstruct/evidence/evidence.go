// Package evidence is the unit in which the hypotheses of the reconstruction weigh what
// they see. Constants are for what their names say: those called cost are against it.
package evidence

import "math"

// Nats is how much an observation speaks for one hypothesis and against another: the natural
// logarithm of how much more often it is made where the first holds. 0 says nothing, 2.3 is
// ten times as often, and what speaks against the first is negative. Independent observations
// add up.
type Nats float64

// Ratio returns the likelihood ratio, by which odds are multiplied.
func (n Nats) Ratio() float64 { return math.Exp(float64(n)) }
