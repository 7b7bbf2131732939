package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A take comes before the start that shows it: the thread moves the rest of a batch,
// and gets the goroutine ready, in between (findRunnable, globrunqget,
// globrunqgetbatch, runqgrab, schedule; all versions). Meanwhile others put and take,
// and see the queues without it.

// looking is how long, in ns, a thread that has just got its P may look for work until
// it starts something, if it was there from the beginning. One that looks for longer
// has found nothing at first.
const looking = 10_000

// takeAtOnce lets the thread of an event, after which its P has nothing to run, take
// what it starts next, if that is in a queue already.
func (r *Reconstructor) takeAtOnce(it *item) {
	if it.nextM <= r.now+1 || r.reduced {
		return // nothing comes in between, or nothing is taken
	}
	p, most := it.p, int64(stalled)
	switch e := &it.ev; {
	case e.Kind == events.Go && e.From == events.Running && e.To != events.Syscall:
	case e.Kind == events.Proc && e.To == events.Running:
		p, most = it.of, looking
	default:
		return
	}
	s := r.win.at(it.nextM)
	if p < 0 || s == nil || s.p != p || s.ev.Kind != events.Go || s.ev.From != events.Runnable || s.ev.To != events.Running ||
		s.ev.Time-r.time > most || r.q.Len(p) > 0 {
		return
	}
	x := s.of
	if g := r.gs.At(x); g.state != events.Runnable || g.hidden || g.start != it.nextM || g.isTaken || g.late || g.direct != reference.SrcUnknown {
		return
	}
	switch from := r.q.Place(x); from.Queue {
	case reference.QueueGlobal:
		if x == r.q.GlobalHead() {
			r.inHand(x, p, from, r.takes(x, p))
		}
	case reference.QueueLocal:
		if r.q.GlobalLen() == 0 && r.stealable(x, from.P) {
			r.inHand(x, p, from, r.takes(x, p))
		}
	}
}

// stealable says that x, in v's ring, could be the last of a stolen batch now: it is
// in the older half, and v runs nothing in front of it first.
func (r *Reconstructor) stealable(x, v int32) bool {
	k := 1
	for y := r.q.Prev(x); y != reference.None; y = r.q.Prev(y) {
		if r.startP(y) == v {
			return false
		}
		k++
	}
	return k <= r.rules.StealBatch(r.q.RingLen(v))
}

// takesEarly says that the thread that will start x takes it now.
func (r *Reconstructor) takesEarly(x int32) bool {
	s := r.win.at(r.startOf(x))
	return s != nil && s.prevM == r.now
}
