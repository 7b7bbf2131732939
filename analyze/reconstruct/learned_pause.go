package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/pauses"
	"github.com/gmpscope/gmpscope/reference"
)

// Where nothing else tells a batch from a pick at the 61st tick, the pauses that follow do:
// see package pauses.
const (
	pauseSure  evidence.Nats = 3  // sum that decides
	pauseMost  evidence.Nats = 5  // most that the sum counts for: the pauses are not independent
	pauseLead  evidence.Nats = 1  // of one size over the next best, if that decides
	pauseAhead               = 24 // starts looked at
)

// learnPause notes the pause before a start that is surely from the own ring or
// the first of a batch.
func (r *batchSizes) learnPause(rec *record, t *dequeue) {
	if r.without.has(hypLearnedPause) {
		return
	}
	if t.basis != byRule || t.src != reference.SrcLocal && (t.src != reference.SrcGlobal || t.batch < 2) {
		return
	}
	prev := r.win.at(rec.prevM)
	if prev == nil || prev.p != rec.p || prev.ev.Kind != events.Go || prev.ev.From != events.Running {
		return
	}
	kind := pauses.Own
	if t.src == reference.SrcGlobal {
		kind = pauses.Batch
	}
	r.pauses.Add(kind, rec.ev.Time-prev.ev.Time)
}

// tickByPauses compares two hypotheses for a take of g by p with an empty own
// queue: a batch of k, and further ones of that size; or a pick at the 61st tick,
// and then such batches. It returns what speaks for the second.
func (r *batchSizes) tickByPauses(g, p int32, k int) evidence.Nats {
	s := r.win.at(r.startOf(g))
	if s == nil || k < 2 {
		return 0
	}
	sum := evidence.Nats(0)
	for j := 1; j <= max(pauseAhead, k+2); j++ {
		stop := r.win.at(s.nextM)
		for stop != nil && stop.ev.Kind == events.Go && stop.ev.From != events.Running {
			if stop.ev.To != events.Syscall && stop.ev.From != events.Syscall && stop.p == p {
				return sum // something else joins the own queue
			}
			stop = r.win.at(stop.nextM)
		}
		if stop == nil || stop.ev.Kind != events.Go || stop.p != p {
			break
		}
		next := r.win.at(stop.nextM)
		if next == nil || next.ev.Kind != events.Go || next.ev.From != events.Runnable || next.ev.To != events.Running || next.p != p {
			break
		}
		says := r.pauses.Batch(next.ev.Time - stop.ev.Time)
		if j%k == 0 {
			sum -= says
		}
		if (j-1)%k == 0 {
			sum += says
		}
		s = next
	}
	return sum
}
