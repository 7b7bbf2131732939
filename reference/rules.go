package reference

// Rules are the parameters of the scheduler that a Go version fixes. Times are
// in ns. A Rules value is read-only once built.
type Rules struct {
	// GoMinor is the minor version, for example 26 for Go 1.26.
	GoMinor int
	// RingSize is the capacity of a P's ring, runnext not counted (runtime2.go: p.runq).
	RingSize int
	// GlobalPoll is the number of time slices between two looks at the global
	// queue before the local one (proc.go: findRunnable).
	GlobalPoll int
	// GlobalBatchMax is the most that one take from the global queue moves:
	// half a ring (globrunqget up to 1.24, globrunqgetbatch from 1.25).
	GlobalBatchMax int
	// Slice is the time after which sysmon asks a goroutine to yield
	// (forcePreemptNS).
	Slice int64
	// STWKeepsRunnext says that a goroutine preempted for a stop-the-world goes
	// to its P's runnext, and not to the global queue (goschedImpl, from 1.26).
	STWKeepsRunnext bool
	// NoRunnext says that runqput ignores next, as it does on wasm.
	NoRunnext bool
}

// RulesFor returns the rules of Go 1.minor. Versions outside 22…27 get those
// of the nearest known one.
func RulesFor(minor int) Rules {
	return Rules{
		GoMinor:         minor,
		RingSize:        256,
		GlobalPoll:      61,
		GlobalBatchMax:  128,
		Slice:           10_000_000,
		STWKeepsRunnext: minor >= 26,
	}
}

// Overflow is the number of goroutines that a put on a full ring moves to the
// global queue, the newcomer included (runqputslow).
func (r Rules) Overflow() int { return r.RingSize/2 + 1 }

// GlobalBatch is the number of goroutines that a P with an empty local queue
// takes from a global queue of length n (globrunqget, globrunqgetbatch).
func (r Rules) GlobalBatch(n, procs int) int {
	if procs < 1 {
		procs = 1
	}
	return min(n, n/procs+1, r.GlobalBatchMax)
}

// StealBatch is the number of goroutines that a thief takes from a ring of
// length n: half, rounded up (runqgrab).
func (r Rules) StealBatch(n int) int { return n - n/2 }
