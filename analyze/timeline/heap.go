package timeline

// Heap is the size of the heap and the sweeping over time, in Bins bins of BinNs from the
// beginning of the timeline on. Sizes hold from one record of the runtime to the next.
type Heap struct {
	BinNs int64   `json:"bin_ns"` // width of a bin
	Bins  int     `json:"bins"`   // number of bins
	Alloc []int64 `json:"alloc"`  // largest size of objects in the bin, bytes; -1 before the trace shows it
	// Goal is size at which the next cycle shall end, last in the bin, bytes; -1 before the
	// trace shows it; 0 if the collector is off.
	Goal  []int64   `json:"goal"`
	Sweep []float32 `json:"sweep"` // mean number of Ps that sweep in an allocation, per bin
}

// HeapAccumulator follows the heap from one pass over its events. Its memory depends on the
// number of Ps only.
type HeapAccumulator struct {
	// OnSwept, if set, is called when a P has swept from one time to another, ns.
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

// Headroom is by how much the heap may grow from one cycle to the next, over the whole trace.
type Headroom struct {
	Cycles int64 // ended, and of each the sizes are known
	Tight  int64 // of them, those after which the goal is less than a quarter beyond what was alive
	Alive  int64 // bytes when they ended, summed
	Goal   int64 // bytes at which the next shall end, summed
}

// Growth is by which part of what is alive the heap may grow.
func (r *Headroom) Growth() float64 { return float64(r.Goal-r.Alive) / float64(max(1, r.Alive)) }

// LacksRoom reports whether most cycles left the heap next to nothing: GOGC is small, or a limit is
// near (gcControllerState.heapGoalInternal, Go 1.22 to 1.27).
func (r *Headroom) LacksRoom() bool { return r.Cycles >= 5 && 2*r.Tight > r.Cycles }

// heapBin is what happened to the heap in a bin.
type heapBin struct {
	most    int64 // bytes; -1: nothing was told
	last    int64
	goal    int64
	sweptNs uint64
}

var noHeap = heapBin{most: -1, last: -1, goal: -1}

// NewHeap returns an accumulator for a picture that begins at from, ns.
func NewHeap(from int64) *HeapAccumulator {
	return &HeapAccumulator{from: max(0, from), shift: firstShift, before: noHeap}
}

// Alloc records the size of the heap at a time, ns and bytes. Times must not fall, here and in
// what follows.
func (h *HeapAccumulator) Alloc(at, bytes int64) {
	h.seen, h.alive = true, bytes
	b := h.at(at)
	b.most, b.last = max(b.most, bytes), bytes
}

// Goal records the heap goal at a time, ns and bytes.
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

// Headroom returns what the sizes say so far.
func (h *HeapAccumulator) Headroom() Headroom { return h.room }

// Sweep records that P p begins or ends to sweep at a time, ns.
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

// swept adds an interval in which a P swept.
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

// at returns the bin of a time.
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

// merge makes one bin of each two.
func (h *HeapAccumulator) merge() {
	n := len(h.bins)
	for i := 0; i < n; i += 2 {
		b := h.bins[i]
		if i+1 < n {
			next := h.bins[i+1]
			b.most, b.sweptNs = max(b.most, next.most), b.sweptNs+next.sweptNs
			if next.last >= 0 {
				b.last = next.last
			}
			if next.goal >= 0 {
				b.goal = next.goal
			}
		}
		h.bins[i/2] = b
	}
	h.bins = h.bins[:(n+1)/2]
	h.shift++
}

// Result returns the heap until end, ns; nil if the trace does not show it. Bins of which
// nothing was told have the size that was told last.
func (h *HeapAccumulator) Result(end int64) *Heap {
	if !h.seen {
		return nil
	}
	end = min(end-h.from, maxTime)
	for p, since := range h.sweeps {
		if since >= 0 {
			h.Sweep(end+h.from, int32(p), false)
		}
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
