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
	shift uint8           // the table has 1<<shift entries
	rest  map[int64]int32 // place plus 1
	n     int
}

// entry is what lies where an id's low bits say: its other bits plus 1, if they
// fit, or 0 if it is free; and the place. Ids that do not fit are in the rest. There
// can be a million.
type entry struct {
	high  uint32
	place int32
}

// None is the place of an id that is not in the index.
const None = int32(-1)

// firstShift is that of a new table, which is larger than most need: then the ids of a
// few that live long and of many that come and go seldom meet.
const firstShift = 10

// New returns an empty Index.
func New() Index {
	return Index{table: make([]entry, 1<<firstShift), shift: firstShift, rest: map[int64]int32{}}
}

// Find returns the place of id, or [None].
func (x *Index) Find(id int64) int32 {
	if e := x.entry(id); uint64(e.high) == x.high(id) {
		return e.place
	}
	return x.inRest(id)
}

func (x *Index) entry(id int64) *entry { return &x.table[uint64(id)&uint64(len(x.table)-1)] }

// high is what the entry for the low bits of id has as high if it holds id.
func (x *Index) high(id int64) uint64 { return uint64(id)>>(x.shift%64) + 1 }

func (x *Index) inRest(id int64) int32 {
	if len(x.rest) == 0 {
		return None
	}
	return x.rest[id] - 1
}

// Add adds an id, which must not be there yet. place must not be negative.
func (x *Index) Add(id int64, place int32) {
	if x.n++; 2*x.n > len(x.table) {
		x.grow()
	}
	if !x.put(id, place) {
		x.rest[id] = place + 1
	}
}

// put reports whether id went into the table.
func (x *Index) put(id int64, place int32) bool {
	high, e := x.high(id), x.entry(id)
	if e.high != 0 || high > math.MaxUint32 {
		return false
	}
	*e = entry{uint32(high), place}
	return true
}

func (x *Index) grow() {
	old, shift := x.table, x.shift
	x.table = make([]entry, 2*len(old))
	x.shift++
	for low, e := range old { // no two of them meet
		if e.high > 0 {
			x.put(int64(uint64(e.high-1)<<shift|uint64(low)), e.place)
		}
	}
	for id, place := range x.rest {
		if x.put(id, place-1) {
			delete(x.rest, id)
		}
	}
}

// Remove removes an id, which must be there.
func (x *Index) Remove(id int64) {
	x.n--
	if e := x.entry(id); uint64(e.high) == x.high(id) {
		e.high = 0
		return
	}
	delete(x.rest, id)
}

// Len returns the number of ids in the index.
func (x *Index) Len() int { return x.n }
