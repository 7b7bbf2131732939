package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// yielded judges a goroutine that went from running to runnable: of its own
// will, or preempted, and for what. The event says only "preempted".
func (r *Reconstructor) yielded(it *item) put {
	e := &it.ev
	if e.Reason != events.ReasonPreempted {
		if r.stk.of(e.TStack)&traitStartWorld != 0 && it.p >= 0 && r.shrinkYield(it) {
			// A P above the new GOMAXPROCS was left: no queue is touched.
			return put{to: reference.QueueDirect, p: it.p, why: reference.WhyProcs, direct: reference.SrcDirect, basis: byAhead}
		}
		return put{to: reference.QueueGlobal, p: nobody, why: reference.WhyGosched, basis: reference.Known(reference.Observed, reference.RuleNone)}
	}
	if r.stk.of(e.TStack)&traitGoyield != 0 {
		return put{to: reference.QueueLocal, p: it.p, why: reference.WhyGoyield, basis: byRule, preempt: true}
	}
	next := r.win.at(it.nextM)
	stops := next != nil && next.ev.Kind == events.Proc && next.ev.To == events.Idle && next.rp == it.p && next.m == it.m
	if stops && r.stwSoon(it) {
		if r.rules.STWKeepsRunnext {
			p := r.runnext(it.p, reference.WhySTW)
			p.preempt = true
			return p
		}
		return put{to: reference.QueueGlobal, p: nobody, why: reference.WhySTW, basis: byRule, preempt: true}
	}
	t := put{to: reference.QueueGlobal, p: nobody, basis: byRule, preempt: true}
	t.why = r.preemptCause(it)
	return t
}

// shrinkYield says that a yield within procresize is followed by the change to
// P 0 and the goroutine's restart on the same thread.
func (r *Reconstructor) shrinkYield(it *item) bool {
	stop := r.win.at(it.nextM)
	if stop == nil || stop.ev.Kind != events.Proc || stop.ev.To != events.Idle {
		return false
	}
	start := r.win.at(stop.nextM)
	return start != nil && start.ev.Kind == events.Proc && start.nextM == it.link && it.link != none
}

// stwSoon says that a stop-the-world is open, or begins within the few µs that
// a request needs to be seen before its event.
func (r *Reconstructor) stwSoon(it *item) bool {
	if r.stw.open {
		return true
	}
	for i := r.now + 1; i < r.now+64; i++ {
		n := r.win.at(i)
		if n == nil || n.ev.Time-r.time > 50_000 {
			return false
		}
		if n.ev.Kind == events.STWBegin {
			return true
		}
	}
	return false
}

// preemptCause tells who asked: the tracer for its generation switch and the
// garbage collector for its barriers ask all Ps at once (forEachP); sysmon
// asks when a time slice is over (retake). A request is anonymous, so this is
// what was going on at the time; a goroutine that has itself run for a slice
// is charged to sysmon.
func (r *Reconstructor) preemptCause(it *item) reference.Why {
	if r.advancing {
		return reference.WhyGeneration
	}
	if it.p < 0 || r.time-r.ps[it.p].began >= r.rules.Slice*95/100 {
		return reference.WhySlice
	}
	if r.gcOpen || r.flusher >= 0 {
		return reference.WhyGC
	}
	return reference.WhySlice
}
