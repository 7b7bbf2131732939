package vocabulary

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
