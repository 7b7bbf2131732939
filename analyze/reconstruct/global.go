package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// takeGlobal takes from the head of the global queue: one at the 61st tick,
// else a batch, of which the first runs.
func (r *explainer) takeGlobal(ix, p int32) taken {
	if r.wrongBatch(ix, p) {
		r.sum.Corrections++
		r.rebatch(ix, p)
		return r.take(ix, p)
	}
	if own := r.q.Head(p); ix == r.q.GlobalHead() && own != reference.None && r.startP(own) >= 0 && r.startP(own) != p &&
		r.q.Runnext(p) == reference.None && !r.ps[p].phase.isTick() && r.swap(own, p) {
		return r.takeLocal(ix, p)
	}
	basis := r.clearAhead(ix, p)
	if r.q.Place(ix).Queue != reference.QueueGlobal {
		return r.take(ix, p)
	}
	ps := &r.ps[p]
	first := false // tick of p that shows itself
	if !r.hasOwn(p) {
		r.clearGone(p)
		first = r.q.RingLen(p) >= longBatch && ps.phase.most < certain*ps.phase.sum // too many for the ring to be wrong
		if !ps.phase.maybeTick() && !first {
			r.purge(p)
		}
		if r.q.Place(ix).Queue != reference.QueueGlobal {
			return r.take(ix, p) // a thread that had taken of p's ring first took ix, too
		}
	}
	tick := func(basis reference.Basis) taken {
		r.q.Remove(ix)
		return taken{src: reference.SrcGlobalTick, victim: nobody, batch: 1, basis: basis}
	}
	behind := r.goesOn(ix, p)
	if r.q.Len(p) > 0 && !behind {
		if basis == byRule && !r.staysLocal(p) {
			basis = reference.Known(reference.Ambiguous, reference.RuleQueue)
		}
		if !ps.phase.maybeTick() && basis == byRule {
			r.saw(ps, odd)
		}
		switch {
		case ps.phase.maybeTick(), first:
			return tick(basis)
		case r.yieldedHere(ix, p):
			r.vacate(p)
			return r.takeGlobal(ix, p)
		}
		// It is not the tick: the model had it in the wrong queue.
		if r.tradeIn(ix, p) {
			return r.takeLocal(ix, p)
		}
		r.rehome(ix, p, nobody)
		return taken{src: reference.SrcLocal, victim: nobody, basis: reference.Known(reference.Ambiguous, reference.RulePhase)}
	}
	r.findLate(ix, p)
	if r.q.GlobalLen() <= r.rules.GlobalBatchMax && r.precedes(ix) {
		r.putsNext() // the batch may reach them
	}
	r.delayInBatch(ix, p, r.rules.GlobalBatch(r.q.GlobalLen(), r.procs))
	k := r.rules.GlobalBatch(r.q.GlobalLen(), r.procs)
	at := ps.phase.at
	shown, is := r.givenNow(hypBatchSize)
	if c := ps.phase.chance(at); !is && k > 1 && basis.Level() >= reference.Inferred && c > open && c < 1-open {
		shown = r.tryTake(ix, 1, k)
	}
	// Before it is certain, the look-ahead has its say, but where nobody comes in between.
	if chance := ps.phase.chance(at); shown == 0 && k > 1 && (chance > certain || chance > likely && r.procs == 1) {
		_, basis := tickBy(chance)
		return tick(basis)
	}
	if k > 1 && r.procs > 1 { // on one P nobody comes in between
		n := r.q.GlobalLen()
		if shown == 0 {
			shown = r.batchShown(ix, p, r.rules.GlobalBatch(n-2, r.procs), k, r.rules.GlobalBatch(n+2, r.procs))
		}
		if least := r.rules.GlobalBatch(n-r.unsure(ix), r.procs); shown == 0 && r.fed && least > 1 && least < k {
			shown = r.tryTake(ix, least, k)
		}
		switch maybe := ps.phase.maybeTick(); {
		case shown == 1 && maybe:
			r.saw(ps, showing)
			return tick(byAhead)
		case shown > 1:
			k = shown
			if shown > 2 {
				r.saw(ps, several)
			}
		case ps.phase.chance(at) > 0.5: // most likely it has never run anything
			return tick(reference.Known(reference.Ambiguous, reference.RuleTick))
		}
	}
	if shown == 0 && r.tookMore(ix, p, k) {
		k++
	}
	if k > 1 && ps.phase.maybeTick() {
		switch says := r.tickByPauses(ix, p, k); {
		case says > pauseSure:
			r.saw(ps, math.Exp(min(says, pauseMost)))
			return tick(reference.Known(reference.Ambiguous, reference.RuleTick))
		case says < -pauseSure:
			r.saw(ps, math.Exp(max(says, -pauseMost)))
		}
	}
	chance, src, open := ps.phase.chance(at), reference.SrcGlobal, false
	switch says, by := tickBy(chance); {
	case k == 1:
		src, open = says, chance > never && chance < certain
		if basis == byRule || basis.Level() >= reference.Inferred && open {
			basis = by
		}
	case chance > never:
		ps.doubt.missed = true
		if basis.Level() >= reference.Inferred {
			basis = reference.Known(reference.Ambiguous, reference.RuleTick)
		}
	}
	if n := r.q.GlobalLen(); k > 1 && k == r.rules.GlobalBatch(n, r.procs) {
		r.trim(p, r.rules.RingSize-k+1)
		k = r.rules.GlobalBatch(r.q.GlobalLen(), r.procs) // what was trimmed stood there before
	}
	r.trim(p, r.rules.RingSize-k+1)
	if k > 1 {
		r.say(&reference.Decision{Kind: reference.KindGlobalBatch, G: r.gs.At(ix).id, P: ps.id, M: r.mid(ps.m), Batch: int32(k), Basis: basis})
	}
	since := r.freeSince(ix)
	r.wider = r.widerThan(ix, k)
	r.taker, r.fed, r.again = p, false, r.again[:0]
	last := r.q.Tail(p)
	if behind {
		last = reference.None
		basis = reference.Known(reference.Ambiguous, reference.RuleRepair)
	}
	r.q.TakeBatch(p, ix, k, last, func(x int32) {
		last = x
		g := r.gs.At(x)
		g.fromGlobal, g.putAt = p, since
		r.move(x, p, nobody, reference.QueueLocal, reference.WhyGlobalBatch)
	})
	if behind && last != reference.None {
		for x := r.q.Next(last); x != reference.None; x = r.q.Next(x) {
			r.move(x, p, p, reference.QueueLocal, reference.WhyCorrected) // they came later, if at all
		}
	}
	return taken{src: src, victim: nobody, batch: int32(k), basis: basis, open: open, at: at}
}

// tookMore says that p took one more than k from the global queue, ix first: others put
// some there while its thread was between two events, and another P takes what is behind
// that one before p starts it.
func (r *model) tookMore(ix, p int32, k int) bool {
	if !r.widerThan(ix, k) {
		return false
	}
	x := ix
	for range k {
		if x = r.q.Next(x); x == reference.None {
			return false
		}
	}
	next := r.q.Next(x)
	return next != reference.None && r.startP(x) == p && r.startP(next) >= 0 && r.startP(next) != p && r.gs.At(next).start < r.gs.At(x).start
}

// widerThan says that the take of ix may have been a batch larger than k: other threads
// put some into the global queue before the start that shows it.
func (r *model) widerThan(ix int32, k int) bool {
	n := r.q.GlobalLen()
	to := min(r.gs.At(ix).start, r.win.head, r.now+putsSeen)
	if most := n + int(max(0, to-r.now-1)); r.rules.GlobalBatch(most, r.procs) <= k {
		return false // even if all of them put one there
	}
	for i := r.now + 1; i < to; i++ {
		if it := r.win.at(i); it.ev.Kind == events.Go && it.ev.To == events.Runnable && it.ev.From == events.Running {
			n++
		}
	}
	return r.rules.GlobalBatch(n, r.procs) > k
}

// putsSeen is how many events are looked at for that.
const putsSeen = 64

// tryTake asks whether the take of ix was one of a or of b, where 1 is a pick at the
// 61st tick. It returns 0 if nothing tells.
func (r *explainer) tryTake(ix int32, a, b int) int {
	if size, lead := r.ask(hypBatchSize, question{g: ix, a: a, b: b}); lead > 0 {
		return size
	}
	return 0
}

// batchSize: the take of q.g was one of q.a, or of q.b.
func (r *explainer) batchSize(q question) []choice {
	then, can := r.takeWith(q.g)
	if !can {
		return nil
	}
	return []choice{{is: q.a, then: then}, {is: q.b, then: then}}
}

// precedes says that the overflow that comes next, later than its event, precedes the
// take of ix: the length of the queue makes the batch larger then.
func (r *explainer) precedes(ix int32) bool {
	n := r.q.GlobalLen()
	if r.forks.on { // what one was told holds for all that follow
		return r.forks.given.by != hypHeldOverflow || r.forks.given.is == no
	}
	if len(r.spills) == 0 || r.rules.GlobalBatch(n, r.procs) == r.rules.GlobalBatch(n+r.rules.Overflow(), r.procs) || r.nextSpill() < 0 {
		return true
	}
	return !r.says(hypHeldOverflow, question{g: ix})
}

// heldOverflow: the overflow that comes next precedes the take of q.g, or does not.
func (r *explainer) heldOverflow(q question) []choice {
	then, can := r.takeWith(q.g)
	if !can {
		return nil
	}
	return []choice{{is: no, then: then}, {is: yes, then: then}}
}

// batchShown looks ahead for the size of a take from the global queue that ix
// heads: the next P to take begins where this take ended. It returns 1 for a
// pick at the 61st tick, a size from lo to hi for a batch, and 0 where nothing
// shows it. k is the size by the model's length, which can be off by a put or
// two; lo and hi are the sizes for that much less and more.
func (r *explainer) batchShown(ix, p int32, lo, k, hi int) int {
	if r.without.has(hypShownBatch) {
		return 0
	}
	items, n := r.room.items[:0], 0
	for x := ix; x != reference.None && n < k+4; x = r.q.Next(x) {
		items = append(items, x)
		n++
	}
	r.room.items = items
	start := func(j int) int64 {
		if j >= n {
			return none
		}
		return r.gs.At(items[j]).start
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
	// picks says that p itself picks item j at the 61st tick: it runs before the
	// one in front of it, which is in p's ring by then.
	picks := func(j int) bool {
		return j < n && r.startP(items[j]) == p && r.startP(items[j-1]) == p && start(j) < start(j-1)
	}
	switch {
	case k >= 4 && heads(1):
		return 1
	case n > 1 && r.ps[p].phase.maybeTick():
		if shown := r.ownOrder(ix, p, items[1:min(k, n)], k); shown > 0 {
			return shown
		}
	}
	// It may not have known of the last put; and who stole would have found the
	// global queue empty: what another P begins with was left there.
	if j := k - 1; j >= 2 && k < n && heads(j) && r.startP(items[j]) == r.startP(items[k]) && r.rules.GlobalBatch(r.q.GlobalLen()-r.unsure(ix), r.procs) == j {
		return j
	}
	switch {
	case heads(k), picks(k):
		return k
	case k >= 4 && lo == hi && r.ps[p].phase.maybeTick() && (heads(k+1) || picks(k+1)):
		return 1 // and then as many
	case lo < k && k > 2 && heads(k-1) && k < n && r.startP(items[k]) == r.startP(items[k-1]):
		return k - 1
	case hi > k && k < n && heads(k+1) && r.startP(items[k]) == p && start(k) > start(k-1):
		return r.tryTake(ix, k, k+1)
	case hi > k && k < n && r.takesEarly(ix) && (heads(k+1) || picks(k+1)) && (r.startP(items[k]) == p && start(k) > start(k-1) || start(k) > start(k+1)):
		return r.tryTake(ix, k, k+1) // one was put just before
	}
	// The same P goes on to the next batch: the pause tells.
	if !r.fed {
		return 0 // the length is sure
	}
	lo, hi = r.rules.GlobalBatch(r.q.GlobalLen()-r.unsure(ix), r.procs), k
	best, most, second := 0, -1e9, -1e9
	for j := max(lo, 2); j <= hi && j < n; j++ {
		if r.startP(items[j]) != p || r.startP(items[j-1]) != p {
			return 0
		}
		says := r.pauseSays(start(j))
		if says > most {
			best, most, second = j, says, most
		} else {
			second = max(second, says)
		}
	}
	if best > 0 && lo < hi && most > second+1 {
		return best
	}
	return 0
}

// pauseSays is how much the pause before a start speaks for a batch.
func (r *explainer) pauseSays(i int64) float64 {
	s := r.win.at(i)
	if s == nil {
		return 0
	}
	prev := r.win.at(s.prevM)
	if prev == nil {
		return 0
	}
	return r.pause.says(s.ev.Time - prev.ev.Time)
}

// unsure is the number of goroutines at the tail of the global queue of which
// the take of ix may not have known: other threads put them there while its
// thread was between two events.
func (r *explainer) unsure(ix int32) int {
	s := r.win.at(r.gs.At(ix).start)
	if s == nil {
		return 0
	}
	n := 0
	for x, steps := r.q.GlobalTail(), 0; x != reference.None && x != ix && steps < farEnough; x, steps = r.q.Prev(x), steps+1 {
		g := r.gs.At(x)
		if g.ready < s.prevM {
			break
		}
		if g.readyM != s.m {
			n++
		}
	}
	for _, l := range r.open {
		if g := r.gs.At(l.g); l.before > s.prevM && g.ready < s.prevM && g.readyM != s.m && l.g != ix && r.q.Place(l.g).Queue == reference.QueueGlobal {
			n++
		}
	}
	return n
}

// ownOrder looks at what p runs after ix: the rest of a batch stands in front of
// what ix and its successors put into p's ring, but after a pick at the 61st
// tick it is still in the global queue. It returns k, 1, or 0 if this does not
// show.
func (r *lookahead) ownOrder(ix, p int32, rest []int32, k int) int {
	first := none // start of the first of the rest that p runs
	for _, x := range rest {
		if r.startP(x) == p {
			first = r.gs.At(x).start
			break
		}
	}
	if first == none {
		return 0
	}
	s := r.win.at(r.gs.At(ix).start)
	if s == nil {
		return 0
	}
	var puts [8]int64 // starts of what the P put into its queue
	n := 0
	for i, steps := s.nextM, 0; i != none && i < first && steps < 256; steps++ {
		it := r.win.at(i)
		if it == nil {
			return 0
		}
		if e := &it.ev; e.Kind == events.Go && e.To == events.Runnable && it.p == p && e.From != events.Running && e.From != events.Syscall && n < len(puts) {
			puts[n] = it.link
			n++
		} else if e.Kind != events.Go {
			return 0 // the P is lost for a while: thieves may come
		}
		i = it.nextM
	}
	for j := 0; j < n; j++ {
		if puts[j] == none || puts[j] > first {
			return k
		}
	}
	for j := 0; j+1 < n; j++ {
		if puts[j] > puts[j+1] && puts[j] < first { // displaced, and run from the ring
			return 1
		}
	}
	return 0
}

// vacate moves what the model has in p's own queue to where it can be: p took
// from the global queue, so its own was empty.
func (r *explainer) vacate(p int32) {
	for r.q.Len(p) > 0 {
		x := r.q.Head(p)
		if x == reference.None {
			x = r.q.Runnext(p)
		}
		if r.gs.At(x).fromGlobal == p && r.putLate(x) {
			r.sum.Corrections++
			continue
		}
		if r.startP(x) == p {
			r.sum.Corrections++
			r.q.Remove(x)
			r.putGlobal(x)
			r.gs.At(x).fromGlobal = nobody
			r.move(x, nobody, p, reference.QueueGlobal, reference.WhyCorrected)
			continue
		}
		r.relocate(x, p)
	}
}
