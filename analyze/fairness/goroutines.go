package fairness

// goroutine is what is kept of a live goroutine of the program. It is active while it
// is runnable or running: it competes for Ps. Blocked or in a system call it is not,
// and earns no ideal service. It has no pointers; times are ns.
type goroutine struct {
	service int64  // time that it ran, up to the present activity
	wait    int64  // time that it was runnable, likewise
	clock   uint64 // the ideal clock when it became active
	ideal   uint64 // ideal service of active periods that are over, in ticks
	maxLag  int64
	waited  int64 // wait that this activation began with; unknown: it is none, partial
	place   int32 // from 1 on; 0: it is not alive
	aged    int32 // its place in the list of age; 0: it is not in it
}

// What is known of the wait that an activation begins with, but for its length.
const (
	unknown = -1
	partial = -2 // it is not over, and began before the trace showed it
)
