package work

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
//
// OPT: it is packed, since cells are compared at each interval of each unit.
type cell struct {
	who  uint64 // class, and function at which it was
	does uint64 // the owner's own wait; activity; cause of runnable; whether it did that before it began to serve
}

// ownWait is what a unit's own goroutine waits for, and at which function, as a cell has it; 0: it
// does not.
type ownWait uint64

func waitAt(what activity, site int32) ownWait { return ownWait(site)<<32 | ownWait(what)<<24 }

func (w ownWait) what() activity { return activity(w >> 24) }
func (w ownWait) site() int32    { return int32(w >> 32) }

// cellOf returns the cell of what a goroutine of a class does at a function.
func cellOf(class, site int32, what activity) cell {
	return cell{uint64(class)<<32 | uint64(uint32(site)), uint64(what) << 16}
}

func (c *cell) class() int32       { return int32(c.who >> 32) }
func (c *cell) site() int32        { return int32(c.who) }
func (c *cell) via() ownWait       { return ownWait(c.does) }
func (c *cell) activity() activity { return activity(c.does >> 16) }
func (c *cell) cause() uint8       { return uint8(c.does >> 8) }
func (c *cell) queue() bool        { return c.does&1 > 0 }

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
	given, left int64 // of the present unit
}

// begin begins a unit, when there have been so many intervals.
func (a *allowance) begin(intervals int64) {
	a.spent += max(0, a.given-a.left-maxSteps)
	a.given = maxSteps + max(0, a.share*intervals-a.spent)
	a.left = a.given
}

// walk divides the time of a unit, from its end to its begin.
type walk struct {
	ring          *ring
	own, followed allowance
	class         int32     // of the owner
	subTests      []subTest // likewise
	via           ownWait   // of the owner
	hops          uint8
	kind          *kind             // that the unit is of
	bin           int               // of its latency
	last          segment           // that may go on
	keeps         bool              // all segments, in out
	out           []segment         // the last first
	kept          [256]uint8        // late ones, by a hash of their cells
	lives         [levels][]portion // late ones, by their intervals
	turns         []portion         // likewise
	recording     *portion          // the innermost; nil: none
}

func newWalk(r *ring) walk {
	return walk{ring: r, own: allowance{share: ownShare}, followed: allowance{share: followedShare}}
}

// divide books the time (from, to.at] in the life of a class on a kind, in the bin of its
// latency. What is booked adds up to it. If keeps is set, it returns the segments, the last first.
func (w *walk) divide(k *kind, bin int, class int32, from int64, to mark, keeps bool) []segment {
	w.kind, w.bin, w.class, w.keeps, w.out = k, bin, class, keeps, w.out[:0]
	w.own.begin(w.ring.next)
	w.followed.begin(w.ring.next)
	w.via, w.hops = 0, 0
	w.followOwn(to.node, from, to.at)
	w.flush()
	return w.out
}

// book books time, ns, on what a goroutine did in an interval; queue is 1 if it did that before it
// began to serve, else 0.
func (w *walk) book(x *interval, ns int64, queue uint64) {
	c := cellOf(x.class, x.site, x.activity)
	c.does |= uint64(w.via) | uint64(x.cause)<<8 | queue
	if s := &w.last; s.who == c.who && s.does == c.does && s.hops == w.hops {
		s.ns += ns
		return
	}
	w.flush()
	s := &w.last
	s.who, s.does, s.hops, s.ns = c.who, c.does, w.hops, ns
}

// portion is how the time in some intervals was divided, from the end to the begin: intervals of a life,
// or those in which goroutines waited for a thing that each of them gave to the next.
type portion struct {
	n, to, serve int64 // as for follow
	via          ownWait
	depth        int
	next, begin  int64    // the interval before them
	outer        *portion // of a higher level, which is recorded, too
	class        int32
	hops         uint8
	turns        bool      // it is none of a life
	missed       int64     // as n, of one that was gone through in its place last
	steps        int64     // back in the ring
	sums         []segment // by cell; their hops count from the end of the portion
}

// Portions of lives have levels, so that the intervals of a long unit are not gone through one
// portion after the other.
const (
	numPortions  = 1 << 10
	levels       = 4
	portionBits  = 6 // its intervals have the same number, but for so many bits
	levelBits    = 3 // and so many more for each higher level
	turnBits     = 6 // likewise, of those with turns
	portionSums  = 16
	portionsHops = 16 // of a life
)

// portionAt returns the place in kept of the portion that ends with interval n, whether or not it is there.
func portionAt(kept *[]portion, bits int, n int64) *portion {
	if *kept == nil {
		*kept = make([]portion, numPortions)
	}
	return &(*kept)[n>>bits%numPortions]
}

// is reports whether a portion is the one that ends with interval n, at time to.
func (p *portion) is(n, to, serve int64, via ownWait, depth int) bool {
	return p.n == n && p.to == to && p.serve == serve && p.via == via && p.depth == depth
}

// replay books a portion.
func (w *walk) replay(p *portion) {
	w.flush()
	for i := range p.sums {
		s := p.sums[i]
		s.hops += w.hops
		w.sum(&s)
	}
	w.hops += p.hops
}

// record begins a portion within another one, or instead of one with turns; recorded ends it. It is not
// kept if it does not reach the interval next.
func (w *walk) record(p *portion, n, to, serve int64, depth int, turns bool) {
	w.flush()
	outer := w.recording
	if outer != nil && outer.turns {
		outer.n = 0
		outer = nil
	}
	sums := p.sums[:0]
	*p = portion{} // OPT: cleared, then set field by field, since a literal would be made elsewhere and copied
	p.n, p.to, p.serve, p.via, p.depth, p.hops, p.turns, p.steps, p.sums = n, to, serve, w.via, depth, w.hops, turns, w.followed.left, sums
	p.outer = outer
	w.recording = p
}

func (w *walk) recorded(next, begin int64, class int32) {
	w.flush()
	p := w.recording
	w.recording = p.outer
	if p.outer != nil {
		for i := range p.sums {
			s := p.sums[i]
			s.hops += p.hops
			p.outer.sum(&s)
		}
	}
	p.next, p.begin, p.class, p.hops, p.steps = next, begin, class, w.hops-p.hops, p.steps-w.followed.left
	if next == 0 || len(p.sums) > portionSums || p.hops > portionsHops && !p.turns {
		p.n = 0
	}
}

// sum adds a segment to the sums of the kind, and of the portion that is recorded.
func (w *walk) sum(s *segment) {
	if w.recording != nil {
		w.recording.sum(s)
	}
	w.kind.book(s, w.bin)
}

func (p *portion) sum(s *segment) {
	if len(p.sums) > portionSums {
		return
	}
	i := 0
	for i < len(p.sums) && p.sums[i].cell != s.cell {
		i++
	}
	if i == len(p.sums) {
		p.sums = append(p.sums, segment{cell: s.cell})
	}
	x := &p.sums[i]
	x.ns += s.ns
	x.hops = max(x.hops, s.hops-p.hops)
}

// bookWait books time in which the owner waited and it is not known for whom, or which lies
// beyond what is known of its own life.
func (w *walk) bookWait(from, to int64) {
	x := interval{activity: w.via.what(), site: w.via.site()}
	if w.via == 0 {
		x.class = w.class
	}
	if to > from {
		w.book(&x, to-from, 0)
	}
}

// flush books the last segment on the kind.
func (w *walk) flush() {
	if w.last.ns != 0 {
		w.flushLast()
	}
}

func (w *walk) flushLast() {
	if w.keeps {
		w.keep()
	}
	w.sum(&w.last)
	w.last.ns = 0
}

// hash returns a number of a cell.
func (c *cell) hash() uint8 {
	return uint8((c.who*0x9E3779B97F4A7C15 ^ c.does*0xC2B2AE3D27D4EB4F) >> 56)
}

// keep keeps the last segment. Where there are too many, its time goes to a late one of its kind,
// or to the last one, which is the rest.
func (w *walk) keep() {
	n := len(w.out)
	if n < maxSegments {
		if n > maxSegments-maxAlike {
			w.kept[w.last.hash()] = uint8(n)
		}
		w.out = append(w.out, w.last)
		return
	}
	at := int(w.kept[w.last.hash()])
	if at <= n-maxAlike || w.out[at].cell != w.last.cell {
		at = n - 1
	}
	if x := &w.out[at]; x.cell != w.last.cell {
		x.cell = cellOf(0, 0, rest)
	}
	w.out[at].ns += w.last.ns
}

// follow books the time (from, to] along the life of which interval n is a part. Before serve
// the goroutine did another unit: who is waited for is known, and queues. Beyond the horizon only
// that is known, and not of a lock that the goroutine may not have held so long.
//
// OPT: those who wait for the same goroutine follow the same intervals. What these are booked on is
// recorded by portions, unless all segments are kept.
func (w *walk) follow(n, from, to int64, depth int, serve int64) {
	class, last := int32(0), n
	var open recordings
	for to > from {
		x := w.ring.at(n)
		if x == nil || w.followed.left == 0 {
			if since := max(from, serve); since < to && class != 0 && (serve >= 0 || w.via.what() != onLock) {
				w.book(&interval{class: class}, to-since, 0)
				to = since
			}
			w.bookWait(from, to)
			break
		}
		w.followed.left--
		if last>>portionBits != n>>portionBits && !w.keeps {
			if p := w.late(&open, n, last, from, to, serve, depth, class); p != nil {
				w.replay(p)
				last, n, to, class = n, p.next, p.begin, p.class
				continue
			}
		}
		last, class = n, x.class
		if x.end < to {
			w.bookWait(max(from, x.end), to)
			to = max(from, x.end)
		}
		if x.born {
			w.beforeBirth(n, x, from, to, depth)
			break
		}
		if begin := max(from, x.begin); begin < to {
			if x.activity.waits() || begin < serve {
				w.interval(n, x, begin, to, depth, serve)
			} else {
				w.book(x, to-begin, 0)
			}
			to = begin
		}
		n = back(n, x.prev)
	}
	for level := range open {
		if open[level] {
			w.recorded(0, to, class)
		}
	}
}

// recordings are the levels of a life's portions that are recorded.
type recordings [levels]bool

// late returns the longest portion that ends with interval n and may be booked instead of its
// intervals; nil if there is none. It ends the portions of whose intervals last was one and n is none,
// and begins those that end with n.
func (w *walk) late(open *recordings, n, last, from, to, serve int64, depth int, class int32) *portion {
	level := 0
	for ; level < levels && last>>bitsOf(level) != n>>bitsOf(level); level++ {
		if open[level] {
			w.recorded(n, to, class)
			open[level] = false
		}
	}
	for level--; level >= 0; level-- {
		p := portionAt(&w.lives[level], bitsOf(level), n)
		is := p.is(n, to, serve, w.via, depth) && w.hops <= maxHops-portionsHops
		if is && p.begin >= from {
			return p
		}
		if !is && (w.recording == nil || w.recording.turns || *open != recordings{}) {
			w.record(p, n, to, serve, depth, false)
			open[level] = true
		}
	}
	return nil
}

// bitsOf returns by how many bits the numbers of the intervals of a life's portion differ.
func bitsOf(level int) int { return portionBits + level*levelBits }

// followOwn is follow for the life of the owner, from interval n on.
func (w *walk) followOwn(n, from, to int64) {
	for ; to > from; w.via, w.hops = 0, 0 {
		x := w.ring.at(n)
		if x == nil || w.own.left == 0 {
			w.bookWait(from, w.beyond(from, to))
			return
		}
		w.own.left--
		if x.end < to {
			w.bookWait(max(from, x.end), to)
			to = max(from, x.end)
		}
		if x.born {
			n = back(n, x.link) // what was before is its creator's
			continue
		}
		if begin := max(from, x.begin); begin < to {
			if x.activity.waits() {
				w.waitOfOwner(n, x, begin, to)
			} else {
				w.book(x, to-begin, 0)
			}
			to = begin
		}
		n = back(n, x.prev)
	}
}

// beyond books the time (from, to] of the owner, which lies beyond the horizon, as far as it is known
// for which of its sub-tests it waited. It returns the end of the rest.
func (w *walk) beyond(from, to int64) int64 {
	for i := len(w.subTests) - 1; i >= 0 && to > from; i-- {
		s := &w.subTests[i]
		begin, end := max(from, s.begin), min(to, s.end)
		if begin >= end {
			continue
		}
		w.bookWait(end, to)
		w.via = waitAt(onChannel, s.site)
		w.book(&interval{class: s.class}, end-begin, 0)
		to, w.via = begin, 0
	}
	return to
}

// waits reports whether a goroutine waits for something that another one may do.
func (a activity) waits() bool { return a >= onLock && a <= asleep }

// beforeBirth books what was before interval n, in which a goroutine was created.
func (w *walk) beforeBirth(n int64, x *interval, from, to int64, depth int) {
	if w.via.what() == onLock {
		w.bookWait(from, to) // its creator does not hold it
		return
	}
	w.follow(back(n, x.link), from, to, depth, noUnit)
}

// waitOfOwner books a part of interval n, in which the owner waited.
func (w *walk) waitOfOwner(n int64, x *interval, from, to int64) {
	w.via = waitAt(x.activity, x.site)
	w.kind.waited(w.via)
	if x.link == 0 {
		w.book(x, to-from, 0)
		return
	}
	w.waker(back(n, x.link), n, x, from, to, 1)
}

// interval books a part of interval n, in which another goroutine waited or did another unit.
func (w *walk) interval(n int64, x *interval, from, to int64, depth int, serve int64) {
	switch {
	case from < serve && !x.home:
		if serve < to {
			w.book(x, to-serve, 0)
		}
		w.book(x, min(to, serve)-from, 1)
	case !x.activity.waits() || x.link == 0 || depth >= maxDepth:
		w.book(x, to-from, 0)
	default:
		w.waker(back(n, x.link), n, x, from, to, depth+1)
	}
}

// waker books the time in which a goroutine was blocked, in interval n, until one at a link
// ended that. If the waker had waited at the same site before, it held the thing since, and
// got it from its own waker.
func (w *walk) waker(link, n int64, x *interval, from, to int64, depth int) {
	serve, lock, last := x.serve, x.activity == onLock, n
	var records *portion // given up once another one is recorded
	for w.hops < maxHops && w.followed.left > 0 {
		if last>>turnBits != n>>turnBits && !w.keeps {
			last = n
			if records != nil && w.recording == records {
				w.recorded(n, to, 0)
			}
			p := portionAt(&w.turns, turnBits, n)
			is := p.is(n, to, serve, w.via, depth)
			if records = nil; !is && p.missed != n {
				p.missed = n // OPT: most are gone through once, and to record costs more than that
			} else if !is && w.recording == nil {
				records = p
				w.record(p, n, to, serve, depth, true)
			} else if is && p.begin > from && p.hops < maxHops-w.hops && p.steps < w.followed.left && w.ring.at(p.next) != nil {
				w.replay(p)
				w.followed.left -= p.steps
				n, x = p.next, w.ring.at(p.next)
				to, link, serve = x.end, back(n, x.link), x.serve
				continue
			}
		}
		before := back(n, x.same)
		y := w.ring.at(before)
		if y == nil || y.link == 0 || y.end <= max(from, serve) || y.end >= to {
			break
		}
		w.follow(link, y.end, to, depth, y.end)
		w.hops++
		n, x = before, y
		to, link, serve = x.end, back(n, x.link), x.serve
	}
	if records != nil && w.recording == records {
		w.recorded(0, to, 0)
	}
	if lock && serve > from && serve < to {
		w.follow(link, serve, to, depth, serve)
		w.bookWait(from, serve) // it came later: who held it before is not known
		return
	}
	w.follow(link, from, to, depth, serve)
}
