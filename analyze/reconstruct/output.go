package reconstruct

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// output is the decisions, some of which are held back until later events complete them.
type output struct {
	*tally
	view
	sink      func([]reference.Decision) []reference.Decision
	held      heldBack
	stepping  bool               // an event is handled: a panic is not that of the sink
	discarded reference.Decision // drafted in a fork
}

// tally counts decisions.
type tally struct {
	summary Summary
	starts  [32]int64  // by source
	bases   [256]int64 // by basis
}

// How decisions are known, where several are known so.
var (
	observed  = reference.Known(reference.Observed, reference.RuleNone)
	byRule    = reference.Known(reference.Inferred, reference.RuleQueue)
	byAhead   = reference.Known(reference.Inferred, reference.RuleLookahead)
	byPassed  = reference.Known(reference.Inferred, reference.RulePassed)
	ambiguous = reference.Known(reference.Ambiguous, reference.RuleQueue)
	byTaint   = reference.Known(reference.Ambiguous, reference.RuleTaint)
	byTick    = reference.Known(reference.Ambiguous, reference.RuleTick)
	byRepair  = reference.Known(reference.Ambiguous, reference.RuleRepair)
)

// patience is the most decisions that are held back for the oldest pending tick, 5 MB. Half or twice:
// nothing.
const patience = 1 << 16

// BlockLen is the number of decisions that Options.Emit gets at once, 320 KB: the receiver is
// mostly asleep by then, and waking a thread should cost little beside the work. With a
// quarter of this a tenth of the time of two Ps went into that.
const BlockLen = 4096

// blocksAtOnce is of how many blocks the memory is made at once: 5 MB.
const blocksAtOnce = 16

// heldBack is the decisions that were not emitted yet, so that all come in order: some wait for the
// oldest pending tick. They are drafted in place.
type heldBack struct {
	block   *[BlockLen]reference.Decision  // the newest
	n       uint                           // of them there are
	full    [][]reference.Decision         // those before, in blocks
	free    [][]reference.Decision         // blocks to be used again
	room    [][BlockLen]reference.Decision // for new ones
	first   int64                          // number of the first of all
	held    int64                          // decisions that came
	due     int64                          // of them, when the pending ticks are looked at next
	pending []pendingTick                  // oldest first
}

// noHolding has no block yet, and so no room.
func noHolding() heldBack { return heldBack{n: BlockLen, due: math.MaxInt64} }

// pendingTick is a start from the global queue of which it is open whether it was at the 61st tick: the
// P's own queue was empty, and a batch would have been one. Later evidence decides, and changes nothing
// else.
type pendingTick struct {
	decision  int64  // its decision
	p         int32  // P
	candidate uint16 // candidate
}

// at returns decision i, which is held back.
func (h *heldBack) at(i int64) *reference.Decision {
	if n := int(i-h.first) / BlockLen; n < len(h.full) {
		return &h.full[n][(i-h.first)%BlockLen]
	}
	return &h.block[(i-h.first)%BlockLen]
}

// addPendingTick holds back the next decision, a start on P p, until it is known whether the 61st tick
// comes where the start is a candidate for it.
func (h *heldBack) addPendingTick(p int32, at uint16) {
	h.pending = append(h.pending, pendingTick{decision: h.held, p: p, candidate: at})
	h.recheckTicks()
}

// recheckTicks has the pending ticks, if there are any, looked at with the next decision.
func (h *heldBack) recheckTicks() {
	if len(h.pending) > 0 {
		h.due = 0
	}
}

// settleTicks settles the oldest pending ticks that are known by now, or all.
func (r *output) settleTicks(all bool) {
	h := &r.held
	for ; len(h.pending) > 0; h.pending = h.pending[1:] {
		a := h.pending[0]
		c := r.ps.pStates[a.p].tick.Of(a.candidate)
		// As many are given away as come, so there is room.
		if !all && c > schedtick.Never && c < schedtick.Certain && h.held-a.decision < patience {
			h.due = a.decision + patience
			return
		}
		d := h.at(a.decision)
		src, basis := tickSource(c)
		d.Src = src
		if d.Basis.Rule() == reference.RuleTick {
			d.Basis = basis
		}
		r.count(d.Src, d.Basis)
	}
	h.due = math.MaxInt64
}

// flush emits what waits for no pending tick, in whole blocks, or all, and begins a block.
func (r *output) flush(all bool) {
	h := &r.held
	waits := h.held // number of the first that does
	if len(h.pending) > 0 {
		waits = h.pending[0].decision
	}
	if h.block != nil && h.n > 0 {
		h.full = append(h.full, h.block[:h.n])
	}
	judging := r.stepping
	r.stepping = false
	n := 0
	for ; n < len(h.full) && (all || h.first+BlockLen <= waits); n++ {
		h.first += int64(len(h.full[n]))
		if b := r.sink(h.full[n]); cap(b) >= BlockLen {
			h.free = append(h.free, b)
		}
	}
	r.stepping = judging
	h.full = slices.Delete(h.full, 0, n)
	h.n = 0
	if n := len(h.free); n > 0 {
		h.block, h.free = (*[BlockLen]reference.Decision)(h.free[n-1][:BlockLen]), h.free[:n-1]
	} else {
		h.block = h.more()
	}
}

// more returns a new block, of a dozen that are made at once: only a short trace needs fewer.
func (h *heldBack) more() *[BlockLen]reference.Decision {
	if len(h.room) == 0 {
		h.room = hugepages.Make[[BlockLen]reference.Decision](blocksAtOnce)
	}
	b := &h.room[0]
	h.room = h.room[1:]
	return b
}

// count counts a start in the summary.
func (r *output) count(src reference.Source, basis reference.Basis) {
	r.starts[src]++
	r.bases[basis]++
}

// emit emits a decision as draft begins it.
func (r *output) emit(p, m int32, d reference.Decision) {
	draft := r.draft(p, m)
	d.Time, d.P, d.M, d.Local, d.Global = draft.Time, draft.P, draft.M, draft.Local, draft.Global
	*draft = d
	r.commit()
}

// emitBatch emits that the thread of P p has moved size goroutines at once, of which g is one.
func (r *output) emitBatch(kind reference.Kind, g, p, victim int32, size int, basis reference.Basis) {
	if r.ahead.gStates.At(g).hidden {
		return // as are its moves
	}
	r.emit(p, r.ps.pStates[p].m, reference.Decision{Kind: kind, G: r.ahead.gStates.At(g).id, Victim: r.ahead.procID(victim), Batch: int32(size), Basis: basis})
}

// draft begins a decision at the present time, with the queue lengths after it, of the P and the thread
// with these indices, nobody if there is none. It is to be filled in and committed before the next.
// Filling it in place is cheaper than copying it.
func (r *output) draft(p, m int32) *reference.Decision {
	ahead := r.ahead
	h := &r.held
	if h.n >= BlockLen {
		return r.draftNext(p, m)
	}
	d := &h.block[h.n]
	h.n++
	h.held++
	*d = reference.Decision{}
	d.Time, d.P, d.M = ahead.time, reference.NoP, reference.NoM
	if pp := r.ps.procOf(p); pp != nil {
		d.P, d.Local = pp.id, int32(r.queues.ShownLen(p))
	}
	if mx := uint(m); mx < uint(len(ahead.mStates)) {
		d.M = ahead.mStates[mx].id
	}
	d.Global = int32(r.queues.ShownGlobalLen())
	return d
}

// draftOf begins a decision about a goroutine.
func (r *output) draftOf(gp *goroutine, kind reference.Kind, p, m int32) *reference.Decision {
	d := r.draft(p, m)
	d.Kind, d.G, d.Class, d.Flags = kind, gp.id, gp.class, gp.flags
	return d
}

// draftNext is draft where there is no block with room.
func (r *output) draftNext(p, m int32) *reference.Decision {
	if r.sink == nil {
		return &r.discarded
	}
	r.flush(false)
	return r.draft(p, m)
}

// commit ends a draft that is filled in.
func (r *output) commit() {
	if h := &r.held; h.held >= h.due {
		r.settleTicks(false)
	}
}

// move emits a Move of g to P to (nobody: the global queue) from P from.
func (r *output) move(g, to, from int32, queue reference.Queue, why reference.Why) {
	basis := r.model.carryTaint(g, to, from, why)
	gp := r.ahead.gStates.At(g)
	if gp.hidden {
		return
	}
	d := r.draftOf(gp, reference.KindMove, to, nobody)
	d.Why, d.Basis, d.Victim, d.To = why, basis, r.ahead.procID(from), queue
	r.commit()
}

// corrected emits that g, which P from had (nobody: the global queue), is where the model has it now.
func (r *output) corrected(g, from int32) {
	to := r.queues.Place(g)
	if to.Queue == reference.QueueUnknown {
		to.P = nobody
	}
	r.move(g, to.P, from, to.Queue, reference.WhyCorrected)
}

// emitDequeued emits that p's thread has dequeued a goroutine, and will start it later.
func (r *output) emitDequeued(g, p int32, deq dequeue) {
	why, from := reference.WhySteal, deq.victim
	switch deq.src {
	case reference.SrcGlobal, reference.SrcGlobalTick:
		why = reference.WhyGlobalBatch
	case reference.SrcRunnext, reference.SrcLocal:
		why, from = reference.WhyUnknown, p
	}
	gp := r.ahead.gStates.At(g)
	r.queues.Remove(g)
	gp.dequeued, gp.isDequeued = deq, true
	r.move(g, r.ahead.startsOn(g), from, reference.QueueDirect, why)
}

// setClass notes the class of a goroutine.
func (r *output) setClass(gp *goroutine, class int32) {
	if class == gp.class {
		return
	}
	gp.class = class
	gp.flags = r.ahead.classes.Flags(class)
	if r.summary.MainFunc == "" && gp.id == 1 {
		r.summary.MainFunc = r.ahead.classes.Start(class)
	}
}
