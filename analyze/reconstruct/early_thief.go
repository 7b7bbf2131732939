package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/reference"
)

// An enqueue to a full ring overflows, unless a thief whose steal shows itself later has
// emptied half of it. A ring that is off by one in the model decides this wrongly,
// and misplaces 129. So the overflow and each possible thief are weighed against each other:
// what they leave in the ring and the queue is contradicted by the order of the starts ahead.
//
// A cost is how unlikely an observation is, in nats. What nearly excludes a thief has 16, what
// happens among thieves that lose their CPU has less.

const (
	maxThievesTried = 8 // thieves that are considered for one enqueue

	costOrder   evidence.Nats = 1  // two neighbours of a queue that one P runs the other way round
	costPlace   evidence.Nats = 8  // the newcomer and the one that it is put behind are two such, or run one after the other otherwise
	costMate    evidence.Nats = 1  // of a batch, run by somebody else than its thief
	costAbsent  evidence.Nats = 16 // the thief cannot have been there
	costNotLast evidence.Nats = 8  // the thief runs another one of its batch first
)

// thiefOfFullRing returns the goroutine, in p's full ring, whose thief was there before
// the put of newcomer, or None if the put overflows. rival is then the goroutine of
// the likeliest thief, or None if none is likely.
func (r *unseenSteals) thiefOfFullRing(p, newcomer int32) (found, rival int32) {
	if r.without.has(hypEarlyThief) {
		return reference.None, reference.None
	}
	ring := r.ring[:0]
	turned := r.turned[:0] // neighbours up to here that one P runs the other way round
	n := 0
	for g := r.queues.Head(p); g != reference.None && n < r.rules.RingSize; g = r.queues.Next(g) {
		ring, turned = append(ring, g), append(turned, 0)
		if n > 0 {
			turned[n] = turned[n-1]
			if r.reversed(ring[n-1], g) {
				turned[n]++
			}
		}
		n++
	}
	r.ring, r.turned = ring, turned
	half := n / 2
	found, rival = reference.None, reference.None
	tried := 0
	least := costOrder*evidence.Nats(turned[half-1]+turned[n-1]-turned[half]) + r.tailCost(ring[half-1], newcomer)
	behind := r.tailCost(ring[n-1], newcomer)
	near := evidence.Nats(math.Inf(1)) // cost of rival
	for size := 1; size <= half && tried < maxThievesTried; size++ {
		g := ring[size-1]
		thief := r.startsOn(g)
		if !r.inFlight(g) || thief == p || r.hasOwn(thief) {
			continue
		}
		tried++
		cost := costOrder*evidence.Nats(turned[n-1]-turned[size]) + behind + r.stealCost(p, ring[0], g, size, thief)
		if r.wentWithBatch(p, g) {
			cost += costAbsent
		}
		if size > 1 {
			cost += costOrder * evidence.Nats(turned[size-2])
			if s := r.startOf(ring[0]); s >= 0 && s < r.startOf(g) {
				cost += costNotLast
			}
		}
		for _, other := range ring[:size-1] {
			if r.startsOn(other) != thief {
				cost += costMate
			}
		}
		if cost < near {
			rival, near = g, cost
		}
		if cost < least {
			found, least = g, cost
		}
	}
	return found, rival
}

// proposeEarlyThief proposes that the enqueue of q.g overflows q.p's full ring, or that the
// thief of q.other has emptied half of it before.
func proposeEarlyThief(r *explainer, q question) []choice {
	return []choice{
		{is: no, says: "the enqueue overflows the ring", then: thenFinish, apply: func(fork *judge) { fork.overflow(q.p, q.g, nobody, nil) }},
		{is: yes, says: "a thief has emptied half of it before", then: thenFinish, apply: func(fork *judge) {
			fork.settle(q.other)
			if fork.queues.Full(q.p) {
				fork.overflow(q.p, q.g, nobody, nil)
				return
			}
			fork.queues.PutTail(q.p, q.g)
			fork.gStates.At(q.g).ringSince = fork.now
		}},
	}
}

// tailCost is what speaks against b having been put behind a, the tail of its queue.
func (r *lookahead) tailCost(a, b int32) evidence.Nats {
	switch {
	case r.follows(a, b):
		return -costPlace
	case r.reversed(a, b):
		return costPlace
	}
	return 0
}
