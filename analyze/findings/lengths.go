package findings

// Lengths is a compact distribution of lengths in ns. The zero value is empty.
type Lengths struct {
	N, Ns int64
	bars  [bars]int64
}

// Add adds a length, in ns.
func (l *Lengths) Add(ns int64) {
	ns = max(1, ns)
	l.N++
	l.Ns += ns
	l.bars[bar(ns)]++
}

// Merge adds all lengths of m.
func (l *Lengths) Merge(m *Lengths) {
	l.N += m.N
	l.Ns += m.Ns
	for i, n := range m.bars {
		l.bars[i] += n
	}
}

// Mean returns the mean in ns; 0 if there is none.
func (l *Lengths) Mean() int64 { return l.Ns / max(1, l.N) }

// Median returns the median in ns; 0 if there is none. It interpolates within buckets of
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
