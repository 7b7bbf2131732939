package fairness

import "github.com/gmpscope/gmpscope/analyze/ids"

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

// table finds live goroutines by ID. Slots are reused, so memory follows the
// goroutines that live at one time.
type table struct {
	slots []goroutine
	free  []int32
	index ids.Index
}

func newTable() *table { return &table{index: ids.New()} }

// find returns the goroutine's slot, or -1.
func (t *table) find(id int64) int32 { return t.index.Find(id) }

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
	t.index.Add(id, slot)
	return slot
}

// drop frees a slot.
func (t *table) drop(slot int32) {
	t.index.Remove(t.slots[slot].id)
	t.slots[slot].id = dead
	t.free = append(t.free, slot)
}

// dead marks a slot that is free. No goroutine has this ID: callers do not add
// negative ones.
const dead = int64(-1)
