package work

// Bounds of a path.
const (
	maxSegments = 256
	maxAlike    = 32     // of the last, among which a place is looked for
	maxHops     = 64     // from one who held a thing to another
	maxDepth    = 16     // of those that wait for each other
	maxSteps    = 1 << 9 // back in the ring; all units have some more together, see path
)

// cell is what a part of a unit's time is booked on.
type cell struct {
	viaSite, site int32    // functions
	class         int32    // who
	via           activity // the owner's own wait; 0: it did not wait
	activity      activity
	cause         uint8 // of runnable
	queue         bool  // who served did this before it began to serve
	hops          uint8
}

// segment is a part of a unit's time.
type segment struct {
	cell
	ns int64
}

// walk divides the time of a unit, from its end to its begin.
type walk struct {
	ring  *ring
	class int32 // of the owner
	via   cell  // what the owner waits for
	hops  uint8
	steps int
	limit int       // of steps
	spent int64     // steps of all units beyond maxSteps
	out   []segment // the last first
}

// path returns the segments of the time (from, to.at] in the life of a class, the last
// first. They add up to it. It takes few steps for each unit; those that need more share one
// for every fourth interval, so that the time that all take is bounded.
func (w *walk) path(class int32, from int64, to mark) []segment {
	w.class, w.out, w.steps = class, w.out[:0], 0
	w.via, w.hops = cell{}, 0
	w.limit = maxSteps + int(max(0, w.ring.next/4-w.spent))
	w.follow(to.node, from, to.at, 0, noUnit)
	w.spent += int64(max(0, w.steps-maxSteps))
	return w.out
}

// book books a part of the time. Where there are too many segments, it goes to a late one of
// its kind, or to the last one, which is the rest.
func (w *walk) book(c cell, from, to int64) {
	if to <= from {
		return
	}
	c.via, c.viaSite, c.hops = w.via.activity, w.via.site, w.hops
	n := len(w.out)
	for i := n - 1; i >= 0 && (i == n-1 || n == maxSegments && i > n-maxAlike); i-- {
		if w.out[i].cell == c {
			w.out[i].ns += to - from
			return
		}
	}
	if n == maxSegments {
		w.out[n-1].cell = cell{activity: rest}
		w.out[n-1].ns += to - from
		return
	}
	w.out = append(w.out, segment{c, to - from})
}

func cellOf(x *interval) cell {
	return cell{site: x.site, class: x.class, activity: x.activity, cause: x.cause}
}

// follow books the time (from, to] along the life of which interval n is a part. Before serve
// the goroutine did another unit: who is waited for is known, and queues.
func (w *walk) follow(n, from, to int64, depth int, serve int64) {
	for to > from {
		x := w.ring.at(n)
		if w.steps++; x == nil || w.steps > w.limit {
			w.book(cell{class: w.class, activity: notKnown}, from, to)
			return
		}
		if x.end < to {
			w.book(cell{class: x.class, activity: notKnown}, max(from, x.end), to)
			to = max(from, x.end)
		}
		if x.born {
			w.beforeBirth(n, x, from, to, depth)
			return
		}
		if begin := max(from, x.begin); begin < to {
			w.interval(n, x, begin, to, depth, serve)
			to = begin
		}
		n = back(n, x.prev)
	}
}

// beforeBirth books what was before interval n, in which a goroutine was created.
func (w *walk) beforeBirth(n int64, x *interval, from, to int64, depth int) {
	if depth > 0 && (w.via.activity == onLock || w.via.activity == onNetwork) {
		w.book(cell{class: x.class, activity: notKnown}, from, to) // its creator does not hold it
		return
	}
	w.follow(back(n, x.link), from, to, depth, noUnit)
}

// interval books a part of interval n.
func (w *walk) interval(n int64, x *interval, from, to int64, depth int, serve int64) {
	link := back(n, x.link)
	waited := x.activity >= onLock && x.activity <= asleep
	switch {
	case depth == 0:
		w.via, w.hops = cell{}, 0
		if waited {
			w.via = cell{activity: x.activity, site: x.site}
		}
	case from < serve && !x.home:
		w.book(cellOf(x), max(from, serve), to)
		c := cellOf(x)
		c.queue = true
		w.book(c, from, min(to, serve))
		return
	}
	if !waited || link == 0 || depth >= maxDepth {
		w.book(cellOf(x), from, to)
		return
	}
	w.waker(link, x, from, to, depth+1)
}

// waker books the time in which a goroutine was blocked, in interval x, until one at a link
// ended that. If the waker had waited at the same site before, it held the thing since, and
// got it from its own waker.
func (w *walk) waker(link int64, x *interval, from, to int64, depth int) {
	serve := x.serve
	for w.hops < maxHops {
		n, y := w.sameWait(link, x, serve, from, to)
		if y == nil {
			break
		}
		w.follow(link, y.end, to, depth, noUnit)
		w.hops++
		to, link, serve = y.end, back(n, y.link), y.serve
	}
	if x.activity == onLock && serve > from && serve < to {
		w.follow(link, serve, to, depth, noUnit)
		w.book(cell{site: x.site, activity: onLock}, from, serve) // it came later: who held it before is not known
		return
	}
	w.follow(link, from, to, depth, serve)
}

// sameWait returns the last interval, from link back to serve, in which the waker was blocked
// at the site of x, and which ended in (from, to); nil if there is none.
func (w *walk) sameWait(link int64, x *interval, serve, from, to int64) (int64, *interval) {
	for range maxHops {
		y := w.ring.at(link)
		if y == nil || y.born || y.end <= max(from, serve) {
			return 0, nil
		}
		w.steps++
		if y.site == x.site && y.activity == x.activity && y.end < to && y.link != 0 {
			return link, y
		}
		link = back(link, y.prev)
	}
	return 0, nil
}
