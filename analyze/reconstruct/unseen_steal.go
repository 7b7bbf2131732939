package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/reference"
)

// A thief steals the older half of a ring from its head and starts the newest of that half first
// (runqgrab, runqsteal). So a ring is a row of batches, each ending with what its thief starts next,
// and the size of a batch shows how long the ring was: n of 2n-1 or 2n. As its owner's enqueues are
// known, this shows when the batch was stolen, which has to be while its thief had nothing to run.

// maxThieves bounds the batches that are told apart at once, since all pairs of them are looked at:
// there are hardly more threads in the middle of a steal. Half or twice: nothing.
const maxThieves = 32

// Evidence against a batch, in nats. The numbers were chosen, not measured: what a thief cannot do has
// 16, and what happens among threads that lose their CPUs less. The order of these three counts and not
// more: half or twice of one changes what is uncertain by at most 0.4 points (thousand, workerpool),
// and what is right where one passes another: costSize halved, or costGlobal twice, take 0.2 from ll of
// thousand. Without costLeft 1.6 in 100 steals are missing.
const (
	costSize    evidence.Nats = 16 // no ring of the right length while the thief was free
	costNear    evidence.Nats = 6  // only one that is one longer or shorter
	costForeign evidence.Nats = 4  // somebody else runs a part of it that is not half
	costLeft    evidence.Nats = 16 // a goroutine is left that no thief stole
	costGlobal  evidence.Nats = 16 // the global queue, where a thief looks first, had something
)

// unseenSteals finds out which steals have happened of those that no start has shown yet.
type unseenSteals struct {
	view
	ends [maxThieves + 1]batchEnd // in firstStolen, which need not clear them
}

// batchEnd is the goroutine that ends a batch: that its thief runs next.
type batchEnd struct {
	g     int32
	pos   int // in the ring, from 1
	cost  evidence.Nats
	first int // end of the first batch
}

// firstStolen returns the first goroutine in victim's ring that a thief has stolen from victim itself
// before P p dequeued g, although its start comes later; everything in front of it went along. It
// returns None if what is in front of g went with g. g may be None: then the whole ring was stolen; and
// p may be victim: then all in front of g was stolen.
func (r *unseenSteals) firstStolen(victim, g, p int32) int32 {
	ahead, q := r.ahead, r.queues
	ends := &r.ends
	m, pos := 0, 0
	for other := q.Head(victim); other != reference.None && other != g; other = q.Next(other) {
		pos++
		if m < maxThieves && ahead.inFlight(other) && ahead.startsOn(other) != victim && ahead.startsOn(other) != p {
			ends[m] = batchEnd{g: other, pos: pos}
			m++
		}
	}
	if m == 0 || ahead.without.has(hypUnseenSteal) {
		return reference.None
	}
	last := m
	ends[last] = batchEnd{g: g, pos: pos + 1}
	for i := 0; i <= last; i++ {
		end := &ends[i]
		end.cost = evidence.Nats(math.Inf(1))
		from, at := q.Head(victim), 0
		for j := -1; j < i; j++ {
			before := evidence.Nats(0)
			if j >= 0 {
				before = ends[j].cost
				for at < ends[j].pos {
					from = q.Next(from)
					at++
				}
			}
			if before >= end.cost {
				continue
			}
			c := before
			switch {
			case i < last:
				c += r.stealCost(victim, from, end.g, end.pos-at, ahead.startsOn(end.g))
			case p == victim:
				c += costLeft * evidence.Nats(end.pos-1-at)
			default:
				c += r.stealCost(victim, from, end.g, end.pos-at, p)
			}
			if c < end.cost {
				end.cost = c
				end.first = i
				if j >= 0 {
					end.first = ends[j].first
				}
			}
		}
	}
	if f := ends[last].first; f < last {
		return ends[f].g
	}
	return reference.None
}

// stolenBehind returns the goroutine in victim's ring behind g, the size-th of it, whose thief had
// stolen all up to it, so that p stole g from that one, or None if there is no evidence for that.
func (r *unseenSteals) stolenBehind(victim, g int32, size int, p int32) int32 {
	head, found := r.queues.Head(victim), reference.None
	least := r.stealCost(victim, head, g, size, p)
	if least < costSize || r.ahead.without.has(hypUnseenSteal) {
		return found
	}
	for other, tried := r.queues.Next(g), 0; other != reference.None && tried < maxThievesTried; other = r.queues.Next(other) {
		size++
		if thief := r.ahead.startsOn(other); r.ahead.inFlight(other) && thief != victim && thief != p {
			tried++
			if c := r.stealCost(victim, head, other, size, thief); c < least {
				found, least = other, c
			}
		}
	}
	return found
}

// stealCost is the evidence against thief having stolen size goroutines, from first to g, from victim's
// ring when first was its head.
func (r *unseenSteals) stealCost(victim, first, g int32, size int, thief int32) evidence.Nats {
	ahead, q := r.ahead, r.queues
	// The ring then held 2*size-1 or 2*size: of 24 stolen, the 47th must have come before the steal,
	// which is no earlier than free, and the 49th after it.
	free := ahead.freeSince(g)
	var lower, upper int64 = none, 1 << 62 // events between which the ring was of the right length
	var wider, later int64 = none, 1 << 62 // and of one less or more
	cost, n := evidence.Nats(0), 0
	foreign, run, at := nobody, 0, 0 // a run of goroutines that somebody else runs
	for other := first; other != reference.None && n < 2*size+2; other = q.Next(other) {
		n++
		gp := ahead.gStates.At(other)
		switch n {
		case 2*size - 2:
			wider = gp.ringSince
		case 2*size - 1:
			lower = gp.ringSince
		case 2*size + 1:
			upper = gp.ringSince
		case 2*size + 2:
			later = gp.ringSince
		}
		if n >= size {
			continue
		}
		to := ahead.startsOn(other)
		if to == thief {
			to = nobody
		}
		if to == foreign {
			run++
			continue
		}
		if foreign != nobody {
			cost += foreignCost(at, run, size)
		}
		foreign, run, at = to, 1, n
	}
	if foreign != nobody {
		cost += foreignCost(at, run, size)
	}
	// Its own batch comes before what it dequeues later.
	if after := q.Next(g); size > 1 && after != reference.None && ahead.startsOn(after) == thief {
		if s := ahead.startOf(first); s < 0 || s > ahead.startOf(after) {
			cost += costSize
		}
	}
	lower, wider = max(lower, r.ps.pStates[victim].headAt), max(wider, r.ps.pStates[victim].headAt)
	if r.model.noGlobal < free {
		cost += costGlobal
	}
	switch {
	case n >= 2*size-1 && upper > max(free, lower) && lower <= ahead.now:
	case n >= 2*size-2 && later > max(free, wider) && wider <= ahead.now:
		cost += costNear
	default:
		cost += costSize
	}
	return cost
}

// foreignCost is the evidence against run goroutines of a batch of size, from the at-th on, having been
// stolen from its thief.
func foreignCost(at, run, size int) evidence.Nats {
	if at == 1 && run == (size-1)-(size-1)/2 {
		return 0 // just what a thief would have stolen
	}
	return costForeign
}
