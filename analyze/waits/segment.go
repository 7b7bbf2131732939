package waits

// Indices of the causes, in the order of [Causes].
const (
	iSTW = iota
	iUnavailable
	iGC
	iWaking
	iMissed
	iBehind
	iOvertaken
	iTracer
	iResidue
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
// what has been summed up for all.
type wait struct {
	gor    int32 // index
	queue  int32 // of the current segment
	target int32 // where it was moved at this instant, if moved
	spill  int32 // further steps, 0: none
	nsteps int32
	idle   culprit // the P that was idle when it last waited so
	slot   uint8   // in queue
	kind   waitKind
	moved  bool
	ready  int64
	from   int64 // start of the current segment
	over   int64 // its order value at from
	mark   mark  // the sums at from
	causes [numCauses]int64
	steps  [inlineSteps]step
}

// mark is what a segment needs to know of its beginning. The sums are those of
// the P whose queue it is, or that is the taker (shares), or those of all Ps
// (poolMark); the two are arrays of one length.
type mark struct {
	clk  clocks // not for a P's queue
	sums shares
}

// enqueue begins a segment of wait wi in queue qi.
func (a *Accumulator) enqueue(wi, qi int32) {
	w := a.wait(wi)
	w.queue, w.from = qi, a.now
	switch {
	case qi == queueDirect:
		a.clk.copyTo(&w.mark.clk)
		return
	case qi < queueDirect:
		a.sharesNow(a.procs[taker(qi)]).copyTo(&w.mark.sums)
		return
	}
	c, q := a.clk.service(), &a.pool.q
	if qi >= 0 {
		p := a.procs[qi]
		q = &p.q
		a.sharesNow(p).copyTo(&w.mark.sums)
	} else {
		a.clk.copyTo(&w.mark.clk)
		a.pool.mark(&w.mark.sums, c)
	}
	g := a.gors.At(w.gor)
	w.slot = a.slotFor(qi, q, g.class)
	if q.len == 0 {
		a.firstComes(qi, q)
	}
	q.count(w.slot, w.kind, 1, c, a.now)
	n := &a.nodes[wi]
	n.seq, n.prio = g.seq, priority(g.seq)
	w.over = insert(a.nodes, &q.root, wi) + a.inProgress(qi, g.seq)
}

// dequeue takes wait wi out of its queue and returns for how long, in ns of the
// Ps that serve it, later ones ran in the segment.
func (a *Accumulator) dequeue(wi int32) (over int64) {
	w := a.wait(wi)
	if w.queue <= queueDirect {
		return 0
	}
	q := &a.pool.q
	if w.queue >= 0 {
		q = &a.procs[w.queue].q
	}
	q.count(w.slot, w.kind, -1, a.clk.service(), a.now)
	return remove(a.nodes, &q.root, wi) + a.inProgress(w.queue, a.nodes[wi].seq) - w.over
}

// inProgress is the part of the runs in progress, on the Ps that serve queue
// qi, that overtakes a goroutine ready at seq.
func (a *Accumulator) inProgress(qi int32, seq int64) int64 {
	if qi < 0 {
		return a.overtakenNow(seq)
	}
	if p := a.procs[qi]; p.state == pRun && p.runSeq > seq {
		return a.clk.service() - p.began
	}
	return 0
}

// closeSegment ends the segment of wait wi and adds its causes. f is the P that
// starts the goroutine now, or whose thread takes it, nil if none does: if f ran
// nothing since it got its thread, then the part of the segment since then is
// its waking up.
func (a *Accumulator) closeSegment(wi int32, f *proc) {
	over := a.dequeue(wi)
	w := a.wait(wi)
	if f != nil && !f.fresh {
		f = nil
	}
	missed := w.causes[iMissed]
	switch {
	case w.from == a.now:
	case w.queue == queueDirect:
		stw := a.clk[modeStopped] - w.mark.clk[modeStopped]
		w.causes[iSTW] += stw
		w.causes[iResidue] += a.now - w.from - stw
	case w.queue < queueDirect:
		p := a.procs[taker(w.queue)]
		unavail := w.causes[iUnavailable]
		a.closeTaken(w, p, f)
		a.chargeHold(a.gors.At(w.gor).class, p.unavail, w.causes[iUnavailable]-unavail, false, p.unavailStack)
	case w.queue >= 0:
		a.closeOwn(w, a.procs[w.queue], f, over, a.nodes[wi].seq)
	default:
		a.closePool(w, f, over, a.nodes[wi].seq)
	}
	if missed = w.causes[iMissed] - missed; missed > 0 {
		w.idle = a.longestIdle()
		a.chargeHold(a.gors.At(w.gor).class, w.idle, missed, false, 0)
	}
}

// closeOwn adds the causes of a segment in the queue of p.
func (a *Accumulator) closeOwn(w *wait, p, f *proc, over, seq int64) {
	now := a.sharesNow(p)
	var d shares
	for i := range d {
		d[i] = now[i] - w.mark.sums[i]
	}
	c := &w.causes
	c[iSTW] += d[shareSTW]
	c[iUnavailable] += d[shareUnavail]
	c[iGC] += d[shareGC]
	if f != nil {
		s, o := d, over
		if f.freshClk.time() > w.from {
			s, o, _ = a.window(p, &f.freshClk, seq)
		}
		for _, i := range [...]share{shareIdle, shareRun, shareTracer, shareResidue} {
			d[i] -= s[i]
			c[iWaking] += s[i]
		}
		over -= o
	}
	c[iMissed] += d[shareIdle]
	c[iBehind] += d[shareRun] - over
	c[iOvertaken] += over
	c[iTracer] += d[shareTracer]
	c[iResidue] += d[shareResidue]
}

// closeTaken adds the causes of a segment in which p's thread had the goroutine.
func (a *Accumulator) closeTaken(w *wait, p, f *proc) {
	now := a.sharesNow(p)
	var d shares
	for i := range d {
		d[i] = now[i] - w.mark.sums[i]
	}
	waking := int64(0)
	if f != nil {
		s := d
		if f.freshClk.time() > w.from {
			s, _, _ = a.window(p, &f.freshClk, 0)
		}
		waking = s[shareIdle] + s[shareRun] + s[shareTracer] + s[shareResidue]
	}
	c := &w.causes
	c[iSTW] += d[shareSTW]
	c[iUnavailable] += d[shareUnavail]
	c[iWaking] += waking
	c[iResidue] += a.now - w.from - d[shareSTW] - d[shareUnavail] - waking
}

// closePool adds the causes of a segment in the global queue.
func (a *Accumulator) closePool(w *wait, f *proc, over, seq int64) {
	end, begin := &a.clk, &w.mark.sums
	var now poolMark
	a.pool.mark(&now, a.clk.service())
	pool := &now
	c := &w.causes
	if f != nil {
		from, was := &w.mark.clk, begin
		if f.freshClk.time() > w.from {
			from, was = &f.freshClk, &f.freshPool
			over -= a.overtakenSince(from, seq)
		} else {
			over = 0
		}
		d := end.minus(from)
		c[iSTW] += d[modeStopped]
		c[iWaking] += d[modeBusy] + d[modeStopping] + d[modeIdle]
		end, pool = from, was
	}
	d := end.minus(&w.mark.clk)
	c[iSTW] += d[modeStopped]
	c[iMissed] += d[modeIdle]
	ns := d.service()
	if ns == 0 {
		return
	}
	var in [numStates]int64
	idle := pool[poolTotal] - begin[poolTotal]
	for s := pUnavail; s < numStates; s++ {
		in[s] = pool[s] - begin[s]
		idle -= in[s]
	}
	over = max(0, min(over, in[pRun])) // the past may be too short for all of over
	ok := divide(ns, &[numCauses]int64{
		iSTW: idle, iUnavailable: in[pUnavail], iGC: in[pGC], iBehind: in[pRun] - over,
		iOvertaken: over, iTracer: in[pTracer], iResidue: in[pSched],
	}, c)
	if !ok {
		c[iResidue] += ns
	}
}

// overtakenSince is the time that goroutines which became runnable after seq
// ran on all usable Ps since a time, as far as the Ps' past is known.
func (a *Accumulator) overtakenSince(at *clocks, seq int64) (over int64) {
	for _, p := range a.procs {
		_, _, o := a.window(p, at, seq)
		over += o
	}
	return over
}

// settleMoves carries out the moves of the instant that ends now.
func (a *Accumulator) settleMoves() {
	for _, wi := range a.moved {
		w := a.wait(wi)
		if !w.moved {
			continue // started, and perhaps waiting for something else already
		}
		w.moved = false
		if w.target != w.queue {
			var f *proc
			if w.target < queueDirect {
				f = a.procs[taker(w.target)]
			}
			a.closeSegment(wi, f)
			a.enqueue(wi, w.target)
		}
	}
	a.moved = a.moved[:0]
}
