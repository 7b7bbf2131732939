package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// pKnown notes that a P is running or idle.
func (r *Reconstructor) pKnown(ix int32, running bool) {
	p := &r.ps[ix]
	was := p.known && !p.running && int(p.id) < r.procs
	p.known, p.running = true, running
	is := !running && int(p.id) < r.procs
	switch {
	case is && !was:
		r.idle++
	case was && !is:
		r.idle--
	}
}

// procEvent judges a P's transition.
func (r *Reconstructor) procEvent(it *item) {
	e := &it.ev
	p := &r.ps[it.rp]
	first := !p.known
	if p.borrowed == r.now || r.borrows(it) {
		return
	}
	switch {
	case e.To == events.Running && e.From == events.Running, e.To == events.Running && e.From == events.Undetermined:
		if p.known && p.running {
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
	case e.To == events.Idle && (e.From == events.Undetermined || e.From == events.Idle):
		// Statuses, and takes across a generation's border.
		if p.known && !p.running {
			return
		}
		if first {
			r.pKnown(it.rp, false)
			r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: e.M, G: reference.NoG, Why: reference.WhyIdle, Flags: reference.FlagFirst,
				Basis: reference.Known(reference.Observed, reference.RuleNone)})
			return
		}
		r.pTaken(it, p)
	case e.To == events.Idle && e.From == events.NotExist:
		r.pKnown(it.rp, false)
		r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: e.M, G: reference.NoG, Why: reference.WhyIdle, Flags: reference.FlagFirst,
			Basis: reference.Known(reference.Observed, reference.RuleNone)})
	case e.To == events.Idle:
		if it.p == it.rp {
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
func (r *Reconstructor) borrows(it *item) bool {
	if it.ev.To != events.Running || it.ev.From != events.Idle || it.m < 0 {
		return false
	}
	stop := r.win.at(it.nextM)
	if stop == nil || stop.ev.Kind != events.Proc || stop.ev.To != events.Idle || stop.rp != it.rp {
		return false
	}
	m := &r.ms[it.m]
	if m.lastG != nobody && (m.g == nobody || r.gs.all[m.g].state != events.Syscall) {
		return false
	}
	for i := it.nextM + 1; i < min(r.win.head, it.nextM+4096); i++ {
		n := r.win.at(i)
		if n.ev.Time-stop.ev.Time > borrowTime && !r.ps[it.rp].released {
			return false
		}
		if n.ev.Kind == events.Proc && n.rp == it.rp {
			if n.ev.To != events.Running || n.m == it.m {
				return false
			}
			if r.ms[n.m].lastG != nobody {
				return false // not new: the P was handed to it, maybe for a goroutine locked to it
			}
			r.ps[it.rp].borrowed = it.nextM
			return true
		}
	}
	return false
}

// borrowTime bounds the start of a new thread after its allocation, in ns.
const borrowTime = 2_000_000

func (r *Reconstructor) pStart(it *item, p *proc, flags reference.Flags) {
	r.pKnown(it.rp, true)
	p.m = it.m
	p.syscall = false
	p.g = nobody
	if it.m >= 0 {
		if p.released && it.m != p.lastM {
			r.say(&reference.Decision{Kind: reference.KindHandoff, P: p.id, M: it.ev.M, G: reference.NoG, Why: p.why, Basis: byRule})
		}
	}
	p.released = false
	r.say(&reference.Decision{Kind: reference.KindPStart, P: p.id, M: it.ev.M, G: reference.NoG, Flags: flags, Basis: reference.Known(reference.Observed, reference.RuleNone)})
}

// pStop judges a P that its own thread gives up.
func (r *Reconstructor) pStop(it *item, p *proc) {
	e := &it.ev
	why := reference.WhyIdle
	gives := false // to whichever thread comes (handoffp)
	switch {
	case e.G >= 0: // in a system call that gives the P up itself, or a stop-the-world took it
		why = reference.WhySyscall
		if r.stw.open {
			why = reference.WhySTW
		}
	case r.stw.open:
		why = reference.WhySTW
	case r.handsToLocked(it, p):
		why = reference.WhyLocked
	case r.lockedBlocked(it):
		why = reference.WhyLocked
		gives = true
	}
	if why == reference.WhyIdle {
		r.mustBeEmpty(it.rp)
	}
	r.pKnown(it.rp, false)
	p.lastM = it.m
	p.m = nobody
	p.g = nobody
	p.syscall = false
	p.released = gives || why == reference.WhySyscall
	p.why = why
	r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: e.M, G: reference.NoG, Why: why, Basis: byRule})
}

// handsToLocked recognises startlockedm: the thread had picked a goroutine that
// is locked to another thread, and hands it the P. That goroutine is queued
// now, and is the first to run on this P, on a thread that runs nothing else.
func (r *Reconstructor) handsToLocked(it *item, p *proc) bool {
	next := r.nextOfP(it.rp, it.m)
	if next == nil {
		return false
	}
	start := r.startsLocked(next)
	if start == nil {
		return false
	}
	g := &r.gs.all[start.rg]
	// A P that really was idle had found nothing anywhere.
	g.start = next.nextM
	if r.q.Place(start.rg).Queue == reference.QueueUnknown {
		return false
	}
	p.handed = next.nextM
	r.settle(start.rg)
	return true
}

// startsLocked returns the start that follows at once when a thread gets a P,
// if it is that of a goroutine which seems to be locked to the thread: queued
// now, it ran there last, and nothing else did since.
func (r *Reconstructor) startsLocked(pstart *item) *item {
	start := r.win.at(pstart.nextM)
	if start == nil || start.ev.Kind != events.Go || start.ev.From != events.Runnable || start.ev.To != events.Running || start.p != pstart.rp {
		return nil
	}
	g := &r.gs.all[start.rg]
	if g.state != events.Runnable || g.ready > r.now || g.direct != reference.SrcUnknown {
		return nil
	}
	if g.lastM != start.m || r.ms[start.m].lastG != start.rg {
		return nil
	}
	return start
}

// nextOfP looks ahead for the event by which another thread gets this P.
func (r *Reconstructor) nextOfP(p, m int32) *item {
	for i := r.now + 1; i < min(r.win.head, r.now+4096); i++ {
		n := r.win.at(i)
		if n.ev.Kind == events.Proc && n.rp == p {
			if n.ev.To == events.Running && n.m != m && n.m >= 0 {
				return n
			}
			return nil
		}
	}
	return nil
}

// lockedBlocked recognises stoplockedm: a locked goroutine stopped just before
// on this thread and is the next to run on it, and local work is left.
func (r *Reconstructor) lockedBlocked(it *item) bool {
	if it.m < 0 {
		return false
	}
	prev := r.win.at(it.prevM)
	if prev == nil || prev.ev.Kind != events.Go || prev.ev.From != events.Running || r.q.Len(it.rp) == 0 || r.allInFlight(it.rp) {
		return false
	}
	if prev.ev.To == events.NotExist {
		return true // a locked goroutine takes its thread along
	}
	for n, i := 0, it.nextM; n < 8; n++ {
		x := r.win.at(i)
		if x == nil {
			return true // it does not run again as far as we see, as an idle thread would
		}
		if x.ev.Kind == events.Go && x.ev.To == events.Running {
			return x.rg == prev.rg
		}
		i = x.nextM
	}
	return false
}

func (r *Reconstructor) allInFlight(p int32) bool {
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

// mustBeEmpty brings the model in line with a P that found no work: its queue
// is empty (findRunnable checks before it gives the P up).
func (r *Reconstructor) mustBeEmpty(p int32) {
	r.clearGone(p)
	for r.q.Len(p) > 0 {
		x := r.q.Head(p)
		if x == reference.None {
			x = r.q.Runnext(p)
		}
		r.relocate(x, p)
	}
}

// relocate moves a goroutine that cannot be where the model has it to where it
// will run, or to the global queue.
func (r *Reconstructor) relocate(x, from int32) {
	r.sum.Corrections++
	to := r.startP(x)
	if to >= 0 && to != from {
		r.trim(to, r.rules.RingSize-1)
	}
	r.q.Remove(x)
	if to >= 0 && to != from {
		r.insert(to, x)
		r.move(x, to, from, reference.QueueLocal, reference.WhyCorrected)
		return
	}
	r.q.PutGlobal(x)
	r.move(x, nobody, from, reference.QueueGlobal, reference.WhyCorrected)
}

// pTaken judges a P that is taken from a thread in a system call by somebody
// else.
func (r *Reconstructor) pTaken(it *item, p *proc) {
	e := &it.ev
	why := reference.WhyRetakeSlow
	if e.G >= 0 {
		switch g := r.gs.find(e.G); {
		case r.gs.all[g].state == events.Syscall:
			why = reference.WhyRetakeReturn
		case r.stw.open && r.stw.g == e.G:
			why = reference.WhySTW
		case r.gs.all[g].flags&reference.FlagTracer != 0 || r.advancing:
			why = reference.WhyGeneration
		default:
			why = reference.WhyGC
		}
	} else if it.p >= 0 {
		why = reference.WhyGeneration
	}
	owner := p.m
	in := p.g
	r.pKnown(it.rp, false)
	p.m, p.g, p.syscall = nobody, nobody, false
	p.lastM = nobody
	p.released = why != reference.WhySTW && why != reference.WhyRetakeReturn
	p.why = why
	d := reference.Decision{Kind: reference.KindRetake, P: p.id, M: r.mid(owner), G: reference.NoG, Why: why, Basis: byRule}
	if in >= 0 {
		d.G, d.Class = r.gs.all[in].id, r.gs.all[in].class
	}
	r.say(&d)
	if why == reference.WhySTW {
		r.say(&reference.Decision{Kind: reference.KindPStop, P: p.id, M: e.M, G: reference.NoG, Why: why, Basis: byRule})
	}
}

// procsEvent judges a statement of GOMAXPROCS.
func (r *Reconstructor) procsEvent(it *item) {
	if r.stw.open {
		r.say(&reference.Decision{Kind: reference.KindSTWEnd, G: r.stw.g, P: r.pid(it.p), M: it.ev.M, Why: reference.WhySTW})
		r.stw.open = false
		if r.stw.why == "GC mark termination" {
			r.flusher = it.m
		}
	}
	r.setProcs(int(min(it.ev.Res, 1<<20)))
}

// destroyAbove empties the queues of Ps that are no more to the head of the
// global queue (p.destroy).
func (r *Reconstructor) destroyAbove(n int) {
	for i := range r.ps {
		p := &r.ps[i]
		if int(p.id) < n {
			continue
		}
		ix := int32(i)
		for {
			x := r.q.Tail(ix)
			if x == reference.None {
				x = r.q.Runnext(ix)
			}
			if x == reference.None {
				break
			}
			r.q.Remove(x)
			r.q.PutGlobalHead(x)
			r.move(x, nobody, ix, reference.QueueGlobal, reference.WhyProcs)
		}
	}
}

func (r *Reconstructor) endSTW(it *item) {
	if r.stw.open { // the range ended without the metric: the trace is damaged or old
		r.stw.open = false
		r.say(&reference.Decision{Kind: reference.KindSTWEnd, G: r.stw.g, P: r.pid(it.p), M: it.ev.M, Why: reference.WhySTW})
	}
}
