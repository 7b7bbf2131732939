// Package ids answers: which place in an accumulator's table does an id have? It
// serves the steps 3 and 4 of [github.com/gmpscope/gmpscope/analyze], which look up
// a goroutine or two for each event or decision.
package ids

import "math"

// Index gives the place of each id that was added. The ids of what lives at the
// same time mostly differ in their low bits, so a table by these serves nearly
// always; a map, whose hash nobody can aim at, holds the rest. Memory follows the
// most ids that were in it at one time. The zero value is not ready: use [New].
type Index struct {
	table []entry
	shift uint8 // the table has 1<<shift entries
	rest  map[int64]int32
	n     int
}

// entry is what lies where an id's low bits say: its other bits, if they fit, and
// the place. Ids that do not fit are in the rest. There can be a million.
type entry struct {
	high  uint32
	place int32 // plus 1; 0 is a free entry
}

// None is the place of an id that is not in the index.
const None = int32(-1)

const firstShift = 6

// New returns an empty Index.
func New() Index {
	return Index{table: make([]entry, 1<<firstShift), shift: firstShift, rest: map[int64]int32{}}
}

// Find returns the place of id, or [None].
func (x *Index) Find(id int64) int32 {
	if e := x.entry(id); x.has(e, id) {
		return e.place - 1
	}
	return x.inRest(id)
}

func (x *Index) entry(id int64) *entry { return &x.table[uint64(id)&uint64(len(x.table)-1)] }

// has reports whether e, which is the entry for the low bits of id, holds id.
func (x *Index) has(e *entry, id int64) bool {
	return uint64(e.high) == uint64(id)>>x.shift && e.place > 0
}

func (x *Index) inRest(id int64) int32 {
	if len(x.rest) == 0 {
		return None
	}
	if place, ok := x.rest[id]; ok {
		return place
	}
	return None
}

// Add adds an id, which must not be there yet. place must not be negative.
func (x *Index) Add(id int64, place int32) {
	if x.n++; 2*x.n > len(x.table) {
		x.grow()
	}
	if !x.put(id, place) {
		x.rest[id] = place
	}
}

// put reports whether id went into the table.
func (x *Index) put(id int64, place int32) bool {
	high := uint64(id) >> x.shift
	e := x.entry(id)
	if e.place != 0 || high > math.MaxUint32 {
		return false
	}
	*e = entry{uint32(high), place + 1}
	return true
}

func (x *Index) grow() {
	old, shift := x.table, x.shift
	x.table = make([]entry, 2*len(old))
	x.shift++
	for low, e := range old { // no two of them meet
		if e.place > 0 {
			x.put(int64(uint64(e.high)<<shift|uint64(low)), e.place-1)
		}
	}
	for id, place := range x.rest {
		if x.put(id, place) {
			delete(x.rest, id)
		}
	}
}

// Remove removes an id, which must be there.
func (x *Index) Remove(id int64) {
	x.n--
	if e := x.entry(id); x.has(e, id) {
		e.place = 0
		return
	}
	delete(x.rest, id)
}

// Len returns the number of ids in the index.
func (x *Index) Len() int { return x.n }
