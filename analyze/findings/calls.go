package findings

import (
	"github.com/gmpscope/gmpscope/reference"
)

// Syscall is one system call, or the part of it until its P was taken.
type Syscall struct {
	G        int64
	From, To int64
	P        int32
	Class    int32
	Stack    int32
	// Why is WhyRetakeSlow where sysmon took the P, WhyRetakeReturn where another
	// thread that came back from a system call did, and WhySyscallExit where the
	// goroutine came back to its P. WhyUnknown: the P was given up otherwise.
	Why    reference.Why
	Local  int32 // goroutines of the program in the P's queue when it ended
	System bool
}

// callOver tells that the system call on P p is over, or goes on without it.
func (w *World) callOver(p *proc, why reference.Why) {
	if p.sysAt < 0 || p.run == 0 {
		return
	}
	g := p.g
	if why != reference.WhySyscallExit {
		g.CallWhy = why
	}
	if !g.System {
		w.classes[g.class].Calls++
	}
	w.callers.n[w.callers.find(p.stack)]++
	if !w.wantsSyscall(w.now-p.sysAt, why) {
		return
	}
	c := &w.call // field by field, as in endStint
	c.G, c.From, c.To, c.P, c.Class, c.Stack = g.ID, p.sysAt, w.now, p.slice.P, g.Class, p.stack
	c.Why, c.Local, c.System = why, int32(p.queue.n), g.System
	w.tellSyscall(c)
}

func (w *World) syscall(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	i, g := w.onP(d)
	g.CallAt, g.CallWhy = w.now, reference.WhyUnknown
	if !g.System {
		w.span.Stop(&g.node, g.Class, d.Stack)
	}
	p := w.p(d.P)
	if p == nil {
		return
	}
	if p.run != i {
		w.endStint(p, reference.WhyUnknown, 0, false)
		w.setStart(g, w.now)
		w.run(i, g, p, d.P)
	}
	p.sysAt, p.stack = w.now, d.Stack
	if d.Stack != 0 {
		g.Stack = d.Stack
	}
}

func (w *World) syscallExit(d *reference.Decision) {
	if d.G < 0 {
		return
	}
	i, g := w.onP(d)
	if !g.System && d.P >= 0 {
		w.span.Run(&g.node, g.Class)
	}
	p := w.p(d.P)
	if p == nil {
		return
	}
	if p.run == i {
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
	w.endStint(p, reference.WhyUnknown, 0, false)
	w.setStart(g, w.now)
	w.run(i, g, p, d.P)
}
