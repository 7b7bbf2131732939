package reference

import "slices"

// Rules are what a Go release fixes of the scheduler: all that differs between
// releases, and the numbers. Each field names the runtime function that it comes
// from. Times are in ns. A Rules value is read-only once built, and comparable.
type Rules struct {
	// Release is the Go release, such as "1.26".
	Release string
	// TraceFormat is the minor version in the header of the traces that the
	// release writes. Not each release has a format of its own.
	TraceFormat int

	// RingSize is the capacity of a P's ring, runnext not counted (runtime2.go: p.runq).
	RingSize int
	// GlobalPoll is the number of time slices between two looks at the global
	// queue before the local one (findRunnable); 0 is never.
	GlobalPoll int
	// GlobalBatchMax is the most that one take from the global queue moves:
	// half a ring (globrunqget until 1.24, globrunqgetbatch).
	GlobalBatchMax int
	// Slice is the time after which sysmon asks a goroutine to yield
	// (forcePreemptNS).
	Slice int64
	// STWKeepsRunnext reports whether a goroutine preempted for a stop-the-world goes
	// to its P's runnext, and not to the global queue (goschedImpl, from 1.26).
	STWKeepsRunnext bool
	// NoRunnext reports whether runqput ignores its argument next, so that no goroutine goes
	// into runnext. From 1.23, without a sysmon.
	NoRunnext bool
	// WasmNoRunnext: NoRunnext holds on js/wasm, which has no sysmon (runqput,
	// from 1.23).
	WasmNoRunnext bool

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
	// InjectWakes reports whether injectglist ends with a wakep (injectglist, from 1.23).
	InjectWakes bool
	// PreemptsSyscall reports whether a goroutine in a system call keeps a request to
	// yield until it returns (preemptone, until 1.25).
	PreemptsSyscall bool

	// STWRestoresThread: when the world starts again, a P with work gets its old
	// thread, if that is idle (procresize, from 1.26).
	STWRestoresThread bool
	// STWStartsWorkers: when the world starts again, idle Ps get mark workers at
	// once (startTheWorldWithSema, from 1.26).
	STWStartsWorkers bool
	// IdleFromHighest: of the Ps that are idle when the world starts again, or the
	// process does, the highest is the first to be taken, not the lowest
	// (procresize, from 1.26).
	IdleFromHighest bool
	// EnlistWakesIdle: whoever marks and wants another mark worker wakes an idle P
	// for it, and asks a goroutine to yield only where none is idle (enlistWorker,
	// from 1.26).
	EnlistWakesIdle bool
	// AdvanceVisitsFirst: the tracer has all Ps pass a safe point before a new
	// generation, and not after its begin (traceAdvance, forEachP, from 1.26).
	AdvanceVisitsFirst bool
}

// releases has a row for each release whose rules are known, the oldest first:
// what it changed of those of the row above.
var releases = []struct {
	name   string
	format int // Rules.TraceFormat
	change func(*Rules)
}{
	{"1.22", 22, func(r *Rules) {
		*r = Rules{
			RingSize:        256,
			GlobalPoll:      61,
			GlobalBatchMax:  128,
			Slice:           10_000_000,
			StealTries:      4,
			StealBackoff:    3_000,
			SysmonMin:       20_000,
			SysmonMax:       10_000_000,
			SysmonPasses:    50,
			SyscallGrace:    10_000_000,
			PollPeriod:      10_000_000,
			PollBatch:       128,
			PollResolution:  1_000_000,
			PreemptsSyscall: true,
		}
	}},
	{"1.23", 23, func(r *Rules) { r.InjectWakes, r.WasmNoRunnext = true, true }},
	{"1.24", 23, func(*Rules) {}},
	{"1.25", 25, func(*Rules) {}},
	{"1.26", 26, func(r *Rules) {
		r.PreemptsSyscall = false
		r.STWKeepsRunnext, r.STWRestoresThread, r.STWStartsWorkers, r.IdleFromHighest = true, true, true, true
		r.EnlistWakesIdle, r.AdvanceVisitsFirst = true, true
	}},
	{"1.27", 26, func(*Rules) {}},
}

var known = func() []Rules {
	var out []Rules
	var r Rules
	for _, x := range releases {
		x.change(&r)
		r.Release, r.TraceFormat = x.name, x.format
		out = append(out, r)
	}
	return out
}()

// Releases returns the rules of all releases that are known, the oldest first.
func Releases() []Rules { return slices.Clone(known) }

// Release returns the rules of a Go release, such as "1.26", and false if they
// are not known.
func Release(name string) (Rules, bool) {
	i := slices.IndexFunc(known, func(r Rules) bool { return r.Release == name })
	if i < 0 {
		return Rules{}, false
	}
	return known[i], true
}

// Latest returns the rules of the newest release that is known.
func Latest() Rules { return known[len(known)-1] }

// Writers returns the rules of the releases that write traces of format go
// 1.minor, the oldest first; none if the format is older than all of them.
func Writers(minor int) []Rules {
	var out []Rules
	for _, r := range known {
		if r.TraceFormat == minor {
			out = append(out, r)
		}
	}
	return out
}

// RulesFor returns the rules for a trace of format go 1.minor: those of the
// release that brought the format, so that a newer one that writes it, too,
// changes nothing of what is said about older traces. A format that no release
// in the table writes gets the rules of the last release before it, or of the
// first.
func RulesFor(minor int) Rules {
	best := known[0]
	for _, r := range known {
		if r.TraceFormat <= minor && r.TraceFormat > best.TraceFormat {
			best = r
		}
	}
	return best
}

// Same reports whether two releases have the same rules.
func (r *Rules) Same(o Rules) bool {
	o.Release, o.TraceFormat = r.Release, r.TraceFormat
	return *r == o
}

// SameQueues reports whether two releases have the same rules for the run queues: who goes into
// which, and when and how many are taken.
func (r *Rules) SameQueues(o Rules) bool {
	return r.RingSize == o.RingSize && r.GlobalPoll == o.GlobalPoll && r.GlobalBatchMax == o.GlobalBatchMax && r.Slice == o.Slice &&
		r.STWKeepsRunnext == o.STWKeepsRunnext && r.NoRunnext == o.NoRunnext
}

// Overflow returns the number of goroutines that a put on a full ring moves to the global
// queue, the newcomer included (runqputslow).
func (r *Rules) Overflow() int { return r.RingSize/2 + 1 }

// GlobalBatch returns the number of goroutines that a P with an empty local queue takes from a
// global queue of length n, with procs Ps (globrunqget, globrunqgetbatch).
func (r *Rules) GlobalBatch(n, procs int) int {
	return min(n, n/max(1, procs)+1, r.GlobalBatchMax)
}

// StealBatch returns the number of goroutines that a thief takes from a ring of length n:
// half, rounded up (runqgrab).
func (r *Rules) StealBatch(n int) int { return n - n/2 }

// MarkWorkers returns, for procs Ps, the number of dedicated mark workers that the garbage
// collector wants, and the share, from 0 to 1, of each P's time that fractional ones are to
// mark: a quarter of the Ps in all, rounded, and by fractional workers where that is off by
// more than 30 % (mgcpacer.go: startCycle).
func (r Rules) MarkWorkers(procs int) (dedicated int, share float64) {
	goal := 0.25 * float64(procs)
	dedicated = int(goal + 0.5)
	off := float64(dedicated)/goal - 1
	if off >= -0.3 && off <= 0.3 {
		return dedicated, 0
	}
	if float64(dedicated) > goal {
		dedicated--
	}
	return dedicated, (goal - float64(dedicated)) / float64(procs)
}

// Local returns where runqput, called with next, puts a goroutine: into runnext, or at the
// tail of the ring.
func (r *Rules) Local(next bool) Queue {
	if next && !r.NoRunnext {
		return QueueRunnext
	}
	return QueueLocal
}
