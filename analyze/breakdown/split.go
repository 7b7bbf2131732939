package breakdown

// TimeByState is the time of one or several goroutines by state, in ns.
type TimeByState struct {
	RunningNs  int64          // on a P
	RunnableNs int64          // waiting for a P
	SyscallNs  int64          // in system calls, with a P or without
	UnknownNs  int64          // not in the trace: before the first event of a goroutine, and in gaps
	BlockedNs  [Reasons]int64 // indexed by Reason
}

// LifeNs returns the sum of all states, in ns.
func (s *TimeByState) LifeNs() int64 {
	return s.RunningNs + s.RunnableNs + s.SyscallNs + s.UnknownNs + s.Blocked()
}

// Blocked returns the blocked time for all reasons, in ns.
func (s *TimeByState) Blocked() int64 {
	var sum int64
	for _, ns := range s.BlockedNs {
		sum += ns
	}
	return sum
}

// Add adds the times of t to those of s, state by state.
func (s *TimeByState) Add(t *TimeByState) {
	s.RunningNs += t.RunningNs
	s.RunnableNs += t.RunnableNs
	s.SyscallNs += t.SyscallNs
	s.UnknownNs += t.UnknownNs
	for r := range s.BlockedNs {
		s.BlockedNs[r] += t.BlockedNs[r]
	}
}

func (s *TimeByState) add(in state, ns int64) {
	switch in {
	case running:
		s.RunningNs += ns
	case runnable:
		s.RunnableNs += ns
	case inSyscall:
		s.SyscallNs += ns
	case unknown:
		s.UnknownNs += ns
	default:
		s.BlockedNs[in-blocked] += ns
	}
}
