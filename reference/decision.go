package reference

// NoP, NoM and NoG are the P, M and G of a [Decision] that has no processor, thread or
// goroutine.
const (
	NoP = int32(-1)
	NoM = int64(-1)
	NoG = int64(-1)
)

// MaxTime bounds the times that accumulators of Decisions take, in ns (39 hours): sums of later
// ones, which hostile input has, would overflow.
const MaxTime = 1 << 47

// Decision is one thing that the scheduler did. Observed and simulated runs
// are both sequences of Decisions, so the same accumulators judge both. It
// holds no pointers: millions of them cost the garbage collector nothing.
//
// Fields that do not apply hold their No… constant, or zero where Kind says
// that they have no meaning.
type Decision struct {
	Time   int64  // ns since the first event of the trace
	Wait   int64  // KindStart: ns since the goroutine became runnable; -1 if unknown. KindLost: ns until the trace goes on
	G      int64  // ID of the goroutine
	M      int64  // ID of the thread that acted; KindRetake: of the one that lost P
	By     int64  // KindReady: ID of the goroutine that made G runnable, or NoG; of annotations: ID of the task
	Class  int32  // handle of G's class (start function and creator); 0 is unknown
	P      int32  // number of the P that acted; KindReady, KindMove: whose queue received G, NoP for the global one
	Victim int32  // KindSteal, KindStart by steal: number of the P stolen from; KindMove: whose queue G left, NoP for the global one
	Batch  int32  // number of goroutines moved by a steal, an overflow or a batch from the global queue, with the one that ran; KindProcs: GOMAXPROCS
	Local  int32  // length of P's local run queue afterwards, ring plus runnext
	Global int32  // length of the global run queue afterwards
	Stack  int32  // handle of a stack of the trace, as of events.Tables; 0 is none. KindReady: of the waker, KindStop: where it stopped
	Label  int32  // handle of a string of the trace, as of events.Tables; 0 is none. KindSTWBegin: the runtime's reason; of annotations: the type, or what is logged
	Kind   Kind   // what was done; decides which other fields have a meaning
	Src    Source // KindStart: where P took G from
	To     Queue  // KindReady, KindMove: queue into which G went
	Why    Why    // cause of a KindStop, KindPreempt, KindRetake, KindReady, KindMove, KindPStop or KindSTWBegin
	Reason Reason // KindStop with WhyBlock: what G waits for; KindStart of a mark worker: its mode
	Basis  Basis  // how certain the decision is, and by which rule it is known
	Flags  Flags  // whose goroutine G is, and how it became runnable or started
}

// BriefCalls returns the number of decisions at the beginning of ds that are system calls
// of one goroutine of the program, one after the other, that kept its P, and while which
// nothing else happened: KindSyscall and KindSyscallExit in turns. An accumulator can
// take them all at once. Of programs that read and write much, half of the decisions are
// such.
func BriefCalls(ds []Decision) int {
	n := 0
	for n+1 < len(ds) && ds[n].Kind == KindSyscall && briefCall(&ds[0], &ds[n], &ds[n+1]) {
		n += 2
	}
	return n
}

// briefCall is about one of them, of which there may be others since first.
func briefCall(first, enter, exit *Decision) bool {
	return exit.Kind == KindSyscallExit && exit.P == enter.P && exit.G == enter.G && exit.Class == enter.Class &&
		first.P == enter.P && first.G == enter.G && first.Class == enter.Class &&
		exit.Flags|enter.Flags == 0 && enter.P >= 0 && enter.G >= 0
}

// Kind specifies what a Decision is.
//
// A stream of decisions obeys this grammar. Times never fall. A goroutine is
// Ready, perhaps Moved several times, Started, Stopped, and, where it stopped
// without blocking, Ready again at the same time; a Preempt comes just before
// the Stop that it caused. A P is PStarted before anything starts on it, and
// PStopped, or retaken, when it has no thread any more. A P whose goroutine is
// in a system call (Syscall) is free again at SyscallExit, or is retaken.
// Where a damaged trace has a gap, there is a Lost. Just before it all that run or
// are runnable are Stopped because of WhyLost, the latter without a Start, and a stop
// of the world or a mark phase ends; those that are found again later are shown as at
// the beginning, and so are the Ps. The next decision comes at the end of the gap or
// later.
// A goroutine Moved to QueueDirect is in no queue: P's thread has taken it and
// not started it yet. Local and Global are the lengths after the decision.
type Kind uint8

// The kinds of decisions.
const (
	KindNone        Kind = iota
	KindReady            // G became runnable and was queued at To
	KindStart            // G went from Runnable to Running on P, taken from Src
	KindStop             // G stopped running on P, because of Why
	KindMove             // G, still runnable, went from Victim's queue to P's queue To, because of Why
	KindSteal            // P took Batch goroutines from Victim; their Moves, and the Start of the first, follow
	KindOverflow         // P's ring was full: Batch goroutines went to the global queue
	KindGlobalBatch      // P took Batch goroutines from the global queue
	KindRetake           // sysmon took P from a thread in a system call
	KindHandoff          // P, just retaken or given up, goes to thread M
	KindPreempt          // G was made to yield, because of Why
	KindPStart           // P got a thread
	KindPStop            // P lost its thread: found no work (WhyIdle), or stopped for Why
	KindSTWBegin         // stop-the-world begins (asked for)
	KindSTWEnd           // the world runs again
	KindGCBegin          // concurrent mark begins
	KindGCEnd            // concurrent mark ends
	KindProcs            // GOMAXPROCS is Batch from here on
	KindSyscall          // G entered a system call on P
	KindSyscallExit      // G came back from a system call; P is the one that it kept, or NoP
	KindAssistBegin      // G has to mark for the garbage collector before it may allocate
	KindAssistEnd        // it has marked enough
	KindSample           // the CPU profiler's clock struck while G ran on P, at Stack
	KindLost             // what comes next in the trace is lost, for Wait ns
	KindTaskBegin        // G began the task By, of the type Label (runtime/trace.NewTask)
	KindTaskEnd          // G ended it
	KindRegionBegin      // G began a region of the type Label, for the task By; 0 for none (runtime/trace.StartRegion)
	KindRegionEnd        // G ended it
	KindLog              // G logged Label, for the task By; 0 for none
	numKinds
)

var kindNames = [numKinds]string{
	"none", "ready", "start", "stop", "move", "steal", "overflow", "global-batch",
	"retake", "handoff", "preempt", "p-start", "p-stop", "stw-begin", "stw-end",
	"gc-begin", "gc-end", "gomaxprocs", "syscall", "syscall-exit",
	"assist-begin", "assist-end", "sample", "lost",
	"task-begin", "task-end", "region-begin", "region-end", "log",
}

// String returns the word for the kind in the JSON of gmpscope.
func (k Kind) String() string { return name(kindNames[:], int(k)) }

// Annotates reports whether a decision of this kind is not one of the scheduler: the program
// began or ended a task or region, or logged something.
func (k Kind) Annotates() bool { return k >= KindTaskBegin && k <= KindLog }

// Kinds is the number of values of [Kind], KindNone included: the length of an array by kind.
const Kinds = int(numKinds)

// Source specifies where a started goroutine was taken from.
type Source uint8

// The sources of a start.
const (
	SrcUnknown      Source = iota // not known
	SrcRunnext                    // the P's own runnext
	SrcLocal                      // the P's own ring
	SrcGlobal                     // head of the global queue, local queue empty
	SrcGlobalTick                 // head of the global queue at the 61st tick
	SrcSteal                      // another P's ring
	SrcStealRunnext               // another P's runnext
	SrcNetpoll                    // the poller's list, without a queue
	SrcGCWorker                   // a mark worker chosen by the garbage collector
	SrcTraceReader                // the goroutine that reads the trace buffers
	SrcSyscallExit                // a system call's return that got a P at once
	SrcCoroutine                  // a coroutine switch (iter.Pull)
	SrcDirect                     // any other start without a queue
	numSources
)

var sourceNames = [numSources]string{
	"unknown", "runnext", "local", "global", "global-tick", "steal",
	"steal-runnext", "netpoll", "gc-worker", "trace-reader", "syscall-exit",
	"coroutine", "direct",
}

// String returns the word for the source in the JSON of gmpscope.
func (s Source) String() string { return name(sourceNames[:], int(s)) }

// Sources lists all places that a goroutine may be started from, in the order of their constants.
func Sources() []Source {
	out := make([]Source, numSources)
	for i := range out {
		out[i] = Source(i)
	}
	return out
}

// Queue specifies where a runnable goroutine was put.
type Queue uint8

// The places for a runnable goroutine.
const (
	QueueUnknown Queue = iota // not known
	QueueRunnext              // a P's runnext
	QueueLocal                // a P's ring
	QueueGlobal               // the global run queue
	QueueDirect               // none: it is run at once
	numQueues
)

var queueNames = [numQueues]string{"unknown", "runnext", "local", "global", "direct"}

// String returns the word for the queue in the JSON of gmpscope.
func (q Queue) String() string { return name(queueNames[:], int(q)) }

// Why is the cause of a stop, a preemption, a retake or a wake-up.
type Why uint8

// The causes of stops, preemptions, retakes, moves and wake-ups. Those of preemptions are told
// apart by the rules of runtime/proc.go: goschedImpl, gopreempt_m, goyield_m, forEachP and
// preemptone.
const (
	WhyUnknown      Why = iota // not known
	WhyBlock                   // waits for something: channel, lock, network, sleep …
	WhyExit                    // goroutine ended
	WhySyscall                 // entered a system call
	WhyGosched                 // runtime.Gosched
	WhySlice                   // preempted after its time slice (sysmon)
	WhySTW                     // preempted for a stop-the-world
	WhyGC                      // preempted for the garbage collector
	WhyGeneration              // preempted for the tracer's generation switch
	WhyGoyield                 // yielded to a waiter that was handed a semaphore
	WhySuspend                 // suspended for a stack scan
	WhyCoroutine               // coroutine switch
	WhyCreate                  // go statement
	WhyUnblock                 // woken by a goroutine
	WhyTimer                   // woken by a timer
	WhyNetwork                 // woken by the network poller
	WhySyscallExit             // came back from a system call
	WhyRetakeSlow              // retaken by sysmon
	WhyRetakeReturn            // taken by a thread that returned from a system call
	WhySystem                  // woken by the runtime itself
	WhyProcs                   // procresize: GOMAXPROCS changed
	WhyIdle                    // the P found no work
	WhyLocked                  // the P is handed to, or given up by, a locked thread
	WhySteal                   // moved in a stolen batch
	WhyOverflow                // moved because the ring was full
	WhyGlobalBatch             // moved in a batch from the global queue
	WhyDisplaced               // moved from runnext to the ring's tail by a newcomer
	WhyCorrected               // moved because later events show it was elsewhere
	WhyLost                    // a gap in the trace: what became of it is not known
	numWhys
)

var whyNames = [numWhys]string{
	"unknown", "block", "exit", "syscall", "gosched", "slice", "stw", "gc",
	"generation-switch", "goyield", "suspend", "coroutine", "create", "unblock",
	"timer", "network", "syscall-exit", "sysmon", "returning-syscall", "system",
	"gomaxprocs", "idle", "locked", "steal", "overflow", "global-batch",
	"displaced", "corrected", "lost",
}

// String returns the word for the cause in the JSON of gmpscope.
func (w Why) String() string { return name(whyNames[:], int(w)) }

// Flags are properties of a Decision and of its goroutine: whose goroutine that is (the program's, the runtime's, the
// tracer's), and how it became runnable or started.
type Flags uint8

// The flags of a decision.
const (
	FlagLocked   Flags = 1 << iota // the P was handed to the thread to which G is locked (startlockedm)
	FlagInherits                   // KindStart: G inherits the running time slice, through runnext
	FlagSystem                     // G is a goroutine of the runtime
	FlagTracer                     // G is a goroutine of the tracer
	FlagGC                         // G is a mark worker of the garbage collector
	FlagTaken                      // KindStart: G had left its queue before, by a Move to QueueDirect
	FlagFirst                      // KindReady: the trace shows G here first; when it became runnable is unknown
	FlagNoP                        // KindReady: the thread that made G runnable had no P (sysmon, a returning system call)
)

// FlagsRuntime is the set of flags of which each marks a goroutine that does not belong to the
// program.
const FlagsRuntime = FlagSystem | FlagTracer | FlagGC

// OfProgram reports whether a decision with these flags is about a goroutine of the
// program.
func (f Flags) OfProgram() bool { return f&FlagsRuntime == 0 }

// Reason specifies what a blocked goroutine waits for, by the runtime's words
// (traceBlockReasonStrings in traceruntime.go), or in which mode a mark worker
// runs (gcMarkWorkerModeStrings in mgc.go).
type Reason uint8

// Reasons, and mark worker modes.
const (
	ReasonNone        Reason = iota
	ReasonOther              // any other
	ReasonForever            // select without cases, nil channel
	ReasonNetwork            // the network poller
	ReasonSelect             // select
	ReasonCond               // sync.Cond.Wait
	ReasonSync               // a semaphore: Mutex, RWMutex, WaitGroup and their like
	ReasonChanSend           // a channel's buffer to have room, or a receiver
	ReasonChanReceive        // a channel to have a value
	ReasonAssist             // mark assist without work to steal
	ReasonSystem             // the runtime's own goroutines
	ReasonPreempted          // suspended
	ReasonGCEnds             // the end of the garbage collection
	ReasonSleep              // time.Sleep
	ReasonSynctest           // a testing/synctest bubble
	ReasonDedicated          // a mark worker that keeps its P until the work is done
	ReasonFractional         // a mark worker that makes up for the rest of 25 %
	ReasonIdle               // a mark worker on a P that had nothing else to do
	numReasons
)

var reasonNames = [numReasons]string{
	"", "other", "forever", "network", "select", "sync.Cond.Wait", "sync",
	"chan send", "chan receive", "GC mark assist", "system", "preempted",
	"end of GC", "sleep", "synctest", "dedicated", "fractional", "idle",
}

// String returns the word for the reason in the JSON of gmpscope.
func (r Reason) String() string { return name(reasonNames[:], int(r)) }

// Basis is how a fact is known. The level is the upper part, the rule that led to it the
// lower. The zero Basis is unknown.
type Basis uint8

// Level is how certain a fact is, from not known at all to shown by the trace.
type Level uint8

// The levels of certainty. Combining facts takes the lowest.
const (
	Unknown   Level = iota // neither seen nor inferred
	Assumed                // a default, without evidence
	Ambiguous              // several explanations fit the events
	Inferred               // follows from a rule of the scheduler
	Observed               // the trace shows it
	numLevels
)

var levelNames = [numLevels]string{"unknown", "assumed", "ambiguous", "inferred", "observed"}

// String returns the word for the level in the JSON of gmpscope.
func (l Level) String() string { return name(levelNames[:], int(l)) }

// Rule names the inference by which a fact is known: the part of a [Basis] besides the level.
type Rule uint8

// The rules. Each is one way by which the reconstruction knows something.
const (
	RuleNone      Rule = iota // none
	RuleQueue                 // the model of the queues had the goroutine at the place from which it was taken
	RulePassed                // the goroutine, or those in front of it, had left the queue before their starts, which show it
	RuleSchedtick             // the probability that the P's 61st tick comes now decides (p.schedtick)
	RuleRepair                // the model of the queues had the goroutine elsewhere and was corrected
	RuleReorder               // two goroutines were put at nearly the same time, in an unknown order
	RuleTick                  // either the P's 61st tick or an empty local queue fits
	RuleInitial               // the goroutine was already runnable when the trace began
	RuleLookahead             // what happened next decides
	RuleTaint                 // the model of that queue was corrected shortly before
	numRules
)

var ruleNames = [numRules]string{
	"", "queue", "passed", "schedtick", "repair", "reorder", "tick", "initial", "lookahead", "taint",
}

// String returns the word for the rule in the JSON of gmpscope.
func (r Rule) String() string { return name(ruleNames[:], int(r)) }

// Known returns the [Basis] of a fact that is known with a level of certainty, by a rule.
func Known(l Level, r Rule) Basis { return Basis(uint8(l)<<5 | uint8(r)) }

// Level returns how certain the fact is.
func (b Basis) Level() Level { return Level(b >> 5) }

// Rule returns the rule by which the fact is known, RuleNone if there is none.
func (b Basis) Rule() Rule { return Rule(b & 31) }

// String returns the level, followed by a colon and the rule if there is one.
func (b Basis) String() string {
	if r := b.Rule(); r != RuleNone {
		return b.Level().String() + ":" + r.String()
	}
	return b.Level().String()
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "invalid"
	}
	return names[i]
}
