// Package ids answers: which place in an accumulator's table does an id have? It
// serves the accumulators of step 4 of [github.com/gmpscope/gmpscope/analyze],
// which look up a goroutine or two for each decision.
package ids

// Index gives the place of each id that was added. The ids of what lives at the
// same time mostly differ in their low bits, so a table by these serves nearly
// always; a map, whose hash nobody can aim at, holds the rest. Memory follows the
// most ids that were in it at one time. The zero value is not ready: use [New].
type Index struct {
	table []entry
	rest  map[int64]int32
	n     int
}

type entry struct {
	id    int64
	place int32 // plus 1; 0 is a free entry
}

// None is the place of an id that is not in the index.
const None = int32(-1)

// New returns an empty Index.
func New() Index { return Index{table: make([]entry, 64), rest: map[int64]int32{}} }

// Find returns the place of id, or [None].
func (x *Index) Find(id int64) int32 {
	if e := x.entry(id); e.id == id && e.place > 0 {
		return e.place - 1
	}
	return x.inRest(id)
}

func (x *Index) entry(id int64) *entry { return &x.table[uint64(id)&uint64(len(x.table)-1)] }

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
	x.put(id, place)
}

func (x *Index) put(id int64, place int32) {
	if e := x.entry(id); e.place == 0 {
		*e = entry{id, place + 1}
		return
	}
	x.rest[id] = place
}

func (x *Index) grow() {
	old := x.table
	x.table = make([]entry, 2*len(old))
	for _, e := range old {
		if e.place > 0 {
			x.put(e.id, e.place-1)
		}
	}
	for id, place := range x.rest {
		if e := x.entry(id); e.place == 0 {
			delete(x.rest, id)
			*e = entry{id, place + 1}
		}
	}
}

// Remove removes an id, which must be there.
func (x *Index) Remove(id int64) {
	x.n--
	if e := x.entry(id); e.id == id && e.place > 0 {
		e.place = 0
		return
	}
	delete(x.rest, id)
}
