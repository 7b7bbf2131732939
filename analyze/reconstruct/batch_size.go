package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// sizeAtTick is the size of a take that picks one at the 61st tick; that of a batch is 1 and more.
const sizeAtTick = 0

// batchSizes finds out how many goroutines a P took from the global queue: a batch, whose
// size follows from the length of the queue at a moment that no event shows
// (globrunqget until Go 1.24, globrunqgetbatch), or one at the 61st tick.
type batchSizes struct {
	*explainer
	items []int32 // room of batchShown
}

// sizeTaken finds out how many p, which has nothing of its own, took from the global queue,
// g first: a batch of k, or one at the 61st tick, and then how that is known.
func (r *batchSizes) sizeTaken(g, p int32, basis reference.Basis) (k int, atTick reference.Basis) {
	pp := &r.pStates[p]
	tick := &pp.tick
	k = r.rules.GlobalBatch(r.queues.GlobalLen(), r.procs)
	shown, is := r.engine.givenNow(hypBatchSize)
	chance := tick.Now()
	if !is && k > 1 && basis.Level() >= reference.Inferred && chance > schedtick.Open && chance < 1-schedtick.Open {
		shown = r.testBatchSize(g, 1, k)
	}
	// Before it is certain, the look-ahead has its say, but where nobody comes in between.
	if shown == 0 && k > 1 && (chance > schedtick.Certain || chance > schedtick.Likely && r.procs == 1) {
		_, by := tickSource(chance)
		return sizeAtTick, by
	}
	if k > 1 && r.procs > 1 { // on one P nobody comes in between
		if shown == 0 {
			shown = r.sizeAhead(g, p, k)
		}
		switch {
		case shown == 1 && tick.May():
			r.learnTick(pp, tickShown)
			return sizeAtTick, byAhead
		case shown > 1:
			k = shown
			if shown > 2 {
				r.learnTick(pp, tickNotBatch)
			}
		case tick.Now() > 0.5: // most likely it has never run anything
			return sizeAtTick, reference.Known(reference.Ambiguous, reference.RuleTick)
		}
	}
	if shown == 0 && r.tookOneMore(g, p, k) {
		k++
	}
	return k, 0
}

// sizeAhead is the size of a take that the look-ahead shows, or a trial: 1 for a pick at the
// 61st tick, 0 if nothing tells. k is the size by the length of the model's queue.
func (r *batchSizes) sizeAhead(g, p int32, k int) int {
	n := r.queues.GlobalLen()
	if shown := r.batchShown(g, p, r.rules.GlobalBatch(n-2, r.procs), k, r.rules.GlobalBatch(n+2, r.procs)); shown != 0 {
		return shown
	}
	if least := r.rules.GlobalBatch(n-r.unsure(g), r.procs); r.fedSinceBatch && least > 1 && least < k {
		return r.testBatchSize(g, least, k)
	}
	return 0
}

// tookOneMore reports whether p took one more than k from the global queue, g first: others put
// some there while its thread was between two events, and another P takes what is behind
// that one before p starts it.
func (r *batchSizes) tookOneMore(g, p int32, k int) bool {
	if !r.widerThan(g, k) {
		return false
	}
	x := g
	for range k {
		if x = r.queues.Next(x); x == reference.None {
			return false
		}
	}
	next := r.queues.Next(x)
	return next != reference.None && r.startsOn(x) == p && r.startsOn(next) >= 0 && r.startsOn(next) != p && r.gStates.At(next).start < r.gStates.At(x).start
}

// widerThan reports whether the take of g may have been a batch larger than k: other threads
// put some into the global queue before the start that shows it.
func (r *batchSizes) widerThan(g int32, k int) bool {
	n := r.queues.GlobalLen()
	to := min(r.gStates.At(g).start, r.win.head, r.now+putsSeen)
	if most := n + int(max(0, to-r.now-1)); r.rules.GlobalBatch(most, r.procs) <= k {
		return false // even if all of them put one there
	}
	for i := r.now + 1; i < to; i++ {
		if rec := r.win.at(i); rec.ev.Kind == events.Go && rec.ev.To == events.Runnable && rec.ev.From == events.Running {
			n++
		}
	}
	return r.rules.GlobalBatch(n, r.procs) > k
}

// putsSeen is how many events are looked at for that.
const putsSeen = 64

// testBatchSize asks whether the take of g was one of a or of b, where 1 is a pick at the
// 61st tick. It returns 0 if nothing tells.
func (r *batchSizes) testBatchSize(g int32, a, b int) int {
	if size, lead := r.engine.ask(hypBatchSize, question{g: g, a: a, b: b}); lead > 0 {
		return size
	}
	return 0
}

// batchSize: the take of q.g was one of q.a, or of q.b.
func proposeBatchSize(r *explainer, q question) []choice {
	then, can := r.engine.dequeueAgain(q.g)
	if !can {
		return nil
	}
	return []choice{{is: q.a, then: then}, {is: q.b, then: then}}
}

// precedes reports whether the overflow that comes next, later than its event, precedes the
// take of g: the length of the queue makes the batch larger then.
func (r *batchSizes) precedes(g int32) bool {
	n := r.queues.GlobalLen()
	if r.engine.on { // what one was told holds for all that follow
		return r.engine.given.by != hypHeldOverflow || r.engine.given.is == no
	}
	if len(r.overflowing.list) == 0 || r.rules.GlobalBatch(n, r.procs) == r.rules.GlobalBatch(n+r.rules.Overflow(), r.procs) || r.overflowing.nextOverflow() < 0 {
		return true
	}
	return !r.engine.says(hypHeldOverflow, question{g: g})
}

// heldOverflow: the overflow that comes next precedes the take of q.g, or does not.
func proposeHeldOverflow(r *explainer, q question) []choice {
	then, can := r.engine.dequeueAgain(q.g)
	if !can {
		return nil
	}
	return []choice{{is: no, then: then}, {is: yes, then: then}}
}

// batchShown looks ahead for the size of a take from the global queue that g
// heads: the next P to take begins where this take ended. It returns 1 for a
// pick at the 61st tick, a size from lo to hi for a batch, and 0 where nothing
// shows it. k is the size by the model's length, which can be off by a put or
// two; lo and hi are the sizes for that much less and more.
func (r *batchSizes) batchShown(g, p int32, lo, k, hi int) int {
	if r.without.has(hypShownBatch) {
		return 0
	}
	items := r.items[:0]
	for x := g; x != reference.None && len(items) < k+4; x = r.queues.Next(x) {
		items = append(items, x)
	}
	r.items = items
	b := batchView{lookahead: &r.lookahead, p: p, items: items}
	n, maybe := len(items), r.pStates[p].tick.May()
	switch {
	case k >= 4 && b.heads(1):
		return 1
	case n > 1 && maybe:
		if shown := r.ownOrder(g, p, items[1:min(k, n)], k); shown > 0 {
			return shown
		}
	}
	// It may not have known of the last put; and who stole would have found the
	// global queue empty: what another P begins with was left there.
	if j := k - 1; j >= 2 && b.heads(j) && b.sameP(j, k) && r.rules.GlobalBatch(r.queues.GlobalLen()-r.unsure(g), r.procs) == j {
		return j
	}
	switch {
	case b.ends(k):
		return k
	case k >= 4 && lo == hi && maybe && b.ends(k+1):
		return 1 // and then as many
	case lo < k && k > 2 && b.heads(k-1) && b.sameP(k-1, k):
		return k - 1
	case hi > k && k < n && b.heads(k+1) && b.runs(k) && b.start(k) > b.start(k-1):
		return r.testBatchSize(g, k, k+1)
	case hi > k && k < n && r.dequeuesEarly(g) && b.ends(k+1) && (b.runs(k) && b.start(k) > b.start(k-1) || b.start(k) > b.start(k+1)):
		return r.testBatchSize(g, k, k+1) // one was put just before
	}
	return 0
}

// batchView is what stands at the head of the global queue when P p takes from it, and when
// it starts.
type batchView struct {
	*lookahead
	p     int32
	items []int32
}

// start is the event by which the j-th starts, none if it is not in sight.
func (b *batchView) start(j int) int64 {
	if j >= len(b.items) {
		return none
	}
	return b.gStates.At(b.items[j]).start
}

// runs reports whether p itself runs the j-th.
func (b *batchView) runs(j int) bool { return b.startsOn(b.items[j]) == b.p }

// sameP reports whether the j-th and the k-th run on the same P.
func (b *batchView) sameP(j, k int) bool {
	return k < len(b.items) && b.startsOn(b.items[j]) == b.startsOn(b.items[k])
}

// ends reports whether another take begins with the j-th.
func (b *batchView) ends(j int) bool { return b.heads(j) || b.picks(j) }

// heads reports whether the j-th begins another P's take: it runs there, and before the one behind
// it, which a thief would run in the reverse order.
func (b *batchView) heads(j int) bool {
	if j >= len(b.items) {
		return false
	}
	q := b.startsOn(b.items[j])
	return q >= 0 && q != b.p && (b.start(j+1) < 0 || b.start(j) < b.start(j+1))
}

// picks reports whether p picks the j-th at the 61st tick: it runs before the one in front of it,
// which is in p's ring by then.
func (b *batchView) picks(j int) bool {
	return j < len(b.items) && b.runs(j) && b.runs(j-1) && b.start(j) < b.start(j-1)
}

// unsure is the number of goroutines at the tail of the global queue of which
// the take of g may not have known: other threads put them there while its
// thread was between two events.
func (r *batchSizes) unsure(g int32) int {
	s := r.win.at(r.gStates.At(g).start)
	if s == nil {
		return 0
	}
	n := 0
	for x, steps := r.queues.GlobalTail(), 0; x != reference.None && x != g && steps < farEnough; x, steps = r.queues.Prev(x), steps+1 {
		gp := r.gStates.At(x)
		if gp.ready < s.prevM {
			break
		}
		if gp.readyM != s.m {
			n++
		}
	}
	for _, l := range r.enqueues.open {
		if gp := r.gStates.At(l.g); l.before > s.prevM && gp.ready < s.prevM && gp.readyM != s.m && l.g != g && r.queues.Place(l.g).Queue == reference.QueueGlobal {
			n++
		}
	}
	return n
}

// ownOrder looks at what p runs after g: the rest of a batch stands in front of
// what g and its successors put into p's ring, but after a pick at the 61st
// tick it is still in the global queue. It returns k, 1, or 0 if this does not
// show.
func (r *lookahead) ownOrder(g, p int32, rest []int32, k int) int {
	first := none // start of the first of the rest that p runs
	for _, x := range rest {
		if r.startsOn(x) == p {
			first = r.gStates.At(x).start
			break
		}
	}
	if first == none {
		return 0
	}
	s := r.win.at(r.gStates.At(g).start)
	if s == nil {
		return 0
	}
	var puts [8]int64 // starts of what the P put into its queue
	n := 0
	for i, steps := s.nextM, 0; i != none && i < first && steps < 256; steps++ {
		rec := r.win.at(i)
		if rec == nil {
			return 0
		}
		if e := &rec.ev; e.Kind == events.Go && e.To == events.Runnable && rec.p == p && e.From != events.Running && e.From != events.Syscall && n < len(puts) {
			puts[n] = rec.link
			n++
		} else if e.Kind != events.Go {
			return 0 // the P is lost for a while: thieves may come
		}
		i = rec.nextM
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
