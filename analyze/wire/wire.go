// Package wire defines the numbers of the trace format since Go 1.22, for steps 1 and 2
// of [github.com/gmpscope/gmpscope/analyze]. Newer formats only added to it.
//
// Source: internal/trace/tracev2 (Go 1.26), internal/trace/event/go122 (Go 1.22).
//
// It serves this module and is not stable: see package gmpscope.
package wire

// The types of events, of batches and of the entries of tables: the byte with which each
// begins.
const (
	EventBatch          = 1
	Stacks              = 2
	Stack               = 3
	Strings             = 4
	String              = 5
	CPUSamples          = 6
	CPUSample           = 7
	Frequency           = 8
	ProcsChange         = 9
	ProcStart           = 10
	ProcStop            = 11
	ProcSteal           = 12
	ProcStatus          = 13
	GoCreate            = 14
	GoCreateSyscall     = 15
	GoStart             = 16
	GoDestroy           = 17
	GoDestroySyscall    = 18
	GoStop              = 19
	GoBlock             = 20
	GoUnblock           = 21
	GoSyscallBegin      = 22
	GoSyscallEnd        = 23
	GoSyscallEndBlocked = 24
	GoStatus            = 25
	STWBegin            = 26
	STWEnd              = 27
	GCActive            = 28
	GCBegin             = 29
	GCEnd               = 30
	GCSweepActive       = 31
	GCSweepBegin        = 32
	GCSweepEnd          = 33
	GCMarkAssistActive  = 34
	GCMarkAssistBegin   = 35
	GCMarkAssistEnd     = 36
	HeapAlloc           = 37
	HeapGoal            = 38
	GoLabel             = 39
	UserTaskBegin       = 40
	UserTaskEnd         = 41
	UserRegionBegin     = 42
	UserRegionEnd       = 43
	UserLog             = 44
	GoSwitch            = 45 // since Go 1.23
	GoSwitchDestroy     = 46 // since Go 1.23
	GoCreateBlocked     = 47 // since Go 1.23
	GoStatusStack       = 48 // since Go 1.23
	ExperimentalBatch   = 49 // since Go 1.23
	Sync                = 50 // since Go 1.25
	ClockSnapshot       = 51 // since Go 1.25
	EndOfGeneration     = 52 // since Go 1.26

	// Of the experiment that follows allocations, [AllocFree], since Go 1.23.
	Span                = 128 // a span of the heap that was there when the trace began
	SpanAlloc           = 129 // one is allocated
	SpanFree            = 130 // one is freed
	HeapObject          = 131 // an object in the heap that was there when the trace began
	HeapObjectAlloc     = 132 // one is allocated
	HeapObjectFree      = 133 // one is freed
	GoroutineStack      = 134 // a stack of a goroutine that was there when the trace began
	GoroutineStackAlloc = 135 // one is allocated
	GoroutineStackFree  = 136 // one is freed
)

// Limits of what a reader accepts.
const (
	MaxBatchSize  = 64 << 10 // bytes of data
	MaxStringSize = 1 << 10  // bytes of a string of the table
)

// AllocFree is the number of the only experiment that the format has: it follows what is
// allocated and freed.
const AllocFree = 1

// TimedArgs is, by type of event, how many arguments an event in a thread's batch has. The
// first argument is the time since the event before, in ticks of the trace's clock. It is 0
// for types that are not in a thread's batch.
var TimedArgs = [256]uint8{
	ProcsChange: 3, ProcStart: 3, ProcStop: 1, ProcSteal: 4, ProcStatus: 3,
	GoCreate: 4, GoCreateSyscall: 2, GoStart: 3, GoDestroy: 1, GoDestroySyscall: 1,
	GoStop: 3, GoBlock: 3, GoUnblock: 4,
	GoSyscallBegin: 3, GoSyscallEnd: 1, GoSyscallEndBlocked: 1, GoStatus: 4,
	STWBegin: 3, STWEnd: 1,
	GCActive: 2, GCBegin: 3, GCEnd: 2,
	GCSweepActive: 2, GCSweepBegin: 2, GCSweepEnd: 3,
	GCMarkAssistActive: 2, GCMarkAssistBegin: 2, GCMarkAssistEnd: 1,
	HeapAlloc: 2, HeapGoal: 2,
	GoLabel: 2, UserTaskBegin: 5, UserTaskEnd: 3, UserRegionBegin: 4, UserRegionEnd: 4, UserLog: 5,
	GoSwitch: 3, GoSwitchDestroy: 3, GoCreateBlocked: 4, GoStatusStack: 5,
	Span: 4, SpanAlloc: 4, SpanFree: 2,
	HeapObject: 3, HeapObjectAlloc: 3, HeapObjectFree: 2,
	GoroutineStack: 3, GoroutineStackAlloc: 3, GoroutineStackFree: 2,
}
