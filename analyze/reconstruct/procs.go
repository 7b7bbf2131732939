package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A P changes hands by acquirep, releasep, handoffp and retake. The trace shows when it runs and when
// it is idle; why it was given up follows from the thread that did so and what that did before: found
// nothing to run (findRunnable), stopped the world, went into a system call (entersyscallblock), or has
// to do with a goroutine that is locked to a thread (locked.go).

// procEvent handles a P's transition.
func (r *stepper) procEvent(rec *record) {
	pp := &r.ps.pStates[rec.of]
	if r.ps.assumed {
		r.resize.assumeProcs(pp.id)
	}
	if pp.borrowed == r.ahead.now {
		return
	}
	if r.ahead.lends(rec) {
		pp.borrowed = rec.nextM
		return
	}
	first := !pp.known || pp.unseen && pp.g < 0
	pp.unseen = false
	status := rec.From == events.Running || rec.From == events.Undetermined
	switch {
	case rec.To == events.Running && status && !first && pp.running:
		pp.m = rec.m
	case rec.To == events.Running:
		r.procStarts(rec, pp, first || status)
		if !status {
			r.waking.expectThief(rec)
		}
	case rec.To == events.Idle && (rec.From == events.NotExist || first && rec.From != events.Running):
		r.ps.setProcState(rec.of, false)
		r.out.emit(rec.of, rec.m, reference.Decision{Kind: reference.KindPStop, G: reference.NoG, Why: reference.WhyIdle, Flags: reference.FlagFirst,
			Basis: observed})
	case rec.To == events.Idle && rec.From == events.Running && rec.p == rec.of:
		r.procStops(rec, pp)
	case rec.To == events.Idle && (rec.From == events.Running || pp.running): // otherwise a status, or a retake across a generation's border
		r.procRetaken(rec, pp)
	}
}

// lends reports whether a thread gets an idle P only to allocate a new thread for it (allocm): sysmon,
// or a thread in a system call or a hand-over. It runs nothing, gives the P up at once, and the new
// thread gets it. The P's queue is not touched, so neither step is a decision.
func (r *lookahead) lends(rec *record) bool {
	if rec.To != events.Running || rec.From != events.Idle || rec.m < 0 {
		return false
	}
	stop := r.win.at(rec.nextM)
	if stop == nil || stop.Kind != events.Proc || stop.To != events.Idle || stop.of != rec.of {
		return false
	}
	// A thread that gave the P up itself (stoplockedm) is not among the idle ones, so it cannot have
	// been woken for it.
	prev := r.win.at(rec.prevM)
	gave := prev != nil && prev.Kind == events.Proc && prev.To == events.Idle && r.win.at(prev.link) == rec
	mp := &r.mStates[rec.m]
	if !gave && mp.lastG != nobody && (mp.g == nobody || r.gStates.At(mp.g).state != events.Syscall) {
		return false
	}
	next := r.win.at(stop.link)
	if next == nil || next.To != events.Running || next.m < 0 || next.m == rec.m {
		return false
	}
	if next.Time-stop.Time > borrowTime && !gave && !r.ps.pStates[rec.of].released {
		return false
	}
	// A thread that is not new got the P handed, maybe for a goroutine locked to it.
	return r.mStates[next.m].lastG == nobody
}

// borrowTime bounds the start of a new thread after its allocation, in ns. Half or twice: nothing.
const borrowTime = 2_000_000

// procStarts handles a P that gets a thread (acquirep). A handoff to that thread, which was not in
// sight then, is emitted now.
func (r *stepper) procStarts(rec *record, pp *proc, first bool) {
	r.ps.setProcState(rec.of, true)
	pp.m, pp.came = rec.m, r.ahead.time
	r.ps.setRunning(pp, nobody)
	if pp.released && !pp.emitted && rec.m >= 0 && rec.m != pp.lastM {
		r.out.emit(rec.of, rec.m, reference.Decision{Kind: reference.KindHandoff, G: reference.NoG, Why: pp.why, Basis: byRule})
	}
	pp.released, pp.emitted = false, false
	var flags reference.Flags
	if first {
		flags = reference.FlagFirst
	}
	r.out.emit(rec.of, rec.m, reference.Decision{Kind: reference.KindPStart, G: reference.NoG, Flags: flags, Basis: observed})
}

// procStops handles a P that its own thread gives up.
func (r *stepper) procStops(rec *record, pp *proc) {
	why := reference.WhyIdle
	gives := false // to whichever thread comes (handoffp)
	switch {
	case r.ps.stw.open:
		why = reference.WhySTW
	case rec.g >= 0: // a system call that gives the P up itself (entersyscallblock)
		why, gives = reference.WhySyscall, true
	default:
		if h := r.locks.handover(rec, pp); h != toNobody {
			why, gives = reference.WhyLocked, h == fromLocked
		}
	}
	if why == reference.WhyIdle {
		r.dequeuer.clearGone(rec.of) // findRunnable has found nothing
		r.correct.vacate(rec.of)
		pp.taint.fits, pp.taint.missed = fitting, false // an empty queue is right
	}
	r.losesThread(rec, pp, why, rec.m)
	if why == reference.WhyIdle && r.ahead.looksAgain(rec) || why == reference.WhyLocked && !gives {
		r.ps.claimP(rec.of)
	}
	r.out.emit(rec.of, rec.m, reference.Decision{Kind: reference.KindPStop, G: reference.NoG, Why: why, Basis: byRule})
	if gives {
		r.handOff(rec, pp, why)
	}
}

// losesThread notes that a P has no thread any more. Thread by gave it up, nobody if it was retaken.
func (r *stepper) losesThread(rec *record, pp *proc, why reference.Why, by int32) {
	r.ps.setProcState(rec.of, false)
	pp.m, pp.lastM = nobody, by
	r.ps.setRunning(pp, nobody)
	pp.released, pp.emitted = false, false
	pp.why, pp.freed = why, r.ahead.time
}

// handOff handles a P that was given up or retaken: handoffp starts a thread for it if there is work,
// or if no other thread would look for some. Otherwise the P goes idle, and the thread that gets it
// later gets no handoff.
func (r *stepper) handOff(rec *record, pp *proc, why reference.Why) {
	next := r.ahead.nextOfP(rec)
	basis := byRule
	if r.queues.Len(rec.of) == 0 && r.queues.GlobalLen() == 0 && r.ahead.othersIdle(pp) {
		if next == nil || next.Time-r.ahead.time > wake || !r.requests.gcOpen && !r.ahead.wokenFor(next) {
			return
		}
		basis = byAhead
	}
	pp.released = true
	r.ps.claimP(rec.of)
	if next != nil {
		pp.emitted = true
		r.out.emit(rec.of, next.m, reference.Decision{Kind: reference.KindHandoff, G: reference.NoG, Why: why, Basis: basis})
	}
}

// wake bounds the time from a thread's wake-up to its first event, in ns, if there is a CPU for it.
// Half or twice: nothing.
const wake = 50_000

// wokenFor reports whether a thread came for a P only because the P was given up: nothing became
// runnable in between or was found, which wakes threads, too (ready, resetspinning).
func (r *lookahead) wokenFor(next *record) bool {
	for i := r.now + 1; i < min(r.win.head, r.now+farEnough); i++ {
		n := r.win.at(i)
		if n == next {
			return true
		}
		if n.Kind == events.Go && (n.To == events.Runnable || n.From == events.Runnable) {
			return false
		}
	}
	return false
}

// nextOfP looks ahead for the event by which another thread gets the P of rec, nil if that is out of
// sight.
func (r *lookahead) nextOfP(rec *record) *record {
	own := rec.m
	for next := r.win.at(rec.link); next != nil; next = r.win.at(next.link) {
		switch {
		case next.To == events.Running && next.m >= 0 && next.m != own:
			return next
		case next.To == events.Running && r.lends(next):
			next = r.win.at(next.nextM)
		case next.To != events.Idle || next.From == events.Running:
			return nil
		}
	}
	return nil
}

// procRetaken handles a P that another thread retakes from a thread in a system call.
func (r *stepper) procRetaken(rec *record, pp *proc) {
	why := reference.WhyRetakeSlow
	during, _ := r.requests.forEachPNow()
	switch {
	case rec.g >= 0:
		switch gp := r.ahead.gStates.At(rec.g); {
		case gp.state == events.Syscall:
			why = reference.WhyRetakeReturn
		case r.ps.stw.open && r.ps.stw.g == gp.id:
			why = reference.WhySTW
		case gp.flags&reference.FlagTracer != 0 || during == reference.WhyGeneration:
			why = reference.WhyGeneration
		default:
			why = reference.WhyGC
		}
	case rec.p >= 0:
		why = reference.WhyGeneration
	}
	if why == reference.WhyRetakeSlow {
		r.requests.retaken = r.ahead.time
	}
	owner, in := pp.m, pp.g
	r.losesThread(rec, pp, why, nobody)
	d := reference.Decision{Kind: reference.KindRetake, G: reference.NoG, Why: why, Basis: byRule}
	if in >= 0 {
		d.G, d.Class = r.ahead.gStates.At(in).id, r.ahead.gStates.At(in).class
	}
	r.out.emit(rec.of, owner, d)
	switch why {
	case reference.WhySTW:
		r.out.emit(rec.of, rec.m, reference.Decision{Kind: reference.KindPStop, G: reference.NoG, Why: why, Basis: byRule})
	case reference.WhyRetakeReturn:
	default:
		r.handOff(rec, pp, why)
	}
}

// procsEvent handles a statement of GOMAXPROCS.
func (r *stepper) procsEvent(rec *record) {
	if r.ps.stw.open {
		r.endSTW(rec)
		if r.ps.stw.why == "GC mark termination" {
			// A worker then parks (gcBgMarkWorker), a goroutine that assists runs on.
			by := r.ahead.gStates.Find(r.ps.stw.g)
			r.requests.beginForEachP(rec, reference.WhyGC, by != 0 && r.ahead.gStates.At(by).flags&reference.FlagGC != 0)
		}
	} else if rec.context() >= 0 {
		r.requests.generationBegins(rec)
	}
	r.ps.assumed = false
	r.resize.setProcs(int(min(rec.res(), 1<<20)))
}

// beginSTW handles the begin of a stop-the-world.
func (r *stepper) beginSTW(rec *record) {
	r.ps.stw = stwState{open: true, g: rec.context(), why: r.ahead.tables.Name(rec.Reason)}
	r.out.emit(rec.p, rec.m, reference.Decision{Kind: reference.KindSTWBegin, G: rec.context(), Why: reference.WhySTW,
		Stack: int32(rec.Stack), Label: int32(rec.Reason)})
}

// endSTW handles the end of a stop-the-world: the statement of GOMAXPROCS, or the end of the range,
// where the trace is damaged or old.
func (r *stepper) endSTW(rec *record) {
	if r.ps.stw.open {
		r.ps.stw.open = false
		r.out.emit(rec.p, rec.m, reference.Decision{Kind: reference.KindSTWEnd, G: r.ps.stw.g, Why: reference.WhySTW})
	}
}

// resizer follows GOMAXPROCS (procresize).
type resizer struct {
	view
	out *output
}

// assumeProcs assumes that GOMAXPROCS is large enough for a P, where a damaged trace does not state it.
func (r *resizer) assumeProcs(p int32) {
	if int(p) >= r.ps.gomaxprocs {
		r.setProcs(int(p) + 1)
	}
}

// setProcs notes the number of Ps, GOMAXPROCS (procresize).
func (r *resizer) setProcs(n int) {
	n = min(max(n, 1), 1<<20)
	if n == r.ps.gomaxprocs {
		return
	}
	old := r.ps.gomaxprocs
	r.ps.gomaxprocs = n
	r.out.summary.Procs = max(r.out.summary.Procs, n)
	r.ps.busy = 0
	for i := range r.ps.pStates {
		pp, p := &r.ps.pStates[i], int32(i)
		if int(pp.id) >= n && n < old {
			r.queues.Destroy(p, func(g int32) { r.out.move(g, nobody, p, reference.QueueGlobal, reference.WhyProcs) })
		}
		if pp.busy = pp.running && int(pp.id) < n; pp.busy {
			r.ps.busy++
		}
	}
	r.ps.listIdle()
	level := reference.Observed
	if r.ps.assumed {
		level = reference.Assumed
	}
	r.out.emit(nobody, nobody, reference.Decision{Kind: reference.KindProcs, G: reference.NoG, Batch: int32(n), Why: reference.WhyProcs,
		Basis: reference.Known(level, reference.RuleNone)})
}
