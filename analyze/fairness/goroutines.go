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
// pointers; times are ns.
type goroutine struct {
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
	alive   bool
	prev    int32
	next    int32
	number  int32 // of this wait, see bypass
	// bypassed is by how many this wait was bypassed before it got that number.
	bypassed int64
}

// table finds live goroutines by ID. Memory follows those that live at one time.
type table struct{ ids.Table[goroutine] }

func newTable() table { return table{ids.NewTable[goroutine]()} }

// add makes a slot for a goroutine that is not there.
func (t *table) add(id int64) int32 {
	slot := t.Add(id)
	*t.At(slot) = goroutine{waited: -1, alive: true}
	return slot
}

// drop frees a slot.
func (t *table) drop(id int64, slot int32) {
	t.At(slot).alive = false
	t.Remove(id, slot)
}
