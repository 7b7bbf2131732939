package reconstruct

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// Who is put into the global queue first runs first, and a batch is run by one
// thread in its order. So what the thread runs just before a goroutine stood in
// front of it, unless that one began a batch or was picked at the 61st tick. This
// tells the order of the puts of threads that lose their CPU in the middle of one.

// longBatch is the least batch of which it is unlikely that a goroutine begins it.
const longBatch = 16

// spill is an overflow of p's ring by newcomer that comes later than the event
// that shows it, but before an event of its thread.
type spill struct {
	p        int32
	newcomer int32 // in no queue until then
	before   int64
	held     []int32 // half of the ring, if that has left it already; never changed
}

// spillsLater says that the overflow of p's ring by newcomer, displaced from
// runnext, comes after others whose events come later.
func (r *explainer) spillsLater(p, newcomer int32) bool {
	if r.without.has(hypLateOverflow) {
		return false
	}
	before := r.win.at(r.now).nextM
	head := r.q.Head(p)
	if before == none || r.procs == 1 || r.gs.At(newcomer).late || !r.comesLater(r.q.GlobalTail(), head, before) {
		return false
	}
	return r.follows(head, r.q.Next(head)) // else it may have been picked at the 61st tick
}

const (
	// stalled is how long a thread that has lost its CPU has no event, in ns.
	stalled = 50_000
	// meanwhile is the number of events of others for which that is worth a trial.
	meanwhile = 16
)

// lostCPU says that a thread may have lost its CPU before it did what its event announces:
// it has no other event for long, or another thread takes from the global queue before
// that, and how much tells.
func (r *explainer) lostCPU() bool {
	if r.without.has(hypLateOverflow) {
		return false
	}
	next := r.win.at(r.now).nextM
	if next == none {
		return false
	}
	taken := r.startOf(r.q.GlobalHead())
	return next-r.now > meanwhile || taken > r.now && taken < next && r.q.GlobalLen() <= r.rules.GlobalBatchMax
}

// lateOverflow: the overflow of q.p's ring by q.g, displaced from runnext, comes with its
// event, or later.
func (r *explainer) lateOverflow(q question) []choice {
	now := choice{is: no, then: thenFinish, apply: func(c *judge) { c.overflow(q.p, q.g, q.p, nil) }}
	later := choice{is: yes, then: thenFinish, apply: func(c *judge) { c.spill(q.p, q.g) }}
	if q.likely == yes {
		return []choice{later, now}
	}
	return []choice{now, later}
}

// spill keeps an overflow of p's ring by newcomer for later.
func (r *explainer) spill(p, newcomer int32) {
	r.gs.At(newcomer).late = true
	r.spills = append(r.spills, spill{p: p, newcomer: newcomer, before: r.win.at(r.now).nextM})
	r.watch()
	r.move(newcomer, nobody, p, reference.QueueUnknown, reference.WhyDisplaced)
}

// comesLater says that first is not put behind tail, the tail of the global
// queue, but behind what is put there later, though before event limit.
func (r *model) comesLater(tail, first int32, limit int64) bool {
	if first == reference.None || r.follows(tail, first) {
		return false
	}
	start := r.ranBefore(r.startOf(first))
	s := r.win.at(start)
	if s == nil || start <= r.now || s.link >= limit {
		return false
	}
	return r.q.Place(s.of).Queue != reference.QueueGlobal
}

// putsNext does what comes late and continues what is at the tail of the global
// queue, before something else comes there. No sooner: a thread that has lost its
// CPU goes on at once when it has done its put.
func (r *explainer) putsNext() {
	for r.putNext() {
	}
}

func (r *explainer) putNext() bool {
	if len(r.spills)+len(r.drains) == 0 {
		return false
	}
	if i := r.nextSpill(); i >= 0 {
		r.spillNow(i)
		return true
	}
	tail := r.q.GlobalTail()
	for i, d := range r.drains {
		if r.time > d.due-drainLag && r.follows(tail, r.oldest(d.p)) && !r.robs(tail, d.p) {
			begun, _, _ := r.putsAround(d.m)
			r.drains = slices.Delete(r.drains, i, i+1)
			r.drain(d.p, begun)
			return true
		}
	}
	return false
}

// nextSpill is the number of the late overflow that continues what is at the tail of the
// global queue, or -1.
func (r *explainer) nextSpill() int {
	tail := r.q.GlobalTail()
	return slices.IndexFunc(r.spills, func(s spill) bool {
		head := r.q.Head(s.p)
		if len(s.held) > 0 {
			head = s.held[0]
		}
		return r.follows(tail, head)
	})
}

// robs says that the thread that starts x then starts one of p's ring that is not the
// first of it, as a thief does.
func (r *model) robs(x, p int32) bool {
	for it, n := r.win.at(r.startOf(x)), 0; it != nil && n < farEnough; n++ {
		if it = r.win.at(it.nextM); it != nil && it.ev.Kind == events.Go && it.ev.From == events.Runnable {
			return r.q.Place(it.of) == reference.Place{Queue: reference.QueueLocal, P: p} && it.of != r.oldest(p)
		}
	}
	return false
}

// holdSpill takes the older half of v's ring out of it, for an overflow that comes
// later: a thief takes k of the ring, which are too many if that half is still there, and
// half of what is left if not. The half leaves the ring before its thread gets the lock
// of the global queue (runqputslow).
func (r *explainer) holdSpill(v int32, k int) bool {
	half, n := r.rules.RingSize/2, r.q.RingLen(v)
	i := slices.IndexFunc(r.spills, func(s spill) bool { return s.p == v && len(s.held) == 0 })
	if i < 0 || k <= r.rules.StealBatch(n) || k <= half || k-half > r.rules.StealBatch(n-half) {
		return false
	}
	held := make([]int32, half)
	for j := range held {
		x := r.q.Head(v)
		held[j] = x
		r.q.Remove(x)
		r.gs.At(x).late = true
		r.move(x, nobody, v, reference.QueueUnknown, reference.WhyOverflow)
	}
	r.spills[i].held = held
	return true
}

// spilled does the late overflow of v's ring if somebody takes the head of that alone: no
// thief does, it is in the global queue.
func (r *explainer) spilled(ix, v int32) bool {
	i := slices.IndexFunc(r.spills, func(s spill) bool { return s.p == v })
	if i < 0 || ix != r.q.Head(v) || r.rules.StealBatch(r.q.RingLen(v)) == 1 {
		return false
	}
	r.spillNow(i)
	return r.q.Place(ix).Queue == reference.QueueGlobal
}

// spillsDue does the late overflows that come before event i.
func (r *explainer) spillsDue(i int64) {
	for j := 0; j < len(r.spills); {
		if r.spills[j].before > i {
			j++
			continue
		}
		r.spillNow(j)
		j = 0 // an overflow does others
	}
}

// spillNow does late overflow i: by now its ring may have room.
func (r *explainer) spillNow(i int) {
	s := r.spills[i]
	r.spills = slices.Delete(r.spills, i, i+1)
	g := r.gs.At(s.newcomer)
	if !g.late {
		return // lost in a damaged generation
	}
	g.late = false
	if len(s.held) > 0 {
		for _, x := range slices.Backward(s.held) {
			if y := r.gs.At(x); y.late {
				y.late = false
				r.q.InsertAfter(s.p, reference.None, x)
			}
		}
	}
	if len(s.held) > 0 && r.q.RingLen(s.p) >= len(s.held) || r.overflows(s.p, s.newcomer, false) {
		r.overflow(s.p, s.newcomer, nobody, nil)
		return
	}
	r.q.PutTail(s.p, s.newcomer)
	g.putAt = r.now
	r.move(s.newcomer, s.p, nobody, reference.QueueLocal, reference.WhyDisplaced)
}
