package timeline

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// The limits of the fine picture.
const (
	// The history from which windows are cut: of most traces all, of long ones the last part; a
	// quarter of it with Options.Brief. Pages of the rings that are not reached cost no memory, but
	// count for a limit of the garbage collector.
	ringIntervals = 256 * 1024
	ringDepths    = 512 * 1024
	ringArrows    = 64 * 1024

	maxWindows      = 8
	windowIntervals = 2500
	windowDepths    = 8192
	windowArrows    = 2500
	marginIntervals = windowIntervals / 10 // intervals after a mark that end its margin early

	keptWindows   = 24 // windows around intervals that Keep names
	keptIntervals = 8000
	keptTotal     = 40_000 // intervals in all of them

	wholeIntervals = 24_000 // a trace with no more than that is one window
	wholeDepths    = 32 * 1024
)

// ring holds the newest of a stream of records, a power of two. Records are
// numbered from 0.
type ring[T any] struct {
	buf []T
	n   int64 // records so far
}

func newRing[T any](size int) ring[T] { return ring[T]{buf: hugepages.Make[T](size)} }

// next adds a record, which the caller fills in.
func (r *ring[T]) next() *T {
	r.n++
	return r.at(r.n - 1)
}

// at returns record i, which must not be older than first.
func (r *ring[T]) at(i int64) *T { return &r.buf[i&int64(len(r.buf)-1)] }

// first is the number of the oldest record still there.
func (r *ring[T]) first() int64 { return max(0, r.n-int64(len(r.buf))) }

// pInterval is a [PInterval] that is over.
type pInterval struct {
	from, to, g, wait int64
	m                 int64 // thread; 0: none, or not known
	woken
	p, class int32
	stack    int32 // handle: where g stopped
	state    ledger.State
	src      reference.Source
	why      reference.Why // why g stopped
	reason   uint8         // what it blocked on: a breakdown.Reason plus 1; 0: it did not
}

// woken is how the goroutine of an interval had become runnable.
type woken struct {
	by    int64 // goroutine that made it so; 0: none, or not known
	stack int32 // handle: where by did
	why   reference.Why
	cause uint8 // that owns most of its wait: an index in waits.Causes plus 1; 0: it did not wait
}

var causes = waits.Causes()

// export is s as a [PInterval], with handles for the numbers of stacks.
func (s *pInterval) export() PInterval {
	t := PInterval{
		P: s.p, From: s.from, To: s.to, State: State(s.state),
		G: s.g, Class: s.class, Wait: s.wait, Src: uint8(s.src),
		M: s.m, Stack: s.stack, By: s.by, ByStack: s.woken.stack,
	}
	if s.why != reference.WhyUnknown {
		t.Stop = s.why.String()
	}
	if s.reason > 0 {
		t.BlockedOn = breakdown.Reason(s.reason - 1).String()
	}
	if s.woken.why != reference.WhyUnknown {
		t.Woken = s.woken.why.String()
	}
	if s.cause > 0 {
		t.Cause = causes[s.cause-1]
	}
	return t
}

// depth is a change of a queue's length. It keeps the length before, so that
// the lengths at the start of a window are known.
type depth struct {
	atP         int64 // when and whose: see atP
	before, len int32
}

// atP packs a time, which is at most maxTime, and a P below maxLanes, or -1 for the global
// queue, into one number: there can be half a million depths.
func atP(at int64, p int32) int64 { return at<<pBits | int64(p+1) }

// pBits is how many bits a P takes there.
const pBits = 11

func (d *depth) at() int64 { return d.atP >> pBits }
func (d *depth) p() int32  { return int32(d.atP&(1<<pBits-1)) - 1 }

// newest is the last depth of a queue: its number in the history, and when it was.
type newest struct{ i, at int64 }

var noDepth = newest{-1, -1}

type arrowKind uint8

const (
	arrowSteal arrowKind = iota
	arrowHandoff
	arrowRetake
	arrowOverflow
	arrowGlobalBatch
)

var arrowNames = [...]string{"steal", "handoff", "retake", "overflow", "global-batch"}

type arrow struct {
	at       int64
	from, to int32
	n        int32
	kind     arrowKind
}

// history is the recent past in exact detail, and the windows cut from it.
type history struct {
	intervals   ring[pInterval] // in the order of their ends; those that are not over yet are in the lanes
	depths      ring[depth]
	arrows      ring[arrow]
	globalDepth newest

	marks        []*mark
	spare        []Window // of marks that are gone
	wanted       []span   // what Keep named
	whole        int64    // a trace with no more intervals is one window
	due          int64    // the first time after which a mark can be cut out
	dueIntervals int64    // number of intervals from which on one must be
	pieces       []piece  // scratch, as are the next three
	after        []piece
	lengths0     []int32
	newest       []int
}

// span is an interval that is to have a window.
type span struct {
	from, to int64
	title    string
}

// mark is a moment worth a window.
type mark struct {
	from, to     int64
	title        string
	dueIntervals int64
	cut          bool
	calls        int64 // of ObserveCPUs before it was cut out
	window       Window
}

func newHistory(brief bool) history {
	part := 1
	if brief {
		part = 4
	}
	return history{
		intervals:    newRing[pInterval](ringIntervals / part),
		depths:       newRing[depth](ringDepths / part),
		arrows:       newRing[arrow](ringArrows / part),
		globalDepth:  noDepth,
		due:          math.MaxInt64,
		dueIntervals: math.MaxInt64,
		whole:        wholeIntervals,
	}
}

// length is what marks compete by.
func (m *mark) length() int64 { return m.to - m.from }

// lo and hi are the interval with a tenth of it on either side.
func (m *mark) lo() int64 { return max(0, m.from-m.length()/10) }
func (m *mark) hi() int64 {
	if margin := m.length() / 10; m.to <= math.MaxInt64-margin {
		return m.to + margin
	}
	return math.MaxInt64
}

// shown is where the window begins to be of use.
func (m *mark) shown() int64 {
	if m.cut {
		return max(m.from, m.window.FromNs)
	}
	return m.from
}

// depth records a change of a queue's length, of which last is the one before.
// Changes at one instant are one record.
func (a *Accumulator) depth(last *newest, p, before, n int32) {
	if last.at == a.now && last.i >= a.depths.first() {
		a.depths.at(last.i).len = n
		return
	}
	last.i, last.at = a.depths.n, a.now
	r := a.depths.next()
	r.atP, r.before, r.len = atP(a.now, p), before, n
}

func (a *Accumulator) arrow(kind arrowKind, from, to, n int32) {
	*a.arrows.next() = arrow{at: a.now, from: from, to: to, n: n, kind: kind}
}

// Mark requests a window of exact detail for [from, to], in ns, with a tenth on either
// side. Call it when something noteworthy, such as one of the longest waits so far, has
// just ended: to should be the time of the last decision added. Only the recent past is
// at hand, and a window has at most 2,500 intervals, so of a long interval the end is
// kept. The longest 8 marks are kept; of marks that overlap, the longest.
func (a *Accumulator) Mark(from, to int64, title string) {
	from, to = max(0, from), min(to, a.now)
	if to <= from {
		return
	}
	m := &mark{from: from, to: to, title: title, dueIntervals: a.intervals.n + marginIntervals}
	for _, o := range a.marks {
		if o.shown() < m.to && m.from < o.to && o.length() >= m.length() {
			return
		}
	}
	a.marks = slices.DeleteFunc(a.marks, func(o *mark) bool {
		gone := o.shown() < m.to && m.from < o.to
		if gone {
			a.forget(o)
		}
		return gone
	})
	if len(a.marks) == maxWindows {
		least := slices.MinFunc(a.marks, func(x, y *mark) int { return cmp.Compare(x.length(), y.length()) })
		if least.length() >= m.length() {
			return
		}
		a.forget(least)
		a.marks = slices.DeleteFunc(a.marks, func(o *mark) bool { return o == least })
	}
	a.marks = append(a.marks, m)
	a.schedule()
}

// forget lets other windows have the room of a mark's.
func (a *Accumulator) forget(m *mark) {
	if m.cut {
		a.spare = append(a.spare, m.window)
	}
}

// room returns a window without anything in it.
func (a *Accumulator) room() Window {
	n := len(a.spare)
	if n == 0 {
		return Window{Depths: []Depth{}, Arrows: []Arrow{}}
	}
	w := a.spare[n-1]
	a.spare = a.spare[:n-1]
	return Window{Intervals: w.Intervals[:0], Depths: w.Depths[:0], Arrows: w.Arrows[:0]}
}

// Keep requests a window of exact detail for [from, to], in ns, with a twentieth on
// either side, as far as still in memory. Call it before Finish, most important windows
// first. Of an interval with more than 8,000 intervals the end is kept, and if that is
// less than half, nothing. Intervals that overlap have one window together.
func (a *Accumulator) Keep(from, to int64, title string) {
	if from, to = max(0, from-a.from), min(to-a.from, maxTime); to > from {
		a.wanted = append(a.wanted, span{from, to, title})
	}
}

// keep cuts out what Keep named, beside the windows that there are. Windows that
// would overlap become one.
func (a *Accumulator) keep(out []Window, end int64) []Window {
	reach := a.reach()
	var spans []span
	for _, x := range a.wanted {
		if len(spans) == keptWindows {
			break
		}
		from, to, margin := x.from, min(x.to, end), (x.to-x.from)/20
		x.from, x.to = max(reach, from-margin), min(end, to+margin)
		if at, n := a.intervalsIn(x.from, x.to); n > keptIntervals {
			x.from = max(x.from, a.intervals.at(at+n-keptIntervals).to)
		}
		if x.from >= to || x.from > from+(to-from)/2 {
			continue // too long ago, or much too long
		}
		if all := join(spans, x); a.intervalsInAll(all) <= keptTotal {
			spans = all
		}
	}
	// A window that is there already is part of one of these, if all of it is at
	// hand; else what is in it is left out of them.
	out = slices.DeleteFunc(out, func(w Window) bool {
		i := slices.IndexFunc(spans, func(x span) bool { return w.FromNs <= x.to && x.from <= w.ToNs })
		switch {
		case i < 0:
			return false
		case w.FromNs < reach:
			spans[i].from = max(spans[i].from, w.ToNs)
			return false
		}
		spans = join(spans, span{w.FromNs, w.ToNs, w.Title})
		return true
	})
	for _, x := range spans {
		if x.to <= x.from {
			continue
		}
		_, n := a.intervalsIn(x.from, x.to)
		parts := 1 + int(n)/windowIntervals
		out = append(out, a.window(x.title, x.from, x.to, math.MaxInt, parts*windowDepths, parts*windowArrows))
	}
	return out
}

// join adds x to spans, of which none overlap; those that x touches become one
// with the title of the first of them.
func join(spans []span, x span) []span {
	var out []span
	for _, o := range spans {
		if o.to < x.from || x.to < o.from {
			out = append(out, o)
			continue
		}
		x = span{min(o.from, x.from), max(o.to, x.to), o.title}
	}
	return append(out, x)
}

// reach is the time from which on the history is complete.
func (a *Accumulator) reach() (at int64) {
	if f := a.intervals.first(); f > 0 {
		at = a.intervals.at(f).to
	}
	if f := a.depths.first(); f > 0 {
		at = max(at, a.depths.at(f).at())
	}
	return at
}

// intervalsIn is the number of the first interval of the history that ends in
// (lo, hi], and how many do.
func (a *Accumulator) intervalsIn(lo, hi int64) (at, n int64) {
	first := a.intervals.first()
	after := func(t int64) int64 {
		return first + int64(sort.Search(int(a.intervals.n-first), func(i int) bool { return a.intervals.at(first+int64(i)).to > t }))
	}
	at = after(lo)
	return at, after(hi) - at
}

func (a *Accumulator) intervalsInAll(spans []span) (sum int64) {
	for _, x := range spans {
		_, n := a.intervalsIn(x.from, x.to)
		sum += n
	}
	return sum
}

// schedule finds when the next mark is to be cut out.
func (a *Accumulator) schedule() {
	a.due, a.dueIntervals = math.MaxInt64, math.MaxInt64
	for _, m := range a.marks {
		if !m.cut {
			a.due = min(a.due, m.hi())
			a.dueIntervals = min(a.dueIntervals, m.dueIntervals)
		}
	}
	a.plan()
}

func (a *Accumulator) captureDue() {
	for _, m := range a.marks {
		if !m.cut && (a.now > m.hi() || a.intervals.n >= m.dueIntervals) {
			a.capture(m)
		}
	}
	a.schedule()
}

func (a *Accumulator) capture(m *mark) {
	m.cut = true
	if a.machine != nil {
		m.calls = a.machine.calls
	}
	m.window = a.window(m.title, m.lo(), min(m.hi(), a.now), windowIntervals, windowDepths, windowArrows)
}

// windows returns the whole trace if it is short, else what was marked.
func (a *Accumulator) windows(end int64) []Window {
	open := int64(0)
	for i := range a.lanes {
		if a.lanes[i].state != ledger.Unused && a.lanes[i].since < end {
			open++
		}
	}
	if end > 0 && a.intervals.n+open <= a.whole && a.depths.first() == 0 && a.arrows.first() == 0 {
		title := "the whole trace"
		if a.from > 0 {
			title = "the whole window"
		}
		return []Window{a.window(title, 0, end, int(a.whole), wholeDepths, windowArrows)}
	}
	out := make([]Window, 0, len(a.marks))
	for _, m := range a.marks {
		if !m.cut {
			a.capture(m)
		}
		if a.machine != nil {
			a.machine.unseen(&m.window, m.calls)
		}
		out = append(out, m.window)
	}
	out = a.keep(out, end)
	slices.SortStableFunc(out, func(x, y Window) int { return cmp.Compare(x.FromNs, y.FromNs) })
	return out
}

// piece is an interval of a window: that with a number, or the one that is not over.
type piece struct {
	from, to, at int64
	p            int32
}

// nearPieces is how far a piece is moved to its place: further ones are sorted.
const nearPieces = 32

const (
	notOver = int64(-1)
	none    = int64(-2)
)

func (x piece) compare(y piece) int {
	return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.p, y.p))
}

// window cuts [lo, hi] out of the history; lo rises if there is no more of it,
// or more than fits. hi must not be later than now.
func (a *Accumulator) window(title string, lo, hi int64, maxIntervals, maxDepths, maxArrows int) Window {
	lo = a.cutIntervals(lo, hi, maxIntervals)
	w := a.room()
	w.Title, w.FromNs, w.ToNs = title, lo, hi
	if cap(w.Intervals) < len(a.pieces) {
		w.Intervals = make([]PInterval, 0, len(a.pieces))
	}
	for i := range a.pieces {
		var s pInterval
		x := &a.pieces[i]
		if x.at == notOver {
			a.lanes[x.p].fill(&s, x.p, hi)
		} else {
			s = *a.intervals.at(x.at)
		}
		t := s.export()
		t.Before = x.from - s.from
		t.From, t.To = x.from, min(s.to, hi)
		w.Intervals = append(w.Intervals, t)
	}
	w.Depths = a.cutDepths(w.Depths, lo, hi, maxDepths)

	for i := a.arrows.n - 1; i >= a.arrows.first() && len(w.Arrows) < maxArrows; i-- {
		r := a.arrows.at(i)
		if r.at < lo {
			break
		}
		if r.at <= hi {
			w.Arrows = append(w.Arrows, Arrow{Kind: arrowNames[r.kind], At: r.at, From: r.from, To: r.to, N: r.n})
		}
	}
	slices.Reverse(w.Arrows)
	if a.noted != nil {
		a.noted.cut(&w, maxArrows)
	}
	if a.machine != nil {
		a.machine.cut(&w, maxDepths/2)
	}
	return w
}

// cutIntervals finds the pieces of [lo, hi], in the order of their beginnings and, of
// those alike, of their Ps. It returns what lo rises to.
//
// The history is in the order of their ends: the first one that is left out says from
// when on nothing is missing. It does not run out before: it holds more than a window
// of a mark, and Keep asks for nothing beyond reach. An interval begins when the one
// before it on its P ends, unless the P was unused in between. So if each is taken
// when the one before it is met, all are nearly in order.
func (a *Accumulator) cutIntervals(lo, hi int64, most int) int64 {
	after := a.after[:0] // by P: what is to be taken next
	n := 0
	for p := range a.lanes {
		x := piece{at: none}
		if l := &a.lanes[p]; l.state != ledger.Unused && l.since < hi {
			x = piece{from: l.since, to: hi, p: int32(p), at: notOver}
			n++
		}
		after = append(after, x)
	}
	most = max(most, n)
	pieces := a.pieces[:0] // newest first
	i, first := a.intervals.n-1, a.intervals.first()
	for ; i >= first; i-- {
		s := a.intervals.at(i)
		if s.to <= lo || n == most {
			break
		}
		if s.from < hi {
			x := &after[s.p]
			if x.at != none {
				pieces = append(pieces, *x)
			}
			*x = piece{from: s.from, to: s.to, p: s.p, at: i}
			n++
		}
	}
	for _, x := range after {
		if x.at != none {
			pieces = append(pieces, x)
		}
	}
	a.after = after
	if i >= first {
		lo = max(lo, a.intervals.at(i).to)
	}
	if f := a.depths.first(); f > 0 {
		lo = max(lo, a.depths.at(f).at())
	}
	lo = min(lo, hi)

	slices.Reverse(pieces)
	a.pieces = pieces[:0]
	for _, x := range pieces {
		if x.to <= lo {
			continue
		}
		x.from = max(x.from, lo)
		a.pieces = append(a.pieces, x)
		last := len(a.pieces) - 1
		for j := last; j > max(0, last-nearPieces) && x.compare(a.pieces[j-1]) < 0; j-- {
			a.pieces[j-1], a.pieces[j] = x, a.pieces[j-1]
		}
	}
	if !slices.IsSortedFunc(a.pieces, piece.compare) { // many began at one time, or a P was unused for long
		slices.SortFunc(a.pieces, piece.compare)
	}
	return lo
}

// cutDepths appends the lengths at lo and their changes up to hi.
func (a *Accumulator) cutDepths(out []Depth, lo, hi int64, most int) []Depth {
	// lengths0[p+1] is the length of p's queue at lo: that of now, gone back.
	a.lengths0 = append(a.lengths0[:0], int32(a.global.level))
	for p := range a.lanes {
		a.lengths0 = append(a.lengths0, int32(a.lanes[p].queue.level))
	}
	i, first := a.depths.n-1, a.depths.first()
	count := 0
	for ; i >= first; i-- {
		r := a.depths.at(i)
		if r.at() <= lo {
			break
		}
		a.lengths0[r.p()+1] = r.before
		if r.at() <= hi {
			count++
		}
	}
	a.newest = a.newest[:0]
	for j, n := range a.lengths0 {
		a.newest = append(a.newest, -1)
		if j == 0 || a.lanes[j-1].born {
			a.newest[j] = len(out)
			out = append(out, Depth{P: int32(j) - 1, At: lo, Len: n})
		}
	}
	slice := int64(0) // ns within which a queue has one record; 0: no thinning
	if count > most {
		slice = (hi-lo)/int64(max(4, most/len(a.lengths0))) + 1
	}
	for i++; i < a.depths.n; i++ {
		r := a.depths.at(i)
		if r.at() > hi {
			break
		}
		if j := a.newest[r.p()+1]; slice > 0 && j >= 0 && (out[j].At-lo)/slice == (r.at()-lo)/slice {
			out[j].Len = max(out[j].Len, r.len)
			continue
		}
		a.newest[r.p()+1] = len(out)
		out = append(out, Depth{P: r.p(), At: r.at(), Len: r.len})
	}
	return out
}
