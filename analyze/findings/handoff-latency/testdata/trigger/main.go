// Handoff-latency/trigger has the P handed to a new thread time and again: each
// task locks itself to its thread and never unlocks, so that the thread ends
// with it, and the P must go to another one, which does not exist yet. The
// tasks behind wait while the operating system makes it.
//
//gmpscope:case procs=1 go=go1.26.8 want=handoff-latency:warning may=locked-thread-penalty,starvation
//gmpscope:case procs=1 go=go1.24.9 want=handoff-latency:warning may=locked-thread-penalty,starvation
package main

import (
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	for range 250 {
		var tasks sync.WaitGroup
		for range 8 {
			tasks.Add(1)
			go task(&tasks)
		}
		tasks.Wait()
	}
	rec.Stop()
}

// task needs a thread with a state of its own, and leaves it changed.
func task(tasks *sync.WaitGroup) {
	defer tasks.Done()
	runtime.LockOSThread()
	rec.Work(20)
}
