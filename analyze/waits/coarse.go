package waits

import "github.com/gmpscope/gmpscope/analyze/histogram"

// coarse is the distribution of the waits of a class, to two decimal digits: with
// 2^coarseBits buckets an octave, exact below 2^(coarseBits+1). Most classes fill
// few buckets and there may be many classes, so the counts lie in pages, made
// when first needed.
//
// OPT: a byte each, as in package histogram: a page is a line of the CPU's cache.
type coarse struct {
	page [coarsePages]uint8 // index in pages plus 1; 0: none
	made [][coarsePage]uint8
	high map[int]int64 // what counts have beyond their lowest byte, by bucket
}

const (
	coarseBits  = 7
	coarsePage  = 64
	longestLog  = 42 // 1<<longestLog is above longestNs
	coarsePages = (longestLog - coarseBits + 1) << coarseBits / coarsePage
)

func (h *coarse) add(ns int64) {
	i := uint(histogram.Bucket(ns, coarseBits))
	at := h.page[i/coarsePage]
	if at == 0 {
		h.made = append(h.made, [coarsePage]uint8{})
		at = uint8(len(h.made))
		h.page[i/coarsePage] = at
	}
	n := &h.made[at-1][i%coarsePage]
	if *n++; *n == 0 {
		h.carry(int(i))
	}
}

// carry adds 256 to the count of a bucket.
func (h *coarse) carry(i int) {
	if h.high == nil {
		h.high = map[int]int64{}
	}
	h.high[i] += 1 << 8
}

// levels are the buckets that are not empty, each with its least value.
func (h *coarse) levels() (out []FilledBucket) {
	for page, at := range h.page {
		if at == 0 {
			continue
		}
		for j, low := range h.made[at-1] {
			i := page*coarsePage + j
			n := int64(low) + h.high[i]
			if n > 0 {
				out = append(out, FilledBucket{histogram.Least(i, coarseBits), n})
			}
		}
	}
	return out
}
