package work

import "math/bits"

// Bounds of a path.
const (
	maxSegments = 256 // of a unit that is kept
	maxAlike    = 32  // of the last, among which a place is looked for
	maxHops     = 255 // from one who held a thing to another
	maxLook     = 64  // intervals back for the wait of one who holds a thing
	maxDepth    = 16  // of those that wait for each other
	maxSteps    = 1 << 9
)

// How many steps all units may share for each interval.
const (
	ownShare      = 16 // a goroutine can have so many regions open, and each is a unit
	followedShare = 2
)

// cell is what a part of a unit's time is booked on.
type cell struct {
	viaSite, site int32    // functions
	class         int32    // who
	via           activity // the owner's own wait; 0: it did not wait
	activity      activity
	cause         uint8 // of runnable
	queue         bool  // who served did this before it began to serve
}

// segment is a part of a unit's time.
type segment struct {
	cell
	hops uint8
	ns   int64
}

// allowance bounds the steps back in the ring. Each unit has maxSteps. Those that need more share
// some for each interval, so that the time that all take is bounded.
type allowance struct {
	share       int64
	spent       int64 // beyond maxSteps
	steps, left int64 // of the present unit
}

// begin begins a unit, when there have been so many intervals.
func (a *allowance) begin(intervals int64) {
	a.spent += max(0, a.steps-maxSteps)
	a.steps, a.left = 0, maxSteps+max(0, a.share*intervals-a.spent)
}

// take reports whether a step may be taken, and counts it.
func (a *allowance) take() bool {
	if a.left == 0 {
		return false
	}
	a.left--
	a.steps++
	return true
}

// walk divides the time of a unit, from its end to its begin.
type walk struct {
	ring          *ring
	own, followed allowance
	class         int32 // of the owner
	via           cell  // what the owner waits for
	hops          uint8
	kind          *kind       // that the unit is of
	bin           int         // of its latency
	sums          [64]segment // not booked on the kind yet, by a hash of their cells
	taken         uint64      // a bit for each
	last          segment     // that may go on
	keeps         bool        // all segments, in out
	out           []segment   // the last first
	kept          [64]uint8   // the last of them, by a hash of its cell
}

func newWalk(r *ring) walk {
	return walk{ring: r, own: allowance{share: ownShare}, followed: allowance{share: followedShare}}
}

// divide books the time (from, to.at] in the life of a class on a kind, in the bin of its
// latency. What is booked adds up to it. If keeps is set, it returns the segments, the last first.
func (w *walk) divide(k *kind, bin int, class int32, from int64, to mark, keeps bool) []segment {
	w.kind, w.bin, w.class, w.keeps, w.out = k, bin, class, keeps, w.out[:0]
	w.via, w.hops = cell{}, 0
	w.own.begin(w.ring.next)
	w.followed.begin(w.ring.next)
	w.follow(to.node, from, to.at, 0, noUnit)
	w.finish()
	return w.out
}

// book books a part of the time.
func (w *walk) book(c cell, from, to int64) {
	if to <= from {
		return
	}
	c.via, c.viaSite = w.via.activity, w.via.site
	if w.last.cell != c || w.last.hops != w.hops {
		w.flush()
		w.last.cell, w.last.hops = c, w.hops
	}
	w.last.ns += to - from
}

// flush adds the last segment to the sums.
func (w *walk) flush() {
	if w.last.ns == 0 {
		return
	}
	if w.keeps {
		w.keep()
	}
	i := w.last.hash()
	x := &w.sums[i]
	if w.taken&(1<<i) != 0 && x.cell != w.last.cell {
		w.kind.book(x, w.bin)
		*x = segment{}
	}
	w.taken |= 1 << i
	x.cell, x.hops = w.last.cell, max(x.hops, w.last.hops)
	x.ns += w.last.ns
	w.last = segment{}
}

// finish books what is summed.
func (w *walk) finish() {
	w.flush()
	for ; w.taken != 0; w.taken &= w.taken - 1 {
		x := &w.sums[bits.TrailingZeros64(w.taken)]
		w.kind.book(x, w.bin)
		*x = segment{}
	}
}

// hash returns a number below 64.
func (c *cell) hash() uint32 {
	small := uint32(c.activity) | uint32(c.via)<<8 | uint32(c.cause)<<16
	return (uint32(c.site)*0x9E3779B1 ^ uint32(c.viaSite)*0x85EBCA77 ^ uint32(c.class)*0xC2B2AE3D ^ small*0x27D4EB2F) >> 26
}

// keep keeps the last segment. Where there are too many, its time goes to a late one of its kind,
// or to the last one, which is the rest.
func (w *walk) keep() {
	n, i := len(w.out), w.last.hash()
	if n < maxSegments {
		w.out, w.kept[i] = append(w.out, w.last), uint8(n)
		return
	}
	at := int(w.kept[i])
	if at <= n-maxAlike || w.out[at].cell != w.last.cell {
		at = n - 1
	}
	if x := &w.out[at]; x.cell != w.last.cell {
		x.cell = cell{activity: rest}
	}
	w.out[at].ns += w.last.ns
}

func cellOf(x *interval) cell {
	return cell{site: x.site, class: x.class, activity: x.activity, cause: x.cause}
}

// bookWait books time in which the owner waited and it is not known for whom, or which lies
// beyond what is known of its own life.
func (w *walk) bookWait(from, to int64) {
	c := cell{activity: w.via.activity, site: w.via.site}
	if c.activity == notKnown {
		c.class = w.class
	}
	w.book(c, from, to)
}

// follow books the time (from, to] along the life of which interval n is a part. Before serve
// the goroutine did another unit: who is waited for is known, and queues.
func (w *walk) follow(n, from, to int64, depth int, serve int64) {
	for to > from {
		x := w.ring.at(n)
		if x == nil || !w.step(depth) {
			w.bookWait(from, to)
			return
		}
		if x.end < to {
			w.bookWait(max(from, x.end), to)
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

// step reports whether a step may be taken, in the life of the owner or of one for whom it waits.
func (w *walk) step(depth int) bool {
	if depth == 0 {
		w.via, w.hops = cell{}, 0
		return w.own.take()
	}
	return w.followed.take()
}

// beforeBirth books what was before interval n, in which a goroutine was created.
func (w *walk) beforeBirth(n int64, x *interval, from, to int64, depth int) {
	if depth > 0 && w.via.activity == onLock {
		w.bookWait(from, to) // its creator does not hold it
		return
	}
	w.follow(back(n, x.link), from, to, depth, noUnit)
}

// interval books a part of interval n.
func (w *walk) interval(n int64, x *interval, from, to int64, depth int, serve int64) {
	link := back(n, x.link)
	waited := x.activity >= onLock && x.activity <= asleep
	switch {
	case depth == 0 && waited:
		w.via = cell{activity: x.activity, site: x.site}
	case depth > 0 && from < serve && !x.home:
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
	w.waker(link, n, x, from, to, depth+1)
}

// waker books the time in which a goroutine was blocked, in interval n, until one at a link
// ended that. If the waker had waited at the same site before, it held the thing since, and
// got it from its own waker.
func (w *walk) waker(link, n int64, x *interval, from, to int64, depth int) {
	serve, lock := x.serve, x.activity == onLock
	for w.hops < maxHops && w.followed.left > 0 {
		n = back(n, x.same)
		y := w.ring.at(n)
		if y == nil || y.link == 0 || y.end <= max(from, serve) || y.end >= to {
			break
		}
		w.follow(link, y.end, to, depth, noUnit)
		w.hops++
		to, link, serve, x = y.end, back(n, y.link), y.serve, y
	}
	if lock && serve > from && serve < to {
		w.follow(link, serve, to, depth, noUnit)
		w.bookWait(from, serve) // it came later: who held it before is not known
		return
	}
	w.follow(link, from, to, depth, serve)
}
