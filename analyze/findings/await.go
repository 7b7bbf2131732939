package findings

import "github.com/gmpscope/gmpscope/reference"

// unawaited is from how many steps on a goroutine is part of a larger job, and no goroutine waits for
// it alone: see [Goroutine.await].
const unawaited = 8

// sliceSteps is how many steps a whole time slice counts: who computes for long is no short answer
// to anybody.
const sliceSteps = 2

// await counts the steps from what happened outside the program to g, as it becomes runnable. A
// timer and the network want g itself. Goroutines that it wakes or creates are further steps, the
// more the later they come: a request goes through a few, a job through many. A goroutine of which
// no such beginning is known is not waited for.
func (g *Goroutine) await(why reference.Why, by *Goroutine) {
	switch {
	case why == reference.WhyTimer || why == reference.WhyNetwork:
		g.steps = 0
	case (why == reference.WhyCreate || why == reference.WhyUnblock) && by != nil && by != g && !by.System:
		by.woke = min(by.woke+1, unawaited)
		g.steps = min(by.steps+by.woke, unawaited)
	case why == reference.WhySlice:
		g.steps = min(g.steps+sliceSteps, unawaited)
	}
	if g.Reason != reference.ReasonNone {
		g.woke = 0
	}
}

// waited adds a wait of g for a P.
func (c *Class) waited(g *Goroutine, ns int64) {
	if g.Self {
		return
	}
	c.WaitedNs += ns
	if g.steps < unawaited {
		c.AwaitedNs += ns
	}
}
