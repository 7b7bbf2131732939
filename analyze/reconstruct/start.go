package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// nearby is how far apart two puts on different threads may be whose order in
// the queue differs from that of their events, in ns.
const nearby = 20_000

// start judges a goroutine's start: where it was taken from.
func (r *Reconstructor) start(it *item, g *goroutine) {
	e := &it.ev
	wait := int64(-1)
	if g.readyAt >= 0 {
		wait = r.time - g.readyAt
	}
	var t taken
	flags := g.flags
	switch {
	case g.taken != nil:
		t = *g.taken
		flags |= reference.FlagTaken
	case g.direct != reference.SrcUnknown:
		t = taken{src: g.direct, victim: nobody, basis: byAhead}
	case r.reduced:
		t = taken{src: reference.SrcUnknown, victim: nobody}
	default:
		g.start = r.now
		t = r.take(it.rg, it.p)
		r.learnPhase(it.p, t)
	}
	if it.mark&markWorker != 0 && t.src != reference.SrcGCWorker {
		flags |= reference.FlagGC | reference.FlagSystem
	}
	inherits := t.src == reference.SrcRunnext || t.src == reference.SrcCoroutine ||
		t.src == reference.SrcSyscallExit && !g.fresh || g.direct == reference.SrcDirect
	if r.locked(it, g) {
		flags |= reference.FlagLocked
		inherits = false // stoplockedm returns to execute without inheritance
	}
	g.state = events.Running
	g.readyAt, g.ready, g.start, g.taken = -1, none, none, nil
	if it.m >= 0 {
		r.ms[it.m].lastG = it.rg
	}
	g.lastM = it.m
	r.bind(it.m, it.p, it.rg)
	if it.p >= 0 {
		p := &r.ps[it.p]
		p.g, p.class, p.began, p.syscall = it.rg, g.class, r.time, false
		p.m = it.m
		if inherits {
			flags |= reference.FlagInherits
		} else {
			p.slice = r.time
			p.phase.next()
		}
	}
	if g.reason == events.ReasonChanReceive && isAdvancer(r.cls.list[g.class].name) {
		r.advancing = true // it slept until the generation was old enough
	}
	g.reason = events.ReasonNone
	r.count(t)
	r.say(&reference.Decision{Kind: reference.KindStart, G: g.id, Class: g.class, P: r.pid(it.p), M: e.M, Src: t.src,
		Victim: r.pid(t.victim), Batch: t.batch, Wait: wait, Flags: flags, Basis: t.basis})
}

func (r *Reconstructor) count(t taken) {
	r.sum.Starts++
	r.srcs[t.src]++
	r.bases[t.basis]++
	switch {
	case t.src == reference.SrcUnknown:
		r.sum.Unexplained++
	case t.basis.Level() >= reference.Inferred:
		r.sum.Explained++
	default:
		r.sum.Ambiguous++
	}
}

// locked says that the P was handed to the thread that this goroutine is
// locked to (startlockedm): another thread gave the P up, without having run
// anything, and this thread runs nothing else.
func (r *Reconstructor) locked(it *item, g *goroutine) bool {
	return it.p >= 0 && r.ps[it.p].handed == r.now
}

// startP is the P on which a queued goroutine will start, or nobody.
func (r *Reconstructor) startP(ix int32) int32 {
	s := r.win.at(r.gs.all[ix].start)
	if s == nil {
		return nobody
	}
	return s.p
}

// inFlight says that the thread that will start a goroutine has done nothing
// else since before now: it may have taken it already.
func (r *Reconstructor) inFlight(ix int32) bool {
	g := &r.gs.all[ix]
	if g.start <= r.now {
		return false
	}
	s := r.win.at(g.start)
	return s != nil && s.prevM < r.now && s.p >= 0
}

// takenUnseen records that a goroutine has left its queue although its start
// comes later.
func (r *Reconstructor) takenUnseen(ix int32, t taken, why reference.Why, from reference.Place) {
	g := &r.gs.all[ix]
	if r.q.Place(ix).Queue != reference.QueueUnknown {
		r.q.Remove(ix)
	}
	g.taken = &t
	victim := nobody
	if from.Queue == reference.QueueLocal || from.Queue == reference.QueueRunnext {
		victim = from.P
	}
	r.move(ix, r.startP(ix), victim, reference.QueueDirect, why)
}

// settle makes the take of a goroutine happen now whose start comes later.
func (r *Reconstructor) settle(ix int32) {
	from := r.q.Place(ix)
	t := r.take(ix, r.startP(ix))
	if t.basis.Rule() == reference.RuleQueue {
		t.basis = reference.Known(t.basis.Level(), reference.RulePassed)
	}
	why := reference.WhySteal
	switch t.src {
	case reference.SrcGlobal, reference.SrcGlobalTick:
		why = reference.WhyGlobalBatch
	case reference.SrcRunnext, reference.SrcLocal:
		why = reference.WhyUnknown
		from = reference.Place{Queue: reference.QueueLocal, P: r.startP(ix)}
	}
	r.takenUnseen(ix, t, why, from)
}

// take removes a goroutine from where it is, as its P's thread did, with all
// that the take moves. ix is then in no queue.
func (r *Reconstructor) take(ix, p int32) taken {
	if r.gs.all[ix].late {
		r.putNow(ix)
	}
	place := r.q.Place(ix)
	if p < 0 {
		if place.Queue != reference.QueueUnknown {
			r.q.Remove(ix)
		}
		return taken{src: reference.SrcUnknown, victim: nobody}
	}
	switch {
	case place.Queue == reference.QueueUnknown:
		return taken{src: reference.SrcUnknown, victim: nobody, basis: reference.Known(reference.Unknown, reference.RuleInitial)}
	case place.Queue == reference.QueueRunnext && place.P == p:
		r.q.Remove(ix)
		return taken{src: reference.SrcRunnext, victim: nobody, basis: byRule}
	case place.Queue == reference.QueueLocal && place.P == p:
		return r.takeLocal(ix, p)
	case place.Queue == reference.QueueGlobal:
		return r.takeGlobal(ix, p)
	case place.Queue == reference.QueueLocal:
		return r.steal(ix, p, place.P)
	default:
		return r.stealRunnext(ix, p, place.P)
	}
}

// takeLocal takes from the own ring. Those in front have been stolen by
// threads that have not started them yet.
func (r *Reconstructor) takeLocal(ix, p int32) taken {
	// A P that passes over what it then runs itself is at the 61st tick: what
	// it took had not been in the last batch from the global queue.
	if r.gs.all[ix].fromGlobal == p && r.ps[p].phase.maybeTick() {
		for x := r.q.Prev(ix); x != reference.None; x = r.q.Prev(x) {
			if r.startP(x) == p {
				r.putBack(ix, p)
				return r.takeGlobal(ix, p)
			}
		}
	}
	basis := r.clearAhead(ix, p)
	if x := r.q.Runnext(p); x != reference.None {
		if r.inFlight(x) && r.startP(x) != p {
			r.settle(x)
		} else {
			basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
	}
	r.q.Remove(ix)
	return taken{src: reference.SrcLocal, victim: nobody, basis: basis}
}

// clearAhead settles what stands in front of ix in its queue, and moves ix to
// the front of what cannot be settled. taker is the P that takes ix.
func (r *Reconstructor) clearAhead(ix, taker int32) reference.Basis {
	basis := byRule
	for n := 0; r.q.Prev(ix) != reference.None; n++ {
		// The last one in flight in front: its batch takes all before it along.
		x := r.q.Prev(ix)
		for x != reference.None && !(r.inFlight(x) && r.startP(x) != taker) {
			x = r.q.Prev(x)
		}
		if x == reference.None || n > 512 {
			return r.passOver(ix, taker)
		}
		// The first in flight is the first to have been taken.
		for y := r.q.Prev(x); y != reference.None; y = r.q.Prev(y) {
			if r.inFlight(y) && r.startP(y) != taker {
				x = y
			}
		}
		r.settle(x)
		basis = reference.Known(reference.Inferred, reference.RulePassed)
	}
	return basis
}

// passOver takes ix to the front of its queue although others stand there
// that nobody seems to have in hand. In the global queue, the last batch was
// larger than the model thought: they have been in its taker's ring since. Or
// two puts came in another order than their events.
func (r *Reconstructor) passOver(ix, taker int32) reference.Basis {
	r.sum.Corrections++
	place := r.q.Place(ix)
	if place.Queue == reference.QueueGlobal {
		for n := 0; n < 2; n++ {
			x := r.q.Prev(ix)
			if x == reference.None {
				return reference.Known(reference.Ambiguous, reference.RuleRepair)
			}
			if r.putLate(x) {
				continue
			}
			to := r.taker
			if g := &r.gs.all[x]; g.passed < 2 {
				g.passed++
				if r.near(x, ix) {
					break
				}
				if to < 0 || r.startP(x) != to && r.q.RingLen(to) == 0 {
					break
				}
			} else if to = r.startP(x); to < 0 || to == taker {
				break // passed over again and again: only where it runs can tell
			}
			r.trim(to, r.rules.RingSize-1)
			r.q.Remove(x)
			r.insert(to, x)
			r.move(x, to, nobody, reference.QueueLocal, reference.WhyCorrected)
		}
	}
	if place.Queue == reference.QueueLocal {
		for x := r.q.Prev(ix); x != reference.None; {
			y := r.q.Prev(x)
			if to := r.startP(x); to >= 0 && to != place.P {
				r.relocate(x, place.P)
			}
			x = y
		}
	}
	front := r.q.Prev(ix)
	if front == reference.None {
		return reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	r.q.Promote(ix)
	if front != reference.None && r.near(front, ix) {
		return reference.Known(reference.Ambiguous, reference.RuleReorder)
	}
	return reference.Known(reference.Ambiguous, reference.RuleRepair)
}

// insert puts x into p's ring where its start says that it must stand.
func (r *Reconstructor) insert(p, x int32) {
	after := r.q.Tail(p)
	start := r.gs.all[x].start
	for after != reference.None {
		g := &r.gs.all[after]
		if s := r.win.at(g.start); s == nil || s.p != p || g.start < start {
			break
		}
		after = r.q.Prev(after)
	}
	r.q.InsertAfter(p, after, x)
}

// near says that two puts may have come in another order than their events:
// two threads did them, at nearly the same time.
func (r *Reconstructor) near(a, b int32) bool {
	if r.gs.all[a].readyM == r.gs.all[b].readyM {
		return false
	}
	d := r.gs.all[a].readyAt - r.gs.all[b].readyAt
	return d < nearby && d > -nearby
}

// takeGlobal takes from the head of the global queue: one at the 61st tick,
// else a batch, of which the first runs.
func (r *Reconstructor) takeGlobal(ix, p int32) taken {
	basis := r.clearAhead(ix, p)
	ps := &r.ps[p]
	if !r.hasOwn(p) {
		r.clearGone(p)
		if !ps.phase.maybeTick() {
			r.purge(p)
		}
	}
	behind := r.goesOn(ix, p)
	if r.q.Len(p) > 0 && !behind {
		if basis == byRule && !r.staysLocal(p) {
			basis = reference.Known(reference.Ambiguous, reference.RuleQueue)
		}
		if !ps.phase.maybeTick() {
			// It is not the tick: the model had it in the wrong queue.
			r.rehome(ix, p, nobody)
			return taken{src: reference.SrcLocal, victim: nobody, basis: reference.Known(reference.Ambiguous, reference.RulePhase)}
		}
		r.q.Remove(ix)
		return taken{src: reference.SrcGlobalTick, victim: nobody, batch: 1, basis: basis}
	}
	r.findLate()
	k := r.rules.GlobalBatch(r.q.GlobalLen(), r.procs)
	if ps.phase.isTick() {
		r.q.Remove(ix)
		return taken{src: reference.SrcGlobalTick, victim: nobody, batch: 1, basis: reference.Known(reference.Inferred, reference.RulePhase)}
	}
	if k > 1 && r.procs > 1 { // on one P nobody comes in between
		n := r.q.GlobalLen()
		shown := r.batchShown(ix, p, r.rules.GlobalBatch(n-2, r.procs), k, r.rules.GlobalBatch(n+2, r.procs))
		if shown == 1 && ps.phase.maybeTick() {
			ps.phase.is()
			r.q.Remove(ix)
			return taken{src: reference.SrcGlobalTick, victim: nobody, batch: 1, basis: reference.Known(reference.Inferred, reference.RuleLookahead)}
		}
		if shown > 1 {
			k = shown
		}
	}
	if ps.phase.maybeTick() && basis == byRule {
		basis = reference.Known(reference.Ambiguous, reference.RuleTick)
	}
	r.trim(p, r.rules.RingSize-k+1)
	if k > 1 {
		r.say(&reference.Decision{Kind: reference.KindGlobalBatch, G: r.gs.all[ix].id, P: ps.id, M: r.mid(ps.m), Batch: int32(k), Basis: basis})
	}
	next := r.q.Next(ix)
	r.q.Remove(ix)
	r.taker, r.fed = p, false
	last := r.q.Tail(p)
	if behind {
		last = reference.None
		basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	for i := 1; i < k && next != reference.None; i++ {
		g := next
		next = r.q.Next(g)
		r.q.Remove(g)
		r.q.InsertAfter(p, last, g)
		last = g
		r.gs.all[g].fromGlobal = p
		r.move(g, p, nobody, reference.QueueLocal, reference.WhyGlobalBatch)
	}
	return taken{src: reference.SrcGlobal, victim: nobody, batch: int32(k), basis: basis}
}

// purge takes what will run elsewhere out of p's own queue: p took from the
// global queue without being at the 61st tick, so its own was empty.
func (r *Reconstructor) purge(p int32) {
	if x := r.q.Runnext(p); x != reference.None {
		if to := r.startP(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
	}
	for x := r.q.Head(p); x != reference.None; {
		next := r.q.Next(x)
		if to := r.startP(x); to >= 0 && to != p {
			r.relocate(x, p)
		}
		x = next
	}
}

// goesOn says that p goes on with the goroutine behind ix, the head of the
// global queue, before it runs what the model has in its own queue: that cannot
// have been there, for a P with an own queue takes only one, at the 61st tick.
func (r *Reconstructor) goesOn(ix, p int32) bool {
	own := r.q.Runnext(p)
	if own == reference.None {
		own = r.q.Head(p)
	}
	succ := r.q.Next(ix)
	if own == reference.None || succ == reference.None || r.startP(succ) != p || r.startP(own) != p || r.ps[p].phase.isTick() {
		return false
	}
	for x := own; x != reference.None; {
		if r.startP(x) == p && r.startOf(x) < r.startOf(succ) {
			return false
		}
		if r.q.Place(x).Queue == reference.QueueRunnext {
			x = r.q.Head(p)
		} else {
			x = r.q.Next(x)
		}
	}
	r.sum.Corrections++
	if x := r.q.Runnext(p); x != reference.None {
		r.trim(p, r.rules.RingSize-1)
		r.q.Remove(x)
		r.q.PutTail(p, x)
		r.move(x, p, p, reference.QueueLocal, reference.WhyCorrected)
	}
	return true
}

// trim moves what p's ring cannot hold beside a batch, so cannot be there, to
// the global queue.
func (r *Reconstructor) trim(p int32, room int) {
	for r.q.RingLen(p) > room {
		x := r.q.Tail(p)
		r.sum.Corrections++
		r.q.Remove(x)
		r.q.PutGlobal(x)
		r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
	}
}

// hasOwn says that p's own queue holds something that p will run itself.
func (r *Reconstructor) hasOwn(p int32) bool {
	if x := r.q.Runnext(p); x != reference.None && r.startP(x) == p {
		return true
	}
	for x := r.q.Head(p); x != reference.None; x = r.q.Next(x) {
		if r.startP(x) == p {
			return true
		}
	}
	return false
}

// staysLocal says that what p has queued next is what p will run next of it.
func (r *Reconstructor) staysLocal(p int32) bool {
	x := r.q.Runnext(p)
	if x == reference.None {
		x = r.q.Head(p)
	}
	return x != reference.None && r.startP(x) == p
}

// batchShown looks ahead for the size of a take from the global queue that ix
// heads: the next P to take begins where this take ended. It returns 1 for a
// pick at the 61st tick, a size from lo to hi for a batch, and 0 where nothing
// shows it. k is the size by the model's length, which can be off by a put or
// two; lo and hi are the sizes for that much less and more.
func (r *Reconstructor) batchShown(ix, p int32, lo, k, hi int) int {
	var items [136]int32
	n := 0
	for x := ix; x != reference.None && n < min(k+4, len(items)); x = r.q.Next(x) {
		items[n] = x
		n++
	}
	start := func(j int) int64 {
		if j >= n {
			return none
		}
		return r.gs.all[items[j]].start
	}
	// heads says that item j begins another P's take: it runs there, and before
	// the one behind it, which a thief would run in the reverse order.
	heads := func(j int) bool {
		if j >= n {
			return false
		}
		q := r.startP(items[j])
		return q >= 0 && q != p && (start(j+1) < 0 || start(j) < start(j+1))
	}
	switch {
	case k >= 4 && heads(1):
		return 1
	case heads(k):
		return k
	case lo < k && k > 2 && heads(k-1) && k < n && r.startP(items[k]) == r.startP(items[k-1]):
		return k - 1
	case hi > k && k < n && heads(k+1) && r.startP(items[k]) == p && start(k) > start(k-1):
		return k + 1
	}
	// The same P goes on to the next batch: it needs the lock and moves many,
	// so the pause before its first goroutine is longer than that before a
	// goroutine from the own ring.
	best, longest, second := 0, int64(0), int64(0)
	if !r.fed {
		return 0 // the length is sure
	}
	if r.q.GlobalLen() < 2*r.rules.GlobalBatchMax/3 {
		// Short queues are fed and emptied all the time: an error of the batch
		// before may show here, too.
		lo, hi = k-2, k+2
	}
	for j := max(lo, 2); j <= hi && j < n; j++ {
		if r.startP(items[j]) != p || r.startP(items[j-1]) != p {
			return 0
		}
		gap := r.gapBefore(start(j))
		if gap > longest {
			best, longest, second = j, gap, longest
		} else {
			second = max(second, gap)
		}
	}
	if best > 0 && lo < hi && k > 4 && longest*2 > second*3 {
		return best
	}
	return 0
}

// gapBefore is the time between a start and the event before it on its thread.
func (r *Reconstructor) gapBefore(i int64) int64 {
	s := r.win.at(i)
	if s == nil {
		return 0
	}
	prev := r.win.at(s.prevM)
	if prev == nil {
		return 0
	}
	return s.ev.Time - prev.ev.Time
}

// clearGone settles what the model still has in p's own queue although p took
// from elsewhere: others have it in hand.
func (r *Reconstructor) clearGone(p int32) {
	for n := 0; n <= r.rules.RingSize; n++ {
		x := reference.None
		for y := r.q.Head(p); y != reference.None; y = r.q.Next(y) {
			if r.inFlight(y) && r.startP(y) != p {
				x = y
				break
			}
		}
		if x == reference.None {
			break
		}
		r.settle(x)
	}
	if x := r.q.Runnext(p); x != reference.None && r.q.RingLen(p) == 0 && r.inFlight(x) && r.startP(x) != p {
		r.settle(x)
	}
}

// steal takes from another P's ring: the older half, of which the newest runs
// (runqgrab, runqsteal).
func (r *Reconstructor) steal(ix, p, v int32) taken {
	if r.neverMoved(ix, p, v) {
		return r.takeGlobal(ix, p)
	}
	if r.hasOwn(p) {
		// A thief has nothing of its own: the model had ix in the wrong ring.
		r.sum.Corrections++
		r.rehome(ix, p, v)
		return taken{src: reference.SrcLocal, victim: nobody, basis: reference.Known(reference.Ambiguous, reference.RuleRepair)}
	}
	basis := byRule
	r.clearGone(p)
	// Other thieves may have been first.
	for n := 0; n < 16; n++ {
		x := r.firstInFlight(ix, p)
		if x == reference.None || !r.stolenBefore(x, ix, v) {
			break
		}
		r.settle(x)
		basis = reference.Known(reference.Inferred, reference.RulePassed)
	}
	k := 1
	for x := r.q.Prev(ix); x != reference.None; x = r.q.Prev(x) {
		k++
	}
	if r.q.Len(p) > 0 || k > r.rules.StealBatch(r.q.RingLen(v)) {
		basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	r.say(&reference.Decision{Kind: reference.KindSteal, G: r.gs.all[ix].id, P: r.ps[p].id, M: r.mid(r.ps[p].m), Victim: r.ps[v].id, Batch: int32(k), Basis: basis})
	for r.q.Head(v) != ix {
		g := r.q.Head(v)
		r.q.Remove(g)
		r.q.PutTail(p, g)
		r.move(g, p, v, reference.QueueLocal, reference.WhySteal)
	}
	r.q.Remove(ix)
	return taken{src: reference.SrcSteal, victim: v, batch: int32(k), basis: basis}
}

// rehome tells that ix had been at the head of p's ring, and not in from's, and
// takes it from there.
func (r *Reconstructor) rehome(ix, p, from int32) {
	r.trim(p, r.rules.RingSize-1)
	r.q.Remove(ix)
	r.q.InsertAfter(p, reference.None, ix)
	r.move(ix, p, from, reference.QueueLocal, reference.WhyCorrected)
	r.q.Remove(ix)
}

// neverMoved says that ix, which the model has in v's ring after a take from
// the global queue, had stayed there: those in front of it run on v itself, so
// no thief took them along. It then puts ix and what came with it back.
func (r *Reconstructor) neverMoved(ix, p, v int32) bool {
	if r.gs.all[ix].fromGlobal != v {
		return false
	}
	front := r.q.Prev(ix)
	head := r.q.GlobalHead() // nobody steals while there is something in the global queue
	if (front == reference.None || r.startP(front) != v) && (head == reference.None || r.inFlight(head)) {
		return false
	}
	r.putBack(ix, v)
	return true
}

// putBack undoes the end of v's take from the global queue, from ix on.
func (r *Reconstructor) putBack(ix, v int32) {
	r.sum.Corrections++
	for {
		x := ix
		for y := r.q.Next(x); y != reference.None && r.gs.all[y].fromGlobal == v; y = r.q.Next(y) {
			x = y
		}
		r.q.Remove(x)
		r.q.PutGlobalHead(x)
		r.gs.all[x].fromGlobal = nobody
		r.move(x, nobody, v, reference.QueueGlobal, reference.WhyCorrected)
		if x == ix {
			return
		}
	}
}

// firstInFlight returns the first goroutine in front of ix that a P other than
// p may have in hand.
func (r *Reconstructor) firstInFlight(ix, p int32) int32 {
	first := reference.None
	for x := r.q.Prev(ix); x != reference.None; x = r.q.Prev(x) {
		if r.inFlight(x) && r.startP(x) != p {
			first = x
		}
	}
	return first
}

// stolenBefore decides between two stories when x, in front of ix in v's ring,
// will start elsewhere: x was stolen from v before ix was, or x went along
// with ix and is stolen from the thief later. The sizes of halves decide.
func (r *Reconstructor) stolenBefore(x, ix, v int32) bool {
	n := r.q.RingLen(v)
	e, j := 1, 1
	for y := r.q.Prev(x); y != reference.None; y = r.q.Prev(y) {
		e++
	}
	for y := r.q.Prev(ix); y != reference.None; y = r.q.Prev(y) {
		j++
	}
	half := r.rules.StealBatch
	direct := abs(e-half(n)) + abs(j-e-half(n-e))
	second := abs(j-half(n)) + abs(e-half(j-1))
	return direct <= second
}

func abs(a int) int {
	if a < 0 {
		return -a
	}
	return a
}

// stealRunnext takes another P's runnext, whose ring is empty.
func (r *Reconstructor) stealRunnext(ix, p, v int32) taken {
	basis := byRule
	r.clearGone(p)
	if r.q.RingLen(v) > 0 {
		for n := 0; n < 64 && r.q.RingLen(v) > 0; n++ {
			x := r.q.Head(v)
			for x != reference.None && !(r.inFlight(x) && r.startP(x) != v) {
				x = r.q.Next(x)
			}
			if x == reference.None {
				break
			}
			r.settle(x)
		}
		if r.q.RingLen(v) > 0 {
			basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
		}
	}
	r.say(&reference.Decision{Kind: reference.KindSteal, G: r.gs.all[ix].id, P: r.ps[p].id, M: r.mid(r.ps[p].m), Victim: r.ps[v].id, Batch: 1, Basis: basis})
	r.q.Remove(ix)
	return taken{src: reference.SrcStealRunnext, victim: v, batch: 1, basis: basis}
}
