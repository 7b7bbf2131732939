package fairness

import "github.com/gmpscope/gmpscope/analyze/ids"

// goroutine is what is kept of a live goroutine of the program. It is active while it
// is runnable or running: it competes for Ps. Blocked or in a system call it is not,
// and earns no ideal service. It has no pointers; times are ns.
type goroutine struct {
	since   int64  // when it became runnable last
	service int64  // time that it ran, up to the present activity
	wait    int64  // time that it was runnable, likewise
	clock   uint64 // the ideal clock when it became active
	ideal   uint64 // ideal service of active periods that are over, in ticks
	maxLag  int64
	waited  int64 // wait that this activation began with; -1: it is none
	partial bool  // this wait began before the trace showed it
	aged    bool  // is in the list of age
	alive   bool
	place   int32
	prev    int32 // slots
	next    int32
	number  int32 // of this wait, see bypass
	// bypassed is by how many this wait was bypassed before it got that number.
	bypassed int64
}

// table has the goroutines by slot.
type table = ids.Parts[goroutine]
