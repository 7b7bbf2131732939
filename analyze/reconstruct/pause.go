package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A batch from the global queue needs its lock and moves many, so the pause
// before its first goroutine is longer than that before one from the own ring.
// By how much differs between machines: it is learned from the starts that are
// sure. Where nothing else tells a batch from a pick at the 61st tick, the
// pauses that follow do.

const (
	pauseStep  = 64 // ns: resolution of the tracer's clock on most platforms
	pauseSteps = 32
	pauseMany  = 1 << 14 // samples after which older ones count half
	pauseFew   = 64      // samples that are needed of each kind
	pauseClip  = 2       // most that one pause says
	pauseSure  = 3       // sum that decides
	pauseMost  = 5       // most that it counts for
	pauseAhead = 24      // starts looked at
)

// pauses counts the pauses between a stop and the next start, in steps.
type pauses struct {
	n     [2]float64
	count [2][pauseSteps]float64 // [0]: next from the own ring, [1]: first of a batch
	llr   [pauseSteps]float64    // logarithm of the likelihood ratio, of [1] to [0]
	stale int
}

func (u *pauses) add(kind int, ns int64) {
	i := ns / pauseStep
	if i < 0 || i >= pauseSteps {
		return
	}
	u.count[kind][i]++
	u.n[kind]++
	u.stale++
	if u.n[kind] > pauseMany {
		u.n[kind] = 0
		for j := range u.count[kind] {
			u.count[kind][j] /= 2
			u.n[kind] += u.count[kind][j]
		}
	}
	if u.stale > 256 {
		u.stale = 0
		for j := range u.llr {
			g, l := (u.count[1][j]+1)/(u.n[1]+pauseSteps), (u.count[0][j]+1)/(u.n[0]+pauseSteps)
			u.llr[j] = min(max(math.Log(g/l), -pauseClip), pauseClip)
		}
	}
}

// evidence returns how much a pause speaks for a batch, below 0 for the own ring.
func (u *pauses) evidence(ns int64) float64 {
	i := ns / pauseStep
	if i < 0 || i >= pauseSteps || u.n[0] < pauseFew || u.n[1] < pauseFew {
		return 0
	}
	return u.llr[i]
}

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
	kind := 0
	if t.src == reference.SrcGlobal {
		kind = 1
	}
	r.pause.add(kind, rec.ev.Time-prev.ev.Time)
}

// tickByPauses compares two stories for a take of g by p with an empty own
// queue: a batch of k, and further ones of that size; or a pick at the 61st tick,
// and then such batches. It returns what speaks for the second.
func (r *batchSizes) tickByPauses(g, p int32, k int) float64 {
	s := r.win.at(r.startOf(g))
	if s == nil || k < 2 {
		return 0
	}
	sum := 0.0
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
		says := r.pause.evidence(next.ev.Time - stop.ev.Time)
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
