package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// drifting is a model of two Ps in which P 0 stops and takes from a global queue of
// goroutines 3 to 7, three of them or, if it knows of what P 1 yields meanwhile, four. It
// runs 3 to 6. If before is set, goroutine last starts before P 0 starts 6, else after it,
// on P on; 6 does after 7.
func drifting(yields, before bool, last, on int64) *Reconstructor {
	var f feed
	f.twoPs(8)
	f.stop(1000, events.Waiting, events.ReasonSleep)
	now := len(f.evs) - 1
	to, why := events.Waiting, events.ReasonSleep
	if yields {
		to, why = events.Runnable, events.ReasonGosched
	}
	f.add(events.Event{M: 1, P: 1, G: busy, Res: busy, From: events.Running, To: to, Reason: why})
	for g := int64(3); g <= 6; g++ {
		if g == 6 && before {
			if last == 6 {
				f.add(events.Event{M: 1, P: 1, G: events.None, Res: 7, From: events.Runnable, To: events.Running})
				f.add(events.Event{M: 1, P: 1, G: 7, Res: 7, From: events.Running, To: events.NotExist})
			}
			f.add(events.Event{M: on, P: int32(on), G: events.None, Res: last, From: events.Runnable, To: events.Running})
		}
		if g == last {
			continue
		}
		f.start(g)
		f.stop(g, events.NotExist, 0)
	}
	if !before {
		f.add(events.Event{M: on, P: int32(on), G: events.None, Res: last, From: events.Runnable, To: events.Running})
	}
	return f.model(now, upTo(3, 7))
}

// TestHadOneMore has P 0 take one more than the model knows of.
func TestHadOneMore(t *testing.T) {
	for _, c := range []struct {
		name           string
		yields, before bool
		last, on       int64
		want           bool
	}{
		{"another P passes over it", true, true, 7, 1, true},
		{"it starts later", true, false, 7, 1, false},
		{"there was no more", false, true, 7, 1, false},
		{"the same P does, at its tick", true, true, 7, 0, false},
		{"it runs elsewhere", true, true, 6, 1, false},
	} {
		r := drifting(c.yields, c.before, c.last, c.on)
		if got := r.step.sizes.hadOneMore(r.step.model.goroutine(3), 0, 3); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestDrifts has P 0 dequeue a batch that may have been larger: what it ended with is tainted,
// and where the next ends, until another P takes what follows.
func TestDrifts(t *testing.T) {
	const taken, size = 3, 3
	tainted := func(r *Reconstructor) (in []int64) {
		for g := int64(1); g <= 8; g++ {
			if r.step.ahead.gStates.At(r.step.model.goroutine(g)).tainted {
				in = append(in, g)
			}
		}
		return in
	}
	for _, c := range []struct {
		name         string
		yields, less bool
		last         int64
		want         int // tainted
	}{
		{"it may have been larger", true, false, 7, 2},
		{"or smaller", false, true, 7, 2},
		{"the size is sure", false, false, 7, 0},
		{"another P goes on", true, false, 6, 0},
	} {
		r := drifting(c.yields, false, c.last, 1)
		r.step.model.wider = r.step.sizes.widerThan(r.step.model.goroutine(taken), size)
		for g := int64(3); g < 3+size; g++ {
			r.step.queues.Remove(r.step.model.goroutine(g))
			if g > taken {
				r.step.queues.PutTail(0, r.step.model.goroutine(g))
			}
		}
		r.step.model.taintAfterBatch(0, size, c.less)
		if got := tainted(r); len(got) != c.want || c.want > 0 != (r.step.model.driftingP == 0) {
			t.Errorf("%s: %v tainted, P %d drifts", c.name, got, r.step.model.driftingP)
		}
	}
	for _, c := range []struct {
		name string
		p, k int32
		want int32
	}{
		{"the next batch", 0, 3, 0},
		{"a single one", 0, 1, nobody},
		{"another P's", 1, 3, nobody},
	} {
		r := drifting(false, false, 7, 1)
		r.step.model.driftingP = 0
		r.step.model.taintAfterBatch(c.p, c.k, false)
		if r.step.model.driftingP != c.want {
			t.Errorf("%s: P %d drifts, want %d", c.name, r.step.model.driftingP, c.want)
		}
	}
}

// TestDriftIsAmbiguous has P 0 start what it may have in its ring only by a batch that
// was larger than thought, long after anything was corrected.
func TestDriftIsAmbiguous(t *testing.T) {
	for _, p := range []int32{0, nobody} {
		r := drifting(true, false, 7, 1)
		x := r.step.model.goroutine(4)
		r.step.queues.Remove(x)
		r.step.queues.PutTail(0, x)
		gp := r.step.ahead.gStates.At(x)
		gp.tainted, gp.moved = true, true
		r.step.ps.pStates[0].taint.fits = fitting
		r.step.model.driftingP = p
		want := reference.RuleNone
		if p == 0 {
			want = reference.RuleTaint
		}
		if got := r.step.dequeuer.dequeue(x, 0).taint; got != want {
			t.Errorf("P %d drifts: %v, want %v", p, got, want)
		}
	}
}

// TestPassOverTheEnd has P 1 start the second in the global queue, where the first was
// put at nearly the same time, and runs on P 0.
func TestPassOverTheEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		wider bool // P 0's last batch may have been larger
		runs  int64
		local int // in P 0's ring
	}{
		{"the end of the last batch", true, 6, 1},
		{"put in the other order", false, 6, 0},
		{"somebody else's", true, 2, 0},
	} {
		r := drifting(true, false, 7, 1)
		for g := int64(3); g <= 7; g++ {
			r.step.queues.Remove(r.step.model.goroutine(g))
		}
		r.step.queues.PutGlobal(r.step.model.goroutine(c.runs))
		r.step.queues.PutGlobal(r.step.model.goroutine(7))
		r.step.ahead.gStates.At(r.step.model.goroutine(7)).readyM = r.link.mix.Find(1)
		r.step.model.lastBatchP, r.step.model.wider = 0, c.wider
		r.step.dequeuer.passOver(r.step.model.goroutine(7), 1)
		if got := r.step.queues.RingLen(0); got != c.local || c.local > 0 && r.step.model.wider {
			t.Errorf("%s: %d in P 0's ring, wider %v", c.name, got, r.step.model.wider)
		}
	}
}
