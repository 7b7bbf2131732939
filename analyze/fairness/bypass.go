package fairness

import "github.com/gmpscope/gmpscope/analyze/histogram"

// firstPositions is how many waits are numbered before they are numbered anew.
const firstPositions = 1 << 10

// bypass counts, for each wait, the goroutines that became runnable later and
// were started before (bounded bypass, as in the literature on mutual
// exclusion). It also counts the starts that were out of order.
//
// Waits are numbered in the order in which they begin. A start is out of order
// if somebody with a lower number waits. Those that bypassed a wait are the
// starts out of order with a higher number: they can only have come while it
// lasted. A Fenwick tree counts starts out of order by number (P. Fenwick: A New
// Data Structure for Cumulative Frequency Tables, Software: Practice and
// Experience 24(3), 1994). When the numbers run out, those who wait get new
// ones, and keep what they have been bypassed so far; so memory follows their
// number.
type bypass struct {
	next  int32   // the next number; from 1
	tree  []int32 // index 0 is not used
	total int32   // starts out of order in the tree
	last  int32   // the highest number among them

	counts     *histogram.Histogram
	max        int64
	ordered    int64 // starts of which the order says something
	inversions int64 // of them, those out of order
}

// maxBypass is the largest count in the histogram.
const maxBypass = 1e9

func newBypass() bypass {
	return bypass{next: 1, tree: make([]int32, firstPositions+1), counts: histogram.New(maxBypass)}
}

// full reports whether there is no number left.
func (b *bypass) full() bool { return int(b.next) == len(b.tree) }

// number gives a number to a goroutine that begins to wait. It is the last in
// the list of age.
func (b *bypass) number(g *goroutine) {
	g.number, g.bypassed = b.next, 0
	b.next++
}

// renumber numbers those who wait from 1 on; the newcomer is not among them yet.
func (b *bypass) renumber(t *table, a *age) {
	n := int32(1)
	for i := a.head; i != 0; i = t.At(i).next {
		g := t.At(i)
		if g.number == 0 {
			continue
		}
		g.bypassed += int64(b.above(g.number))
		g.number = n
		n++
	}
	if size := max(firstPositions, 2*int(n)) + 1; size != len(b.tree) {
		b.tree = make([]int32, size)
	} else {
		clear(b.tree)
	}
	b.next, b.total, b.last = n, 0, 0
}

// above counts the starts out of order with a higher number.
func (b *bypass) above(number int32) int32 {
	if number >= b.last {
		return 0
	}
	sum := b.total
	for i := number; i > 0; i &= i - 1 {
		sum -= b.tree[i]
	}
	return sum
}

// start ends the wait of a goroutine that is in the list of age. runnext says
// that it came out of a P's runnext, where being out of order is the rule.
func (b *bypass) start(g *goroutine, runnext bool) {
	n := g.bypassed + int64(b.above(g.number))
	b.max = max(b.max, n)
	b.counts.Add(n)
	if !runnext {
		b.ordered++
	}
	if g.prev == 0 {
		return
	}
	if !runnext {
		b.inversions++
	}
	b.total++
	b.last = max(b.last, g.number)
	for i := int(g.number); i < len(b.tree); i += i & -i {
		b.tree[i]++
	}
}

func (b *bypass) result() Bypass {
	counts := b.counts.HDR()
	r := Bypass{P50: counts.ValueAtQuantile(50), P99: counts.ValueAtQuantile(99), Max: b.max}
	if b.ordered > 0 {
		r.Inversions = float64(b.inversions) / float64(b.ordered)
	}
	return r
}
