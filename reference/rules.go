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

	// StealTries is the number of passes over the other Ps in one search for
	// work; only the last one runs their timers and takes their runnext
	// (stealWork).
	StealTries int
	// StealBackoff is how long a thief sleeps before it takes the runnext of a
	// P that runs a goroutine, so that the P may take it itself (runqgrab).
	StealBackoff int64
	// SysmonMin is sysmon's sleep between two passes. After SysmonPasses passes
	// in a row without a retake it doubles each time, up to SysmonMax (sysmon).
	SysmonMin, SysmonMax int64
	SysmonPasses         int
	// SyscallGrace is how long a P in a system call is left alone that has
	// nothing queued while others spin or are idle (retake).
	SyscallGrace int64
	// PollPeriod is the age of the last network poll from which sysmon polls
	// itself (sysmon).
	PollPeriod int64
	// PollBatch is the most goroutines that one poll returns (netpoll_epoll.go: netpoll).
	PollBatch int
	// PollResolution is the grain of the time that a thread sleeps in the
	// network poller (netpoll_epoll.go: netpoll); 0 is exact.
	PollResolution int64
	// InjectWakes says that injectglist ends with a wakep (injectglist, from 1.23).
	InjectWakes bool
	// PreemptsSyscall says that a goroutine in a system call keeps a request to
	// yield until it returns (preemptone, until 1.25).
	PreemptsSyscall bool
	// STWAffinity says how the world starts again (procresize, from 1.26): a P
	// with work gets its old thread, if that is idle; idle Ps get mark workers at
	// once; and of the other idle Ps the highest is the next to be taken, not
	// the lowest.
	STWAffinity bool
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

		StealTries:      4,
		StealBackoff:    3_000,
		SysmonMin:       20_000,
		SysmonMax:       10_000_000,
		SysmonPasses:    50,
		SyscallGrace:    10_000_000,
		PollPeriod:      10_000_000,
		PollBatch:       128,
		PollResolution:  1_000_000,
		InjectWakes:     minor >= 23,
		PreemptsSyscall: minor <= 25,
		STWAffinity:     minor >= 26,
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
