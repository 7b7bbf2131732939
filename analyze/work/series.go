package work

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// Series counts the units of a kind by when they ended, in at most 64 bins of equal width, and by
// latency, for drawings.
type Series struct {
	FromNs, BinNs int64        // beginning of the first bin, and width of each, ns
	Cells         []SeriesCell // those that are not empty, by Bin, then by Ns
}

// A SeriesCell counts the units that ended in one bin of a [Series] and took about as long.
type SeriesCell struct {
	Bin     int   // index of the bin, from 0
	Ns      int64 // middle of the range of latencies, a quarter of an octave, ns
	Count   int64 // number of units
	TotalNs int64 // their latencies, summed, ns
}

const (
	seriesBins  = 64
	seriesShift = 16 // the first bins are 2^16 ns wide
)

// series counts units in bins whose width doubles when they become too few.
type series struct {
	shift uint // of the width, above seriesShift
	cells map[seriesKey]seriesSum
}

type seriesSum struct{ n, ns int64 }

func (x seriesSum) plus(n, ns int64) seriesSum { return seriesSum{x.n + n, x.ns + ns} }

type seriesKey struct{ bin, latency uint16 } // latency: a bin

// add counts a unit that ended so long after the begin of the window.
func (s *series) add(at, ns int64) {
	if s.cells == nil {
		s.cells = map[seriesKey]seriesSum{}
	}
	for at>>(seriesShift+s.shift) >= seriesBins {
		s.shift++
		wide := make(map[seriesKey]seriesSum, len(s.cells))
		for k, x := range s.cells {
			k.bin /= 2
			wide[k] = wide[k].plus(x.n, x.ns)
		}
		s.cells = wide
	}
	k := seriesKey{uint16(at >> (seriesShift + s.shift)), uint16(histogram.Bucket(ns, binBits))}
	s.cells[k] = s.cells[k].plus(1, ns)
}

func (s *series) result(from int64) Series {
	out := Series{FromNs: from, BinNs: 1 << (seriesShift + s.shift)}
	for k, x := range s.cells {
		middle := (histogram.Least(int(k.latency), binBits) + histogram.Least(int(k.latency)+1, binBits)) / 2
		out.Cells = append(out.Cells, SeriesCell{int(k.bin), middle, x.n, x.ns})
	}
	slices.SortFunc(out.Cells, func(x, y SeriesCell) int { return cmp.Or(cmp.Compare(x.Bin, y.Bin), cmp.Compare(x.Ns, y.Ns)) })
	return out
}
