package findings

// Lengths is a distribution of durations in ns, in buckets of half an octave. The zero value is
// empty.
type Lengths struct {
	N, Ns int64 // number of durations, and their sum in ns
	bars  [bars]int64
}

// Add adds a duration, in ns. One below 1 counts as 1.
func (l *Lengths) Add(ns int64) {
	ns = max(1, ns)
	l.N++
	l.Ns += ns
	l.bars[bar(ns)]++
}

// Merge adds all durations in m.
func (l *Lengths) Merge(m *Lengths) {
	l.N += m.N
	l.Ns += m.Ns
	for i, n := range m.bars {
		l.bars[i] += n
	}
}

// Median returns the median duration in ns; 0 if there is none. It is interpolated within a bucket of
// half an octave.
func (l *Lengths) Median() int64 {
	need, seen := (l.N+1)/2, int64(0)
	for i, n := range l.bars {
		if n > 0 && seen+n >= need {
			low, high := barStart(i), barStart(i+1)
			return low + int64(float64(high-low)*(float64(need-seen)-0.5)/float64(n))
		}
		seen += n
	}
	return 0
}

// barStart is the shortest length in a bar.
func barStart(i int) int64 {
	if i < 2 {
		return int64(i + 1) // bar 1 stays empty
	}
	return int64(1)<<(i/2) + int64(i%2)<<(i/2-1)
}
