// Package events is step 2 of the pipeline: it decodes the generations of a
// trace, in parallel and each by itself, and hands on compact events in the
// order of the trace.
//
// # Who decodes, and who judges
//
// A decoder of our own reads the formats of Go 1.22 to 1.27, in about a quarter
// of the time that a golang.org/x/exp/trace Reader and the conversion of its
// events take. That Reader stays the judge of what is valid: the decoder makes every
// check that it makes, and where one fails, or something is not as the runtime
// writes it, it declines the generation. Then a Reader decides from its first
// byte on: its events, its error. So do Readers with the whole of a trace of Go
// 1.11 to 1.21 and with formats that are not known. Tests hold both against each
// other, event by event, in the traces of the repository, in made-up ones, and
// in what fuzzing makes of both.
//
// What a Reader refuses is salvaged: damaged entries of tables are done without,
// and so are threads from where their events cannot be read. What is missing is
// in Stats; where events depend on some that are, a Lost event says so.
//
// The parts: wire.go has the event types; generation.go finds the batches of each
// thread in a generation and reads its tables; threads.go reads the events of
// each thread and knows which is next; order.go puts them in order, by the rules
// in rules.go; decode.go lets the public reader do the same; salvage.go reads
// what both refuse.
//
// # Differences to the whole trace
//
// A generation decoded by itself gives the same events in the same order as
// within the whole trace, with better times at its beginning; statuses then
// come as transitions from Undetermined, and are to be held against the state
// carried over from the generation before.
//
// It serves this module and is not stable: see package gmpscope.
package events

// Event is one event, without pointers. Goroutine, thread and processor are
// those of the context before the event; None where there was none.
type Event struct {
	Time   int64  // ns since the first event of the trace; never falls within a stream
	G      int64  // goroutine of the context: the one that ran on the thread; None if none did
	M      int64  // thread of the context: the operating system's ID, before Go 1.22 the runtime's
	Res    int64  // Go, Range, Label: the goroutine; Proc, Sweep: the processor; Procs: GOMAXPROCS; Heap: bytes; of a task, region or log: the task
	P      int32  // processor of the context: the one that the thread had; None if it had none
	Stack  Handle // stack of the context
	TStack Handle // Go: the stack of Res; for a creation, its start function
	Reason Handle // Go: reason of the transition; STW: reason; Label: text; of a task or region: type; Log: category and message
	Kind   Kind
	From   State // Go, Proc: state of Res before the event
	To     State // Go, Proc: state of Res after it
	late   bool  // its time may be later than when it was so: see Stream.place
}

// lateStatus reports whether e only states what a goroutine was doing all along,
// at the end of a generation.
func (e *Event) lateStatus() bool {
	return e.Kind == Go && (e.From == e.To || e.From == Undetermined) &&
		(e.M == None || e.To == Syscall)
}

// None is the G, M, P or Res of an [Event] where there is no goroutine, thread or processor.
const None = -1

// Handle is a small number that stands for a stack or a string of the stream's [Tables]: their Frames
// and Name return it. 0 is none.
type Handle int32

// Kind specifies what an Event is. Kinds that the scheduler has no part in are only
// counted.
type Kind uint8

// The kinds of events: the values of Event.Kind, which say what happened.
const (
	Other        Kind = iota // has no part in scheduling
	Go                       // a goroutine goes from one state to another
	Proc                     // a processor goes from one state to another
	Procs                    // GOMAXPROCS is Res from now on; in a stop-the-world also the end of the true stop
	STWBegin                 // a stop-the-world begins
	STWEnd                   // a stop-the-world ends
	GCBegin                  // the concurrent mark phase begins; also where a generation restates it
	GCEnd                    // the concurrent mark phase ends
	AssistBegin              // a goroutine that allocates has to mark for the garbage collector
	AssistEnd                // it has marked enough
	SweepBegin               // a goroutine that allocates begins to sweep, on processor Res (mcentral.cacheSpan, deductSweepCredit, mheap.reclaim); also where a generation restates it
	SweepEnd                 // it has swept
	HeapAlloc                // live heap, and what was allocated since: /memory/classes/heap/objects
	HeapGoal                 // size of the heap at which the next cycle is to end
	Label                    // mode of a mark worker, in Reason: LabelDedicated, LabelFractional or LabelIdle
	Sample                   // a sample of the CPU profiler
	TaskBegin                // a task begins (runtime/trace.NewTask)
	TaskEnd                  // a task ends
	Region                   // a region begins (runtime/trace.StartRegion)
	RegionEnd                // a region ends
	Log                      // the program logs something (runtime/trace.Log)
	Sync                     // marks the beginning of a generation, and the end of the trace
	Experimental             // an event of an experiment of the runtime
	Lost                     // not an event: what was next is lost, for Res ns; for 0 where only some of it is
	numKinds
)

// State is the state of a goroutine or a processor before or after an event.
type State uint8

// The states of goroutines and processors: the values of Event.From and Event.To. Undetermined
// is the state of what the trace has not mentioned.
const (
	Undetermined State = iota // not known
	NotExist                  // the goroutine has not been created, or has ended
	Runnable                  // the goroutine waits for a processor
	Running                   // the goroutine runs, or the processor has a thread
	Waiting                   // the goroutine is blocked
	Syscall                   // the goroutine is in a system call
	Idle                      // the processor has no thread
)

// Frame is one frame of a stack: a function, and a line in it.
type Frame struct {
	Func string // full name of the function
	File string // path of the source file
	Line uint64 // in File, from 1
	PC   uint64 // not compared: of stacks that differ in nothing else, that of the first
}

// The handles that reasons and labels have in every [Tables]: why a goroutine stopped
// (Reason…), and in which mode a mark worker runs (Label…). Each stands for the text that the
// runtime writes.
const (
	ReasonNone        Handle = iota // ""
	ReasonPreempted                 // "preempted"
	ReasonGosched                   // "runtime.Gosched"
	ReasonNetwork                   // "network"
	ReasonSleep                     // "sleep"
	ReasonSystem                    // "system goroutine wait"
	ReasonAssist                    // "GC mark assist wait for work"
	ReasonSync                      // "sync"
	ReasonSelect                    // "select"
	ReasonChanReceive               // "chan receive"
	ReasonChanSend                  // "chan send"
	LabelDedicated                  // "GC (dedicated)"
	LabelFractional                 // "GC (fractional)"
	LabelIdle                       // "GC (idle)"
	ReasonForever                   // "forever"
	ReasonCond                      // "sync.(*Cond).Wait"
	ReasonGCEnds                    // "wait until GC ends"
	ReasonSynctest                  // "synctest"
)

var fixedStrings = []string{
	"", "preempted", "runtime.Gosched", "network", "sleep",
	"system goroutine wait", "GC mark assist wait for work", "sync", "select",
	"chan receive", "chan send", "GC (dedicated)", "GC (fractional)", "GC (idle)",
	"forever", "sync.(*Cond).Wait", "wait until GC ends", "synctest",
}
