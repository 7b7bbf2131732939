package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// costs draws from the measurements of Costs, and everything else that is left to chance.
type costs struct {
	Costs
	rnd *rand.PCG
}

// threadWake returns how long the wake-up of a thread takes.
func (c *costs) threadWake(now int64) int64 { return c.draw(now, c.ThreadWakes, c.ThreadWake) }

// switching returns how long a P takes to look for the next goroutine.
func (c *costs) switching(now int64) int64 { return c.draw(now, c.Switches, c.Switch) }

// yielding returns how long a P takes from a goroutine that has yielded, and was put into
// the global queue at the cost of ns, to its look at the queues.
func (c *costs) yielding(now, ns int64) int64 {
	if len(c.Yields) == 0 {
		return ns + c.switching(now)
	}
	return max(ns, c.draw(now, c.Yields, 0)-c.Lock)
}

// draw returns one of the measurements made next to now, or usual if there are none.
func (c *costs) draw(now int64, of []Sample, usual int64) int64 {
	if len(of) == 0 {
		return usual
	}
	after, _ := slices.BinarySearchFunc(of, now, func(x Sample, now int64) int { return cmp.Compare(x.At, now) })
	from := max(0, min(after-nearAt/2, len(of)-nearAt))
	n := min(nearAt, len(of)-from)
	return of[from+int(c.rnd.Uint64()%uint64(n))].Ns
}
