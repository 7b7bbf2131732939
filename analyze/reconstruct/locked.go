package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// lock is whether a goroutine is locked to its thread (LockOSThread). No event shows it, but how Ps
// change hands does.
type lock uint8

const (
	lockUnknown lock = iota
	unlocked
	locked
)

// lockTrust is how often a conclusion about a lock serves before it is drawn anew: a goroutine may lock
// or unlock itself whenever it runs. Half or twice: nothing.
const lockTrust = 64

// locks finds out which goroutines are locked to their threads.
type locks struct {
	view
	ticks    *ticks
	dequeuer *dequeuer
}

// handover is what a thread that gives its P up does with it.
type handover uint8

const (
	toNobody   handover = iota // it found no work (findRunnable)
	toLocked                   // it picked a goroutine that is locked to another thread (startlockedm)
	fromLocked                 // its goroutine is locked to it and cannot go on (stoplockedm, mexit)
)

// handover finds out what a thread does with its P that gives it up outside a system call. Two look
// alike: a goroutine blocks, and next its P is on the thread where another one ran last, and that one
// goes on. Either the first is locked, and the thread that gets the P looks for work as any does; or
// the second is, and the thread that gives the P up had picked it.
func (r *locks) handover(rec *record, pp *proc) handover {
	giver, exits := r.givesAsLocked(rec)
	next := r.ahead.nextOfP(rec)
	start := r.startsLocked(next)
	if giver == nobody {
		r.idles(rec)
	}
	switch {
	case start == nil && giver == nobody:
		return toNobody
	case start == nil:
		gp := r.ahead.gStates.At(giver)
		if r.queues.Len(rec.of) > 0 && !r.allInFlight(rec.of) {
			gp.lock, gp.lockUses = locked, 0
		}
		if gp.lock == locked {
			return fromLocked
		}
		return toNobody
	case giver == nobody, exits && r.ahead.gStates.At(giver).lock != locked:
		if r.stealsAsAny(rec, next, start.of) {
			return toNobody
		}
		return r.handToLocked(rec, pp, next, start)
	case exits:
		return fromLocked
	}
	h := r.whichLocked(rec, next, giver, start.of)
	if h == toLocked {
		return r.handToLocked(rec, pp, next, start)
	}
	return h
}

// stealsAsAny reports whether a P was given up for want of work, and the thread that got it at once was
// woken for g, queued elsewhere: g is not locked.
func (r *locks) stealsAsAny(rec, next *record, g int32) bool {
	at := r.queues.Place(g)
	if at.Queue != reference.QueueLocal && at.Queue != reference.QueueRunnext || at.P == rec.of || r.queues.Len(rec.of) > 0 || r.ahead.gStates.At(g).lock == locked {
		return false
	}
	return r.freeToRun(next, g) != none
}

// handToLocked does the dequeue of a goroutine now whose thread gets the P for it.
func (r *locks) handToLocked(rec *record, pp *proc, next, start *record) handover {
	gp := r.ahead.gStates.At(start.of)
	gp.start = next.nextM
	if !gp.isDequeued && r.queues.Place(start.of).Queue == reference.QueueUnknown {
		return toNobody
	}
	gp.lock, gp.lockUses = locked, 0
	pp.handed = next.nextM
	if gp.isDequeued {
		return toLocked
	}
	r.dequeuer.settle(start.of)
	if deq := gp.dequeued; deq.basis.Level() == reference.Inferred {
		deq.basis = byRule
		r.ticks.learnTickFrom(start.of, next.of, &deq, rec.prevM)
	}
	return toLocked
}

// givesAsLocked returns the goroutine that stopped on the thread just before it gave the P up, if all
// it does next is to get a P for this goroutine; nobody if the thread cannot have been in stoplockedm.
// exits reports whether the goroutine ended and its thread with it, as only a locked one does.
func (r *locks) givesAsLocked(rec *record) (g int32, exits bool) {
	prev := r.ahead.win.at(rec.prevM)
	if prev == nil || !prev.isStop() || prev.To == events.Syscall {
		return nobody, false
	}
	next := r.ahead.win.at(rec.nextM)
	for next != nil && next.Kind == events.Proc && next.of == rec.of && r.ahead.lends(next) {
		next = r.ahead.win.at(r.ahead.win.at(next.nextM).nextM)
	}
	if prev.To == events.NotExist {
		if next == nil {
			return prev.of, true
		}
		return nobody, false
	}
	if next == nil {
		return prev.of, false // it does not run again as far as we see, as an idle thread would
	}
	if next.Kind != events.Proc || next.To != events.Running {
		return nobody, false
	}
	start := r.ahead.win.at(next.nextM)
	if start == nil || start.Kind == events.Go && start.To == events.Running && start.of == prev.of {
		return prev.of, false
	}
	return nobody, false
}

// startsLocked returns the start that follows at once when a thread gets a P, if it is that of a
// goroutine which seems to be locked to the thread: queued now, it ran there last, and nothing else did
// since.
func (r *locks) startsLocked(next *record) *record {
	if next == nil {
		return nil
	}
	start := r.ahead.win.at(next.nextM)
	if start == nil || !start.isStart() || start.p != next.of {
		return nil
	}
	gp := r.ahead.gStates.At(start.of)
	if gp.state != events.Runnable || gp.ready > r.ahead.now || gp.direct != reference.SrcUnknown {
		return nil
	}
	if gp.lastM != start.m || r.ahead.mStates[start.m].lastG != start.of {
		return nil
	}
	return start
}

// whichLocked returns which of two goroutines is locked: first stopped before the P changed threads,
// second goes on after it.
func (r *locks) whichLocked(rec, next *record, first, second int32) handover {
	a, b := r.ahead.gStates.At(first), r.ahead.gStates.At(second)
	sure := a.lock == locked && b.lock == unlocked || a.lock == unlocked && b.lock == locked
	if sure && a.lockUses < lockTrust && b.lockUses < lockTrust {
		a.lockUses++
		b.lockUses++
		if b.lock == locked {
			return toLocked
		}
		return fromLocked
	}
	freeA, freeB := r.freeToRun(rec, first), r.freeToRun(next, second)
	is := false // whether it is the second
	switch {
	case freeA != freeB: // what shows itself first
		is = freeB == none || freeA != none && freeA < freeB
	case a.lock != b.lock:
		is = b.lock == locked || a.lock == unlocked
	}
	a.lockUses, b.lockUses = 0, 0
	if is {
		a.lock, b.lock = unlocked, locked
		return toLocked
	}
	a.lock, b.lock = locked, unlocked
	return fromLocked
}

// freeToRun looks ahead on a thread for an event that shows that a goroutine is not locked to it, and
// returns it, none if there is none near.
func (r *locks) freeToRun(rec *record, g int32) int64 {
	for steps, i := 0, none; rec != nil && steps < nearEnough; steps++ {
		if prev := r.ahead.win.at(rec.prevM); prev != nil {
			stops := rec.Kind == events.Proc && rec.From == events.Running && rec.To == events.Idle
			if rec.isStart() && (rec.of != g || prev.Kind != events.Proc) ||
				stops && !(prev.Kind == events.Go && prev.of == g && prev.From == events.Running) && (prev.Kind != events.Proc || !r.ahead.lends(prev)) {
				return i
			}
		}
		i = rec.nextM
		rec = r.ahead.win.at(i)
	}
	return none
}

// learnLock notes what a start shows: a locked goroutine starts only on its own thread, which got a P
// for that and ran nothing else.
func (r *locks) learnLock(rec *record, gp *goroutine) {
	if rec.m < 0 {
		return
	}
	switch gp.direct {
	case reference.SrcSyscallExit, reference.SrcCoroutine, reference.SrcDirect:
		return
	}
	last := r.ahead.mStates[rec.m].lastG
	if last != nobody && last != rec.of {
		if before := r.ahead.gStates.At(last); before.lastM == rec.m {
			before.lock = unlocked
		}
	}
	switch {
	case gp.lastM == nobody:
		gp.lock = lockUnknown
	case gp.lastM != rec.m || last != rec.of:
		gp.lock = unlocked
	default:
		if prev := r.ahead.win.at(rec.prevM); prev != nil && prev.Kind != events.Proc {
			gp.lock = unlocked
		}
	}
}

// idles notes that a thread that got a P gives it up without having run anything: it does not wait for
// a goroutine.
func (r *locks) idles(rec *record) {
	if rec.m < 0 {
		return
	}
	prev := r.ahead.win.at(rec.prevM)
	last := r.ahead.mStates[rec.m].lastG
	if prev != nil && prev.Kind == events.Proc && last != nobody && r.ahead.gStates.At(last).lastM == rec.m {
		r.ahead.gStates.At(last).lock = unlocked
	}
}

// allInFlight reports whether what p has queued may have been dequeued already: its runnext, and the
// ring if any of that has been, for a thief steals half.
func (r *locks) allInFlight(p int32) bool {
	if g := r.queues.Runnext(p); g != reference.None && !r.ahead.inFlight(g) {
		return false
	}
	for g := r.queues.Head(p); g != reference.None; g = r.queues.Next(g) {
		if r.ahead.inFlight(g) {
			return true
		}
	}
	return r.queues.RingLen(p) == 0
}
