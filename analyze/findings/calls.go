package findings

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Syscall is one system call [From, To), ns, or the part of it until its P was taken.
// [View.Syscalls] reports them.
type Syscall struct {
	G        int64 // ID of the goroutine
	From, To int64 // ns since the first event of the trace
	P        int32 // with which it began
	Class    int32 // handle of the goroutine's class
	Stack    int32 // handle of the stack from which it was made; 0 if unknown
	// Why is WhyRetakeSlow where sysmon took the P, WhyRetakeReturn where another
	// thread that came back from a system call did, and WhySyscallExit where the
	// goroutine came back to its P. WhyUnknown: the P was given up otherwise.
	Why    reference.Why
	Local  int32 // number of goroutines of the program in the P's run queue at To
	System bool  // the goroutine belongs to the runtime or the tracer
}

// lostP reports whether it lost the P.
func (s *Syscall) lostP() bool { return s.Why != reference.WhySyscallExit }

// callOver emits that the system call on P p is over, or goes on without it.
func (w *follower) callOver(p *proc, why reference.Why) {
	g := p.g
	if !g.System {
		c := &w.classes[g.class]
		c.Calls++
		c.CallNs += w.now - p.sysAt
	}
	w.callers.count(g, p.stack, p.sysAt, w.now)
	if w.syscalls.on == 0 && w.now-p.sysAt < w.longSyscall && why == reference.WhySyscallExit { // nobody wants to be called
		return
	}
	c := &w.call // field by field, as in endRunOn
	c.G, c.From, c.To, c.P, c.Class, c.Stack = g.ID, p.sysAt, w.now, p.slice.P, g.Class, p.stack
	c.Why, c.Local, c.System = why, int32(w.local[p.slice.P].n), g.System
	w.emitSyscall(c)
}

func (w *follower) syscall(d *reference.Decision) {
	if d.G < 0 {
		w.g = nil
		return
	}
	p := w.p(d.P)
	g := w.goroutine()
	g.CallAt, g.CallWhy = w.now, reference.WhyUnknown
	if !g.System {
		w.span.Stop(&g.node, g.Class, d.Stack)
		w.callers.begin(g, d.Stack, w.now)
	}
	if p == nil {
		return
	}
	if p.g != g {
		w.endRunOn(p, reference.WhyUnknown, 0, false)
		w.begin(g, &g.StartAt, &w.running)
		w.run(g, p, d.P, reference.SrcUnknown, 0)
	}
	p.sysAt, p.stack = w.now, d.Stack
	if d.Stack != 0 {
		g.Stack = d.Stack
	}
}

// addCalls processes system calls from begin to end, as far as nobody has to be called
// for them and there is no more to learn of them than their times. It returns how many
// decisions it took.
func (w *follower) addCalls(calls []reference.Decision) int {
	if len(calls) == 0 {
		return 0
	}
	first := &calls[0]
	g := w.Running(first.P)
	if g == nil || g.ID != first.G || g.System || g.Class != first.Class {
		return 0
	}
	p := &w.ps[first.P]
	if p.sysAt >= 0 || w.use.Slack || w.idlers() ||
		w.kinds&(1<<reference.KindSyscall|1<<reference.KindSyscallExit) != 0 || w.syscalls.on != 0 {
		return 0
	}
	limit := min(silenceNs, w.longSyscall)
	n, sys := 0, int64(0)
	for ; n+1 < len(calls); n += 2 {
		enter := &calls[n]
		from := max(w.now, enter.Time)
		to := max(from, calls[n+1].Time)
		ns := to - from
		if ns >= limit {
			break
		}
		if from-w.now >= silenceNs {
			w.silent(from)
		}
		w.pass(from - w.now)
		w.pass(ns)
		w.span.Call(&g.node, g.Class, enter.Stack, from, to)
		w.callers.begin(g, enter.Stack, from)
		w.callers.count(g, enter.Stack, from, to)
		g.CallAt, p.stack = from, enter.Stack
		if enter.Stack != 0 {
			g.Stack = enter.Stack
		}
		sys += ns
	}
	if n == 0 {
		return 0
	}
	w.g, g.CallWhy = g, reference.WhyUnknown
	c := &w.classes[g.class]
	c.Calls += int64(n / 2)
	c.CallNs += sys
	p.sys += sys
	if run := w.running - w.counts[ledger.Syscall]; run == w.parallelFrom { // one less is not enough
		w.parallel.sum -= sys
	}
	return n
}

func (w *follower) syscallExit(d *reference.Decision) {
	if d.G < 0 {
		w.g = nil
		return
	}
	p := w.p(d.P)
	g := w.goroutine()
	if !g.System && d.P >= 0 {
		w.span.Run(&g.node, g.Class)
	}
	if p == nil {
		return
	}
	if p.g == g {
		if p.sysAt >= 0 {
			w.callOver(p, reference.WhySyscallExit)
			p.sys += w.now - p.sysAt
			p.sysAt = -1
		}
		return
	}
	if g.ReadyAt >= 0 {
		return
	}
	if g.StartAt >= 0 {
		w.endRun(g, reference.WhyUnknown, 0)
	}
	w.endRunOn(p, reference.WhyUnknown, 0, false)
	w.begin(g, &g.StartAt, &w.running)
	w.run(g, p, d.P, reference.SrcUnknown, 0)
}
