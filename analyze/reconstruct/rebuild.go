package reconstruct

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A panic of the stepper is a mistake of this package: an operation of the queues whose precondition
// does not hold ([reference.Violation]), or a runtime error. It costs the present event and what the
// model knew of the queues, not the analysis: the model is built again from what the events show. In a
// fork it refutes the choice.

// checked has the stepper check the model after each event, and lets its panics through: in tests, and
// in a program built with the tag checked.
var checked bool

// To build the model again is as much work for each goroutine as an event. Together this may be as much
// as rebuildFirst events, and one more for rebuildShare events of the trace; then queues are not
// rebuilt any more, as in a reduced trace.
const (
	rebuildFirst = 1 << 20
	rebuildShare = 4
)

// survive, deferred, recovers from a panic of this package in the present event.
func (r *stepper) survive() {
	if !r.out.stepping || checked {
		return
	}
	if v := recover(); v != nil {
		r.rebuild()
	}
}

// rebuild passes over the present event, whose goroutine is then unknown until its next event, and puts
// each goroutine that waits for a P into the queue from which it will start.
func (r *stepper) rebuild() {
	r.out.stepping, r.ahead.depth = false, 0
	r.out.summary.Violations++
	r.rebuilding += int64(r.ahead.gStates.Len())
	r.ahead.reduced = r.ahead.reduced || r.rebuilding > rebuildFirst+r.ahead.now/rebuildShare
	r.enqueuer.list, r.enqueuer.open = r.enqueuer.list[:0], r.enqueuer.open[:0]
	r.workers.list, r.waking.list = r.workers.list[:0], r.waking.list[:0]
	r.model.returned, r.model.lastBatchP, r.model.driftingP = r.model.returned[:0], nobody, nobody
	for m := range r.ahead.mStates {
		r.ahead.mStates[m].lastG = nobody
	}
	var waiting []int32
	for g := int32(1); g < r.ahead.gStates.Len(); g++ {
		gp := r.ahead.gStates.At(g)
		queued := r.queues.Place(g).Queue != reference.QueueUnknown || gp.deferred
		r.queues.Remove(g)
		gp.deferred, gp.fromGlobal, gp.overflowID = false, nobody, 0
		if queued && gp.state == events.Runnable && !gp.isDequeued && !r.ahead.reduced {
			waiting = append(waiting, g)
		}
	}
	if rec := r.ahead.win.there(r.ahead.now); rec.Kind == events.Go && r.ahead.win.tail == r.ahead.now {
		waiting = slices.DeleteFunc(waiting, func(g int32) bool { return g == rec.of })
		r.loseSight(rec)
	}
	slices.SortFunc(waiting, func(a, b int32) int { return cmp.Compare(uint64(r.ahead.startOf(a)), uint64(r.ahead.startOf(b))) }) // none is the last
	for _, g := range waiting {
		if p := r.ahead.startsOn(g); p >= 0 && !r.queues.Full(p) {
			r.model.putTail(p, g)
		} else {
			r.model.putGlobal(g)
		}
		r.out.corrected(g, nobody)
	}
	if r.ahead.win.tail == r.ahead.now {
		r.model.pass()
	}
}

// loseSight ends what is known of the goroutine of an event that is passed over.
func (r *stepper) loseSight(rec *record) {
	gp := r.ahead.gStates.At(rec.of)
	p := nobody
	for i := range r.ps.pStates {
		if pp := &r.ps.pStates[i]; pp.g == rec.of {
			r.ps.setRunning(pp, nobody)
			p = int32(i)
		}
	}
	for m := range r.ahead.mStates {
		if r.ahead.mStates[m].g == rec.of {
			r.ahead.mStates[m].g = nobody
		}
	}
	if gp.state == events.Runnable || gp.state == events.Running || gp.state == events.Syscall {
		r.out.emit(p, nobody, reference.Decision{Kind: reference.KindStop, G: gp.id, Class: gp.class, Victim: reference.NoP,
			Why: reference.WhyLost, Flags: gp.flags, Basis: reference.Known(reference.Assumed, reference.RuleNone)})
	}
	gp.readyAt, gp.ready, gp.isDequeued = -1, none, false
	gp.state, gp.dead = events.Undetermined, rec.To == events.NotExist
	if gp.dead {
		r.remove(rec.of, gp)
	}
	gp.pending--
}

// refute, deferred, recovers from a panic in a fork: the model cannot follow its choice.
func (r *engine) refute() {
	if checked {
		return
	}
	if v := recover(); v != nil {
		r.refuted = true
		r.against += 2 * forkSure
	}
}

// effort is what had been done up to the event before, for check.
type effort struct {
	links     int64 // of the queues that were followed
	decisions int64
	queued    int64
}

// mostWalks is how often the queues may be walked from end to end for a decision: each question about a
// queue takes a walk of its own. Besides, one ring may be walked for each pair of the batches that may
// have been stolen from it, mostPairs at most.
const (
	mostWalks = 16
	mostPairs = (maxThieves + 1) * (maxThieves + 2) / 2
)

// check panics if the model contradicts itself, or if more links of the queues were followed for this
// event than that takes.
func (r *stepper) check() {
	now := effort{links: r.queues.Links(), decisions: r.out.held.held, queued: int64(r.queues.GlobalLen())}
	for p := range r.ps.pStates {
		now.queued += int64(r.queues.Len(int32(p)))
	}
	links, decisions := now.links-r.before.links, now.decisions-r.before.decisions
	most := (decisions + 1) * (mostWalks*(max(now.queued, r.before.queued)+4) + mostPairs*int64(r.ahead.rules.RingSize))
	if links > most && !r.engine.on {
		panic(fmt.Sprintf("event %d: %d links followed for %d decisions, with %d goroutines queued before and %d after", r.ahead.now, links, decisions, r.before.queued, now.queued))
	}
	r.before = now
	if err := r.queues.Check(); err != nil {
		panic(err)
	}
	for g := int32(1); g < r.ahead.gStates.Len(); g++ {
		gp, place := r.ahead.gStates.At(g), r.queues.Place(g)
		waits := gp.state == events.Runnable || gp.hidden
		if queued := place.Queue != reference.QueueUnknown; queued && (!waits || gp.isDequeued || gp.deferred || gp.direct != reference.SrcUnknown) ||
			gp.deferred && (!waits || gp.isDequeued) {
			panic(fmt.Sprintf("event %d: goroutine %d, in state %v, is in %v of P %d; dequeued %t, deferred %t, direct %v",
				r.ahead.now, gp.id, gp.state, place.Queue, place.P, gp.isDequeued, gp.deferred, gp.direct))
		}
	}
}
