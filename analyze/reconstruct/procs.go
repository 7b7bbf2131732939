package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// procEvent judges a P's transition.
func (r *judge) procEvent(it *item) {
	e := &it.ev
	p := &r.ps[it.of]
	if r.assumed {
		r.assumeProcs(p.id)
	}
	if p.borrowed == r.now || r.borrows(it) {
		return
	}
	first := !p.known || p.unseen && p.g < 0
	p.unseen = false
	switch {
	case e.To == events.Running && e.From == events.Running, e.To == events.Running && e.From == events.Undetermined:
		if !first && p.running {
			p.m = it.m
			return
		}
		r.pStart(it, p, reference.FlagFirst)
	case e.To == events.Running:
		var flags reference.Flags
		if first {
			flags = reference.FlagFirst
		}
		r.pStart(it, p, flags)
		r.expectThief(it)
	case e.To == events.Idle && (e.From == events.Undetermined || e.From == events.Idle):
		// Statuses, and takes across a generation's border.
		if !first && !p.running {
			return
		}
		if first {
			r.pKnown(it.of, false)
			r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: r.mid(it.m), G: reference.NoG, Why: reference.WhyIdle, Flags: reference.FlagFirst,
				Basis: reference.Known(reference.Observed, reference.RuleNone)})
			return
		}
		r.pTaken(it, p)
	case e.To == events.Idle && e.From == events.NotExist:
		r.pKnown(it.of, false)
		r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: r.mid(it.m), G: reference.NoG, Why: reference.WhyIdle, Flags: reference.FlagFirst,
			Basis: reference.Known(reference.Observed, reference.RuleNone)})
	case e.To == events.Idle:
		if it.p == it.of {
			r.pStop(it, p)
			return
		}
		r.pTaken(it, p)
	}
}

// borrows recognises a thread that takes an idle P only to allocate a new
// thread for it (allocm): sysmon, or a thread in a system call or a hand-over.
// It runs nothing, gives the P up at once, and the new thread gets it. The
// P's queue is not touched, so neither step is a decision.
func (r *lookahead) borrows(it *item) bool {
	if !r.lends(it) {
		return false
	}
	r.ps[it.of].borrowed = it.nextM
	return true
}

// lends says that a thread gets a P only to allocate another thread for it.
func (r *lookahead) lends(it *item) bool {
	if it.ev.To != events.Running || it.ev.From != events.Idle || it.m < 0 {
		return false
	}
	stop := r.win.at(it.nextM)
	if stop == nil || stop.ev.Kind != events.Proc || stop.ev.To != events.Idle || stop.of != it.of {
		return false
	}
	// A thread that gave the P up itself (stoplockedm) is not among the idle
	// ones, so it cannot have been woken for it.
	prev := r.win.at(it.prevM)
	gave := prev != nil && prev.ev.Kind == events.Proc && prev.ev.To == events.Idle && r.win.at(prev.link) == it
	m := &r.ms[it.m]
	if !gave && m.lastG != nobody && (m.g == nobody || r.gs.At(m.g).state != events.Syscall) {
		return false
	}
	next := r.win.at(stop.link)
	if next == nil || next.ev.To != events.Running || next.m < 0 || next.m == it.m {
		return false
	}
	if next.ev.Time-stop.ev.Time > borrowTime && !gave && !r.ps[it.of].released {
		return false
	}
	// A thread that is not new got the P handed, maybe for a goroutine locked to it.
	return r.ms[next.m].lastG == nobody
}

// borrowTime bounds the start of a new thread after its allocation, in ns.
const borrowTime = 2_000_000

func (r *judge) pStart(it *item, p *proc, flags reference.Flags) {
	r.pKnown(it.of, true)
	p.m, p.came = it.m, r.time
	p.syscall = false
	r.runs(p, nobody)
	if p.released && !p.told && it.m >= 0 && it.m != p.lastM {
		r.say(&reference.Decision{Kind: reference.KindHandoff, P: p.id, M: r.mid(it.m), G: reference.NoG, Why: p.why, Basis: byRule})
	}
	p.released, p.told = false, false
	r.say(&reference.Decision{Kind: reference.KindPStart, P: p.id, M: r.mid(it.m), G: reference.NoG, Flags: flags, Basis: reference.Known(reference.Observed, reference.RuleNone)})
}

// pStop judges a P that its own thread gives up.
func (r *judge) pStop(it *item, p *proc) {
	why := reference.WhyIdle
	gives := false // to whichever thread comes (handoffp)
	switch {
	case r.stw.open:
		why = reference.WhySTW
	case it.g >= 0: // a system call that gives the P up itself (entersyscallblock)
		why = reference.WhySyscall
		gives = true
	default:
		switch r.handover(it, p) {
		case toLocked:
			why = reference.WhyLocked
		case fromLocked:
			why = reference.WhyLocked
			gives = true
		}
	}
	if why == reference.WhyIdle {
		r.mustBeEmpty(it.of)
		p.doubt.fits, p.doubt.missed = fitting, false // an empty queue is right
	}
	r.pKnown(it.of, false)
	if why == reference.WhyIdle && r.looksAgain(it) || why == reference.WhyLocked && !gives {
		r.claimP(it.of)
	}
	p.lastM = it.m
	p.m = nobody
	r.runs(p, nobody)
	p.syscall = false
	p.released, p.told = false, false
	p.why, p.freed = why, r.time
	r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: r.mid(it.m), G: reference.NoG, Why: why, Basis: byRule})
	if gives {
		r.handOff(it, p, why)
	}
}

// handOff judges a P that was given up or taken: handoffp starts a thread for
// it if there is work, or if nobody else would look for some. Otherwise the P
// goes idle, and whoever gets it later gets no handoff.
func (r *judge) handOff(it *item, p *proc, why reference.Why) {
	next := r.nextOfP(it)
	basis := byRule
	if r.q.Len(it.of) == 0 && r.q.GlobalLen() == 0 && r.othersIdle(p) {
		if next == nil || next.ev.Time-r.time > wake || !r.gcOpen && !r.wokenFor(next) {
			return
		}
		basis = byAhead
	}
	p.released = true
	r.claimP(it.of)
	if next != nil {
		p.told = true
		r.say(&reference.Decision{Kind: reference.KindHandoff, P: p.id, M: r.mid(next.m), G: reference.NoG, Why: why, Basis: basis})
	}
}

// wake bounds the time that a thread takes to come when it is woken, in ns.
const wake = 50_000

// wokenFor says that a thread came for a P without any other reason than that
// the P was given up: nothing became runnable in between or was found, which
// wakes threads, too (ready, resetspinning).
func (r *lookahead) wokenFor(next *item) bool {
	for i := r.now + 1; i < min(r.win.head, r.now+farEnough); i++ {
		n := r.win.at(i)
		if n == next {
			return true
		}
		if n.ev.Kind == events.Go && (n.ev.To == events.Runnable || n.ev.From == events.Runnable) {
			return false
		}
	}
	return false
}

// nextOfP looks ahead for the event by which another thread gets the P that it
// gives up or takes, nil if that is out of sight.
func (r *lookahead) nextOfP(it *item) *item {
	own := it.m
	for n := r.win.at(it.link); n != nil; n = r.win.at(n.link) {
		switch {
		case n.ev.To == events.Running && n.m >= 0 && n.m != own:
			return n
		case n.ev.To == events.Running && r.lends(n):
			n = r.win.at(n.nextM)
		case n.ev.To != events.Idle || n.ev.From == events.Running:
			return nil
		}
	}
	return nil
}

// mustBeEmpty brings the model in line with a P that found no work: its queue
// is empty (findRunnable checks before it gives the P up).
func (r *explainer) mustBeEmpty(p int32) {
	r.clearGone(p)
	for r.q.Len(p) > 0 {
		x := r.q.Head(p)
		if x == reference.None {
			x = r.q.Runnext(p)
		}
		r.relocate(x, p)
	}
}

// pTaken judges a P that is taken from a thread in a system call by somebody
// else.
func (r *judge) pTaken(it *item, p *proc) {
	why := reference.WhyRetakeSlow
	if it.g >= 0 {
		switch g := it.g; {
		case r.gs.At(g).state == events.Syscall:
			why = reference.WhyRetakeReturn
		case r.stw.open && r.stw.g == r.gs.At(g).id:
			why = reference.WhySTW
		case r.gs.At(g).flags&reference.FlagTracer != 0 || r.visitedFor() == reference.WhyGeneration:
			why = reference.WhyGeneration
		default:
			why = reference.WhyGC
		}
	} else if it.p >= 0 {
		why = reference.WhyGeneration
	}
	if why == reference.WhyRetakeSlow {
		r.retaken = r.time
	}
	owner := p.m
	in := p.g
	r.pKnown(it.of, false)
	p.m, p.syscall = nobody, false
	r.runs(p, nobody)
	p.lastM = nobody
	p.released, p.told = false, false
	p.why, p.freed = why, r.time
	d := reference.Decision{Kind: reference.KindRetake, P: p.id, M: r.mid(owner), G: reference.NoG, Why: why, Basis: byRule}
	if in >= 0 {
		d.G, d.Class = r.gs.At(in).id, r.gs.At(in).class
	}
	r.say(&d)
	switch why {
	case reference.WhySTW:
		r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: r.mid(it.m), G: reference.NoG, Why: why, Basis: byRule})
	case reference.WhyRetakeReturn:
	default:
		r.handOff(it, p, why)
	}
}

// procsEvent judges a statement of GOMAXPROCS.
func (r *judge) procsEvent(it *item) {
	if r.stw.open {
		r.say(&reference.Decision{Kind: reference.KindSTWEnd, G: r.stw.g, P: r.pid(it.p), M: r.mid(it.m), Why: reference.WhySTW})
		r.stw.open = false
		if r.stw.why == "GC mark termination" {
			// A worker then parks (gcBgMarkWorker), a goroutine that assists runs on.
			by := r.gs.Find(r.stw.g)
			r.beginVisit(it, reference.WhyGC, by != 0 && r.gs.At(by).flags&reference.FlagGC != 0)
		}
	} else if it.context() >= 0 {
		r.generationBegins(it)
	}
	r.assumed = false
	r.setProcs(int(min(it.res(), 1<<20)))
}

// beginSTW judges the begin of a stop-the-world.
func (r *judge) beginSTW(it *item) {
	r.stw = stwState{open: true, g: it.context(), why: r.tables.Name(it.ev.Reason)}
	r.say(&reference.Decision{Kind: reference.KindSTWBegin, G: it.context(), P: r.pid(it.p), M: r.mid(it.m), Why: reference.WhySTW,
		Stack: int32(it.ev.Stack), Label: int32(it.ev.Reason)})
}

// endSTW judges the end of a stop-the-world that no statement of GOMAXPROCS has ended.
func (r *judge) endSTW(it *item) {
	if r.stw.open { // the range ended without the metric: the trace is damaged or old
		r.stw.open = false
		r.say(&reference.Decision{Kind: reference.KindSTWEnd, G: r.stw.g, P: r.pid(it.p), M: r.mid(it.m), Why: reference.WhySTW})
	}
}
