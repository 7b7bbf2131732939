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
		return put{to: reference.QueueLocal, p: it.p, why: reference.WhyGoyield, basis: byRule, preempt: true, cause: byRule}
	}
	next := r.win.at(it.nextM)
	stops := next != nil && next.ev.Kind == events.Proc && next.ev.To == events.Idle && next.of == it.p && next.m == it.m
	// The begin is written before gcwaiting is set (stopTheWorldWithSema).
	if stops && r.stw.open {
		if r.rules.STWKeepsRunnext {
			p := r.runnext(it.p, reference.WhySTW)
			p.preempt, p.cause = true, byRule
			return p
		}
		return put{to: reference.QueueGlobal, p: nobody, why: reference.WhySTW, basis: byRule, preempt: true, cause: byRule}
	}
	t := put{to: reference.QueueGlobal, p: nobody, basis: byRule, preempt: true}
	t.why, t.cause = r.preemptCause(it)
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

// preemptCause tells who asked, and how sure that is. Nobody signs a request,
// so it is what was going on at the time: all Ps are visited, or the time slice
// is over. sysmon finds that when 10 ms have passed on the same schedtick
// (retake), hence never earlier; then it was the garbage collector, who wants
// another worker (enlistWorker) or visited in vain, or a late request.
func (r *Reconstructor) preemptCause(it *item) (reference.Why, reference.Basis) {
	unsure := reference.Known(reference.Ambiguous, reference.RuleQueue)
	if it.p < 0 {
		return reference.WhySlice, unsure
	}
	p := &r.ps[it.p]
	tick := p.ticks[1]
	if r.time-tick < strayTime {
		tick = p.ticks[0]
	}
	over := r.time-tick >= r.rules.Slice
	visited := r.visited()
	switch {
	case visited != reference.WhyUnknown && over:
		return visited, unsure
	case visited != reference.WhyUnknown:
		return visited, byRule
	case over && !r.gcOpen && r.lateRequest(p):
		return r.asked, unsure
	case over && r.gcOpen:
		return reference.WhySlice, unsure
	case over:
		return reference.WhySlice, byRule
	case r.gcOpen:
		return reference.WhyGC, byRule
	case r.asked != reference.WhyUnknown && p.began < r.askedAt:
		return r.asked, byRule
	}
	return reference.WhySlice, unsure
}

// lateRequest says that the visitor must have asked P's goroutine, and that it
// stops before it would have had a time slice since: its thread was off CPU.
func (r *Reconstructor) lateRequest(p *proc) bool {
	return r.asked != reference.WhyUnknown && p.began < r.askedAt-askTime && r.askedAt < r.time &&
		r.time-r.askedAt < r.rules.Slice && r.time-p.began < 2*r.rules.Slice
}

const (
	// strayTime bounds the run of a goroutine that is hit by the signal meant
	// for the one before it on its P, in ns.
	strayTime = 10_000
	// askTime is how long a goroutine has to run during a visit to be asked for
	// certain, in ns: the visitor asks every 100 µs if it has a CPU.
	askTime = 1_000_000
)
