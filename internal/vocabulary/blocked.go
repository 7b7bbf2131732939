package vocabulary

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
