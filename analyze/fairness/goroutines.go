package fairness

// A goroutine is active while it is runnable or running: it competes for Ps.
// Blocked or in a system call it is not, and earns no ideal service.
type activity uint8

const (
	inactive activity = iota
	runnable
	running
)

// goroutine is what is kept of a live goroutine of the program. It has no
// pointers and fits in one and a half cache lines; times are ns.
type goroutine struct {
	id      int64
	since   int64  // start of the present activity
	service int64  // time that it ran, up to since
	wait    int64  // time that it was runnable, up to since
	clock   uint64 // the ideal clock when it became active
	ideal   uint64 // ideal service of active periods that are over, in ticks
	maxLag  int64
	waited  int64 // wait that this activation began with; -1: it is none
	class   int32
	state   activity
	partial bool // this wait began before the trace showed it
	aged    bool // is in the list of age
	prev    int32
	next    int32
	number  int32 // of this wait, see bypass
	// bypassed is by how many this wait was bypassed before it got that number.
	bypassed int64
}

// table finds live goroutines by ID. IDs may be any int64 in a damaged trace,
// so a Go map, whose hash nobody can aim at, is the authority; a small cache in
// front of it, right because IDs are mostly given out in a row, spares most
// look-ups. Slots are reused, so memory follows the goroutines that live at one
// time.
type table struct {
	slots []goroutine
	free  []int32
	index map[int64]int32
	cache [cacheSize]cached
}

const cacheSize = 4096

type cached struct {
	id   int64
	slot int32 // -1 is none
}

func newTable() *table {
	t := &table{index: make(map[int64]int32)}
	for i := range t.cache {
		t.cache[i].slot = -1
	}
	return t
}

// find returns the goroutine's slot, or -1.
func (t *table) find(id int64) int32 {
	c := &t.cache[uint64(id)%cacheSize]
	if c.id == id && c.slot >= 0 {
		return c.slot
	}
	slot, ok := t.index[id]
	if !ok {
		return -1
	}
	*c = cached{id, slot}
	return slot
}

// add makes a slot for a goroutine that find did not find.
func (t *table) add(id int64) int32 {
	var slot int32
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		slot = int32(len(t.slots))
		t.slots = append(t.slots, goroutine{})
	}
	t.slots[slot] = goroutine{id: id, waited: -1}
	t.index[id] = slot
	t.cache[uint64(id)%cacheSize] = cached{id, slot}
	return slot
}

// drop frees a slot.
func (t *table) drop(slot int32) {
	id := t.slots[slot].id
	delete(t.index, id)
	if c := &t.cache[uint64(id)%cacheSize]; c.slot == slot {
		c.slot = -1
	}
	t.slots[slot].id = dead
	t.free = append(t.free, slot)
}

// dead marks a slot that is free. No goroutine has this ID: callers do not add
// negative ones.
const dead = int64(-1)
