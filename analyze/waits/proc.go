package waits

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

// share is a cause as far as the state of one P and the mode of the world
// decide it. The time under shareRun is split by order into behind and
// overtaken; that under shareIdle into waking and missed.
type share uint8

const (
	shareSTW share = iota
	shareUnavail
	shareGC
	shareIdle
	shareRun
	shareTracer
	shareResidue
)

// shares is time by share. It has one more entry than there are shares, so that
// an index that is masked needs no check.
type shares [8]int64

// shareOf is the precedence of the causes in detectors.md, "the decomposition
// behind all of them": the first that holds at an instant owns it. A P without
// a thread counts as stopped as soon as a stop-the-world has begun
// (stopTheWorldWithSema takes the idle Ps at once).
var shareOf = [numStates][numModes]share{
	//        busy          idle          stopping      stopped
	pIdle:    {shareResidue, shareIdle, shareSTW, shareSTW},
	pUnavail: {shareUnavail, shareUnavail, shareUnavail, shareSTW},
	pGC:      {shareGC, shareGC, shareGC, shareSTW},
	pTracer:  {shareTracer, shareIdle, shareTracer, shareSTW},
	pRun:     {shareRun, shareIdle, shareRun, shareSTW},
	pSched:   {shareResidue, shareIdle, shareResidue, shareSTW},
}

// add adds the time of a P in state st between two readings of the clocks.
func (s *shares) add(st pstate, from, to *clocks) {
	of := &shareOf[st]
	for m := range to {
		s[of[m]&7] += to[m] - from[m]
	}
}

// since is what s has more than before.
func (s *shares) since(before *shares) shares {
	return shares{
		s[0] - before[0], s[1] - before[1], s[2] - before[2], s[3] - before[3],
		s[4] - before[4], s[5] - before[5], s[6] - before[6], s[7] - before[7],
	}
}

// copyTo copies s entry by entry.
//
// OPT: the entries were just written one by one, and a wider load, which copies
// several of them, would have to wait until all those writes are through. The
// same holds for clocks.
func (s *shares) copyTo(to *shares) {
	to[0], to[1], to[2], to[3] = s[0], s[1], s[2], s[3]
	to[4], to[5], to[6], to[7] = s[4], s[5], s[6], s[7]
}

// proc is a P.
type proc struct {
	id     int32
	usable bool
	state  pstate
	fresh  bool   // got a thread and ran no goroutine since
	own    shares // its time up to upTo
	upTo   clocks
	upToNs int64 // the same as a time
	began  int64 // service clock when it came into its state

	// The goroutine that it runs, or runs last.
	runner       int32 // index; 0: none
	runClass     int32
	runSeq       int64
	runG         int64
	last         int32   // index of the goroutine that ran last, which may be another's by now
	runFrom      int64   // time
	unavail      culprit // while pUnavail: why
	unavailStack int32   // of its system call
	hold         culprit // keeps it from running anyone; 0: nothing that is told
	runPos       int32   // position in Accumulator.running, or none
	servesFrom   int64   // service clock when it began to run it as a usable P

	// When it got its thread.
	freshClk  clocks
	freshPool poolMark

	q      queue
	ownAt  reading // of q, when the run began
	poolAt reading // of the global queue, when the run or the hold began
	heldAt reading // of q by the time, when the hold began
	past   ring

	inPending          bool // in Accumulator.poolPending
	idle               bool // in the list of idle Ps
	idlePrev, idleNext int32
}

const none = int32(-1)

// proc returns the index of P id, none if there is no such P or there are too
// many.
func (a *Accumulator) proc(id int32) int32 {
	if uint32(id) < uint32(len(a.procOf)) {
		if i := a.procOf[id]; i > 0 {
			return i - 1
		}
	}
	return a.farProc(id)
}

// farProc is proc for a P that is new, or not found by index.
func (a *Accumulator) farProc(id int32) int32 {
	if id < 0 {
		return none
	}
	if i, ok := a.procFar[id]; ok {
		return i
	}
	if len(a.procs) >= maxProcs {
		return none
	}
	i := int32(len(a.procs))
	if int(id) < nearProcs {
		for int(id) >= len(a.procOf) {
			a.procOf = append(a.procOf, 0)
		}
		a.procOf[id] = i + 1
	} else {
		a.procFar[id] = i
	}
	p := &proc{id: id, upTo: a.clk, upToNs: a.now, began: a.clk.service(), runPos: none, usable: !a.procsKnown || int64(id) < a.usable}
	p.q.init()
	a.procs = append(a.procs, p)
	if p.usable {
		a.seen++
	}
	a.joinIdle(i, p)
	a.beginHold(i, p)
	if !a.procsKnown {
		a.foldPool()
		a.usable++
		a.updateMode()
	}
	a.record(i, p)
	return i
}

// sharesNow is p's time by share up to now. It is valid until the time goes on.
func (a *Accumulator) sharesNow(p *proc) *shares {
	if p.upToNs < a.modeSince {
		a.sharesAcross(p)
	} else { // all of the time since then is of one mode
		p.own[shareOf[p.state][a.mode]&7] += a.now - p.upToNs
		p.upTo[a.mode] = a.clk[a.mode]
		p.upToNs = a.now
	}
	return &p.own
}

// sharesAcross is for a time in which the mode has changed.
func (a *Accumulator) sharesAcross(p *proc) {
	p.own.add(p.state, &p.upTo, &a.clk)
	a.clk.copyTo(&p.upTo)
	p.upToNs = a.now
}

// enter puts P pi into a state because of a decision about it. Where it runs a
// goroutine from here on, that is g, of index gi; else gi is 0.
func (a *Accumulator) enter(pi int32, st pstate, gi int32, g *goroutine) {
	if a.stopper == pi {
		a.stopper = none
	}
	busy := a.busy
	a.switchTo(pi, st, gi, g)
	if a.busy != busy {
		a.updateMode()
	}
}

// switchTo ends the state of P pi and begins st, with goroutine gi, which is g.
func (a *Accumulator) switchTo(pi int32, st pstate, gi int32, g *goroutine) {
	p := a.procs[pi]
	c := a.clk.service()
	a.sharesNow(p)
	if p.hold != 0 {
		a.endHold(p)
	}
	if p.idle {
		a.leaveIdle(pi, p)
	}
	if p.state == pRun {
		a.endRun(p, c)
		if p.usable {
			a.endServing(p, c)
		}
	}
	if p.usable {
		b := &a.pool
		b.n[p.state]--
		b.base[p.state] += c
		b.n[st]++
		b.base[st] -= c
		if p.state == pIdle {
			a.busy++
		}
		if st == pIdle {
			a.busy--
		}
	}
	p.began, p.state, p.runner = c, st, gi
	if gi != 0 {
		p.last, p.runG, p.runSeq, p.runClass, p.runFrom = gi, g.id, g.seq, g.class, a.now
	}
	switch st {
	case pRun:
		p.ownAt.read(&p.q, c)
		if p.usable {
			a.beginServing(pi, p, c)
		}
	case pSched, pTracer: // nothing is told that keeps the P
	default:
		a.joinIdle(pi, p)
		a.beginHold(pi, p)
	}
	a.record(pi, p)
}

// endRun tells those who wait in p's queue that p's run interval ends, at service
// clock c: who became runnable before the goroutine that ran was overtaken.
func (a *Accumulator) endRun(p *proc, c int64) {
	if p.q.len > 0 {
		p.q.order.addBefore(a.nodes, p.runSeq, c-p.began)
	}
	if !p.ownAt.pending {
		a.credit(&p.q, &p.ownAt, p.runClass, c, a.now-p.runFrom > a.opt.SliceNs, false)
	}
}
