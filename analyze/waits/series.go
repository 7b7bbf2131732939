package waits

// Series are the waits of a class by when they ended, in at most 64 bins of equal width, for drawings.
type Series struct {
	FromNs, BinNs int64   // beginning of the first bin, and width of each, ns
	Count, Ns     []int64 // number of the waits that ended in each bin, and their sum in ns
}

const (
	seriesBins  = 64
	seriesShift = 16 // the first bins are 2^16 ns wide
)

// series sums waits up in bins whose width doubles when they become too few.
type series struct {
	shift     uint // of the width, above seriesShift
	count, ns [seriesBins]int64
}

// add counts a wait that ended so long after the begin of the window.
func (s *series) add(at, ns int64) {
	b := at >> ((seriesShift + s.shift) & 63)
	for b >= seriesBins {
		for i := range seriesBins / 2 {
			s.count[i], s.ns[i] = s.count[2*i]+s.count[2*i+1], s.ns[2*i]+s.ns[2*i+1]
		}
		clear(s.count[seriesBins/2:])
		clear(s.ns[seriesBins/2:])
		s.shift++
		b >>= 1
	}
	s.count[b]++
	s.ns[b] += ns
}

// result returns nil for nil.
func (s *series) result(from int64) *Series {
	if s == nil {
		return nil
	}
	return &Series{from, 1 << (seriesShift + s.shift), s.count[:], s.ns[:]}
}
