package findings

import (
	"github.com/gmpscope/gmpscope/reference"
)

// proc is what is known of a P beyond its state.
type proc struct {
	PHistory
	g     *Goroutine // that runs or is in a system call, nil for none
	stack int32      // of the system call
	// The run interval.
	sysAt int64 // since when it is in a system call; -1: it is not
	sys   int64
	// assistAt is since when it assists the garbage collector, -1: it does not; assist is
	// for how long it did before.
	assistAt, assist int64
	off              int64 // on no CPU, so far as the kernel's records have told by now
	// After it.
	stopAt int64 // -1: the P has no thread, or something runs
	waking bool  // got a thread, and ran nothing since
	// stillAt is since when its thread has run no goroutine and done nothing else, -1: it
	// runs one, or there is no thread. waitedAt is View.waitedNs then, and m the thread.
	stillAt, waitedAt, m int64
	hand                 hand
	// The slice.
	slice Slice
	part  SlicePart
	run   Run  // the last
	last  bool // there is one since the P got its thread
	fresh bool // it got a thread, and no start came since
	// How the run interval began.
	freeAt int64 // since when the P had a thread and ran nothing before it, or has
	src    reference.Source
	idle   int64 // Run.IdleWait of it
	first  bool  // Run.First of it
}

// Run is one run interval [From, To), ns, of one goroutine on one P, system calls that kept
// the P included. [View.Runs] reports them.
type Run struct {
	G         int64 // ID of the goroutine
	From, To  int64 // ns since the first event of the trace
	SyscallNs int64 // time of it in system calls, ns
	OffNs     int64 // time on no CPU by the kernel's records, without SyscallNs, ns
	AssistNs  int64 // time in GC assists, without SyscallNs, ns
	Wait      int64 // how long the goroutine had waited for a P before it, ns; -1 if unknown
	// Load is the number of goroutines of the program per usable P, at least 1: the largest
	// of when it became runnable, when it started, and the mean meanwhile. It is set after
	// waits that a [RunFilter] selects by their length.
	Load    float64
	P       int32
	Class   int32         // handle of the goroutine's class, for Facts.Name
	Stack   int32         // handle of the stack at which it stopped, for Facts.Frames; 0 if unknown
	Why     reference.Why // why it ended: WhyRetakeSlow where the P was taken in a system call
	System  bool          // the goroutine belongs to the runtime or the tracer
	Counted bool          // Wait is known, and neither after runtime.Gosched nor of a System goroutine
	Open    bool          // it was not over when the trace ended, or at a gap
	First   bool          // its goroutine's first, as far as seen
	Moved   bool          // on another P than its goroutine's one before
	// Src is where the P took the goroutine from; SrcUnknown also if the interval began with the
	// return from a system call.
	Src reference.Source
	Nth int32 // which run interval of its time slice it is, from 1
	// IdleWait is the part of the wait before it, in ns, in which the P had a thread but ran
	// nothing.
	IdleWait int64
}

// Ns returns the length of the run interval in ns, without system calls and known time on no CPU.
func (s *Run) Ns() int64 { return s.To - s.From - s.SyscallNs - s.OffNs }

// stolen reports whether the goroutine was stolen from another P.
func (s *Run) stolen() bool {
	return s.Src == reference.SrcSteal || s.Src == reference.SrcStealRunnext
}

// Slice is a chain of run intervals on one P that share a time slice, because
// each after the first inherited it through runnext. [View.Slices] reports them.
type Slice struct {
	P         int32
	Runs      int32         // number of run intervals in it
	Created   int32         // number of them that are the first of a goroutine just created
	Timers    int32         // number of them whose goroutine a timer had woken
	Why       reference.Why // why the last run interval ended
	Stack     int32         // handle of the stack at which the last run interval ended; 0 if unknown
	Open      bool          // it was not over when the trace ended, or at a gap
	System    bool          // a goroutine of the runtime or the tracer took part
	N         int8          // number of goroutines that took part; 5 means more than 4
	Gs        [4]int64      // IDs of the first min(N, 4) of them
	Classes   [4]int32      // handles of the classes of Gs
	From, To  int64         // it is [From, To), ns
	SyscallNs int64         // time of it in system calls, ns
}

func (w *follower) start(d *reference.Decision) {
	w.firstOnP = false
	if d.G < 0 {
		w.g = nil
		return
	}
	g := w.goroutine()
	if g.StartAt >= 0 { // its stop was not shown
		w.endRun(g, reference.WhyUnknown, 0)
	}
	p := w.p(d.P)
	inherits := d.Flags&reference.FlagInherits != 0 || d.Src == reference.SrcRunnext
	if p != nil {
		w.endRunOn(p, reference.WhyUnknown, 0, false)
		if !inherits {
			w.endSlice(p, false)
		}
	}
	t := w.turn(g)
	w.residencyOver(g, t, d, true)
	if p != nil {
		w.stirs(p, d.M)
		// The P had a thread and work, and yet nothing ran: a strained machine.
		if gap := w.now - p.stopAt; p.stopAt >= 0 && t.list == d.P && t.queuedAt <= p.stopAt && !w.stw {
			w.pause(gap)
		}
	}
	if !g.System {
		switch d.Src {
		case reference.SrcRunnext, reference.SrcLocal, reference.SrcSteal, reference.SrcStealRunnext:
			w.totals.LocalStarts++
			if g.ReadyAt >= 0 {
				w.localWait += w.now - g.ReadyAt
			}
			w.classes[g.class].Local++
			if inherits {
				w.totals.Inherited++
			}
		}
	}
	w.leave(g, t)
	if p != nil && p.hand.at >= 0 {
		w.handOver(p, g, d)
	}
	g.Wait = -1
	if g.ReadyAt >= 0 && d.Wait >= 0 {
		g.Wait = w.now - g.ReadyAt
		g.WaitNs += g.Wait
		w.classes[g.class].waited(g, g.Wait)
		if g.Wait >= w.longWait {
			g.load = max(t.loadBefore(), w.meanLoad(g), float32(w.Load()))
		}
	}
	if d.Flags&reference.FlagLocked != 0 {
		g.Locked = true
	}
	idle := int64(0)
	if p != nil && g.Wait > 0 && (p.stopAt >= 0 || p.waking) {
		idle = w.now - max(g.ReadyAt, p.freeAt)
	}
	g.end(&g.ReadyAt, &w.runnable)
	w.endTurn(g, t)
	w.begin(g, &g.StartAt, &w.running)
	w.ran.set(w.now, w.running)
	w.run(g, p, d.P, d.Src, idle)
	if p != nil {
		p.Starts++
		w.firstOnP, p.fresh = p.fresh, false
		p.StartAt, p.StartRan = w.now, w.ran.ran.Ns
		if !inherits {
			p.SliceAt = w.now
		}
	}
	g.New = false
	if !g.System && d.P >= 0 {
		w.span.Run(&g.node, g.Class)
	}
}

// run lets g run on P p, which may be nil; src and idle are those of its Run.
func (w *follower) run(g *Goroutine, p *proc, id int32, src reference.Source, idle int64) {
	g.P = id
	first := g.RanOn < 0
	g.Moved = !first && g.RanOn != id
	g.RanOn = id
	if p == nil {
		return
	}
	p.first = first
	p.g, p.stopAt, p.stillAt, p.sysAt, p.sys, p.off = g, -1, -1, -1, 0, 0
	p.src, p.idle = src, idle
	p.assist, p.assistAt = 0, -1
	if g.assists {
		p.assistAt = w.now
	}
	w.setWaking(p, false)
	s := &p.slice
	if s.Runs == 0 {
		s.From, s.SyscallNs, s.Created, s.Timers, s.Runs, s.System = w.now, 0, 0, 0, 1, g.System
		s.N, s.Gs[0], s.Classes[0] = 1, g.ID, g.Class
		return
	}
	if g.New {
		s.Created++
	}
	if g.ReadyWhy == reference.WhyTimer {
		s.Timers++
	}
	s.Runs++
	s.System = s.System || g.System
	for k := range s.N {
		if int(k) < len(s.Gs) && s.Gs[k] == g.ID {
			return
		}
	}
	if int(s.N) < len(s.Gs) {
		s.Gs[s.N], s.Classes[s.N] = g.ID, g.Class
	}
	s.N = min(s.N+1, int8(len(s.Gs)+1))
}

// endRun ends the run interval of g, wherever it runs.
func (w *follower) endRun(g *Goroutine, why reference.Why, stack int32) {
	if p := w.p(g.P); p != nil && p.g == g {
		w.endRunOn(p, why, stack, false)
		return
	}
	g.end(&g.StartAt, &w.running)
}

// endRunOn ends the run interval on P p, if there is one.
func (w *follower) endRunOn(p *proc, why reference.Why, stack int32, open bool) {
	if p.g != nil {
		w.runOver(p, why, stack, open)
	}
}

func (w *follower) runOver(p *proc, why reference.Why, stack int32, open bool) {
	g := p.g
	p.hand.stack = stack
	if p.sysAt >= 0 {
		p.sys += w.now - p.sysAt
		p.sysAt = -1
		p.hand.stack = p.stack
	}
	// Field by field: a literal would be made elsewhere and copied.
	s := &p.run
	p.last = true
	s.G, s.From, s.To, s.SyscallNs, s.OffNs, s.Wait, s.Load = g.ID, g.StartAt, w.now, p.sys, p.off, g.Wait, float64(g.load)
	s.P, s.Class, s.Stack, s.Why, s.System = p.slice.P, g.Class, stack, why, g.System
	s.Counted, s.Open = !g.System && !g.Self && g.Wait >= 0, open
	s.First, s.Moved, s.Src, s.Nth, s.IdleWait = p.first, g.Moved, p.src, p.slice.Runs, p.idle
	p.endAssist(w.now)
	s.AssistNs = p.assist
	p.g = nil
	w.addPart(p, s)
	p.slice.SyscallNs += p.sys
	p.sys, p.off = 0, 0
	ns := s.Ns()
	g.RunNs += ns
	if !s.System {
		w.totals.Runs++
		c := &w.classes[g.class]
		w.interval(c, max(0, ns-s.AssistNs), why)
		w.interruptions.note(s)
		if !open {
			w.all.Runs++
			w.all.RunNs += max(1, ns)
			c.add(ns, !s.First && !s.Moved && !(g.Locked && w.g == g), why)
		}
	}
	w.ran.set(w.now, w.running-1)
	w.emitRun(s)
	if why == reference.WhySlice {
		w.endPart(p)
	}
	g.end(&g.StartAt, &w.running)
	g.Wait = -1
	if !open {
		p.stopAt, p.freeAt = w.now, w.now
		w.still(p, w.decision().M)
	}
}

// assist notes that the decision's goroutine begins to mark for the garbage collector, or
// is done with that.
func (w *follower) assist(d *reference.Decision) {
	g := w.ByID(d.G)
	if g == nil {
		return
	}
	begins := d.Kind == reference.KindAssistBegin
	if p := w.p(g.P); p != nil && p.g == g {
		switch {
		case !begins:
			p.endAssist(w.now)
		case p.assistAt < 0:
			p.assistAt = w.now
		}
	}
	g.assists = begins
}

// endAssist ends an assist on p, if there is one.
func (p *proc) endAssist(now int64) {
	if p.assistAt >= 0 {
		p.assist += now - p.assistAt
		p.assistAt = -1
	}
}

func (w *follower) endSlice(p *proc, open bool) {
	if p.slice.Runs != 0 {
		w.sliceOver(p, open)
	}
}

func (w *follower) sliceOver(p *proc, open bool) {
	s, last := &p.slice, &p.run
	s.To, s.Why, s.Stack, s.Open = last.To, last.Why, last.Stack, open
	w.endPart(p)
	w.emitSlice(s)
	s.Runs = 0
}

func (w *follower) stop(d *reference.Decision) {
	if d.G < 0 {
		w.g = nil
		return
	}
	p := w.p(d.P)
	g := w.goroutine()
	g.RunAt = g.StartAt
	if g.RunAt >= 0 && !g.System && d.Why != reference.WhyExit {
		w.totals.Stops++
		g.Stops++
	}
	if p != nil {
		p.StopAt = w.now
	}
	if p != nil && p.g == g {
		w.runOver(p, d.Why, d.Stack, d.Why == reference.WhyLost)
	} else if g.StartAt >= 0 {
		w.endRun(g, d.Why, d.Stack)
	}
	g.BlockedAt, g.Reason = -1, reference.ReasonNone
	if d.Why == reference.WhyBlock {
		g.BlockedAt, g.Reason = w.now, d.Reason
		if forOthers>>(d.Reason%masks)&1 != 0 {
			g.slackAt = w.slack.ns(w.now)
		}
	}
	if d.Stack != 0 {
		g.Stack = d.Stack
	}
	if !g.System {
		w.span.Stop(&g.node, g.Class, d.Stack)
	}
	if d.Why == reference.WhyExit || d.Why == reference.WhyLost {
		w.span.Exit(&g.node)
		t := w.turn(g)
		w.leave(g, t)
		g.end(&g.ReadyAt, &w.runnable)
		w.endTurn(g, t)
		w.byID.Remove(d.G)
		w.g, w.ended = nil, g.slot
		if g.Creator != reference.NoG {
			w.classes[g.class].Ended++
		}
	}
}
