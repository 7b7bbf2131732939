package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// yielded is target for a goroutine that went from running to runnable: of its own will, or preempted,
// and for what. The event says only "preempted".
func (r *targets) yielded(rec *record) enqueue {
	if rec.Reason != events.ReasonPreempted {
		if r.ahead.traits.Has(rec.TStack, stacks.StartWorld) && rec.p >= 0 && r.shrinkYield(rec) {
			// A P above the new GOMAXPROCS was left: no queue is touched.
			return startsAt(rec.p, reference.WhyProcs, reference.SrcDirect)
		}
		return putTo(reference.QueueGlobal, nobody, reference.WhyGosched, observed)
	}
	if r.ahead.traits.Has(rec.TStack, stacks.Goyield) {
		enq := putTo(reference.QueueLocal, rec.p, reference.WhyGoyield, byRule)
		enq.cause = byRule
		return enq
	}
	next := r.ahead.win.at(rec.nextM)
	stops := next != nil && next.Kind == events.Proc && next.To == events.Idle && next.of == rec.p && next.m == rec.m
	enq := putTo(reference.QueueGlobal, nobody, reference.WhySTW, byRule)
	enq.cause = byRule
	switch {
	case !stops || !r.ps.stw.open: // the begin is written before gcwaiting is set (stopTheWorldWithSema)
		enq.why, enq.cause = r.requests.preemptCause(rec)
	case r.ahead.rules.STWKeepsRunnext:
		enq.enqueueTo = r.runnext(rec.p, reference.WhySTW).enqueueTo
	}
	return enq
}

// shrinkYield reports whether a yield within procresize is followed by the change to P 0 and the
// goroutine's restart on the same thread.
func (r *targets) shrinkYield(rec *record) bool {
	stop := r.ahead.win.at(rec.nextM)
	if stop == nil || stop.Kind != events.Proc || stop.To != events.Idle {
		return false
	}
	start := r.ahead.win.at(stop.nextM)
	return start != nil && start.Kind == events.Proc && start.nextM == rec.link && rec.link != none
}

// preemptCause returns why a goroutine was requested to stop, and how sure that is. Nothing names the
// requester, so it is what was going on at the time: a forEachP, or the time slice is over. sysmon
// finds that when 10 ms have passed on the same schedtick (retake), hence never earlier; then it was
// the garbage collector, which wants another worker (enlistWorker) or called forEachP in vain, or a
// late request. Where more than one may have requested it, it is the one that has requested others to
// stop, too, or would have been first.
func (r *requests) preemptCause(rec *record) (reference.Why, reference.Basis) {
	if rec.p < 0 {
		return reference.WhySlice, ambiguous
	}
	pp := &r.ps.pStates[rec.p]
	tick := pp.ticks[1]
	if r.ahead.time-tick < strayTime {
		tick = pp.ticks[0]
	}
	over := r.ahead.time-tick >= r.ahead.rules.Slice
	if !over {
		r.noSlice = r.ahead.time
	}
	why, sure := r.forEachPNow()
	switch {
	case why != reference.WhyUnknown && !over:
		return why, byRule
	case why == reference.WhyGC && (!sure || r.sysmonQuick()) && !r.requestsOthers(rec, pp):
		return reference.WhySlice, ambiguous
	case why != reference.WhyUnknown:
		return why, ambiguous
	case !over && r.gcOpen:
		return reference.WhyGC, byRule
	case !over && r.endedWhy != reference.WhyUnknown && pp.began < r.endedAt:
		return r.endedWhy, byRule
	case !over && r.endedWhy != reference.WhyUnknown && r.ahead.time-pp.began < strayTime && r.ahead.time-r.endedAt < r.ahead.rules.Slice:
		return r.endedWhy, ambiguous
	case !over:
		return reference.WhySlice, ambiguous
	case r.gcOpen && r.collectorRequests(rec, pp, r.ahead.time-tick):
		return reference.WhyGC, ambiguous
	case r.gcOpen:
		return reference.WhySlice, ambiguous
	case r.lateRequest(rec, pp):
		if pp.began < r.noSlice {
			return r.endedWhy, ambiguous
		}
		return reference.WhySlice, ambiguous
	}
	return reference.WhySlice, byRule
}

// collectorRequests reports whether the collector rather than sysmon requested a goroutine to stop that
// has had a time slice in the mark phase, since ns long: others are requested as well, or a mark worker
// that had been wanted starts in its place (enlistWorker; it may wake an idle P instead). forEachP
// spares its own goroutine (preemptone). A worker heeds a request only at its end (gcBgMarkWorker), so
// the first one counts: sysmon sleeps up to 10 ms (sysmon), so in the middle it comes after a slice and
// a half.
func (r *requests) collectorRequests(rec *record, pp *proc, since int64) bool {
	wanted := r.marks.wantedFor(r.ahead.time) > pp.wanted
	switch {
	case r.requestedByItself(rec, pp):
		return false
	case pp.worker != 0:
		return wanted && since < r.ahead.rules.Slice*3/2
	case r.requestsOthers(rec, pp):
		return true
	}
	return wanted && !r.sysmonQuick() && (!r.ahead.rules.EnlistWakesIdle || r.ps.busy >= r.ps.gomaxprocs) && r.ahead.startsDedicated(rec)
}

// sysmonQuick reports whether sysmon looks at the Ps often, and so requests a stop as soon as a slice
// is over: after it took a P from a system call it sleeps 20 µs at a time, 50 times, before it sleeps
// longer and up to 10 ms (sysmon).
func (r *requests) sysmonQuick() bool {
	return r.ahead.time-r.retaken < int64(r.ahead.rules.SysmonPasses)*(r.ahead.rules.SysmonMin+sleepLag)
}

// requestsOthers reports whether while P's goroutine ran, or soon, another one was requested to stop
// that had not had its time slice: forEachP requests all at once, and again every 100 µs
// (forEachPInternal), and a P that becomes a mark worker's is chosen at random.
func (r *requests) requestsOthers(rec *record, pp *proc) bool {
	if r.noSlice > pp.began {
		return true
	}
	for i := r.ahead.now + 1; i < min(r.ahead.win.head, r.ahead.now+farEnough); i++ {
		x := r.ahead.win.at(i)
		e := &x.event
		if e.Time > r.ahead.time+requestAgain || e.Kind == events.STWBegin {
			break
		}
		if x.isStop() && e.To == events.Runnable && e.Reason == events.ReasonPreempted &&
			x.p >= 0 && e.Time-r.ps.pStates[x.p].ticks[1] < r.ahead.rules.Slice && !r.ahead.traits.Has(e.TStack, stacks.Goyield) {
			return true
		}
	}
	return false
}

// startsDedicated reports whether a dedicated mark worker is what the thread starts next.
func (r *lookahead) startsDedicated(rec *record) bool {
	for _, next := range r.win.thread(rec.nextM, farEnough) {
		if next.Kind != events.Go || next.To == events.Running {
			return next.mark&markDedicated != 0
		}
	}
	return false
}

// lateRequest reports whether the last forEachP requested P's goroutine to stop, which must have run
// for long enough, and stops before it would have had a time slice since: its thread was off CPU.
func (r *requests) lateRequest(rec *record, pp *proc) bool {
	return r.endedWhy != reference.WhyUnknown && !r.requestedByItself(rec, pp) && pp.began < r.endedAt-requestTime && r.endedAt < r.ahead.time &&
		r.ahead.time-r.endedAt < r.ahead.rules.Slice && r.ahead.time-pp.began < 2*r.ahead.rules.Slice
}

// requestedByItself reports whether P's thread called the last forEachP while its goroutine ran:
// preemptone spares the thread that calls it.
func (r *requests) requestedByItself(rec *record, pp *proc) bool {
	return rec.m >= 0 && rec.m == r.endedBy && pp.began < r.endedAt
}

// Half or twice of these: nothing, but half of requestAgain finds 2 in 100 causes more of gc.
const (
	// strayTime bounds the run of a goroutine that is hit by the signal meant for the one before it on
	// its P, in ns.
	strayTime = 10_000
	// requestTime is how long a goroutine runs during a forEachP until it has surely been requested to
	// stop, in ns: that is done every 100 µs if there is a CPU.
	requestTime = 1_000_000
	// sleepLag is what the system adds to a sleep of sysmon, in ns: on Linux 50 µs are a thread's
	// slack.
	sleepLag = 60_000
	// requestAgain is the time within which forEachP repeats a request, in ns.
	requestAgain = 200_000
)

// requests is what may have requested goroutines to stop: forEachP, the collector (enlistWorker) and
// sysmon (retake).
type requests struct {
	*requested
	ps    *processors
	ahead *lookahead
}

// requested is what requests knows.
type requested struct {
	gcOpen            bool
	current           forEachP
	suspendedAdvancer int32           // goroutine that was preempted in it, and goes on with it, nobody if none
	forEachPsAhead    []forEachPAhead // in the order of their ends
	endedWhy          reference.Why   // reason of the last forEachP
	endedAt           int64           // when it ended
	endedBy           int32           // its thread
	noSlice           int64           // when a goroutine was preempted last that had not had its time slice
	retaken           int64           // when sysmon took a P last
	marks             marking         // what the mark phase wants
	advances          bool            // the tracer is about to begin a generation
	worker            int64           // newest stop of a mark worker for lack of work, at the head of the window
	stops             bool            // a stop-the-world has begun at the head of the window
}
