package legaltest

import (
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/reference"
)

// mstart is the life of a thread that has been given a P.
func (m *thread) mstart() {
	m.acquireP(m.nextP)
	m.schedule()
}

// schedule runs one goroutine after the other.
func (m *thread) schedule() {
	for {
		if g := m.lockedG; g != nil {
			m.stopLockedM()
			m.execute(g, false)
			m.runUser()
			continue
		}
		g, inherits, wakes := m.findRunnable()
		if m.spins {
			m.spins = false
			m.spinning--
			m.wakeP()
		}
		if wakes {
			m.wakeP()
		}
		m.pause()
		if g.lockedM != nil {
			m.startLockedM(g)
			continue
		}
		m.execute(g, inherits)
		m.runUser()
	}
}

func (m *thread) execute(g *goroutine, inherits bool) {
	m.traceStart(g)
	g.preempt = false
	if !inherits {
		m.p.schedtick++
	}
	if g.mode != "" {
		m.event(wire.GoLabel, m.out.String("GC ("+g.mode+")"))
	}
}

// acquireP binds p to m.
func (m *thread) acquireP(p *proc) {
	m.announceP(p)
	p.seq++
	m.event(wire.ProcStart, uint64(p.id), p.seq)
	m.p, m.nextP, p.m, p.lastM, p.status = p, nil, m, m, pRunning
}

// releaseP releases the P of m.
func (m *thread) releaseP() *proc {
	p := m.p
	m.event(wire.ProcStop)
	m.p, p.m, p.status = nil, nil, pIdle
	return p
}

// stealP retakes the P of a thread that is in a system call.
func (m *thread) stealP(p *proc) {
	m.announceP(p)
	p.seq++
	from := uint64(0)
	if p.m != nil { // else that has gone back to C
		from = uint64(p.m.id)
	}
	m.event(wire.ProcSteal, uint64(p.id), p.seq, from)
	if p.m != nil {
		p.m.p, p.m = nil, nil
	}
	p.status = pIdle
	p.syscalltick++
}

func (w *world) pidlePut(p *proc) { w.idlePs = append(w.idlePs, p) }

func (w *world) pidleGet() *proc {
	n := len(w.idlePs)
	if n == 0 {
		return nil
	}
	p := w.idlePs[n-1]
	w.idlePs = w.idlePs[:n-1]
	return p
}

// startM has a thread run p: an idle one or a new one.
func (w *world) startM(p *proc, spins bool) {
	n := len(w.idleMs)
	if n == 0 {
		m := w.newThread((*thread).mstart)
		m.nextP, m.spins = p, spins
		return
	}
	m := w.idleMs[n-1]
	w.idleMs = w.idleMs[:n-1]
	m.nextP, m.spins = p, spins
	m.wake()
}

// stopM parks a thread without a P until it is given one.
func (m *thread) stopM() {
	m.idleMs = append(m.idleMs, m)
	m.park()
	m.acquireP(m.nextP)
}

// wakeP has one more thread look for work.
func (w *world) wakeP() {
	if w.spinning != 0 {
		return
	}
	p := w.pidleGet()
	if p == nil {
		w.needSpinning = true
		return
	}
	w.spinning++
	w.startM(p, true)
}

// handoffP gives away a P that has no thread.
func (m *thread) handoffP(p *proc) {
	switch {
	case len(p.runq) > 0 || p.runnext != nil || len(m.global) > 0 || m.marking && m.once(2):
		m.startM(p, false)
	case m.spinning+len(m.idlePs) == 0 && !m.stopping:
		m.spinning++
		m.needSpinning = false
		m.startM(p, true)
	case m.stopping:
		m.passed()
	default:
		m.runSafePoint(p)
		m.pidlePut(p)
	}
}

// stopLockedM waits until another thread has found the goroutine to which m is locked.
func (m *thread) stopLockedM() {
	if m.p != nil {
		m.handoffP(m.releaseP())
	}
	m.park()
	m.acquireP(m.nextP)
}

// startLockedM hands m's P to the thread to which g is locked.
func (m *thread) startLockedM(g *goroutine) {
	p := m.releaseP()
	g.lockedM.nextP = p
	g.lockedM.wake()
	m.stopM()
}

// gcStopM stops m for who stops the world.
func (m *thread) gcStopM() {
	if m.spins {
		m.spins = false
		m.spinning--
	}
	m.releaseP()
	m.passed()
	m.stopM()
}

// passed counts a P that has stopped, or passed the safe point.
func (w *world) passed() {
	if w.waitFor--; w.waitFor == 0 {
		w.stopper.wake()
	}
}

func (w *world) runSafePoint(p *proc) {
	if p.safePoint {
		p.safePoint = false
		w.passed()
	}
}

// findRunnable finds a goroutine to run, and waits until there is one. inherits reports whether it
// goes on with the time slice, wakes whether another thread must look for work in its place.
func (m *thread) findRunnable() (g *goroutine, inherits, wakes bool) {
	for {
		m.pause()
		if m.stopping {
			m.gcStopM()
			continue
		}
		m.runSafePoint(m.p)
		m.checkTimers()
		if g := m.some(asReader); g != nil && m.once(32) {
			m.traceUnblock(g)
			g.src = reference.SrcTraceReader
			return g, false, true
		}
		if m.marking {
			if g := m.findWorker(); g != nil {
				return g, false, true
			}
		}
		if m.p.schedtick%m.rules.GlobalPoll == 0 && len(m.global) > 0 {
			g := m.globrunqGet(1)
			g.src = reference.SrcGlobalTick
			return g, false, false
		}
		if g, inherits := m.runqGet(); g != nil {
			return g, inherits, false
		}
		m.pause()
		if len(m.global) > 0 {
			return m.globrunqGet(m.rules.GlobalBatchMax), false, false
		}
		if list := m.netpoll(4); len(list) > 0 {
			m.inject(list[1:])
			m.traceUnblock(list[0])
			list[0].src = reference.SrcNetpoll
			return list[0], false, false
		}
		if m.spins || 2*m.spinning < m.procs-len(m.idlePs) {
			if !m.spins {
				m.spins = true
				m.spinning++
			}
			if g, inherits := m.steal(); g != nil {
				return g, inherits, false
			}
		}
		m.pause()
		if m.stopping || m.p.safePoint {
			continue
		}
		if g := m.some(inPool); g != nil && m.marking && m.idleMarks < m.procs && m.once(2) {
			m.idleMarks++
			return m.startWorker(g, "idle"), false, false
		}
		if len(m.global) > 0 {
			return m.globrunqGet(m.rules.GlobalBatchMax), false, false
		}
		if !m.spins && m.needSpinning {
			m.needSpinning, m.spins = false, true
			m.spinning++
			continue
		}
		m.pidlePut(m.releaseP())
		if m.spins {
			m.spins = false
			m.spinning--
			m.pause()
			if p := m.someWork(); p != nil {
				m.acquireP(p)
				m.spins = true
				m.spinning++
				continue
			}
		}
		if g := m.waitForNetwork(); g != nil {
			return g, false, false
		}
	}
}

// someWork returns an idle P if there is work, after m has stopped spinning (checkRunqsNoP).
func (m *thread) someWork() *proc {
	work := len(m.global) > 0
	for _, p := range m.ps[:m.procs] {
		work = work || len(p.runq) > 0
	}
	if !work {
		return nil
	}
	return m.pidleGet()
}

// waitForNetwork waits in the poller, or parks, and returns a goroutine that came from there. Without
// one, m has a P and looks again.
func (m *thread) waitForNetwork() *goroutine {
	if m.polling || len(m.blocked[inNetwork])+len(m.blocked[inSleep]) == 0 {
		m.stopM()
		return nil
	}
	m.polling = true
	m.sleep(m.span())
	m.polling = false
	list := m.netpoll(1)
	p := m.pidleGet()
	if p == nil {
		m.inject(list)
		m.stopM()
		return nil
	}
	m.acquireP(p)
	if len(list) == 0 {
		return nil
	}
	m.inject(list[1:])
	m.traceUnblock(list[0])
	list[0].src = reference.SrcNetpoll
	return list[0]
}

// span is a time for which nothing happens on a thread.
func (w *world) span() int64 { return w.pace << w.choose(14) }

// netpoll returns goroutines for which the network has something, once in so many times.
func (w *world) netpoll(once int) []*goroutine {
	n := len(w.blocked[inNetwork])
	if n == 0 || !w.once(once) {
		return nil
	}
	return w.take(inNetwork, min(1+w.choose(n), w.rules.PollBatch))
}

// inject makes a list of goroutines runnable (injectglist).
func (m *thread) inject(list []*goroutine, stack ...string) {
	if len(list) == 0 {
		return
	}
	for _, g := range list {
		m.traceUnblock(g, stack...)
		m.pause()
	}
	n := len(list)
	if m.p != nil {
		n = min(n, len(m.idlePs))
	}
	m.global = append(m.global, list[:n]...)
	for range n {
		m.pause()
		if p := m.pidleGet(); p != nil {
			m.spinning++
			m.startM(p, true)
		}
	}
	list = list[n:]
	if m.p == nil {
		return
	}
	room := min(len(list), m.rules.RingSize-len(m.p.runq))
	m.p.runq = append(m.p.runq, list[:room]...)
	m.pause()
	m.global = append(m.global, list[room:]...)
	if m.rules.InjectWakes {
		m.wakeP()
	}
}

// ready makes a goroutine runnable on m's P.
func (m *thread) ready(g *goroutine, next bool, stack ...string) {
	m.traceUnblock(g, stack...)
	m.pause()
	m.runqPut(g, next)
	m.wakeP()
}

func (m *thread) checkTimers() {
	for m.once(4) {
		g := m.some(inSleep)
		if g == nil {
			return
		}
		m.ready(g, true)
	}
}

// runqPut puts g into m's run queue.
func (m *thread) runqPut(g *goroutine, next bool) {
	p := m.p
	if m.race && next {
		next = m.once(2)
	}
	if next && !m.rules.NoRunnext {
		if g, p.runnext = p.runnext, g; g == nil {
			return
		}
		m.pause()
	}
	if len(p.runq) < m.rules.RingSize {
		p.runq = append(p.runq, g)
		return
	}
	half := m.rules.RingSize / 2
	batch := append(append([]*goroutine(nil), p.runq[:half]...), g)
	p.runq = append(p.runq[:0], p.runq[half:]...)
	if m.race {
		m.random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	}
	m.pause()
	m.global = append(m.global, batch...)
}

func (m *thread) runqGet() (g *goroutine, inherits bool) {
	p := m.p
	if g := p.runnext; g != nil {
		p.runnext, g.src = nil, reference.SrcRunnext
		return g, true
	}
	if len(p.runq) == 0 {
		return nil, false
	}
	g = p.runq[0]
	p.runq = append(p.runq[:0], p.runq[1:]...)
	g.src = reference.SrcLocal
	return g, false
}

// globrunqGet dequeues a batch from the global queue and returns its first goroutine.
func (m *thread) globrunqGet(most int) *goroutine {
	n := min(m.rules.GlobalBatch(len(m.global), m.procs), most)
	g := m.global[0]
	m.p.runq = append(m.p.runq, m.global[1:n]...)
	m.global = append(m.global[:0], m.global[n:]...)
	g.src = reference.SrcGlobal
	return g
}

// steal looks at the other Ps (stealWork).
func (m *thread) steal() (g *goroutine, inherits bool) {
	for try := range m.rules.StealTries {
		m.pause()
		last := try == m.rules.StealTries-1
		from := m.choose(m.procs)
		for i := range m.procs {
			p := m.ps[(from+i)%m.procs]
			switch {
			case m.stopping:
				return nil, false
			case p == m.p || p.m == nil:
				continue
			}
			if last {
				m.checkTimers()
				if g, inherits := m.runqGet(); g != nil {
					return g, inherits
				}
			}
			if g := m.runqSteal(p, last); g != nil {
				return g, false
			}
		}
	}
	return nil, false
}

func (m *thread) runqSteal(p *proc, runnext bool) *goroutine {
	for {
		n := m.rules.StealBatch(len(p.runq))
		if n == 0 {
			g := p.runnext
			if !runnext || g == nil {
				return nil
			}
			if p.status == pRunning {
				m.sleep(m.rules.StealBackoff)
				if p.runnext != g {
					continue
				}
			}
			p.runnext, g.src = nil, reference.SrcStealRunnext
			return g
		}
		g := p.runq[n-1]
		m.p.runq = append(m.p.runq, p.runq[:n-1]...)
		p.runq = append(p.runq[:0], p.runq[n:]...)
		g.src = reference.SrcSteal
		return g
	}
}

// sysmon retakes Ps from long system calls, requests preemption and polls the network.
func (m *thread) sysmon() {
	for {
		m.sleep(m.rules.SysmonMin << m.choose(8))
		m.inject(m.netpoll(4))
		if p := m.pidleGetIf(len(m.blocked[inSleep]) > 0); p != nil {
			m.startM(p, false)
		}
		for _, p := range m.ps[:m.procs] {
			m.retake(p)
		}
	}
}

func (w *world) pidleGetIf(wanted bool) *proc {
	if !wanted {
		return nil
	}
	return w.pidleGet()
}

func (m *thread) retake(p *proc) {
	if p.status == pIdle {
		return
	}
	switch {
	case p.seen != p.schedtick:
		p.seen, p.seenAt = p.schedtick, m.now
	case m.now-p.seenAt >= m.rules.Slice:
		m.preemptOne(p)
	}
	if p.status != pSyscall {
		return
	}
	if p.seenCall != p.syscalltick {
		p.seenCall = p.syscalltick
		return
	}
	if len(p.runq) == 0 && p.runnext == nil && m.spinning+len(m.idlePs) > 0 && m.once(4) {
		return
	}
	m.stealP(p)
	m.pause()
	m.handoffP(p)
}

// preemptOne asks the goroutine on p to stop.
func (m *thread) preemptOne(p *proc) {
	if p.m == nil || p.m.g == nil || p.status == pSyscall && !m.rules.PreemptsSyscall {
		return
	}
	p.m.g.preempt = true
}
