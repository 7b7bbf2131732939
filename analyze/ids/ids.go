// Package ids answers: which place in an accumulator's table does an id have? It
// serves the steps 3 and 4 of [github.com/gmpscope/gmpscope/analyze], which look up
// a goroutine or two for each event or decision.
//
// It serves this module and is not stable: see package gmpscope.
package ids

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/internal/hugepages"
)

// Index maps ids, such as those of goroutines, to places: indices in a table of the caller.
// The ids of what lives at the same time mostly differ in their low bits, so a table by these
// serves nearly always; a map, whose hash nobody can aim at, holds the rest. Memory follows
// the most ids that were in it at one time. The zero value is not ready: use [New].
type Index struct {
	table []entry         // of a power of two entries
	rest  map[int64]int32 // place plus 1
	crowd *[crowds]uint32 // how many ids in rest have these low bits
	n     int
}

// crowds is the length of Index.crowd. Who looks for an id that is not there, as of each
// goroutine that begins, mostly finds a 0 in it, and so needs not ask the map.
const crowds = 1 << 9

// entry is what lies where an id's low bits say: its bits above the first lowBits plus
// 1, if they fit, or 0 if it is free; and the place. Ids that do not fit are in the
// rest. There can be a million.
type entry struct {
	high  uint32
	place int32
}

// None is what [Index.Find] returns for an id that is not in the index.
const None = int32(-1)

// lowBits is how many bits choose an entry of a new table, which is larger than most
// need: then the ids of a few that live long and of many that come and go seldom meet.
const lowBits = 10

// New returns an empty Index.
func New() Index {
	return Index{table: make([]entry, 1<<lowBits), rest: map[int64]int32{}, crowd: new([crowds]uint32)}
}

// Find returns the place that [Index.Add] was given for id, or [None].
func (x *Index) Find(id int64) int32 {
	if e := x.entry(id); uint64(e.high) == high(id) {
		return e.place
	}
	return x.inRest(id)
}

func (x *Index) entry(id int64) *entry { return &x.table[uint64(id)&uint64(len(x.table)-1)] }

// high is what the entry for the low bits of id has as high if it holds id. In a table
// that has grown some of these bits choose the entry, too.
func high(id int64) uint64 { return uint64(id)>>lowBits + 1 }

func (x *Index) inRest(id int64) int32 {
	if x.crowd[id&(crowds-1)] == 0 {
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
		x.crowd[id&(crowds-1)]++
	}
}

// put reports whether id went into the table.
func (x *Index) put(id int64, place int32) bool {
	high, e := high(id), x.entry(id)
	if e.high != 0 || high > math.MaxUint32 {
		return false
	}
	*e = entry{uint32(high), place}
	return true
}

func (x *Index) grow() {
	old := x.table
	x.table = hugepages.Make[entry](2 * len(old))
	// OPT: new memory that is read before it is written costs a second fault for each
	// page, which interrupts the other threads: a sixth of all time with 100,000 goroutines.
	// In pieces, since nobody can be stopped within one, and the collector would spin until then.
	for part := range slices.Chunk(x.table, 1<<12) {
		clear(part)
	}
	for low, e := range old { // no two of them meet
		if e.high > 0 {
			x.put(int64(e.high-1)<<lowBits|int64(low)&(1<<lowBits-1), e.place)
		}
	}
	for id, place := range x.rest {
		if x.put(id, place-1) {
			x.outOfRest(id)
		}
	}
}

// Remove removes an id, which must be there.
func (x *Index) Remove(id int64) {
	x.n--
	if e := x.entry(id); uint64(e.high) == high(id) {
		e.high = 0
		return
	}
	x.outOfRest(id)
}

func (x *Index) outOfRest(id int64) {
	delete(x.rest, id)
	x.crowd[id&(crowds-1)]--
}

// Len returns the number of ids in the index.
func (x *Index) Len() int { return x.n }
