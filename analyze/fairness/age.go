package fairness

import (
	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ids"
)

// maxAgeBins bounds the curve of the starvation age.
const maxAgeBins = 512

// firstAgeBin is the width that its bins begin with, ns.
const firstAgeBin = 1_000_000

// age follows how long the goroutine has waited that waits longest. Those that
// yielded are left out: they asked for it.
//
// The waiting goroutines form a list, in the order in which they became runnable, so
// the oldest is its head. While the head stays, the age
// grows with time; so the curve is brought up to date only when the head changes.
type age struct {
	list       ids.Parts[waiting] // index 0 is none
	len        int32              // more than any index that was used
	free       int32              // the first that is free, or 0
	head, tail int32              // indices
	done       int64              // the curve is right up to here
	width      int64
	bin, until int64 // the last one that was written to, and where it ends
	bins       []int64
	max, at    int64
}

// waiting is a wait in the list. Of a million goroutines few wait at a time.
type waiting struct {
	since      int64 // when the goroutine became runnable
	prev, next int32
	number     int32 // of this wait, see bypass
	// bypassed is by how many this wait was bypassed before it got that number.
	bypassed int64
}

// update brings the curve up to now. The head has not changed since.
func (a *age) update(now int64) {
	from := a.done
	a.done = now
	if a.head == 0 {
		return
	}
	since := a.list.At(a.head).since
	if v := now - since; v > a.max {
		a.max, a.at = v, now
	}
	if now < a.until { // mostly
		a.bins[a.bin] = max(a.bins[a.bin], now-since)
		return
	}
	for now/a.width >= maxAgeBins {
		a.width *= 2
		a.bins = histogram.Halve(a.bins, func(x, y int64) int64 { return max(x, y) })
	}
	for i := from / a.width; i <= now/a.width; i++ {
		for int64(len(a.bins)) <= i {
			a.bins = append(a.bins, 0)
		}
		a.bins[i] = max(a.bins[i], min((i+1)*a.width, now)-since)
	}
	a.bin = now / a.width
	a.until = (a.bin + 1) * a.width
}

// push appends a goroutine that has become runnable, with the number of its wait.
func (a *age) push(g *goroutine, number int32, now int64) {
	var w *waiting
	i := a.free
	if i != 0 {
		w = a.list.At(i)
		a.free = w.next
	} else {
		i = max(1, a.len)
		a.len = i + 1
		w = a.list.Make(i)
	}
	*w = waiting{since: now, prev: a.tail, number: number}
	g.aged = i
	if a.tail != 0 {
		a.list.At(a.tail).next = i
	} else {
		a.update(now)
		a.head = i
	}
	a.tail = i
}

// remove removes a goroutine that is in and not runnable any more.
func (a *age) remove(g *goroutine, now int64) {
	w := a.list.At(g.aged)
	if w.prev == 0 {
		a.update(now)
		a.head = w.next
	} else {
		a.list.At(w.prev).next = w.next
	}
	if w.next == 0 {
		a.tail = w.prev
	} else {
		a.list.At(w.next).prev = w.prev
	}
	w.next, a.free = a.free, g.aged
	g.aged = 0
}
