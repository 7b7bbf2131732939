package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// A thread that calls forEachP requests all Ps to stop, again every 100 µs until each has passed a
// safe point, and has no event meanwhile but the Ps it retakes from system calls. So do
//   - the tracer, for the states of Ps: until Go 1.25 after the switch to a new
//     generation, from Go 1.26 before it (traceAdvance);
//   - the garbage collector, before the end of the mark phase, maybe in vain
//     and again (gcMarkDone), and after it, to flush caches (gcMarkTermination).
//
// All hold worldsema, so there is one at a time.

// forEachP is one whose begin is known.
type forEachP struct {
	m    int32 // its thread, nobody if none
	why  reference.Why
	from int64 // its begin: an event
	at   int64 // and its time
	sure bool  // until the thread's next event, for that has nothing else to do
}

// forEachPAhead is a forEachP that shows itself with its end, ahead: it was between these events.
type forEachPAhead struct {
	from, to int64
	why      reference.Why
}

// noteReadyAhead notes the forEachP that ends with event i, a goroutine that becomes runnable, at the
// head of the window.
func (r *requests) noteReadyAhead(i int64, rec *record) {
	stack := rec.Stack
	switch rec.From {
	case events.Running:
		stack = rec.TStack
	case events.Waiting:
	default:
		return
	}
	if r.ahead.traits.Has(stack, stacks.MarkNotDone) {
		r.addForEachP(i, rec, reference.WhyGC, r.worker)
	}
}

// noteSTWAhead is noteReadyAhead for the begin of a stop-the-world and the statement of GOMAXPROCS.
func (r *requests) noteSTWAhead(i int64, rec *record) {
	if rec.Kind == events.STWBegin {
		r.stops = true
		if r.ahead.tables.Name(rec.Reason) == "GC mark termination" {
			r.addForEachP(i, rec, reference.WhyGC, r.worker)
		}
		return
	}
	if !r.stops && r.ahead.rules.AdvanceVisitsFirst {
		r.addForEachP(i, rec, reference.WhyGeneration, none)
	}
	r.stops = false
}

// addForEachP adds a forEachP that began after event from, and after the last event of its thread.
func (r *requests) addForEachP(i int64, rec *record, why reference.Why, from int64) {
	if rec.m < 0 {
		return
	}
	for j, steps := r.ahead.mStates[rec.m].last, 0; steps < farEnough; steps++ {
		x := r.ahead.win.at(j)
		if x == nil {
			break
		}
		status := x.From == events.Undetermined || x.From == x.To
		retakes := x.Kind == events.Proc && x.p >= 0 && x.of != x.p
		if !status && !retakes {
			from = max(from, j)
			break
		}
		j = x.prevM
	}
	r.forEachPsAhead = append(r.forEachPsAhead, forEachPAhead{from, i, why})
	r.ahead.due = min(r.ahead.due, r.forEachPsAhead[0].to)
}

// endForEachPs ends the forEachPs that are over with the present event: the goroutine that called it
// stops, or wakes those that wait for the semaphores of the garbage collector.
func (r *requests) endForEachPs(rec *record) {
	v := &r.current
	if v.m >= 0 && v.m == rec.m && rec.Kind == events.Go && (rec.From == events.Running || v.why == reference.WhyGC) {
		r.endForEachP()
		if r.current.why == reference.WhyGeneration && (rec.To == events.Runnable || rec.Reason == events.ReasonSync && r.ahead.traits.Has(rec.TStack, stacks.Advance)) {
			r.suspendedAdvancer = rec.of
		}
	}
	for len(r.forEachPsAhead) > 0 && r.forEachPsAhead[0].to <= r.ahead.now {
		r.endedWhy, r.endedAt, r.endedBy = r.forEachPsAhead[0].why, r.ahead.time, rec.m
		r.forEachPsAhead = r.forEachPsAhead[1:]
	}
}

// beginForEachP notes that the thread of rec begins a forEachP.
func (r *requests) beginForEachP(rec *record, why reference.Why, sure bool) {
	r.current = forEachP{m: rec.m, why: why, from: r.ahead.now, at: r.ahead.time, sure: sure}
	r.ahead.settleSoon()
}

// endForEachP notes that the present forEachP is over, and its reason: a goroutine that was requested
// to stop may do so only later.
func (r *requests) endForEachP() {
	r.endedWhy, r.endedAt, r.endedBy = r.current.why, r.ahead.time, r.current.m
	r.current.m = nobody
}

// generationBegins handles the statement of GOMAXPROCS by which traceAdvance begins a generation.
func (r *requests) generationBegins(rec *record) {
	r.advances = false
	if !r.ahead.rules.AdvanceVisitsFirst {
		r.beginForEachP(rec, reference.WhyGeneration, false)
	} else if r.current.m >= 0 && r.current.m == rec.m {
		r.endForEachP()
	}
}

// advancerStarts handles a start of the goroutine that begins generations. It slept until the present
// one was old enough, or waited for worldsema.
func (r *requests) advancerStarts(rec *record, slept bool) {
	r.advances = r.advances || slept
	if r.advances && r.ahead.rules.AdvanceVisitsFirst && r.current.m < 0 {
		r.beginForEachP(rec, reference.WhyGeneration, false)
	}
}

// forEachPNow returns the reason of the present forEachP. Its thread may have no event for long after
// its end; another forEachP then shows that it is over. It surely goes on if its end is in sight, or if
// its thread has nothing else to do.
func (r *requests) forEachPNow() (why reference.Why, sure bool) {
	for _, v := range r.forEachPsAhead[:min(len(r.forEachPsAhead), farEnough)] {
		if v.from < r.ahead.now && (r.current.m < 0 || r.current.from <= v.from) {
			return v.why, true
		}
	}
	if r.current.m < 0 || r.gcOpen && r.ahead.time-r.current.at > forEachPTime {
		return reference.WhyUnknown, false
	}
	return r.current.why, r.current.sure
}

// forEachPTime bounds a forEachP, in ns, where the garbage collector has other reasons to request that
// goroutines stop (enlistWorker): a time slice, after which sysmon does. Half or twice: nothing.
const forEachPTime = 10_000_000
