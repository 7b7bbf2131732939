package legaltest

import (
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/reference"
)

// action is something that a goroutine does.
type action int

const (
	compute action = iota
	create
	wakeOne
	wakeMany
	block
	gosched
	handOver // a semaphore, and yields to who gets it
	syscall
	readNetwork
	sleep
	exit
	lockThread
	coroutine
	stopTheWorld
	setProcs
	collect
	assist
	annotate
	actions
)

// weight is how often actions happen at most, beside each other.
var weight = [actions]int{
	compute: 16, create: 24, wakeOne: 24, wakeMany: 4, block: 24, gosched: 24, handOver: 8, syscall: 16, readNetwork: 12,
	sleep: 8, exit: 12, lockThread: 1, coroutine: 8, stopTheWorld: 1, setProcs: 1, collect: 2, assist: 8, annotate: 4,
}

// runUser runs m's goroutine until it stops.
func (m *thread) runUser() {
	for m.g != nil {
		m.pause()
		switch g := m.g; {
		case g.kind == worker:
			m.mark()
		case g.kind == advancer:
			m.advance()
		case g.kind == reader:
			m.sleep(m.span())
			m.traceBlock(asReader, "", "runtime.gopark", "runtime.ReadTrace")
		case g.preempt && !m.once(8):
			m.goPreempt("runtime.asyncPreempt", "main.work")
		case g.assists && m.once(2):
			m.event(wire.GCMarkAssistEnd)
			g.assists = false
		case g.assists:
			m.traceBlock(inAssist, "GC mark assist wait for work", "runtime.gopark", "runtime.gcParkAssist", "main.work")
		default:
			m.act(g)
		}
	}
}

func (m *thread) act(g *goroutine) {
	a, x := compute, m.choose(m.total)
	for ; x >= m.weights[a]; a++ {
		x -= m.weights[a]
	}
	switch a {
	case compute:
		m.sleep(m.span())
	case create:
		for n := (1 + m.choose(8)*m.choose(8)) << m.choose(4); n > 0 && len(m.alive) < m.most; n-- {
			m.goCreate(user, "main.worker", "main.create")
		}
	case wakeOne:
		if g := m.some(inProgram); g != nil {
			m.ready(g, true, "runtime.chansend1", "main.send")
		}
	case wakeMany:
		for n := m.choose(512); n > 0 && len(m.blocked[inProgram]) > 0; n-- {
			m.ready(m.some(inProgram), true, "sync.(*Cond).Broadcast", "main.wake")
		}
	case block:
		if g.id != 1 { // so that the program goes on
			m.traceBlock(inProgram, []string{"chan receive", "select", "sync"}[m.choose(3)], "runtime.gopark", "main.receive")
		}
	case gosched:
		g := m.traceStop("runtime.Gosched", "runtime.Gosched", "main.work")
		m.pause()
		m.global = append(m.global, g)
		m.wakeP()
	case handOver:
		if g := m.some(inProgram); g != nil {
			m.ready(g, true, "sync.runtime_Semrelease", "sync.(*Mutex).unlockSlow")
			g = m.traceStop("preempted", "runtime.goyield", "runtime.semrelease1", "sync.runtime_Semrelease")
			m.pause()
			m.runqPut(g, false)
		}
	case syscall:
		m.enterSyscall()
		m.sleep(m.span())
		m.exitSyscall()
	case readNetwork:
		m.traceBlock(inNetwork, "network", "runtime.gopark", "internal/poll.(*FD).Read")
	case sleep:
		m.traceBlock(inSleep, "sleep", "runtime.gopark", "time.Sleep", "main.work")
	case exit:
		m.exit(g)
	case lockThread:
		if g.lockedM != nil {
			m.lockedG, g.lockedM = nil, nil
		} else if g.coro == nil && g.inner == nil {
			m.lockedG, g.lockedM = g, m
		}
	case coroutine:
		m.switchCoroutine(g)
	case stopTheWorld:
		if !m.sema {
			m.sema = true
			m.stopWorld("read mem stats")
			m.startWorld(m.procs)
			m.sema = false
		}
	case setProcs:
		if !m.sema {
			m.sema = true
			m.stopWorld("GOMAXPROCS")
			m.startWorld([]int{1, 2, 3, 4, 8, 16, 64, 1 + m.choose(16)}[m.choose(8)])
			m.sema = false
		}
	case collect:
		if !m.sema && !m.marking {
			m.sema = true
			m.gcStart()
			m.sema = false
		}
	case assist:
		if m.marking {
			m.event(wire.GCMarkAssistBegin, m.out.Stack("runtime.gcAssistAlloc", "main.work"))
			g.assists = true
		}
	case annotate:
		m.annotate(g)
	}
}

func (m *thread) annotate(g *goroutine) {
	name, stack := m.out.String("part"), m.out.Stack("main.work")
	switch m.choose(5) {
	case 0:
		m.event(wire.UserLog, 1, name, name, stack)
	case 1:
		m.event(wire.HeapAlloc, uint64(m.now))
	case 2:
		m.event(wire.GCSweepBegin, stack)
		m.event(wire.GCSweepEnd, 8192, 0)
	case 3:
		kind := byte(wire.UserRegionBegin)
		if g.region {
			kind = wire.UserRegionEnd
		}
		g.region = !g.region
		m.event(kind, 1, name, stack)
	case 4:
		task := uint64(g.id)
		m.event(wire.UserTaskBegin, task, 0, name, stack)
		m.event(wire.UserTaskEnd, task, stack)
	}
}

// goCreate makes a goroutine and its P runs it next.
func (m *thread) goCreate(k kind, start string, stack ...string) *goroutine {
	g := m.newG(k, gRunnable)
	m.event(wire.GoCreate, uint64(g.id), m.out.Stack(start), m.out.Stack(stack...))
	m.pause()
	m.runqPut(g, true)
	m.wakeP()
	return g
}

func (m *thread) exit(g *goroutine) {
	switch {
	case g.id == 1:
		return
	case g.coro != nil:
		m.goSwitch(g, g.coro, wire.GoSwitchDestroy)
		return
	}
	m.event(wire.GoDestroy)
	m.world.remove(g)
	m.g = nil
	if g.lockedM != nil { // the thread ends with it
		m.lockedG = nil
		m.pause()
		m.handoffP(m.releaseP())
		m.park()
	}
}

// goPreempt has m's goroutine make way for others (gopreempt_m).
func (m *thread) goPreempt(stack ...string) {
	g := m.traceStop("preempted", stack...)
	m.pause()
	if m.stopping && m.rules.STWKeepsRunnext {
		m.runqPut(g, true)
	} else {
		m.global = append(m.global, g)
	}
	m.wakeP()
}

// switchCoroutine makes a coroutine, or switches to the one that there is, or back.
func (m *thread) switchCoroutine(g *goroutine) {
	switch {
	case m.rules.TraceFormat < 23 || g.lockedM != nil:
	case g.coro != nil && m.once(2):
		m.goSwitch(g, g.coro, wire.GoSwitch)
	case g.inner == nil || g.inner.waits == nil:
		inner := m.newG(user, gWaiting)
		inner.coro = &coro{waits: inner}
		g.inner = inner.coro
		m.event(wire.GoCreateBlocked, uint64(inner.id), m.out.Stack("runtime.corostart"), m.out.Stack("iter.Pull", "main.work"))
	default:
		m.goSwitch(g, g.inner, wire.GoSwitch)
	}
}

// goSwitch runs what waits in a coroutine, and has g wait there (coroswitch), or end.
func (m *thread) goSwitch(g *goroutine, c *coro, kind byte) {
	to := c.waits
	m.announceG(to)
	to.seq++
	m.event(kind, uint64(to.id), to.seq)
	if c.waits = g; kind == wire.GoSwitchDestroy {
		c.waits = nil
		m.world.remove(g)
	}
	m.starts = append(m.starts, Start{to.id, reference.SrcCoroutine})
	g.status, g.m = gWaiting, nil
	to.status, to.m, m.g = gRunning, m, to
}

func (m *thread) enterSyscall() {
	p := m.p
	m.announceP(p)
	p.seq++
	m.event(wire.GoSyscallBegin, p.seq, m.out.Stack("syscall.Syscall", "main.work"))
	m.g.status, p.status = gSyscall, pSyscall
	if p.safePoint {
		m.runSafePoint(p)
	}
	switch {
	case m.stopping:
		m.stealP(p)
		m.passed()
	case m.once(8): // it knows that it blocks (entersyscallblock)
		p.syscalltick++
		m.handoffP(m.releaseP())
	}
}

func (m *thread) exitSyscall() {
	g := m.g
	if p := m.p; p != nil {
		m.event(wire.GoSyscallEnd)
		g.status, p.status = gRunning, pRunning
		p.syscalltick++
		return
	}
	g.src = reference.SrcSyscallExit
	if p := m.pidleGet(); p != nil {
		m.acquireP(p)
		m.event(wire.GoSyscallEndBlocked)
		m.traceStart(g)
		p.syscalltick++
		return
	}
	m.event(wire.GoSyscallEndBlocked)
	g.status, g.m, m.g = gRunnable, nil, nil
	m.pause()
	p := m.pidleGet()
	switch {
	case p != nil:
		m.acquireP(p)
		m.execute(g, false)
	case g.lockedM != nil: // as for others, but its thread has to wait for it
		m.global = append(m.global, g)
	default:
		m.global = append(m.global, g)
		m.stopM()
	}
}

// callBack is what a thread of C does that calls Go now and then (needm, cgocallback, dropm).
func (m *thread) callBack() {
	for {
		m.sleep(m.span())
		g := m.newG(user, gSyscall)
		m.event(wire.GoCreateSyscall, uint64(g.id))
		m.g, g.m, g.lockedM, m.lockedG = g, m, m, g
		m.exitSyscall()
		for m.g == nil { // it has no P yet
			m.stopLockedM()
			m.execute(g, false)
		}
		m.sleep(m.span())
		m.enterSyscall()
		m.pause()
		m.event(wire.GoDestroySyscall)
		m.world.remove(g)
		m.g, g.m, g.lockedM, m.lockedG = nil, nil, nil, nil
		if p := m.p; p != nil { // sysmon finds it, and no thread
			m.p, p.m = nil, nil
		}
	}
}
