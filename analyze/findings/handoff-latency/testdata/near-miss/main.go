// Handoff-latency/near-miss has the same tasks, but they unlock their thread
// before they end, and never block in between: the P stays where it is.
//
//gmpscope:case procs=1 go=go1.26.8 want=
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

// task must not change threads on its way.
func task(tasks *sync.WaitGroup) {
	defer tasks.Done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rec.Work(20)
}
