package fairness

import (
	"math/bits"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// firstPositions is how many waits are numbered before they are numbered anew.
const firstPositions = 1 << 10

// bypass counts, for each wait, the goroutines that became runnable later and
// were started before (bounded bypass, as in the literature on mutual
// exclusion). It also counts the starts that were out of order.
//
// Waits are numbered in the order in which they begin. A start is out of order
// if a goroutine with a lower number waits. Those that bypassed a wait are the
// starts out of order with a higher number: they can only have come while it
// lasted. A set of bits has them by number, and a Fenwick tree counts them by word
// (P. Fenwick: A New Data Structure for Cumulative Frequency Tables, Software:
// Practice and Experience 24(3), 1994). When the numbers run out, those who wait
// get new ones, and keep what they have been bypassed so far; so memory follows
// their number.
type bypass struct {
	next  int32    // the next number; from 1
	set   []uint64 // of the starts out of order
	tree  []int32  // counts those of the set's words; index 0 is not used
	total int32    // starts out of order in the set
	last  int32    // the highest number among them

	counts     *histogram.Histogram
	max        int64
	ordered    int64 // starts of which the order says something
	inversions int64 // of them, those out of order
}

// maxBypass is the largest count in the histogram.
const maxBypass = 1e9

func newBypass() bypass {
	b := bypass{next: 1, counts: histogram.New(maxBypass)}
	b.grow(firstPositions)
	return b
}

// grow makes an empty set for so many numbers, a multiple of 64.
func (b *bypass) grow(numbers int) {
	b.set, b.tree = make([]uint64, numbers/64), make([]int32, numbers/64+1)
}

// full reports whether there is no number left.
func (b *bypass) full() bool { return int(b.next) == 64*len(b.set) }

// number gives a number to a wait that begins. It is the last in the list of age.
func (b *bypass) number() int32 {
	b.next++
	return b.next - 1
}

// renumber numbers those who wait from 1 on; the newcomer is not among them yet.
func (b *bypass) renumber(a *age) {
	n := int32(1)
	for i := a.head; i != 0; i = a.list.At(i).next {
		w := a.list.At(i)
		w.bypassed += int64(b.above(w.number))
		w.number = n
		n++
	}
	if numbers := max(firstPositions, (2*int(n)+63)&^63); numbers != 64*len(b.set) {
		b.grow(numbers)
	} else {
		clear(b.set)
		clear(b.tree)
	}
	b.next, b.total, b.last = n, 0, 0
}

// above counts the starts out of order with a higher number.
func (b *bypass) above(number int32) int32 {
	if number >= b.last {
		return 0
	}
	word, bit := uint32(number)/64, uint32(number)%64
	sum := b.total - int32(bits.OnesCount64(b.set[word]<<(63-bit)))
	for i := word; i > 0; i &= i - 1 {
		sum -= b.tree[i]
	}
	return sum
}

// put puts a number into the set. It is not there: only its wait has it.
func (b *bypass) put(number int32) {
	word, bit := uint32(number)/64, uint32(number)%64
	b.set[word] |= 1 << bit
	for i := int(word) + 1; i < len(b.tree); i += i & -i {
		b.tree[i]++
	}
	b.total++
	b.last = max(b.last, number)
}

// start ends a wait in the list of age. runnext says that its goroutine came out of a
// P's runnext, where being out of order is the rule.
func (b *bypass) start(w *waiting, runnext bool) {
	n := w.bypassed + int64(b.above(w.number))
	b.max = max(b.max, n)
	b.counts.Add(n)
	if !runnext {
		b.ordered++
	}
	if w.prev == 0 {
		return
	}
	if !runnext {
		b.inversions++
	}
	b.put(w.number)
}

func (b *bypass) result() Bypass {
	counts := b.counts.HDR()
	r := Bypass{P50: counts.ValueAtQuantile(50), P99: counts.ValueAtQuantile(99), Max: b.max}
	if b.ordered > 0 {
		r.Inversions = float64(b.inversions) / float64(b.ordered)
	}
	return r
}
