package events

import "github.com/gmpscope/gmpscope/analyze/ids"

// goroutine is what the order of events depends on.
type goroutine struct {
	id     int64  // 0 is none: it has ended
	seq    uint64 // of the last event that has one
	region int32  // the innermost of its open regions; 0 is none
	stw    int32  // id of the reason for which it has stopped the world
	state  State

	stopping  bool // the world
	assisting bool // the collector
}

// goroutines are those that exist, at places from 1 on.
type goroutines struct{ ids.Table[goroutine] }

func newGoroutines() goroutines { return goroutines{ids.NewTable[goroutine]()} }

// add adds a goroutine that does not exist; id is not 0.
func (t *goroutines) add(id int64, state State) int32 {
	place := t.Add(id)
	*t.At(place) = goroutine{id: id, state: state}
	return place
}

// remove forgets the goroutine at a place.
func (t *goroutines) remove(place int32) {
	g := t.At(place)
	t.Remove(g.id, place)
	g.id = 0
}
