package waits

import "github.com/gmpscope/gmpscope/analyze/ids"

// pstate is what a P does, as those in its queue see it.
type pstate uint8

const (
	pIdle    pstate = iota // no thread: found no work, stopped, or retaken and not yet given on
	pUnavail               // its goroutine is in a system call, or it is being handed to a locked thread
	pGC                    // runs a mark worker
	pTracer                // runs one of the tracer's goroutines
	pRun                   // runs any other goroutine
	pSched                 // has a thread, but runs no goroutine
	numStates
)

// running reports whether a P in this state runs a goroutine.
func (s pstate) running() bool { return s-pGC <= pRun-pGC }

// share is a cause as far as the state of one P and the mode of the world
// decide it. The time under shareRun is split by order into queueing and
// overtaken; that under shareIdle into waking and missed. While no P is idle and
// the world runs, the share of a state has the number of that state.
type share uint8

const (
	shareIdle share = iota
	shareUnavail
	shareGC
	shareTracer
	shareRun
	shareOverhead
	shareSTW
)

// shares is time by share. It has one more entry than there are shares, so that
// an index that is masked needs no check.
type shares [8]int64

// shareOf is the precedence of the causes, as the comment of the package has it: the first
// that holds at an instant owns it. A P without
// a thread counts as stopped as soon as a stop-the-world has begun
// (stopTheWorldWithSema takes the idle Ps at once).
var shareOf = [8][numModes]share{
	//        busy          idle          stopping      stopped
	pIdle:    {shareOverhead, shareIdle, shareSTW, shareSTW},
	pUnavail: {shareUnavail, shareUnavail, shareUnavail, shareSTW},
	pGC:      {shareGC, shareGC, shareGC, shareSTW},
	pTracer:  {shareTracer, shareIdle, shareTracer, shareSTW},
	pRun:     {shareRun, shareIdle, shareRun, shareSTW},
	pSched:   {shareOverhead, shareIdle, shareOverhead, shareSTW},
}

// causeOf is the cause that owns the time under a share, if no part of it is another's.
var causeOf = [8]uint8{
	shareIdle: iIdlePAvailable, shareUnavail: iUnavailable, shareGC: iGC, shareTracer: iTracer,
	shareRun: iQueueing, shareOverhead: iOverhead, shareSTW: iSTW,
}

// add adds the time of a P in state st between two readings of the clocks.
func (s *shares) add(st pstate, from, to *clocks) {
	of := &shareOf[st]
	for m := range to {
		s[of[m]&7] += to[m] - from[m]
	}
}

// turn goes on from a state of a P to another, at a reading of the clocks: what s
// lacks is from then on what the clocks are by the shares of the new one. In the
// stopped world all states have the same.
func (s *shares) turn(from, to pstate, at *clocks) {
	was, is := &shareOf[from&7], &shareOf[to&7]
	s[was[modeBusy]&7] += at[modeBusy]
	s[is[modeBusy]&7] -= at[modeBusy]
	s[was[modeIdle]&7] += at[modeIdle]
	s[is[modeIdle]&7] -= at[modeIdle]
	s[was[modeStopping]&7] += at[modeStopping]
	s[is[modeStopping]&7] -= at[modeStopping]
}

// proc is a P.
//
// OPT: what an interval copies lies apart, or in another order than there: else the compiler
// makes one load of two, which has to wait until what was just written is through.
type proc struct {
	id         int32
	index      int32   // in Accumulator.procs
	runSeq     int64   // of the goroutine that it runs, or ran last
	runG       int64   // its id
	runClass   int32   // index
	last       int32   // its own index, which may be another's by now
	hold       culprit // keeps it from running anyone; 0: nothing that is shown
	unavail    culprit // while pUnavail: why
	stack      int32   // of the last system call
	state      pstate
	fresh      bool   // got a thread and ran no goroutine since
	usable     bool   // below GOMAXPROCS
	base       shares // its time, less what the clocks are by the share that its state makes of each
	began      int64  // service clock when it came into its state
	runFrom    int64  // time
	servesFrom int64  // service clock when it began to run it as a usable P
	runPos     int32  // position in Accumulator.running, or none

	// When it got its thread.
	freshClk  clocks
	freshPool poolMark

	q      queue
	poolAt queueReading // of the global queue, when the run or the hold began
	past   ring

	inPending          bool // in Accumulator.poolPending
	idle               bool // in the list of idle Ps
	idlePrev, idleNext int32
}

const none = ids.None

// proc returns P id, nil if there is no such P or there are too many.
func (m *machine) proc(id int32) *proc {
	p := m.nearProc(id)
	if p == nil {
		p = m.farProc(id)
	}
	return p
}

// nearProc is proc for a P that is found by its id, else it returns nil. It is inlined.
func (m *machine) nearProc(id int32) *proc {
	if uint(id) < uint(len(m.procOf)) {
		return m.procOf[id]
	}
	return nil
}

// farProc is proc for a P that is new, or not found by index.
func (m *machine) farProc(id int32) *proc {
	if id < 0 {
		return nil
	}
	if p := m.procFar[id]; p != nil {
		return p
	}
	if len(m.procs) >= maxProcs {
		return nil
	}
	p := &proc{id: id, index: int32(len(m.procs)), began: m.clk.service(), runPos: none}
	p.usable = !m.procsKnown || int64(id) < m.usable
	if int(id) < nearProcs {
		for int(id) >= len(m.procOf) {
			m.procOf = append(m.procOf, nil)
		}
		m.procOf[id] = p
	} else {
		m.procFar[id] = p
	}
	p.base.add(p.state, &m.clk, &clocks{})
	p.past.init()
	p.q.init()
	m.procs = append(m.procs, p)
	if p.usable {
		m.seen++
	}
	m.joinIdle(p)
	m.beginHold(p)
	if !m.procsKnown {
		m.foldPool()
		m.setUsable(m.usable + 1)
		m.updateMode()
	}
	m.record(p)
	return p
}

// sharesNow stores p's time by share up to now.
//
// OPT: entry by entry, as they were written: a wider load, of several at once, would
// have to wait until all those writes are through.
func (c *clocks) sharesNow(p *proc, to *shares) {
	b := &p.base
	to[0], to[1], to[2], to[3] = b[0], b[1], b[2], b[3]
	to[4], to[5], to[6], to[7] = b[4], b[5], b[6], b[7]
	to.addClocks(p.state, c)
}

// sharesSince stores what p's time by share has grown by since a mark.
func (c *clocks) sharesSince(p *proc, m *mark, to *shares) {
	b := &p.base
	to[0], to[1], to[2], to[3] = b[0]-m[0], b[1]-m[1], b[2]-m[2], b[3]-m[3]
	to[4], to[5], to[6], to[7] = b[4]-m[4], b[5]-m[5], b[6]-m[6], 0 // of no share
	to.addClocks(p.state, c)
}

// causesSince adds what p's time by share has grown by since a mark to the causes.
func (c *clocks) causesSince(p *proc, m *mark, causes *[numCauses]int64) {
	b, of := &p.base, &shareOf[p.state&7]
	causes[iIdlePAvailable] += b[shareIdle] - m[shareIdle]
	causes[iUnavailable] += b[shareUnavail] - m[shareUnavail]
	causes[iGC] += b[shareGC] - m[shareGC]
	causes[iTracer] += b[shareTracer] - m[shareTracer]
	causes[iQueueing] += b[shareRun] - m[shareRun]
	causes[iOverhead] += b[shareOverhead] - m[shareOverhead]
	causes[iSTW] += b[shareSTW] - m[shareSTW] + c[modeStopped]
	causes[causeOf[of[modeBusy]&7]] += c[modeBusy]
	causes[causeOf[of[modeIdle]&7]] += c[modeIdle]
	causes[causeOf[of[modeStopping]&7]] += c[modeStopping]
}

// addClocks adds what a P's base lacks.
func (s *shares) addClocks(st pstate, c *clocks) {
	of := &shareOf[st&7]
	s[of[modeBusy]&7] += c[modeBusy]
	s[of[modeIdle]&7] += c[modeIdle]
	s[of[modeStopping]&7] += c[modeStopping]
	s[shareSTW] += c[modeStopped] // in any state
}

// runner is the index of the goroutine that p runs, or 0.
func (p *proc) runner() int32 {
	if p.state.running() {
		return p.last
	}
	return 0
}

// enter puts p into a state because of a decision about it. Where it runs a
// goroutine from here on, that is g; else g is nil.
func (m *machine) enter(p *proc, st pstate, g *goroutine) {
	c, from := m.clk.service(), p.state
	switch from {
	case pRun:
		m.endRun(p, c)
	case pUnavail, pGC:
		m.endHold(p)
	case pIdle:
		m.endIdle(p)
	}
	p.base.turn(from, st, &m.clk)
	if p.usable {
		m.pool.turn(from, st, c)
		if from == pIdle || st == pIdle {
			m.countBusy(from, st)
		}
	}
	p.began, p.state = c, st
	if g != nil {
		p.last, p.runG, p.runSeq, p.runClass, p.runFrom = g.slot, g.id, g.seq, g.class, m.now
	}
	switch st {
	case pRun:
		m.beginRun(p, c)
	case pIdle, pUnavail, pGC:
		m.joinIdle(p)
		m.beginHold(p)
	}
	m.record(p)
}

// takeUp is enter for a P that is in its scheduler, or unavailable, and goes on to run
// a goroutine of the program. Nearly all changes are such, or the reverse.
func (m *machine) takeUp(p *proc, g *goroutine) {
	c := m.clk.service()
	if p.state == pUnavail {
		m.endHold(p)
		p.base[shareUnavail] += m.clk[modeIdle]
		p.base[shareIdle] -= m.clk[modeIdle]
	}
	m.serveOn(p, p.state, pRun, c)
	p.last, p.runG, p.runSeq, p.runClass, p.runFrom = g.slot, g.id, g.seq, g.class, m.now
	m.beginRun(p, c)
	m.record(p)
}

// putDown is the reverse of takeUp.
func (m *machine) putDown(p *proc, st pstate) {
	c := m.clk.service()
	m.endRun(p, c)
	m.serveOn(p, pRun, st, c)
	if st == pUnavail {
		p.base[shareIdle] += m.clk[modeIdle]
		p.base[shareUnavail] -= m.clk[modeIdle]
		m.beginHold(p)
	}
	m.record(p)
}

// serveOn goes on from a state of p to another, at service clock c, as far as that
// clock is concerned. It is inlined.
func (m *machine) serveOn(p *proc, from, to pstate, c int64) {
	p.base[from&7] += c
	p.base[to&7] -= c
	if p.usable {
		m.pool.turn(from, to, c)
	}
	p.began, p.state = c, to
}

// endIdle ends what there may be while p is idle.
func (m *machine) endIdle(p *proc) {
	if m.stopper == p {
		m.stopper = nil
	}
	m.endHold(p)
	m.leaveIdle(p)
}

// countBusy follows a usable P from one state to another.
func (m *machine) countBusy(from, to pstate) {
	if from == pIdle {
		m.busy++
	}
	if to == pIdle {
		m.busy--
	}
	m.updateMode()
}

// beginRun begins a run interval of p, at service clock c.
func (m *machine) beginRun(p *proc, c int64) {
	p.q.begin(c)
	if p.usable {
		m.beginServing(p, c)
	}
}

// endRun ends the run interval of p, at service clock c.
func (m *machine) endRun(p *proc, c int64) {
	if p.q.used != 0 {
		m.notifyQueue(p, c)
	}
	if p.runPos != none {
		m.endServing(p, c)
	}
}

// notifyQueue notifies those who wait in p's queue that p's run interval ends, at service
// clock c: who became runnable before the goroutine that ran was overtaken, and all
// waited under it.
func (m *machine) notifyQueue(p *proc, c int64) {
	q := &p.q
	if q.len > 0 {
		q.order.addBefore(m.nodes, p.runSeq, c-p.began)
	}
	for s := q.used &^ kindSlots; s != 0; s &= s - 1 {
		i := s.first()
		m.charge(q.class[i], p.runClass, q.slots[i].at(c), false)
	}
	if m.now-p.runFrom > m.opt.SliceNs {
		m.longRun(q, &integrals{}, c, false)
	}
}
