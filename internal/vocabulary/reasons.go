package vocabulary

// queues are what a goroutine may stand in. The phrase names one queue; "of P3" may follow those of a P.
var queues = of(Queue, []Term{
	{Name: "runnext", Title: "runnext slot", Phrase: "the runnext slot"},
	{Name: "local", Title: "local run queue", Phrase: "the queue"},
	{Name: "global", Title: "global run queue", Phrase: "the global queue"},
	{Name: "direct", Title: "no queue", Phrase: "no queue, to be run directly"},
	{Name: "unknown", Title: "unknown queue", Phrase: "a queue that is not known"},
})

// whys say how a goroutine came into a queue. The phrase follows "was put into the global queue".
var whys = of(Why, []Term{
	{Name: "unknown", Phrase: "for a reason that the trace does not show"},
	{Name: "create", Phrase: "when a go statement created it"},
	{Name: "unblock", Phrase: "when another goroutine woke it"},
	{Name: "timer", Phrase: "when its timer fired"},
	{Name: "network", Phrase: "when the network poller woke it"},
	{Name: "syscall-exit", Phrase: "when it came back from a system call and found no free P"},
	{Name: "system", Phrase: "when the runtime woke it"},
	{Name: "gosched", Phrase: "when it called runtime.Gosched"},
	{Name: "slice", Phrase: "when it was preempted at the end of its time slice"},
	{Name: "stw", Phrase: "when it was preempted for a stop-the-world"},
	{Name: "gc", Phrase: "when it was preempted for the garbage collector"},
	{Name: "generation-switch", Phrase: "when it was preempted by the tracer"},
	{Name: "goyield", Phrase: "when it yielded to the goroutine that it handed a lock to"},
	{Name: "suspend", Phrase: "when it was suspended for a stack scan"},
	{Name: "coroutine", Phrase: "in a coroutine switch"},
	{Name: "steal", Phrase: "in a stolen batch"},
	{Name: "overflow", Phrase: "because the local queue was full"},
	{Name: "global-batch", Phrase: "in a batch from the global queue"},
	{Name: "displaced", Phrase: "when a newcomer pushed it out of the runnext slot"},
	{Name: "gomaxprocs", Phrase: "when GOMAXPROCS changed"},
	{Name: "locked", Phrase: "because of a locked thread"},
	{Name: "corrected", Phrase: "as a correction: later events show that it was there"},
	{Name: "block", Phrase: "after it had blocked"},
})

// reasons are those of handoffs, retakes and preemptions, as nouns.
var reasons = of(Reason, []Term{
	{Name: "unknown", Phrase: "not shown by the trace"},
	{Name: "syscall", Phrase: "in a system call"},
	{Name: "sysmon", Phrase: "system call too long (sysmon)"},
	{Name: "returning-syscall", Phrase: "by a thread back from a system call"},
	{Name: "slice", Phrase: "time slice used up"},
	{Name: "stw", Phrase: "stop-the-world"},
	{Name: "gc", Phrase: "garbage collector"},
	{Name: "generation-switch", Phrase: "the tracer's generation switch"},
	{Name: "goyield", Phrase: "yield to a waiter that got a lock"},
	{Name: "gosched", Phrase: "runtime.Gosched"},
	{Name: "suspend", Phrase: "stack scan"},
	{Name: "locked", Phrase: "locked thread"},
	{Name: "block", Phrase: "goroutine blocked"},
	{Name: "idle", Phrase: "no work found"},
	{Name: "gomaxprocs", Phrase: "GOMAXPROCS changed"},
	{Name: "system", Phrase: "the runtime itself"},
})

// ends say why a run interval ended. The phrase follows "it".
var ends = of(End, []Term{
	{Name: "block", Phrase: "blocked"},
	{Name: "exit", Phrase: "ended"},
	{Name: "gosched", Phrase: "yielded"},
	{Name: "slice", Phrase: "was preempted for its slice"},
	{Name: "stw", Phrase: "was stopped with the world"},
	{Name: "gc", Phrase: "was preempted for the GC"},
	{Name: "generation-switch", Phrase: "was preempted for the tracer"},
	{Name: "goyield", Phrase: "yielded to a waiter"},
	{Name: "syscall", Phrase: "went into a system call"},
	{Name: "suspend", Phrase: "was suspended"},
	{Name: "coroutine", Phrase: "switched to a coroutine"},
	{Name: "sysmon", Phrase: "lost its P in a system call"},
	{Name: "returning-syscall", Phrase: "lost its P in a system call"},
	{Name: "lost", Phrase: "was lost sight of in a gap of the trace"},
})

// levels say how a fact is known.
var levels = of(Level, []Term{
	{Name: "observed", Phrase: "seen in the trace"},
	{Name: "inferred", Phrase: "inferred from events, stacks and the rules of the scheduler"},
	{Name: "ambiguous", Phrase: "one of several explanations that fit"},
	{Name: "assumed", Phrase: "assumed"},
	{Name: "unknown", Phrase: "unknown"},
	{Name: "certain", Phrase: "certain: the trace shows it"},
	{Name: "suspected", Phrase: "suspected: the trace cannot prove it"},
})

// rules are those of the reconstruction, which stand after a level.
var rules = of(Rule, []Term{
	{Name: "queue", Phrase: "the queue model had it just there"},
	{Name: "passed", Phrase: "it had left unseen, or those in front had: starts elsewhere show it"},
	{Name: "schedtick", Phrase: "the posterior of the P's schedtick decides"},
	{Name: "repair", Phrase: "the model had it elsewhere and was corrected"},
	{Name: "reorder", Phrase: "two puts at nearly the same time"},
	{Name: "tick", Phrase: "tick or empty local queue, either fits"},
	{Name: "initial", Phrase: "already runnable when the trace began"},
	{Name: "lookahead", Phrase: "what happened next decides"},
	{Name: "taint", Phrase: "the model was corrected there shortly before"},
})

// severities are those of findings, and "ok" for none, from the least on. The
// title is what a verdict of that status is called.
var severities = of(Severity, []Term{
	{Name: "ok", Title: "Nothing wrong", Phrase: "no finding"},
	{Name: "note", Title: "Worth knowing", Phrase: "true, but no cause for action"},
	{Name: "warning", Title: "Problem", Phrase: "costs enough to act on"},
	{Name: "critical", Title: "Serious problem", Phrase: "costs much of what the program does"},
})

// wholes are what the cost of a finding is a part of.
var wholes = of(Whole, []Term{
	{Name: "waiting", Phrase: "the program's waiting"},
	{Name: "waiting and idle Ps", Phrase: "the program's waiting and idle P-time"},
	{Name: "waiting and blocked", Phrase: "the time that the program's goroutines waited or were blocked"},
	{Name: "waiting and P-time", Phrase: "the program's waiting and all P-time"},
})

// blockeds are what a blocked goroutine waits for. The phrase follows "blocked".
var blockeds = of(Blocked, []Term{
	{Name: "not recorded", Phrase: "since before the trace shows it, for what is not recorded"},
	{Name: "network", Phrase: "on the network"},
	{Name: "select", Phrase: "in a select"},
	{Name: "chan receive", Phrase: "receiving from a channel"},
	{Name: "chan send", Phrase: "sending to a channel"},
	{Name: "sync", Title: "sync (locks)", Phrase: "on a mutex, a wait group or their like"},
	{Name: "cond", Title: "sync.Cond", Phrase: "in sync.Cond.Wait"},
	{Name: "sleep", Phrase: "in time.Sleep"},
	{Name: "gc assist", Title: "GC assist", Phrase: "in a GC assist, without work to do"},
	{Name: "gc end", Title: "end of GC", Phrase: "until the end of the garbage collection"},
	{Name: "suspended", Phrase: "because the runtime had suspended them"},
	{Name: "coroutine", Phrase: "on the other side of a coroutine"},
	{Name: "forever", Phrase: "for ever"},
	{Name: "synctest", Phrase: "in a synctest bubble"},
	{Name: "system", Title: "runtime", Phrase: "as the runtime's own goroutines wait for work"},
	{Name: "other", Phrase: "for another reason"},
})

// wakers are who or what made a goroutine runnable, by the Why. The phrase follows "by",
// as do those with a goroutine's class in place of %s.
var wakers = of(Waker, []Term{
	{Name: "unknown", Phrase: "what the trace does not show"},
	{Name: "create", Title: "go statement", Phrase: "a go statement of %s"},
	{Name: "unblock", Title: "goroutine", Phrase: "%s"},
	{Name: "timer", Phrase: "a timer"},
	{Name: "network", Phrase: "the network poller"},
	{Name: "syscall-exit", Title: "system call", Phrase: "the end of its system call"},
	{Name: "system", Title: "runtime", Phrase: "the runtime"},
	{Name: "gosched", Title: "itself", Phrase: "itself, in runtime.Gosched"},
	{Name: "slice", Title: "preemption", Phrase: "its preemption at the end of its time slice"},
	{Name: "stw", Title: "preemption for stop-the-world", Phrase: "its preemption for a stop-the-world"},
	{Name: "gc", Title: "preemption for GC", Phrase: "its preemption for the garbage collector"},
	{Name: "generation-switch", Title: "preemption by the tracer", Phrase: "its preemption by the tracer"},
	{Name: "goyield", Title: "itself", Phrase: "itself, yielding to the goroutine that it handed a lock to"},
	{Name: "suspend", Title: "stack scan", Phrase: "the end of a stack scan"},
	{Name: "coroutine", Phrase: "a coroutine switch"},
})
