package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/reference"
)

// An enqueue to a full ring overflows, unless a thief whose steal shows itself later has emptied half
// of it. A ring that is off by one in the model decides this wrongly, and misplaces half a ring. So
// forks test the overflow against the likeliest thief.

// maxThievesTried bounds the thieves that are considered for one enqueue. Half or twice: nothing.
const maxThievesTried = 8

// thiefOfFullRing returns the goroutine, in p's full ring, of the likeliest thief that may have stolen
// before the present enqueue, or None if there is none.
func (r *unseenSteals) thiefOfFullRing(p int32) int32 {
	likeliest, least := reference.None, evidence.Nats(math.Inf(1))
	head, tried := r.queues.Head(p), 0
	for g, size := head, 1; size <= r.ahead.rules.RingSize/2 && tried < maxThievesTried; g, size = r.queues.Next(g), size+1 {
		if thief := r.ahead.startsOn(g); r.ahead.inFlight(g) && thief != p && !r.model.hasOwn(thief) {
			tried++
			if cost := r.stealCost(p, head, g, size, thief); cost < least {
				likeliest, least = g, cost
			}
		}
	}
	return likeliest
}

// proposeEarlyThief proposes that the enqueue of q.g overflows q.p's full ring, or that the thief of
// q.other has emptied half of it before.
func proposeEarlyThief(r *stepper, q question) []choice {
	return []choice{
		{is: no, says: "the enqueue overflows the ring", then: thenFinish, apply: func(fork *stepper) { fork.enqueuer.overflow(q.p, q.g, nobody, nil) }},
		{is: yes, says: "a thief has emptied half of it before", then: thenFinish, apply: func(fork *stepper) {
			fork.dequeuer.settle(q.other)
			fork.model.putTail(q.p, q.g)
		}},
	}
}
