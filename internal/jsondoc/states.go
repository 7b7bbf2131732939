package jsondoc

// TimeInStates is what goroutines did with their life: the time in which they existed while
// the trace was recorded. A goroutine of which the trace shows nothing but that it is
// blocked all the while is left out.
type TimeInStates struct {
	Program Life `json:"program"` // goroutines of the program
	Runtime Life `json:"runtime"` // goroutines of the runtime and the tracer
}

// Life is the life of some goroutines, summed. RunningNs, RunnableNs, BlockedNs,
// SyscallNs and UnknownNs add up to LifeNs exactly.
type Life struct {
	LifeNs    int64 `json:"life_ns"`    // how long they existed
	RunningNs int64 `json:"running_ns"` // how long they ran
	// RunnableNs is how long they waited for a P, which is scheduling: open waits, and
	// those whose end a gap hides, included. The causes are those of the waits.
	RunnableNs int64     `json:"runnable_ns"`
	BlockedNs  int64     `json:"blocked_ns"` // how long they were blocked
	Blocked    []Blocked `json:"blocked"`    // what for, longest first; it adds up to BlockedNs exactly
	SyscallNs  int64     `json:"syscall_ns"` // how long they were in system calls, with a P or without
	UnknownNs  int64     `json:"unknown_ns"` // what the trace does not show: before a goroutine's first event, and in gaps
}

// Blocked is the time for which goroutines were blocked for one reason.
type Blocked struct {
	Reason string `json:"reason"` // what they waited for
	Ns     int64  `json:"ns"`     // for how long
}
