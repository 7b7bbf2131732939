package timeline

import "github.com/gmpscope/gmpscope/analyze/histogram"

// Heap is the size of the heap and the sweeping over time, in Bins bins of BinNs from the
// beginning of the timeline on. Sizes hold from one record of the runtime to the next.
type Heap struct {
	BinNs int64   `json:"bin_ns"` // width of a bin
	Bins  int     `json:"bins"`   // number of bins
	Alloc []int64 `json:"alloc"`  // largest size of objects in the bin, bytes; -1 before the trace shows it
	// Goal is the size at which the next cycle shall end, last in the bin, bytes; -1 before
	// the trace shows it; 0 if the collector is off.
	Goal  []int64   `json:"goal"`
	Sweep []float32 `json:"sweep"` // mean number of Ps that sweep in an allocation, per bin
}

// HeapAccumulator follows the heap in one pass over its events. Its memory depends on the
// number of Ps only.
type HeapAccumulator struct {
	// OnSwept, if set, is called with each interval, in ns, in which a P swept.
	OnSwept func(p int32, from, to int64)

	from, now int64
	shift     uint // bins are 2^shift ns wide
	bins      []heapBin
	before    heapBin // what was told last before the picture begins
	sweeps    []int64 // by P: since when it sweeps; -1: it does not
	seen      bool    // there was an event
	alive     int64   // bytes that were told since the last goal; 0: none
	room      Headroom
}

// Headroom summarizes how much the heap may grow from one GC cycle to the next.
type Headroom struct {
	Cycles int64 // finished cycles with known sizes
	Tight  int64 // cycles after which the goal is less than a quarter above the live heap
	Alive  int64 // live bytes at their ends, summed
	Goal   int64 // goals for the next cycle, in bytes, summed
}

// Growth returns by how much the heap may grow between cycles, on average, as a share of the live heap: 1
// is to twice its size.
func (r *Headroom) Growth() float64 { return float64(r.Goal-r.Alive) / float64(max(1, r.Alive)) }

// LacksRoom reports whether most cycles left the heap almost no room to grow: GOGC is small, or a
// limit is near (gcControllerState.heapGoalInternal, Go 1.22 to 1.27).
func (r *Headroom) LacksRoom() bool { return r.Cycles >= 5 && 2*r.Tight > r.Cycles }

// heapBin is what happened to the heap in a bin.
type heapBin struct {
	most    int64 // bytes; -1: nothing was told
	last    int64
	goal    int64
	sweptNs uint64
}

var noHeap = heapBin{most: -1, last: -1, goal: -1}

// NewHeap returns a HeapAccumulator for a timeline that begins at from, in ns.
func NewHeap(from int64) *HeapAccumulator {
	return &HeapAccumulator{from: max(0, from), shift: firstShift, before: noHeap}
}

// Alloc records the size of the heap at a time, in bytes and ns. Times must not decrease
// between calls.
func (h *HeapAccumulator) Alloc(at, bytes int64) {
	h.seen, h.alive = true, bytes
	b := h.at(at)
	b.most, b.last = max(b.most, bytes), bytes
}

// Goal records the heap goal at a time, in bytes and ns.
func (h *HeapAccumulator) Goal(at, bytes int64) {
	h.seen = true
	h.at(at).goal = bytes
	// The runtime tells both at the end of a cycle, what is alive first (gcMarkTermination).
	if alive := h.alive; alive > 0 && bytes > 0 && bytes < 1<<50 {
		h.room.Cycles++
		h.room.Alive += alive
		h.room.Goal += bytes
		if bytes < alive+alive/4 {
			h.room.Tight++
		}
	}
	h.alive = 0
}

// Headroom returns the Headroom so far.
func (h *HeapAccumulator) Headroom() Headroom { return h.room }

// Sweep records the beginning or end of a sweep by P p, at a time in ns.
func (h *HeapAccumulator) Sweep(at int64, p int32, begin bool) {
	if p < 0 || p >= maxLanes {
		return
	}
	for int(p) >= len(h.sweeps) {
		h.sweeps = append(h.sweeps, -1)
	}
	h.seen = true
	since := h.sweeps[p]
	switch {
	case begin && since < 0:
		h.sweeps[p] = at
	case !begin:
		h.sweeps[p] = -1
		if since >= 0 {
			h.swept(since, at)
			if h.OnSwept != nil {
				h.OnSwept(p, since, at)
			}
		}
	}
}

func (h *HeapAccumulator) swept(from, to int64) {
	h.at(to)
	from, to = max(0, from-h.from), to-h.from
	for from < to {
		bin := from >> h.shift
		end := min(to, (bin+1)<<h.shift)
		h.bins[bin].sweptNs += uint64(end - from)
		from = end
	}
}

func (h *HeapAccumulator) at(t int64) *heapBin {
	if t < h.from {
		return &h.before
	}
	h.now = min(max(h.now, t-h.from), maxTime)
	for h.now>>h.shift >= DefaultMaxBins {
		h.merge()
	}
	for int(h.now>>h.shift) >= len(h.bins) {
		h.bins = append(h.bins, noHeap)
	}
	return &h.bins[h.now>>h.shift]
}

func (h *HeapAccumulator) merge() {
	h.bins = histogram.Halve(h.bins, func(b, next heapBin) heapBin {
		b.most, b.sweptNs = max(b.most, next.most), b.sweptNs+next.sweptNs
		if next.last >= 0 {
			b.last = next.last
		}
		if next.goal >= 0 {
			b.goal = next.goal
		}
		return b
	})
	h.shift++
}

// Result returns the heap until end, in ns; nil if the trace does not show it. Bins
// without a record have the size of the last one.
func (h *HeapAccumulator) Result(end int64) *Heap {
	if !h.seen {
		return nil
	}
	end = min(end-h.from, maxTime)
	for p := range h.sweeps {
		h.Sweep(end+h.from, int32(p), false)
	}
	for end>>h.shift >= DefaultMaxBins {
		h.merge()
	}
	r := &Heap{BinNs: 1 << h.shift, Bins: max(1, int((end+(1<<h.shift-1))>>h.shift))}
	size, goal := h.before.last, h.before.goal
	for i := range r.Bins {
		b := noHeap
		if i < len(h.bins) {
			b = h.bins[i]
		}
		r.Alloc = append(r.Alloc, max(b.most, size))
		if b.last >= 0 {
			size = b.last
		}
		if b.goal >= 0 {
			goal = b.goal
		}
		r.Goal = append(r.Goal, goal)
		r.Sweep = append(r.Sweep, float32(float64(b.sweptNs)/float64(max(1, covered(i, h.shift, end)))))
	}
	return r
}
