package jsondoc

// TimeInStates is the time that goroutines spent in each state while the trace was recorded.
// Goroutines that are only ever shown blocked are left out.
type TimeInStates struct {
	Program Life `json:"program"` // goroutines of the program
	Runtime Life `json:"runtime"` // goroutines of the runtime and the tracer
}

// Life is the life of some goroutines, summed. RunningNs, RunnableNs, BlockedNs, SyscallNs
// and UnknownNs add up to LifeNs exactly.
type Life struct {
	LifeNs     int64     `json:"life_ns"`     // time of existence
	RunningNs  int64     `json:"running_ns"`  // running on a P
	RunnableNs int64     `json:"runnable_ns"` // waiting for a P, open waits and those whose end a gap hides included
	BlockedNs  int64     `json:"blocked_ns"`  // blocked, for any reason
	Blocked    []Blocked `json:"blocked"`     // by reason, longest first; adds up to BlockedNs exactly
	SyscallNs  int64     `json:"syscall_ns"`  // in system calls, with or without a P
	UnknownNs  int64     `json:"unknown_ns"`  // not in the trace: before the first event of a goroutine, and in gaps
}

// Blocked is the time blocked for one reason.
type Blocked struct {
	Reason string `json:"reason"` // what they waited for
	Ns     int64  `json:"ns"`     // goroutine-time
}
