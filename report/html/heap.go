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
	kib := func(n *int64) int64 { return *n >> 10 }
	b.ints("heap.alloc", column(h.Alloc, kib))
	b.ints("heap.goal", column(h.Goal, kib))
	b.f32("heap.sweep", h.Sweep)
	return &packedHeap{BinNs: h.BinNs}
}
