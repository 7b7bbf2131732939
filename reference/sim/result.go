package sim

// Result is what the goroutines, the Ps and the scheduler did in a run. All times are in ns.
type Result struct {
	// EndNs is when the last goroutine ended, or nothing happened any more, or
	// Options.Until if the run was cut off there: the makespan.
	EndNs int64
	Procs int // at the beginning

	Goroutines int // that there were, without mark workers
	MaxLive    int // at one time
	Left       int // not ended: blocked for ever, or cut off

	// P-time. BusyNs is that of the workload's goroutines, GCNs of mark workers;
	// SyscallNs is spent in system calls by Ps that were not taken, IdleNs
	// without a thread, StoppedNs in stopped worlds. SchedNs is the rest: in the
	// scheduler, with a thread that is waking up, or held by a blocked goroutine.
	BusyNs, GCNs, SyscallNs, IdleNs, StoppedNs, SchedNs int64
	// KeptNs is the part of StoppedNs in which a P was kept by the goroutine that had
	// stopped the world, which the decisions show as running.
	KeptNs int64

	Starts        [NumSources]int64 // goroutines started, indexed by reference.Source
	Steals        int64             // thefts
	Stolen        int64             // goroutines that they moved
	Overflows     int64             // puts on a full ring
	GlobalBatches int64             // takes of several goroutines from the global queue
	Locks         int64             // operations under sched.lock
	LockWaitNs    int64             // that threads waited for it
	Preemptions   int64             // goroutines made to yield
	Retakes       int64             // Ps taken from threads in system calls
	Handoffs      int64             // Ps that another thread got after a retake or a blocking call
	STWs          int64             // stop-the-worlds
	Threads       int               // made in the run, without sysmon
	ThreadWakes   int64             // wake-ups of threads, new ones included

	Classes []Class // indexed by Op.Class and Arrival.Class
}

// NumSources is the number of values of [reference.Source]: the length of an array by source.
const NumSources = 13

// Class is what the goroutines of one class, those with the same Op.Class or Arrival.Class, did in a
// run. Times are in ns.
type Class struct {
	Goroutines int   // how many there were
	RunningNs  int64 // running time, summed
	// Waits is the number of intervals from runnable to running, WaitNs their sum,
	// MaxWaitNs the longest. With Policy.Fluid a wait is what an interval from
	// runnable to blocked is longer than the time that was computed in it.
	Waits, WaitNs, MaxWaitNs int64
}

// TotalStarts returns the number of starts from all sources together.
func (r *Result) TotalStarts() int64 {
	n := int64(0)
	for _, k := range r.Starts {
		n += k
	}
	return n
}

// Utilisation returns the share, from 0 to 1, of the P-time in which the workload's goroutines
// ran.
func (r *Result) Utilisation() float64 {
	if r.EndNs == 0 {
		return 0
	}
	return float64(r.BusyNs) / float64(r.BusyNs+r.GCNs+r.SyscallNs+r.IdleNs+r.StoppedNs+r.SchedNs)
}

// finish closes the accounts.
func (s *scheduler) finish() *Result {
	r := &s.res
	r.EndNs, r.Left = s.end, s.live
	s.addPTime(len(s.ps), s.end)
	for m := range s.ms {
		if t := s.ms[m]; t.g != noG && t.p != none && s.ps[t.p].status == pRunning {
			bookRun(s, t.g)
		}
	}
	for i := range s.ps {
		d := max(0, s.end-s.ps[i].since)
		switch s.ps[i].status {
		case pIdle:
			r.IdleNs += d
		case pSyscall:
			r.SyscallNs += d
		case pStopped:
			r.StoppedNs += d
		}
	}
	if s.pol.ThreadPerG {
		r.Threads = r.MaxLive
	}
	r.SchedNs = s.pTime - r.BusyNs - r.GCNs - r.SyscallNs - r.IdleNs - r.StoppedNs
	return r
}
