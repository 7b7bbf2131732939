package work

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
)

// Bounds of the sums.
const (
	maxKinds = 512 // further ones are summed as one
	maxRows  = 64  // of a kind's path; what is beyond is in the rest
	moreRows = 128 // while it is summed: less than the index has places
)

// kindKey is what tells kinds apart.
type kindKey struct {
	class, name int32 // name is a function, or a type of tasks or regions
	how         How
	by          int32 // class that woke its goroutines, if that tells kinds apart
	procs       int32 // GOMAXPROCS of a benchmark, which runs once for each that is asked for
}

// kind is the sums of one kind of units.
type kind struct {
	kindKey
	found                 bool // a unit was, whether it counts or not
	count, total, longest int64
	open                  int64
	inside                int64 // ns of units, whole or not, in the window
	entries, parts        int64 // began from outside; within a unit of another kind
	latency               latencies
	series                series
	bins                  []bin      // by latency
	rows                  []row      // the first is the rest
	index                 [256]uint8 // rows by a hash of their cells, or behind that
	slowest               []slow     // the slowest first
	most                  int        // of them
	octaves               bool       // as in Limits
	stops                 []stops    // of units' own goroutines, at most maxRows
}

// stops is how often units' own goroutines waited for something at a place.
type stops struct {
	of ownWait
	n  int64
}

// waited counts a wait of a unit's own goroutine.
func (k *kind) waited(w ownWait) {
	if i := k.stop(w); i >= 0 {
		k.stops[i].n++
	} else if len(k.stops) < maxRows {
		k.stops = append(k.stops, stops{w, 1})
	}
}

// stop returns the index in stops of a wait; -1 if it is not there.
func (k *kind) stop(w ownWait) int {
	return slices.IndexFunc(k.stops, func(x stops) bool { return x.of == w })
}

// times returns how often units' own goroutines waited so.
func (k *kind) times(w ownWait) int64 {
	if i := k.stop(waitAt(w.what(), w.site())); i >= 0 { // a cell has more than that
		return k.stops[i].n
	}
	return 0
}

// bin is the units whose latency is in a quarter of an octave.
type bin struct{ count, ns int64 }

// row is the time booked on a cell.
type row struct {
	cell
	most uint8 // hops
	ns   int64
	bins []int64 // of it, by latency
}

// slow is a unit that is kept with its path.
type slow struct {
	g, from, to int64
	path        []segment // the last first
	task        int64     // its number, or of the region's task; 0: none
	notes
}

// binBits is how finely bins divide latencies: an octave has four.
const binBits = 2

// byLatency returns the bins that hold units.
func (k *kind) byLatency() []Bin {
	var out []Bin
	for b := range k.bins {
		if k.bins[b].count == 0 {
			continue
		}
		wide := 0
		if k.octaves {
			wide = binBits
		}
		x := Bin{FromNs: histogram.Least(b<<wide, binBits), ToNs: histogram.Least((b+1)<<wide, binBits), Count: k.bins[b].count}
		var sums [len(activities)]int64
		for i := range k.rows {
			r := &k.rows[i]
			what := r.activity()
			if v := r.via().what(); v != notKnown {
				what = v
			}
			if b < len(r.bins) {
				sums[what] += r.bins[b]
			}
		}
		for what, ns := range sums {
			if ns > 0 {
				x.Parts = append(x.Parts, BinPart{activities[what], ns})
			}
		}
		slices.SortStableFunc(x.Parts, func(x, y BinPart) int { return cmp.Compare(y.Ns, x.Ns) })
		out = append(out, x)
	}
	return out
}

func (a *Accumulator) sumOf(k kindKey) *kind {
	x := a.byKind[k]
	if x == nil && len(a.kinds) >= maxKinds {
		k = kindKey{}
		x = a.byKind[k]
	}
	if x == nil {
		x = &kind{kindKey: k, rows: make([]row, 1), most: a.opt.Slowest, octaves: a.opt.Octaves}
		x.rows[0].cell = cellOf(0, 0, rest)
		a.byKind[k], a.kinds = x, append(a.kinds, x)
	}
	return x
}

// add counts a unit of a length, and returns the bin of its latency.
func (k *kind) add(ns int64) int {
	k.count++
	k.total += ns
	k.longest = max(k.longest, ns)
	k.latency.add(histogram.Bucket(ns, octaveBits), 1)
	b := histogram.Bucket(ns, binBits)
	if k.octaves {
		b >>= binBits
	}
	k.bins = grown(k.bins, b+1)
	k.bins[b].count++
	k.bins[b].ns += ns
	return b
}

// book books a segment of a unit in a bin.
func (k *kind) book(s *segment, bin int) {
	i := k.find(&s.cell)
	if *i == 0 {
		i = k.addRow(s)
	}
	r := &k.rows[*i]
	r.most = max(r.most, s.hops)
	r.ns += s.ns
	if bin >= len(r.bins) {
		r.bins = append(r.bins, make([]int64, bin+1-len(r.bins))...)
	}
	r.bins[bin] += s.ns
}

// addRow adds a row for the cell of a segment, and returns its place in the index.
func (k *kind) addRow(s *segment) *uint8 {
	if len(k.rows) > moreRows {
		k.shrink()
	}
	i := k.find(&s.cell)
	*i = uint8(len(k.rows))
	k.rows = append(k.rows, row{cell: s.cell})
	return i
}

// find returns the place in the index of a cell's row, which is 0 if there is none.
//
// OPT: with a map of the language, this took a third of the time of a unit.
func (k *kind) find(c *cell) *uint8 {
	i := c.hash()
	for k.index[i] > 0 {
		if x := &k.rows[k.index[i]]; x.who == c.who && x.does == c.does {
			break
		}
		i++
	}
	return &k.index[i]
}

// shrink keeps the rest and the largest rows. The others go to the rest.
func (k *kind) shrink() {
	over := len(k.rows) - 1 - maxRows
	if over <= 0 {
		return
	}
	times := make([]int64, 0, moreRows)
	for i := range k.rows[1:] {
		times = append(times, k.rows[1+i].ns)
	}
	slices.Sort(times)
	least := times[over] // of the rows that are kept
	more, _ := slices.BinarySearch(times, least+1)
	equal := maxRows - (len(times) - more) // how many of so much are
	clear(k.index[:])
	rows := k.rows
	k.rows = rows[:1]
	for _, r := range rows[1:] {
		if r.ns == least {
			equal--
		}
		if r.ns < least || r.ns == least && equal < 0 {
			k.rows[0].take(&r)
			continue
		}
		*k.find(&r.cell) = uint8(len(k.rows))
		k.rows = append(k.rows, r)
	}
	clear(rows[len(k.rows):])
}

// take adds the time of another row.
func (r *row) take(from *row) {
	r.ns += from.ns
	r.bins = grown(r.bins, len(from.bins))
	for b, ns := range from.bins {
		r.bins[b] += ns
	}
}

// keeps reports whether a unit of a length is among the slowest.
func (k *kind) keeps(ns int64) bool {
	n := len(k.slowest)
	return n < k.most || ns > k.slowest[n-1].to-k.slowest[n-1].from
}

// keep keeps a unit, which is among the slowest, with its path. The pointer that it returns is
// good until the next call.
func (k *kind) keep(g, from, to int64, path []segment) *slow {
	at := len(k.slowest)
	for at > 0 && to-from > k.slowest[at-1].to-k.slowest[at-1].from {
		at--
	}
	if len(k.slowest) == k.most {
		k.slowest = k.slowest[:k.most-1]
	}
	k.slowest = slices.Insert(k.slowest, at, slow{g: g, from: from, to: to, path: slices.Clone(path)})
	return &k.slowest[at]
}
