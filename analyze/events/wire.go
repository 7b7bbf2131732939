package events

// Event types of the trace format since Go 1.22, as far as this package treats
// them (internal/trace/tracev2/events.go, Go 1.26). Later versions only added
// to them.
const (
	evEventBatch          = 1
	evStacks              = 2
	evStack               = 3
	evStrings             = 4
	evString              = 5
	evCPUSamples          = 6
	evCPUSample           = 7
	evFrequency           = 8
	evProcsChange         = 9
	evProcStart           = 10
	evProcStop            = 11
	evProcSteal           = 12
	evProcStatus          = 13
	evGoCreate            = 14
	evGoCreateSyscall     = 15
	evGoStart             = 16
	evGoDestroy           = 17
	evGoDestroySyscall    = 18
	evGoStop              = 19
	evGoBlock             = 20
	evGoUnblock           = 21
	evGoSyscallBegin      = 22
	evGoSyscallEnd        = 23
	evGoSyscallEndBlocked = 24
	evGoStatus            = 25
	evSTWBegin            = 26
	evSTWEnd              = 27
	evGCActive            = 28
	evGCBegin             = 29
	evGCEnd               = 30
	evGCSweepActive       = 31
	evGCSweepBegin        = 32
	evGCSweepEnd          = 33
	evGCMarkAssistActive  = 34
	evGCMarkAssistBegin   = 35
	evGCMarkAssistEnd     = 36
	evHeapAlloc           = 37
	evHeapGoal            = 38
	evGoLabel             = 39
	evUserTaskBegin       = 40
	evUserTaskEnd         = 41
	evUserRegionBegin     = 42
	evUserRegionEnd       = 43
	evUserLog             = 44
	evGoSwitch            = 45 // since Go 1.23
	evGoSwitchDestroy     = 46 // since Go 1.23
	evGoCreateBlocked     = 47 // since Go 1.23
	evGoStatusStack       = 48 // since Go 1.23
	evExperimentalBatch   = 49 // since Go 1.23
	evSync                = 50 // since Go 1.25
	evClockSnapshot       = 51 // since Go 1.25
	evEndOfGeneration     = 52 // since Go 1.26

	// Of the experiment that follows allocations, since Go 1.23.
	evSpan                = 128
	evSpanAlloc           = 129
	evSpanFree            = 130
	evHeapObject          = 131
	evHeapObjectAlloc     = 132
	evHeapObjectFree      = 133
	evGoroutineStack      = 134
	evGoroutineStackAlloc = 135
	evGoroutineStackFree  = 136
)

// Limits of the format.
const (
	maxBatchSize  = 64 << 10
	maxStringSize = 1 << 10
	allocFree     = 1 // the only experiment there is
)

// timedArgs is how many numbers follow the type of an event of a thread, the
// first of them the time since the event before. 0 are types that do not stand
// there.
var timedArgs = [256]uint8{
	evProcsChange: 3, evProcStart: 3, evProcStop: 1, evProcSteal: 4, evProcStatus: 3,
	evGoCreate: 4, evGoCreateSyscall: 2, evGoStart: 3, evGoDestroy: 1, evGoDestroySyscall: 1,
	evGoStop: 3, evGoBlock: 3, evGoUnblock: 4,
	evGoSyscallBegin: 3, evGoSyscallEnd: 1, evGoSyscallEndBlocked: 1, evGoStatus: 4,
	evSTWBegin: 3, evSTWEnd: 1,
	evGCActive: 2, evGCBegin: 3, evGCEnd: 2,
	evGCSweepActive: 2, evGCSweepBegin: 2, evGCSweepEnd: 3,
	evGCMarkAssistActive: 2, evGCMarkAssistBegin: 2, evGCMarkAssistEnd: 1,
	evHeapAlloc: 2, evHeapGoal: 2,
	evGoLabel: 2, evUserTaskBegin: 5, evUserTaskEnd: 3, evUserRegionBegin: 4, evUserRegionEnd: 4, evUserLog: 5,
	evGoSwitch: 3, evGoSwitchDestroy: 3, evGoCreateBlocked: 4, evGoStatusStack: 5,
	evSpan: 4, evSpanAlloc: 4, evSpanFree: 2,
	evHeapObject: 3, evHeapObjectAlloc: 3, evHeapObjectFree: 2,
	evGoroutineStack: 3, evGoroutineStackAlloc: 3, evGoroutineStackFree: 2,
}

// Statuses of goroutines, and what they are called here. 0 is none.
var goStatuses = [...]State{1: Runnable, 2: Running, 3: Syscall, 4: Waiting}

// Statuses of processors.
const (
	procRunning   = 1
	procIdle      = 2
	procSyscall   = 3
	procAbandoned = 4 // in a system call, of a thread that is not known
)

// procStatuses are the states that the public reader makes of them.
var procStatuses = [...]State{procRunning: Running, procIdle: Idle, procSyscall: Running, procAbandoned: Idle}

// scanner reads the parts of a batch that come in sequence. After the end, or
// what is no number, it is bad and gives zeros.
type scanner struct {
	p   []byte
	at  int
	bad bool
}

func (s *scanner) done() bool { return s.bad || s.at == len(s.p) }

func (s *scanner) byte() byte {
	if s.at >= len(s.p) {
		s.bad = true
		return 0
	}
	s.at++
	return s.p[s.at-1]
}

func (s *scanner) number() uint64 {
	if s.at < len(s.p) && s.p[s.at] < 0x80 {
		s.at++
		return uint64(s.p[s.at-1])
	}
	x, at := longNumber(s.p, s.at)
	if at < 0 {
		s.bad = true
		return 0
	}
	s.at = at
	return x
}

// longNumber reads a varint of at most 64 bits, minimal or not. It returns where
// it ends, or -1.
func longNumber(p []byte, at int) (uint64, int) {
	var x uint64
	for shift := 0; shift < 70 && at < len(p); shift += 7 {
		b := p[at]
		at++
		if shift == 63 && b > 1 {
			return 0, -1
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x, at
		}
	}
	return 0, -1
}
