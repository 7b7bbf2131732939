package waits

import "math/bits"

// coarse is the distribution of the waits of a class, to two decimal digits: with
// 2^coarseBits buckets an octave, exact below 2^(coarseBits+1). Most classes fill
// few buckets and there may be many classes, so the counts lie in pages, made
// when first needed.
type coarse struct {
	page [coarsePages]uint16 // index in pages plus 1; 0: none
	made [][coarsePage]int64
}

const (
	coarseBits  = 7
	coarsePage  = 16
	longestLog  = 42 // 1<<longestLog is above longestNs
	coarsePages = (longestLog - coarseBits + 1) << coarseBits / coarsePage
)

func (h *coarse) add(ns int64) {
	shift := max(0, bits.Len64(uint64(ns))-coarseBits-1)
	i := uint(shift<<coarseBits) + uint(uint64(ns)>>shift)
	at := h.page[i/coarsePage]
	if at == 0 {
		h.made = append(h.made, [coarsePage]int64{})
		at = uint16(len(h.made))
		h.page[i/coarsePage] = at
	}
	h.made[at-1][i%coarsePage]++
}

// levels are the buckets that are not empty, each with its least value.
func (h *coarse) levels() (out []Level) {
	for page, at := range h.page {
		if at == 0 {
			continue
		}
		for j, n := range h.made[at-1] {
			if n == 0 {
				continue
			}
			i := page*coarsePage + j
			if shift := i>>coarseBits - 1; shift > 0 {
				out = append(out, Level{int64(i-shift<<coarseBits) << shift, n})
			} else {
				out = append(out, Level{int64(i), n})
			}
		}
	}
	return out
}
