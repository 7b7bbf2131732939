package reconstruct

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// lock says whether a goroutine is locked to its thread (LockOSThread). No
// event tells; how Ps change hands does.
type lock uint8

const (
	lockUnknown lock = iota
	unlocked
	locked
)

// lockTrust is how often a conclusion about a lock serves before it is drawn
// anew: a goroutine may lock or unlock itself whenever it runs.
const lockTrust = 64

// handover is what a thread that gives its P up does with it.
type handover uint8

const (
	toNobody   handover = iota // it found no work (findRunnable)
	toLocked                   // it picked a goroutine that is locked to another thread (startlockedm)
	fromLocked                 // its goroutine is locked to it and cannot go on (stoplockedm, mexit)
)

// handover judges a thread that gives its P up outside a system call. Two look
// alike: a goroutine blocks, and next its P is on the thread where another one
// ran last, and that one goes on. Either the first is locked, and the thread
// that gets the P looks for work as any does; or the second is, and the thread
// that gives the P had picked it.
func (r *judge) handover(it *item, p *proc) handover {
	giver, exits := r.givesAsLocked(it)
	next := r.nextOfP(it)
	start := r.startsLocked(next)
	if giver == nobody {
		r.idles(it)
	}
	switch {
	case start == nil && giver == nobody:
		return toNobody
	case start == nil:
		g := r.gs.At(giver)
		if r.q.Len(it.of) > 0 && !r.allInFlight(it.of) {
			g.lock, g.lockUses = locked, 0
			return fromLocked
		}
		if g.lock == locked {
			return fromLocked
		}
		return toNobody
	case giver == nobody, exits && r.gs.At(giver).lock != locked:
		if r.stealsAsAny(it, next, start.of) {
			return toNobody
		}
		return r.handToLocked(it, p, next, start)
	case exits:
		return fromLocked
	}
	h := r.whichLocked(it, next, giver, start.of)
	if h == toLocked {
		return r.handToLocked(it, p, next, start)
	}
	return h
}

// stealsAsAny says that a P was given up for want of work, and that the thread
// that got it at once was woken for g, queued elsewhere: g is not locked.
func (r *model) stealsAsAny(it, next *item, g int32) bool {
	at := r.q.Place(g)
	if at.Queue != reference.QueueLocal && at.Queue != reference.QueueRunnext || at.P == it.of || r.q.Len(it.of) > 0 || r.gs.At(g).lock == locked {
		return false
	}
	free, _ := r.watchLock(next, g)
	return free != none
}

// handToLocked makes the take of a goroutine happen now whose thread gets the P
// for it.
func (r *judge) handToLocked(it *item, p *proc, next, start *item) handover {
	g := r.gs.At(start.of)
	g.start = next.nextM
	if !g.isTaken && r.q.Place(start.of).Queue == reference.QueueUnknown {
		return toNobody
	}
	g.lock, g.lockUses = locked, 0
	p.handed = next.nextM
	if g.isTaken {
		return toLocked
	}
	r.settle(start.of)
	if t := g.taken; t.basis.Level() == reference.Inferred {
		t.basis = byRule
		r.learnPhase(start.of, next.of, &t, it.prevM)
	}
	return toLocked
}

// givesAsLocked returns the goroutine that stopped on the thread just before it
// gave the P up, if all it does next is to get a P for this goroutine; nobody
// if the thread cannot have been in stoplockedm. exits: the goroutine ended and
// took the thread along, which only a locked one does.
func (r *lookahead) givesAsLocked(it *item) (g int32, exits bool) {
	prev := r.win.at(it.prevM)
	if prev == nil || prev.ev.Kind != events.Go || prev.ev.From != events.Running || prev.ev.To == events.Syscall {
		return nobody, false
	}
	next := r.win.at(it.nextM)
	for next != nil && next.ev.Kind == events.Proc && next.of == it.of && r.lends(next) {
		next = r.win.at(r.win.at(next.nextM).nextM)
	}
	if prev.ev.To == events.NotExist {
		if next == nil {
			return prev.of, true
		}
		return nobody, false
	}
	if next == nil {
		return prev.of, false // it does not run again as far as we see, as an idle thread would
	}
	if next.ev.Kind != events.Proc || next.ev.To != events.Running {
		return nobody, false
	}
	start := r.win.at(next.nextM)
	if start == nil || start.ev.Kind == events.Go && start.ev.To == events.Running && start.of == prev.of {
		return prev.of, false
	}
	return nobody, false
}

// startsLocked returns the start that follows at once when a thread gets a P,
// if it is that of a goroutine which seems to be locked to the thread: queued
// now, it ran there last, and nothing else did since.
func (r *lookahead) startsLocked(next *item) *item {
	if next == nil {
		return nil
	}
	start := r.win.at(next.nextM)
	if start == nil || start.ev.Kind != events.Go || start.ev.From != events.Runnable || start.ev.To != events.Running || start.p != next.of {
		return nil
	}
	g := r.gs.At(start.of)
	if g.state != events.Runnable || g.ready > r.now || g.direct != reference.SrcUnknown {
		return nil
	}
	if g.lastM != start.m || r.ms[start.m].lastG != start.of {
		return nil
	}
	return start
}

// whichLocked says which of two goroutines is locked, of which one stopped
// before the P changed threads and the other goes on after it.
func (r *model) whichLocked(it, next *item, first, second int32) handover {
	a, b := r.gs.At(first), r.gs.At(second)
	sure := a.lock == locked && b.lock == unlocked || a.lock == unlocked && b.lock == locked
	if sure && a.lockUses < lockTrust && b.lockUses < lockTrust {
		a.lockUses++
		b.lockUses++
		if b.lock == locked {
			return toLocked
		}
		return fromLocked
	}
	freeA, gapA := r.watchLock(it, first)
	freeB, gapB := r.watchLock(next, second)
	is := false
	switch {
	case freeA != none && r.stealsAsAny(it, next, second):
		return toNobody
	case freeA != freeB: // what shows itself first
		is = freeB == none || freeA != none && freeA < freeB
	case a.lock != b.lock:
		is = b.lock == locked || a.lock == unlocked
	default:
		// stoplockedm gives the P up at once; to pick the other takes longer.
		is = gapB < gapA
	}
	a.lockUses, b.lockUses = 0, 0
	if is {
		a.lock, b.lock = unlocked, locked
		return toLocked
	}
	a.lock, b.lock = locked, unlocked
	return fromLocked
}

// watchLock looks ahead on a thread for what shows that a goroutine is not
// locked to it: free is the event, none if there is none near. gap is the
// median time from a stop of the goroutine to that of the P.
func (r *lookahead) watchLock(it *item, g int32) (free, gap int64) {
	var gaps [15]int64
	n := 0
	for steps, i := 0, none; it != nil && steps < 512; steps++ {
		prev := r.win.at(it.prevM)
		e := &it.ev
		switch {
		case prev == nil:
		case e.Kind == events.Go && e.From == events.Runnable && e.To == events.Running:
			if it.of != g || prev.ev.Kind != events.Proc {
				return i, median(gaps[:n])
			}
		case e.Kind == events.Proc && e.From == events.Running && e.To == events.Idle:
			switch {
			case prev.ev.Kind == events.Go && prev.of == g && prev.ev.From == events.Running:
				if n < len(gaps) {
					gaps[n] = e.Time - prev.ev.Time
					n++
				}
			case prev.ev.Kind != events.Proc || !r.lends(prev):
				return i, median(gaps[:n])
			}
		}
		i = it.nextM
		it = r.win.at(i)
	}
	return none, median(gaps[:n])
}

func median(gaps []int64) int64 {
	if len(gaps) == 0 {
		return math.MaxInt64
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// learnLock notes what a start shows: a locked goroutine starts only on its own
// thread, which got a P for that and ran nothing else.
func (r *lookahead) learnLock(it *item, g *goroutine) {
	if it.m < 0 {
		return
	}
	switch g.direct {
	case reference.SrcSyscallExit, reference.SrcCoroutine, reference.SrcDirect:
		return
	}
	last := r.ms[it.m].lastG
	if last != nobody && last != it.of {
		if before := r.gs.At(last); before.lastM == it.m {
			before.lock = unlocked
		}
	}
	switch {
	case g.lastM == nobody:
		g.lock = lockUnknown
	case g.lastM != it.m || last != it.of:
		g.lock = unlocked
	default:
		if prev := r.win.at(it.prevM); prev != nil && prev.ev.Kind != events.Proc {
			g.lock = unlocked
		}
	}
}

// idles notes that a thread that got a P gives it up without having run
// anything: it does not wait for a goroutine.
func (r *lookahead) idles(it *item) {
	if it.m < 0 {
		return
	}
	prev := r.win.at(it.prevM)
	last := r.ms[it.m].lastG
	if prev != nil && prev.ev.Kind == events.Proc && last != nobody && r.gs.At(last).lastM == it.m {
		r.gs.At(last).lock = unlocked
	}
}

func (r *model) allInFlight(p int32) bool {
	if x := r.q.Runnext(p); x != reference.None && !r.inFlight(x) {
		return false
	}
	for x := r.q.Head(p); x != reference.None; x = r.q.Next(x) {
		if r.inFlight(x) {
			return true
		}
	}
	return r.q.RingLen(p) == 0
}
