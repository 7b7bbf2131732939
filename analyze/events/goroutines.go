package events

import "github.com/gmpscope/gmpscope/internal/hugepages"

// goroutine is what the order of events depends on.
type goroutine struct {
	id     int64  // 0 is a free slot
	seq    uint64 // of the last event that has one
	region int32  // the innermost of its open regions; 0 is none
	stw    int32  // id of the reason for which it has stopped the world
	state  State

	stopping  bool // the world
	assisting bool // the collector
}

// goroutines is a hash table of those that exist, with open addressing: a
// goroutine may be elsewhere after another one was added or removed.
type goroutines struct {
	hash  hash
	slots []goroutine
	n     int
}

func (t *goroutines) init() {
	t.hash.init(8)
	t.slots = make([]goroutine, 1<<8)
}

// find returns the slot of a goroutine; -1 if it does not exist.
func (t *goroutines) find(id int64) int32 {
	mask := len(t.slots) - 1
	for i := t.hash.of(uint64(id)) & mask; ; i = (i + 1) & mask {
		switch t.slots[i&mask].id {
		case 0:
			return -1
		case id:
			return int32(i)
		}
	}
}

// add adds a goroutine that does not exist; id is not 0.
func (t *goroutines) add(id int64, state State) int32 {
	if t.n++; 3*t.n > 2*len(t.slots) {
		old := t.slots
		t.slots = hugepages.Make[goroutine](2 * len(old))
		clear(t.slots) // OPT: else each page costs two faults, when it is read and when it is written
		t.hash.shift--
		for i := range old {
			if old[i].id != 0 {
				t.slots[t.free(old[i].id)] = old[i]
			}
		}
	}
	i := t.free(id)
	t.slots[i] = goroutine{id: id, state: state}
	return int32(i)
}

// free returns the free slot where a goroutine belongs.
func (t *goroutines) free(id int64) int {
	mask := len(t.slots) - 1
	i := t.hash.of(uint64(id)) & mask
	for t.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	return i
}

// remove empties a slot and closes the gap.
func (t *goroutines) remove(slot int32) {
	t.n--
	mask := len(t.slots) - 1
	gap := int(slot)
	for i := (gap + 1) & mask; t.slots[i].id != 0; i = (i + 1) & mask {
		home := t.hash.of(uint64(t.slots[i].id)) & mask
		if (i-home)&mask >= (i-gap)&mask {
			t.slots[gap] = t.slots[i]
			gap = i
		}
	}
	t.slots[gap] = goroutine{}
}
