package legaltest

import (
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/reference"
)

// bootstrap begins with a stopped world that a goroutine starts, as trace.Start does. There may be
// goroutines in the queues already.
func (w *world) bootstrap() {
	main := w.newG(user, gRunning)
	w.block(w.old(advancer, gWaiting), inSleep)
	w.block(w.old(reader, gWaiting), asReader)
	w.resize(w.procs)
	for range w.choose(min(w.most, 1<<w.choose(10))) {
		w.block(w.old(user, gWaiting), []place{inProgram, inNetwork, inSleep}[w.choose(3)])
	}
	for range w.choose(min(w.most, 1<<w.choose(10))) {
		g := w.old(user, gRunnable)
		if p := w.ps[w.choose(w.procs)]; w.once(2) || len(p.runq) == w.rules.RingSize {
			w.global = append(w.global, g)
		} else {
			p.runq = append(p.runq, g)
		}
	}
	first := w.newThread(func(m *thread) {
		m.p = w.ps[0]
		m.p.m, m.p.status = m, pRunning
		m.g, main.m = main, m
		m.stopper = m
		m.sema, m.stopping = true, true
		main.gen = 0 // the trace is to say it
		m.event(wire.STWBegin, m.out.String("start trace"), m.out.Stack("runtime.systemstack_switch", "runtime.StartTrace"))
		m.startWorld(m.procs)
		m.sema = false
		m.runUser()
		m.schedule()
	})
	first.next()
	w.newThread((*thread).sysmon)
	if w.once(4) {
		w.newThread((*thread).callBack)
	}
}

// old returns a goroutine from before the trace.
func (w *world) old(k kind, status uint64) *goroutine {
	g := w.newG(k, status)
	g.gen = 0
	return g
}

// stopWorld stops all other Ps (stopTheWorldWithSema).
func (m *thread) stopWorld(why string) {
	m.event(wire.STWBegin, m.out.String(why), m.out.Stack("runtime.stopTheWorld", "main.work"))
	m.pause()
	m.stopping, m.waitFor, m.stopper = true, m.procs-1, m
	for _, p := range m.ps[:m.procs] {
		m.preemptOne(p)
		if p.status == pSyscall {
			m.stealP(p)
			m.waitFor--
		}
	}
	m.waitFor -= len(m.idlePs)
	m.idlePs = m.idlePs[:0]
	if m.waitFor > 0 {
		m.park()
	}
	m.noted = false
}

// startWorld starts the world with so many Ps (startTheWorldWithSema).
func (m *thread) startWorld(procs int) {
	m.inject(m.netpoll(4), "runtime.systemstack_switch", "runtime.startTheWorld")
	m.event(wire.ProcsChange, uint64(procs), m.out.Stack("runtime.systemstack_switch", "runtime.startTheWorld"))
	m.resize(procs)
	if m.p.id >= int32(procs) { // its own P goes
		g := m.traceStop("runtime.Gosched", "runtime.procresize")
		m.releaseP()
		m.acquireP(m.ps[0])
		g.src = reference.SrcDirect
		m.traceStart(g)
	}
	var run []*proc
	for i := range procs {
		p := m.ps[procs-1-i]
		if m.rules.IdleFromHighest {
			p = m.ps[i]
		}
		switch {
		case p == m.p:
		case len(p.runq) == 0 && p.runnext == nil:
			m.pidlePut(p)
		default:
			run = append(run, p)
		}
	}
	m.stopping = false
	for _, p := range run {
		m.restart(p)
	}
	m.pause()
	m.event(wire.STWEnd)
	m.wakeP()
}

// restart gives a P with work a thread, which may be the one that it had.
func (m *thread) restart(p *proc) {
	for i, idle := range m.idleMs {
		if m.rules.STWRestoresThread && idle == p.lastM {
			m.idleMs[i] = m.idleMs[len(m.idleMs)-1]
			m.idleMs[len(m.idleMs)-1] = idle
		}
	}
	m.startM(p, false)
}

// resize makes Ps, or empties those that go (procresize).
func (w *world) resize(procs int) {
	for len(w.ps) < procs {
		w.ps = append(w.ps, &proc{id: int32(len(w.ps)), status: pIdle})
	}
	for i := procs; i < w.procs; i++ {
		p := w.ps[i]
		w.global = append(p.drain(), w.global...) // each to the head, runnext last
	}
	w.procs = procs
}

// drain empties p's run queue (runqdrain).
func (p *proc) drain() []*goroutine {
	list := p.runq
	if p.runnext != nil {
		list = append([]*goroutine{p.runnext}, list...)
	}
	p.runq, p.runnext = nil, nil
	return list
}

// forEachP has each P pass a safe point.
func (m *thread) forEachP() {
	m.waitFor, m.stopper = 1, m // itself
	for _, p := range m.ps[:m.procs] {
		if p != m.p {
			p.safePoint = true
			m.waitFor++
			m.preemptOne(p)
		}
	}
	for _, p := range m.idlePs {
		m.runSafePoint(p)
	}
	m.passed()
	m.pause()
	for _, p := range m.ps[:m.procs] {
		if p.safePoint && p.status == pSyscall {
			m.stealP(p)
			m.handoffP(p)
		}
	}
	for m.waitFor > 0 {
		m.park()
	}
	m.noted = false
}

// advance is what the goroutine does that begins the trace's generations.
func (m *thread) advance() {
	m.sleep(m.span())
	if !m.sema && m.once(8) {
		m.sema = true
		if m.rules.AdvanceVisitsFirst {
			m.forEachP()
		}
		m.newGeneration()
		if !m.rules.AdvanceVisitsFirst {
			m.forEachP()
		}
		m.sema = false
	}
	m.pause()
	m.traceBlock(inSleep, "sleep", "runtime.gopark", "runtime.(*traceAdvancerState).start.func1")
}

// gcStart begins to mark.
func (m *thread) gcStart() {
	for m.workers < m.procs {
		m.workers++
		m.goCreate(worker, "runtime.gcBgMarkWorker", "runtime.gcBgMarkStartWorkers", "runtime.gcStart")
	}
	m.gcSeq++
	m.event(wire.GCBegin, m.gcSeq, m.out.Stack("runtime.gcStart", "main.work"))
	m.stopWorld("GC sweep termination")
	m.marking = true
	m.dedicated, _ = m.rules.MarkWorkers(m.procs)
	m.startWorld(m.procs)
}

// findWorker returns a mark worker that m's P is to run (findRunnableGCWorker).
func (m *thread) findWorker() *goroutine {
	g := m.some(inPool)
	switch {
	case g == nil:
		return nil
	case m.dedicated > 0:
		m.dedicated--
		return m.startWorker(g, "dedicated")
	case m.procs%4 != 0 && m.once(16):
		return m.startWorker(g, "fractional")
	}
	return nil
}

func (m *thread) startWorker(g *goroutine, mode string) *goroutine {
	m.traceUnblock(g)
	g.mode, g.src = mode, reference.SrcGCWorker
	return g
}

// mark is what a mark worker does.
func (m *thread) mark() {
	g := m.g
	for n := m.choose(16); g.mode != "" && n > 0 && (g.mode == "dedicated" || !g.preempt); n-- {
		if g.preempt && g.mode == "dedicated" { // it keeps the P, so that others go elsewhere (runqdrain)
			g.preempt = false
			all := m.p.drain()
			m.pause()
			m.global = append(m.global, all...)
		}
		if a := m.some(inAssist); a != nil && m.once(2) {
			m.ready(a, false, "runtime.gcFlushBgCredit", "runtime.gcBgMarkWorker")
		}
		if m.once(4) { // there is work for another (enlistWorker)
			m.preemptOne(m.ps[m.choose(m.procs)])
		}
		m.sleep(m.span())
	}
	switch g.mode {
	case "dedicated":
		m.dedicated++
	case "idle":
		m.idleMarks--
	}
	if g.mode != "" && m.marking && !m.sema && m.once(4) {
		m.sema = true
		m.markDone()
		m.sema = false
	}
	g.mode = ""
	m.pause()
	m.traceBlock(inPool, "system goroutine wait", "runtime.gopark", "runtime.gcBgMarkWorker")
}

// markDone ends marking.
func (m *thread) markDone() {
	m.forEachP()
	m.stopWorld("GC mark termination")
	m.marking, m.dedicated = false, 0
	m.inject(m.take(inAssist, len(m.blocked[inAssist])), "runtime.systemstack_switch", "runtime.gcWakeAllAssists", "runtime.gcMarkDone")
	m.gcSeq++
	m.event(wire.GCEnd, m.gcSeq)
	m.startWorld(m.procs)
}
