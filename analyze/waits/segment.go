package waits

import "github.com/gmpscope/gmpscope/reference"

// Indices of the causes, in the order of [Causes].
const (
	iSTW = iota
	iUnavailable
	iGC
	iPWakingUp
	iIdlePAvailable
	iQueueing
	iOvertaken
	iTracer
	iOverhead
	numCauses
)

// Queues that belong to no P. A queue is otherwise the index of its P.
const (
	queuePool   = int32(-1) // the global queue; also where the queue is unknown
	queueDirect = int32(-2) // none
)

// takenBy stands for no queue, but the thread of P pi: it and all below are
// such. taker is the P.
func takenBy(pi int32) int32  { return queueDirect - 1 - pi }
func taker(queue int32) int32 { return queueDirect - 1 - queue }

// wait is a goroutine that waits now. Its time is a sequence of segments, each
// spent in one queue; a segment costs only at its two ends, by differences of
// what has been summed up for all. It is two cache lines long.
type wait struct {
	ready    int64
	from     int64   // start of the current segment
	over     int64   // its order value at from
	gor      int32   // index
	queue    int32   // of the current segment
	target   int32   // where it was moved at this instant, if moved
	nextFree int32   // if it is over
	more     int32   // index in mores, 0: it was not moved yet
	idle     culprit // the P that was idle when it last waited so
	p        int32   // of its first step
	nsteps   int32
	slot     uint8 // in queue
	kind     Kind
	moved    bool
	to       reference.Queue // of its first step
	why      reference.Why   // of the same
	mark     mark            // the sums at from
}

// mark is what a segment needs to know of its beginning: shares of the P whose
// queue it is, or that is the taker; a poolMark; or, without a queue, only the
// clock of the stopped world, under markStopped.
type mark = shares

// A poolMark has the clocks of two modes in places that it does not need itself.
// That of the two others together follows, as all of them sum to the time.
const (
	markIdle    = pIdle
	markStopped = poolTotal + 1
)

// enqueue begins a segment of wait wi, which is w of goroutine g, in queue qi.
func (m *machine) enqueue(wi int32, w *wait, g *goroutine, qi int32) {
	w.queue, w.from = qi, m.now
	switch {
	case qi >= 0:
		p := m.procs[qi]
		m.clk.sharesNow(p, &w.mark)
		w.slot = m.slotFor(qi, &p.q, g.class)
		p.q.use(w.slot, w.kind)
		p.q.count(w.slot, w.kind, 1, m.holdClock(p))
		w.over = p.q.order.insert(m.nodes, wi, g.seq) + m.clk.inProgress(p, g.seq)
	case qi == queuePool:
		b, c := &m.pool, m.clk.service()
		b.mark(&w.mark, c)
		w.mark[markIdle], w.mark[markStopped] = m.clk[modeIdle], m.clk[modeStopped]
		w.slot = m.slotFor(qi, &b.q, g.class)
		if b.q.len == 0 {
			m.firstInPool()
		}
		b.q.use(w.slot, w.kind)
		m.countInPool(w, 1, c)
		w.over = b.q.order.insert(m.nodes, wi, g.seq) + m.overtakenNow(g.seq)
	case qi == queueDirect:
		w.mark[markStopped] = m.clk[modeStopped]
	default:
		m.clk.sharesNow(m.procs[taker(qi)], &w.mark)
	}
}

// dequeue removes wait wi, which is w of a goroutine ready at seq, from its queue and
// returns for how long, in ns of the Ps that serve it, later ones ran in the segment, and
// the P whose queue it is, if it is one's.
func (m *machine) dequeue(wi int32, w *wait, seq int64) (over int64, p *proc) {
	switch {
	case w.queue >= 0:
		p := m.procs[w.queue]
		p.q.count(w.slot, w.kind, -1, m.holdClock(p))
		return p.q.order.remove(m.nodes, wi) + m.clk.inProgress(p, seq) - w.over, p
	case w.queue == queuePool:
		m.countInPool(w, -1, m.clk.service())
		return m.pool.q.order.remove(m.nodes, wi) + m.overtakenNow(seq) - w.over, nil
	}
	return 0, nil
}

// holdClock is what the integrals of p's queue go by.
func (m *machine) holdClock(p *proc) int64 {
	if p.state == pRun {
		return m.clk.service()
	}
	return m.now
}

// countInPool adds d goroutines to those in the global queue, as w is.
func (m *machine) countInPool(w *wait, d, c int64) {
	m.pool.q.count(w.slot, w.kind, d, c)
	if m.mode == modeStopped {
		m.pool.stopped[w.slot] -= d * m.now
	}
}

// inProgress is the part of p's run in progress that overtakes a goroutine ready at
// seq.
func (c *clocks) inProgress(p *proc, seq int64) int64 {
	if p.state == pRun && p.runSeq > seq {
		return c.service() - p.began
	}
	return 0
}

// closeSegment ends the segment of wait wi, which is w of goroutine g, and adds its
// causes to c. f is the P that starts the goroutine now, or whose thread takes it,
// nil if none does: if f ran nothing since it got its thread, then the part of the
// segment since then is its waking up.
func (a *Accumulator) closeSegment(wi int32, w *wait, g *goroutine, f *proc, c *[numCauses]int64) {
	over, p := a.dequeue(wi, w, g.seq)
	if w.from == a.now {
		return
	}
	if f != nil && !f.fresh {
		f = nil
	}
	missed, unavail := c[iIdlePAvailable], c[iUnavailable]
	if a.focus != nil {
		missed, unavail = a.closeInWindow(wi, w, p, f, over, g.seq, c)
	} else {
		a.segmentCauses(w, p, f, over, g.seq, c)
		missed, unavail = c[iIdlePAvailable]-missed, c[iUnavailable]-unavail
	}
	if w.queue < queueDirect {
		p = a.procs[taker(w.queue)]
		a.chargeHold(g.class, p.unavail, unavail, false, p.stack)
	}
	if missed > 0 {
		w.idle = a.longestIdle()
		a.chargeHold(g.class, w.idle, missed, false, 0)
	}
}

// segmentCauses adds the causes of the segment of w so far, as closeSegment does. p is
// the P in whose queue it is, if it is one's.
func (m *machine) segmentCauses(w *wait, p, f *proc, over, seq int64, c *[numCauses]int64) {
	switch {
	case p != nil:
		m.clk.closeOwn(w, p, f, over, seq, c)
	case w.queue == queuePool:
		m.closePool(w, f, over, seq, c)
	case w.queue == queueDirect:
		stw := m.clk[modeStopped] - w.mark[markStopped]
		c[iSTW] += stw
		c[iOverhead] += m.now - w.from - stw
	default:
		m.closeTaken(w, m.procs[taker(w.queue)], f, c)
	}
}

// closeOwn adds the causes of a segment in the queue of p.
func (c *clocks) closeOwn(w *wait, p, f *proc, over, seq int64, causes *[numCauses]int64) {
	c.causesSince(p, &w.mark, causes)
	if f != nil {
		over -= c.wakingSince(w, p, f, over, seq, causes)
	}
	causes[iQueueing] -= over
	causes[iOvertaken] += over
}

// wakingSince turns that part of such a segment, all of which is in causes already, into
// waking which f spent so. It returns its part of over.
func (c *clocks) wakingSince(w *wait, p, f *proc, over, seq int64, causes *[numCauses]int64) int64 {
	var s shares
	if f.freshClk.time() > w.from {
		s, over, _ = c.window(p, &f.freshClk, seq)
	} else {
		c.sharesSince(p, &w.mark, &s)
	}
	for _, i := range [...]share{shareIdle, shareRun, shareTracer, shareOverhead} {
		causes[causeOf[i]] -= s[i]
		causes[iPWakingUp] += s[i]
	}
	return over
}

// closeTaken adds the causes of a segment in which p's thread had the goroutine.
func (m *machine) closeTaken(w *wait, p, f *proc, c *[numCauses]int64) {
	var d shares
	m.clk.sharesSince(p, &w.mark, &d)
	waking := int64(0)
	if f != nil {
		s := d
		if f.freshClk.time() > w.from {
			s, _, _ = m.clk.window(p, &f.freshClk, 0)
		}
		waking = s[shareIdle] + s[shareRun] + s[shareTracer] + s[shareOverhead]
	}
	c[iSTW] += d[shareSTW]
	c[iUnavailable] += d[shareUnavail]
	c[iPWakingUp] += waking
	c[iOverhead] += m.now - w.from - d[shareSTW] - d[shareUnavail] - waking
}

// closePool adds the causes of a segment in the global queue.
func (m *machine) closePool(w *wait, f *proc, over, seq int64, c *[numCauses]int64) {
	begin := &w.mark
	end, stopped, idle := m.now, m.clk[modeStopped], m.clk[modeIdle]
	var now poolMark
	pool := &now
	switch {
	case f == nil:
		m.pool.mark(pool, m.clk.service())
	case f.freshClk.time() > w.from:
		at := &f.freshClk
		s := stopped - at[modeStopped]
		c[iSTW] += s
		c[iPWakingUp] += end - at.time() - s
		for _, p := range m.procs { // what later ones ran since then, as far as the Ps' past is known
			_, _, o := m.clk.window(p, at, seq)
			over -= o
		}
		end, stopped, idle, pool = at.time(), at[modeStopped], at[modeIdle], &f.freshPool
	default: // all of it
		s := stopped - begin[markStopped]
		c[iSTW] += s
		c[iPWakingUp] += end - w.from - s
		return
	}
	stopped -= begin[markStopped]
	idle -= begin[markIdle]
	c[iSTW] += stopped
	c[iIdlePAvailable] += idle
	ns := end - w.from - stopped - idle
	if ns == 0 {
		return
	}
	var in [numStates]int64
	rest := pool[poolTotal] - begin[poolTotal]
	for s := pUnavail; s < numStates; s++ {
		in[s] = pool[s] - begin[s]
		rest -= in[s]
	}
	over = max(0, min(over, in[pRun])) // the past may be too short for all of over
	ok := divide(ns, &[numCauses]int64{
		iSTW: rest, iUnavailable: in[pUnavail], iGC: in[pGC], iQueueing: in[pRun] - over,
		iOvertaken: over, iTracer: in[pTracer], iOverhead: in[pSched],
	}, c)
	if !ok {
		c[iOverhead] += ns
	}
}

// settleMoves carries out the moves of the instant that ends now.
func (a *Accumulator) settleMoves() {
	for _, wi := range a.moved {
		w := a.waits.At(wi)
		if !w.moved {
			continue // started, and perhaps waiting for something else already
		}
		w.moved = false
		if w.target != w.queue {
			var f *proc
			if w.target < queueDirect {
				f = a.procs[taker(w.target)]
			}
			g := a.gors.At(w.gor)
			a.closeSegment(wi, w, g, f, &a.more(w).causes)
			a.enqueue(wi, w, g, w.target)
		}
	}
	a.moved = a.moved[:0]
}
