package html

import "github.com/gmpscope/gmpscope/analyze/timeline"

// packedHeap reports that there are rows of the heap. Sizes are in KiB; less than 0: not
// told.
type packedHeap struct {
	BinNs int64 `json:"bin"`
}

// packHeap adds the size of the heap; nil if the trace does not show it.
func packHeap(b *block, h *timeline.Heap) *packedHeap {
	if h == nil {
		return nil
	}
	kib := func(sizes []int64) []int64 {
		out := make([]int64, len(sizes))
		for i, n := range sizes {
			out[i] = n >> 10
		}
		return out
	}
	b.ints("heap.alloc", kib(h.Alloc))
	b.ints("heap.goal", kib(h.Goal))
	b.f32("heap.sweep", h.Sweep)
	return &packedHeap{BinNs: h.BinNs}
}
