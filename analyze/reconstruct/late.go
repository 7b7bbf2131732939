package reconstruct

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// A put follows its event. The thread may lose its CPU in between, for
// milliseconds; what others take meanwhile shows that the goroutine was not in
// the queue yet. Its put then comes before the thread's next event.

// latePut is a put to the global queue that is known to come later.
type latePut struct {
	g      int32
	before int64 // event of the putting thread
}

// maxUnseen bounds the late puts of which no end is in sight.
const maxUnseen = 64

// putLate takes x, put in the model but passed over by others, out of the
// global queue until its thread goes on. It says whether that explains x.
func (r *explainer) putLate(x int32) bool {
	if r.without.has(hypLatePut) {
		return false
	}
	g := r.gs.At(x)
	if g.putBy < 0 && g.start < 0 && len(r.late) < maxUnseen {
		g.putBy = math.MaxInt64 // neither its thread nor its start is in sight
	}
	if g.putBy <= r.now || g.late || g.putAgain || len(r.late) == farEnough {
		return false
	}
	from := r.q.Place(x)
	r.q.Remove(x)
	if from.Queue == reference.QueueGlobal {
		from.P = nobody
	}
	r.move(x, nobody, from.P, reference.QueueUnknown, reference.WhyCorrected)
	g.late = true
	r.late = append(r.late, latePut{x, g.putBy})
	r.watch()
	return true
}

// tryPutLate tries whether the put of it's goroutine to the global queue comes later,
// if its thread seems to have lost its CPU at that.
func (r *explainer) tryPutLate(it *item, g *goroutine) bool {
	if r.without.has(hypLatePut) {
		return false
	}
	next := r.win.at(g.putBy)
	if next == nil || next.p != it.p || next.ev.Time-r.time < stalled || g.putBy-r.now < meanwhile {
		return false
	}
	return r.says(hypLatePut, question{g: it.of, p: it.p})
}

// latePuts: the put of q.g to the global queue, which the model has done, comes with its
// event, or later.
func (r *explainer) latePuts(q question) []choice {
	return []choice{
		{is: no, then: thenFinish},
		{is: yes, then: thenFinish, apply: func(c *judge) { c.putLate(q.g) }},
	}
}

// stalls says that the thread that put x, alone, has lost its CPU for long at that. It
// goes on when it has done the put.
func (r *lookahead) stalls(x int32) bool {
	g := r.gs.At(x)
	if g.putBatch > 0 || g.putBy <= r.now {
		return false
	}
	next := r.win.at(g.putBy)
	return next != nil && next.ev.Time-g.readyAt > stalled
}

// delay moves x, which stands in the global queue and was passed over by ix from
// behind it, to where the order of the starts says that its put came: behind
// ix if its P runs it next, else behind what its P runs before it, or all. It
// says whether that explains x.
func (r *explainer) delay(x, ix int32) bool {
	if r.without.has(hypPutOrder) {
		return false
	}
	g := r.gs.At(x)
	if g.putBy < 0 {
		g.putBy = g.start
	}
	by := g.putBy
	if by < 0 {
		by = math.MaxInt64
	}
	if by <= r.gs.At(ix).queued {
		return false // ix was put when x had been
	}
	if r.startsBetween(ix, x) == 0 && r.rules.GlobalBatch(r.q.GlobalLen()-1, r.procs) > 1 {
		r.requeue(x, ix) // they came with one batch
		return true
	}
	p, before, after := r.startP(x), false, reference.None
	z := r.q.Next(x)
	for n := 0; z != reference.None && n < farEnough; n++ {
		y := r.gs.At(z)
		if y.queued >= by || y.start < 0 {
			break // whose start is not in sight yet runs after all others
		}
		if p >= 0 && r.startP(z) == p {
			if y.start > g.start {
				break
			}
			before = true
		}
		after = z
		z = r.q.Next(z)
	}
	switch {
	case z == reference.None && g.putBy > r.now:
		return r.putLate(x)
	case after == reference.None, by <= r.now && !before:
		return false
	}
	r.requeue(x, after)
	return true
}

// delayInBatch delays what the model would give p with a batch of k of which ix is the
// first, although its put may have come later and p runs what stands behind it
// but not itself: a ring gives out its goroutines in order.
func (r *explainer) delayInBatch(ix, p int32, k int) {
	if r.without.has(hypPutOrder) {
		return
	}
	prev, y := ix, r.q.Next(ix)
	for i := 1; i < k && y != reference.None; i++ {
		next := r.q.Next(y)
		if next == reference.None {
			return
		}
		if g, from, to := r.gs.At(y), r.startOf(prev), r.startOf(next); (g.putBy < 0 || g.putBy > r.gs.At(next).queued) &&
			r.startP(prev) == p && r.startP(next) == p && from < to && (r.startP(y) != p || g.start > to) && r.delay(y, next) {
			y = next
			i--
			continue
		}
		prev, y = y, next
	}
}

// openPut notes a put to the global queue whose thread has not gone on yet.
func (r *explainer) openPut(ix int32, next int64) {
	r.fed = true
	if n := len(r.open); n >= 256 && n == cap(r.open) { // findLate may not be called for long
		r.open = slices.DeleteFunc(r.open, func(l latePut) bool { return l.before <= r.now })
	}
	if next > r.now {
		r.open = append(r.open, latePut{ix, next})
	}
}

// findLate looks for puts that have not happened although their events have:
// those behind run first.
func (r *explainer) findLate(ix, p int32) {
	if r.without.has(hypLatePut) {
		return
	}
	keep := r.open[:0]
	for _, l := range r.open {
		if l.before <= r.now || r.q.Place(l.g).Queue != reference.QueueGlobal {
			continue
		}
		behind := r.q.Next(l.g)
		x, y := r.gs.At(l.g), r.startOf(behind)
		if (y > r.now && r.gs.At(behind).ready < r.now && (x.start < 0 || y < x.start) && !r.inFlight(l.g) && r.startP(behind) != r.startP(l.g) && !r.endsBatch(l.g, ix, p) ||
			l.g != ix && r.startP(l.g) != p && r.yieldedHere(l.g, r.startP(l.g)) || r.yieldsBefore(ix, p, x.start)) && r.putLate(l.g) {
			continue
		}
		keep = append(keep, l)
	}
	r.open = keep
}

// endsBatch says that p takes x with the batch that ix begins, as the last of it:
// what stands behind x was left to others.
func (r *model) endsBatch(x, ix, p int32) bool {
	if r.startP(x) != p {
		return false
	}
	k := r.rules.GlobalBatch(r.q.GlobalLen(), r.procs)
	y := ix
	for n := 1; n < k && y != reference.None; n++ {
		y = r.q.Next(y)
	}
	return x == y && x != ix
}

// yieldsBefore says that p, which runs ix next, goes on through the global queue
// at least twice before event start: it then has nothing in its own queue, and
// nothing was in the global one that it had to run first.
func (r *lookahead) yieldsBefore(ix, p int32, start int64) bool {
	s := r.win.at(r.startOf(ix))
	for n, again := 0, 0; s != nil && n < 24; n++ {
		if e := &s.ev; e.Kind != events.Go {
			return false
		} else if e.From == events.Running && e.To == events.Runnable {
			if s.link == none || s.link != s.nextM || start >= 0 && s.link > start {
				return false
			}
			if next := r.win.at(s.link); next == nil || next.p != p {
				return false
			}
			if again++; again == 2 {
				return true
			}
		}
		s = r.win.at(s.nextM)
	}
	return false
}

// putsDue does the puts that come before event i.
func (r *explainer) putsDue(i int64) {
	for j := 0; j < len(r.late); {
		l := r.late[j]
		late := r.gs.At(l.g).late
		if late && l.before > i {
			j++
			continue
		}
		r.late = slices.Delete(r.late, j, j+1)
		if late {
			r.putNow(l.g) // which may do others
		}
	}
}

// afar is how far ahead the start of a goroutine is, in ns, if the order of the starts
// tells that of the puts better than its thread's next event does.
const afar = 10_000_000

// putsBefore does the late puts of what runs before x, which is put now, if nothing else
// bounds them: its thread has no event until after the start.
func (r *explainer) putsBefore(x int32) {
	start := r.startOf(x)
	for i := 0; i < len(r.late); {
		l := r.late[i]
		s := r.win.at(r.startOf(l.g))
		if !r.gs.At(l.g).late || l.g == x || s == nil || r.startOf(l.g) >= min(start, l.before) || s.ev.Time-r.time <= afar {
			i++
			continue
		}
		r.late = slices.Delete(r.late, i, i+1)
		r.putNow(l.g) // which may do others
	}
}

func (r *explainer) putNow(ix int32) {
	if i := slices.IndexFunc(r.spills, func(s spill) bool { return s.newcomer == ix || slices.Contains(s.held, ix) }); i >= 0 {
		r.spillNow(i)
		return
	}
	g := r.gs.At(ix)
	g.late = false
	g.putAgain = true
	r.putGlobal(ix)
	r.move(ix, nobody, nobody, reference.QueueGlobal, reference.WhyCorrected)
}
