package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A thread visits all Ps (forEachP): it asks all to stop, again every 100 µs
// until each has passed a safe point, and has no event meanwhile but the Ps it
// takes from system calls. So do
//   - the tracer, for the states of Ps: until Go 1.25 after the switch to a new
//     generation, from Go 1.26 before it (traceAdvance);
//   - the garbage collector, before the end of the mark phase, maybe in vain
//     and again (gcMarkDone), and after it, to flush caches (gcMarkTermination).
//
// All hold worldsema, so there is one visit at a time.

// visit is one whose begin is known.
type visit struct {
	m    int32 // thread that visits, nobody if none
	why  reference.Why
	from int64 // its begin: an event
	at   int64 // and its time
	sure bool  // until the visitor's next event, for it has nothing else to do
}

// visitBefore is a visit that shows itself with its end, ahead: it was between
// these events.
type visitBefore struct {
	from, to int64
	why      reference.Why
}

// seeStop notes event i, a goroutine that blocks, at the head of the window, if it is
// a mark worker's that has no work. All workers are done before one visits; those
// that come later wait for it.
func (r *requests) seeStop(i int64, it *item) {
	if r.stk.of(it.ev.TStack)&(traitWorker|traitMarkDone) == traitWorker {
		r.worker = i
	}
}

// seeReady notes the visit that ends with event i, a goroutine that becomes runnable,
// at the head of the window.
func (r *requests) seeReady(i int64, it *item) {
	stack := it.ev.Stack
	switch it.ev.From {
	case events.Running:
		stack = it.ev.TStack
	case events.Waiting:
	default:
		return
	}
	if r.stk.of(stack)&traitMarkNotDone != 0 {
		r.addVisit(i, it, reference.WhyGC, r.worker)
	}
}

// seeSTW is seeReady for the begin of a stop-the-world and the statement of
// GOMAXPROCS.
func (r *requests) seeSTW(i int64, it *item) {
	if it.ev.Kind == events.STWBegin {
		r.stops = true
		if r.tables.Name(it.ev.Reason) == "GC mark termination" {
			r.addVisit(i, it, reference.WhyGC, r.worker)
		}
		return
	}
	if !r.stops && r.rules.AdvanceVisitsFirst {
		r.addVisit(i, it, reference.WhyGeneration, none)
	}
	r.stops = false
}

// addVisit adds a visit that began after event from, and after the last event
// of its thread.
func (r *requests) addVisit(i int64, it *item, why reference.Why, from int64) {
	if it.m < 0 {
		return
	}
	for j, steps := r.ms[it.m].last, 0; steps < farEnough; steps++ {
		x := r.win.at(j)
		if x == nil {
			break
		}
		status := x.ev.From == events.Undetermined || x.ev.From == x.ev.To
		takes := x.ev.Kind == events.Proc && x.p >= 0 && x.of != x.p
		if !status && !takes {
			from = max(from, j)
			break
		}
		j = x.prevM
	}
	r.visits = append(r.visits, visitBefore{from, i, why})
	r.visitTo = r.visits[0].to
	r.due = min(r.due, r.visitTo)
}

// visitEnds says that a visit may be over with the event under judgement.
func (r *requests) visitEnds(it *item) bool {
	return r.now >= r.visitTo || it.m == r.visit.m && it.m >= 0
}

// leaveVisits ends the visits that are over with the event under judgement: the
// visitor's goroutine stops, or wakes those that wait for the semaphores of the
// garbage collector.
func (r *requests) leaveVisits(it *item) {
	v := &r.visit
	if v.m >= 0 && v.m == it.m && it.ev.Kind == events.Go && (it.ev.From == events.Running || v.why == reference.WhyGC) {
		r.endVisit()
		if r.visit.why == reference.WhyGeneration && (it.ev.To == events.Runnable || it.ev.Reason == events.ReasonSync && r.stk.of(it.ev.TStack)&traitAdvance != 0) {
			r.visitor = it.of
		}
	}
	for len(r.visits) > 0 && r.visits[0].to <= r.now {
		r.asked, r.askedAt, r.askedBy = r.visits[0].why, r.time, it.m
		r.visits = r.visits[1:]
	}
	r.visitTo = math.MaxInt64
	if len(r.visits) > 0 {
		r.visitTo = r.visits[0].to
	}
}

// beginVisit notes that the thread of it visits now.
func (r *requests) beginVisit(it *item, why reference.Why, sure bool) {
	r.visit = visit{m: it.m, why: why, from: r.now, at: r.time, sure: sure}
	r.watch()
}

func (r *requests) endVisit() {
	r.asked, r.askedAt, r.askedBy = r.visit.why, r.time, r.visit.m
	r.visit.m = nobody
}

// generationBegins judges the statement of GOMAXPROCS by which traceAdvance
// begins a generation.
func (r *requests) generationBegins(it *item) {
	r.advances = false
	if !r.rules.AdvanceVisitsFirst {
		r.beginVisit(it, reference.WhyGeneration, false)
	} else if r.visit.m >= 0 && r.visit.m == it.m {
		r.endVisit()
	}
}

// visitorStarts judges a start of the goroutine that was preempted in what seemed its
// visit, or waited: before that, it writes out the tables of the old generation, and
// takes worldsema, which the collector may hold (traceAdvance, until Go 1.25).
func (r *requests) visitorStarts(it *item) {
	r.beginVisit(it, reference.WhyGeneration, false)
	r.visitor = nobody
}

// advancerStarts judges a start of the goroutine that begins generations. It
// slept until the present one was old enough, or waited for worldsema.
func (r *requests) advancerStarts(it *item, slept bool) {
	r.advances = r.advances || slept
	if r.advances && r.rules.AdvanceVisitsFirst && r.visit.m < 0 {
		r.beginVisit(it, reference.WhyGeneration, false)
	}
}

// visited says for whom all Ps are visited now. A visitor may have no event for long
// after its visit; another one's then shows that it is over. It is sure to go on if its
// end is in sight, or if the visitor has nothing else to do.
func (r *requests) visited() (why reference.Why, sure bool) {
	for _, v := range r.visits[:min(len(r.visits), farEnough)] {
		if v.from < r.now && (r.visit.m < 0 || r.visit.from <= v.from) {
			return v.why, true
		}
	}
	if r.visit.m < 0 || r.gcOpen && r.time-r.visit.at > visitTime {
		return reference.WhyUnknown, false
	}
	return r.visit.why, r.visit.sure
}

// visitedFor is visited, whether it is sure to go on or not.
func (r *requests) visitedFor() reference.Why {
	why, _ := r.visited()
	return why
}

// visitTime bounds a visit, in ns, where the garbage collector has reasons of its own
// to ask goroutines to stop (enlistWorker).
const visitTime = 10_000_000
