package waits

import "math/bits"

// OverTime is the waiting of the program by cause over time, in at most 128 equal bins from
// FromNs to the end of the trace. Each finished wait, and each of its causes, is spread
// evenly over its length; it is off by at most 128 ns in its last bin. Over all bins, Ns
// sums to the causes of these waits exactly.
type OverTime struct {
	FromNs int64         `json:"from_ns,omitempty"` // beginning of the window; absent if 0
	BinNs  int64         `json:"bin_ns"`            // width of a bin, a power of two
	Causes []CauseSeries `json:"causes"`            // those that are not 0, in the order of Causes
}

// CauseSeries is the waiting time due to a cause, per bin.
type CauseSeries struct {
	Cause Cause   `json:"cause"`
	Ns    []int64 `json:"ns"` // goroutine-time per bin
}

const (
	overTimeBins  = 128
	overTimeShift = 10 // the first bins are 2^10 ns wide
)

// overTime sums waits up in bins whose width doubles when they become too few.
type overTime struct {
	shift uint // of the width, above overTimeShift
	sum   [overTimeBins][numCauses]int64
	// slope is what a bin gets beyond what the bin before it gets, of the waits
	// that cover it wholly. It makes a wait cost the same however long it is.
	slope [overTimeBins][numCauses]int64
}

func (o *overTime) width() int64 { return 1 << o.log() }

func (o *overTime) bin(at int64) int64 { return at >> o.log() }

func (o *overTime) log() uint { return (overTimeShift + o.shift) & 63 }

// add spreads a wait over [from, to).
func (o *overTime) add(from, to int64, causes *[numCauses]int64) {
	if to <= from || from < 0 {
		return
	}
	for o.bin(to-1) >= overTimeBins {
		o.widen()
	}
	first, last := o.bin(from), o.bin(to-1)
	if first == last {
		addCauses(&o.sum[first], causes)
		return
	}
	for i, ns := range causes {
		if ns == 0 {
			continue
		}
		head := part(ns, (first+1)*o.width()-from, to-from)
		o.sum[first][i] += head
		o.sum[last][i] += ns - head
		if last > first+1 {
			each := part(ns, o.width(), to-from)
			o.sum[last][i] -= each * (last - first - 1)
			o.slope[first+1][i] += each
			o.slope[last][i] -= each
		}
	}
}

// part is ns x a / b, rounded down; a is not above b.
func part(ns, a, b int64) int64 {
	if a >= b {
		return ns
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(a))
	q, _ := bits.Div64(hi, lo, uint64(b)) // hi is below b, as a is
	return int64(q)
}

// settle turns the slopes into sums.
func (o *overTime) settle() {
	var level [numCauses]int64
	for b := range o.sum {
		addCauses(&level, &o.slope[b])
		addCauses(&o.sum[b], &level)
	}
	clear(o.slope[:])
}

// widen makes one bin of each two.
func (o *overTime) widen() {
	o.settle()
	o.shift++
	for b := range overTimeBins / 2 {
		o.sum[b] = o.sum[2*b]
		addCauses(&o.sum[b], &o.sum[2*b+1])
	}
	clear(o.sum[overTimeBins/2:])
}

// result ends the account at time end.
func (o *overTime) result(end int64) OverTime {
	for end > 0 && o.bin(end-1) >= overTimeBins {
		o.widen()
	}
	o.settle()
	r := OverTime{BinNs: o.width(), Causes: []CauseSeries{}}
	n := int(o.bin(max(end, 1)-1)) + 1
	for i, c := range Causes() {
		own, ns := false, make([]int64, n)
		for b := range o.sum {
			own = own || o.sum[b][i] != 0
			if b < n {
				ns[b] = o.sum[b][i]
			}
		}
		if own {
			r.Causes = append(r.Causes, CauseSeries{c, ns})
		}
	}
	return r
}
