package reconstruct

import (
	"fmt"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A dedicated mark worker that is requested to yield goes on, but first gives its P's local queue,
// runnext first, to the global one so that others can run it (gcBgMarkWorker, runqdrain). The trace
// shows neither the request nor the move: where the goroutines go on does.

// Times of drains, in ns. They are about those of recordings with truth; half or twice: nothing.
const (
	// drainLag is by how much sysmon usually is late with the request after a time slice (sysmon,
	// retake; all), and the worker with what follows (gcBgMarkWorker).
	drainLag = 1_300_000
	// drainAgain is the time after which a drain that is to come is looked for again.
	drainAgain = drainLag / 8
	// putsPause is how long a worker pauses at most between two assists that it makes runnable with the
	// same credit (gcFlushBgCredit; all): it does not drain in between.
	putsPause = 3_000
)

// drain is a P whose dedicated mark worker may drain its queue.
type drain struct {
	p           int32
	m           int32 // thread
	g           int32 // the worker
	due         int64 // time at which its time slice is over
	decided     bool  // forks have decided that it comes when it is due
	began       int64 // when the worker started
	testedFirst int32 // the first in the queue, when drainEarly tried last
}

// drains are the dedicated mark workers that run, and may drain their P's queue.
type drains struct{ list []drain }

// workerDrains finds out when dedicated mark workers drain the queues of their Ps.
type workerDrains struct {
	*drains
	view
	out    *output
	engine *engine
}

// expectDrain notes that a worker starts.
func (r *workerDrains) expectDrain(rec *record) {
	if r.ahead.without.has(hypWorkerDrain) {
		return
	}
	r.list = slices.DeleteFunc(r.list, func(worker drain) bool { return worker.p == rec.p }) // its end was lost
	r.list = append(r.list, drain{p: rec.p, m: rec.m, g: rec.of, due: r.ahead.time + r.ahead.rules.Slice + drainLag, began: r.ahead.time, testedFirst: nobody})
	r.ahead.settleSoon()
}

// drainsDue decides on the workers that have run for a slice or end with an event.
func (r *workerDrains) drainsDue(rec *record) {
	ahead := r.ahead
	stops := rec.isStop()
	for j := 0; j < len(r.list); {
		worker := &r.list[j]
		ends := stops && rec.of == worker.g
		if !ends && ahead.time >= worker.due && !worker.decided && r.model.comesLater(r.queues.GlobalTail(), r.model.oldest(worker.p), math.MaxInt64) {
			worker.due = ahead.time + drainAgain
		}
		if !ends && ahead.time < worker.due {
			j++
			continue
		}
		drained, keep, done := worker.decided, 0, worker.decided
		if !drained {
			says, kept := r.drained(*worker)
			if drained = says; r.queues.Len(worker.p) > 0 && (says || ends && !kept) {
				q := question{other: int32(j)}
				if says {
					q.likely = yes
				}
				drained = r.engine.holds(hypWorkerDrain, q)
			}
			if drained && !ends && r.engine.mayFork() {
				at, begun := r.drainTime(j)
				if at > ahead.time {
					worker.due, worker.decided = at, true
					j++
					continue
				}
				keep, done = begun, begun > 0
			}
		}
		p := worker.p
		if ends || done {
			r.list = slices.Delete(r.list, j, j+1)
		} else {
			worker.due = math.MaxInt64 // the end shows whether more was drained
			j++
		}
		if drained {
			r.drain(p, keep)
		}
	}
}

// drainEarly is for a worker that was requested to yield before its time slice was over, as all are
// when mark termination is tried or the tracer begins a generation (forEachP, preemptall): a thread
// that starts what is first in the worker's queue did not steal it from there where a thief would have
// started another one.
func (r *workerDrains) drainEarly(rec *record) {
	if len(r.list) == 0 || !rec.isStart() || !r.engine.mayFork() {
		return
	}
	place := r.queues.Place(rec.of)
	if place.P == rec.p || place.Queue != reference.QueueLocal && place.Queue != reference.QueueRunnext {
		return
	}
	j := slices.IndexFunc(r.list, func(worker drain) bool { return worker.p == place.P })
	if j < 0 {
		return
	}
	worker := &r.list[j]
	n := r.queues.RingLen(worker.p)
	if worker.testedFirst == rec.of || rec.of != r.model.oldest(worker.p) || place.Queue == reference.QueueRunnext && n == 0 || place.Queue == reference.QueueLocal && n < 3 {
		return
	}
	worker.testedFirst = rec.of
	if keep, _ := r.engine.decide(hypEarlyDrain, question{other: int32(j), sizes: r.lots(worker), likely: undrained}); keep != undrained {
		r.drain(worker.p, keep)
	}
}

// undrained is the answer that a worker has not drained its queue. Another one is how many of the queue
// came after that.
const undrained = -1

// proposeEarlyDrain proposes that the worker of drain q.other has not drained its queue, or that it has
// done so before the last of it came, as many as one of q.sizes.
func proposeEarlyDrain(r *stepper, q question) []choice {
	choices := []choice{{is: undrained, says: "the worker has not drained its queue"}}
	for _, keep := range q.sizes {
		choices = append(choices, choice{is: keep, says: fmt.Sprintf("it has, and %d came after that", keep), apply: func(fork *stepper) { fork.workers.drain(fork.workers.list[q.other].p, keep) }})
	}
	return choices
}

// maxLots is how many times are tried at which a worker may have drained its queue, a budget: each is a
// fork. Half or twice: nothing.
const maxLots = 3

// lots returns how many of the ring of worker.p may have come after a drain: those that the worker made
// runnable after a pause. What was drained starts in its order, so that what is first in the result,
// the fewest, is the likeliest.
func (r *workerDrains) lots(worker *drain) []int {
	var keeps []int
	last, at := r.ahead.startOf(r.model.oldest(worker.p)), worker.began
	keep := r.queues.RingLen(worker.p)
	for g := r.queues.Head(worker.p); g != reference.None; g = r.queues.Next(g) {
		gp := r.ahead.gStates.At(g)
		if gp.readyAt > worker.began && gp.readyAt-at > putsPause && keep < r.queues.RingLen(worker.p) {
			keeps = append(keeps, keep)
		}
		if s := gp.start; s < last && s != none {
			break
		} else if s != none {
			last = s
		}
		at = gp.readyAt
		keep--
	}
	if keep == 0 {
		keeps = append(keeps, 0)
	}
	slices.Reverse(keeps)
	return keeps[:min(len(keeps), maxLots)]
}

// proposeWorkerDrain proposes that drain q.other has happened by now, or does not happen.
func proposeWorkerDrain(r *stepper, q question) []choice {
	j := int(q.other)
	drained := choice{is: yes, says: "the worker has drained its queue by now", apply: func(fork *stepper) {
		fork.workers.list[j].due = math.MaxInt64
		fork.workers.drain(fork.workers.list[j].p, 0)
	}}
	not := choice{is: no, says: "the worker does not drain its queue", apply: func(fork *stepper) { fork.workers.list = slices.Delete(fork.workers.list, j, j+1) }}
	if q.likely == yes {
		return []choice{drained, not}
	}
	return []choice{not, drained}
}

// putsAround looks at the goroutines that thread m makes runnable one right after the other now: how
// many are in its queue, and the times of its next event and when it has done so with all, the same if
// that event is something else. They are 0 if it has no next event in sight.
func (r *lookahead) putsAround(m int32) (begun int, from, to int64) {
	put := func(rec *record) bool {
		return rec != nil && rec.Kind == events.Go && rec.From == events.Waiting && rec.To == events.Runnable
	}
	first := r.win.at(r.mStates[m].next)
	if first == nil {
		return 0, 0, 0
	}
	if !put(first) {
		return 0, first.Time, first.Time
	}
	at := first.Time
	for i, n := first.prevM, 0; n < r.rules.RingSize; n++ {
		rec := r.win.at(i)
		if !put(rec) || at-rec.Time > putsPause {
			break
		}
		if i != r.now {
			begun++
		}
		at, i = rec.Time, rec.prevM
	}
	last := first
	for _, rec := range r.win.thread(first.nextM, farEnough) {
		if !put(rec) || rec.Time-last.Time > putsPause {
			break
		}
		last = rec
	}
	return begun, first.Time, last.Time + 1
}

// When a drain comes.
const (
	drainNow   = iota
	drainNext  // when its thread goes on
	drainAfter // when that has made some goroutines runnable
)

// drainTime returns when drain j comes, as its thread may have lacked a CPU, and how many goroutines
// the queue has got already of those that come after.
func (r *workerDrains) drainTime(j int) (time int64, begun int) {
	begun, next, after := r.ahead.putsAround(r.list[j].m)
	if after == 0 {
		return r.ahead.time, 0
	}
	at := [...]int64{drainNow: r.ahead.time, drainNext: next, drainAfter: after}
	answer, _ := r.engine.decide(hypLateDrain, question{other: int32(j)})
	return at[answer], begun
}

// proposeLateDrain proposes when drain q.other comes.
func proposeLateDrain(r *stepper, q question) []choice {
	j := int(q.other)
	begun, next, after := r.ahead.putsAround(r.workers.list[j].m)
	later := func(is int, says string, at int64) choice {
		return choice{is: is, says: says, apply: func(fork *stepper) { fork.workers.list[j].due, fork.workers.list[j].decided = at, true }}
	}
	choices := []choice{{is: drainNow, says: "the drain comes now", apply: func(fork *stepper) {
		fork.workers.finish(j, begun)
	}}}
	if begun == 0 {
		choices = append(choices, later(drainNext, "it comes when the thread goes on", next))
	}
	if after > next {
		choices = append(choices, later(drainAfter, "it comes when the thread has made some goroutines runnable", after))
	}
	return choices
}

// drained reports whether what is in worker.p's queue now was not there any more when the worker was
// done: the P then begins with something else, or all of it starts elsewhere, the oldest first, which
// no thief does. kept reports whether it surely was still there if it had been until the P started the
// next one.
func (r *workerDrains) drained(worker drain) (says, kept bool) {
	own := r.model.oldest(worker.p)
	if own == reference.None || r.queues.Len(worker.p) == 1 && r.queues.GlobalLen() == 0 && r.ahead.time < worker.due {
		return false, true // a thief steals one alone, too, if there is nothing in the global queue
	}
	tick := r.ps.pStates[worker.p].tick.May()
	for i, rec := range r.ahead.win.thread(r.ahead.mStates[worker.m].next, farEnough) {
		if rec.isStart() && rec.p == worker.p {
			place := r.queues.Place(rec.of)
			if gp := r.ahead.gStates.At(rec.of); gp.start == i && gp.ready < r.ahead.now && gp.direct == reference.SrcUnknown {
				if place.Queue != reference.QueueGlobal || !tick {
					return place.Queue == reference.QueueGlobal, rec.of == own && r.queues.GlobalLen() > 0
				}
				tick = false // the next one shows it
			}
		}
	}
	first, picked := r.ahead.startOf(own), 0
	for g := r.queues.Head(worker.p); g != reference.None; g = r.queues.Next(g) {
		if s := r.ahead.startOf(g); g != own && s >= 0 && s < first {
			picked++
		}
	}
	picks := 0 // at ticks: those run before what stood in front of them in the global queue
	if r.ahead.rules.GlobalPoll > 0 {
		picks = r.queues.Len(worker.p) / r.ahead.rules.GlobalPoll
	}
	return first >= 0 && r.ahead.startsOn(own) != worker.p && picked <= picks, false
}

// finish has drain j, the last of its worker, happen.
func (r *workerDrains) finish(j, keep int) {
	p := r.list[j].p
	r.list = slices.Delete(r.list, j, j+1)
	r.drain(p, keep)
}

// drain moves p's local queue, but the last few of its ring, to the tail of the global one.
func (r *workerDrains) drain(p int32, keep int) {
	r.model.lastOverflow++
	r.queues.Drain(p, keep, func(g int32) {
		gp := r.ahead.gStates.At(g)
		gp.overflowID = r.model.lastOverflow
		gp.fromGlobal, gp.ready = nobody, r.ahead.now
		r.out.move(g, nobody, p, reference.QueueGlobal, reference.WhyGC)
	})
}
