// Syscall-retake-storm/trigger makes short calls that block beside CPU work,
// after golang/go#18236: four goroutines make calls of 100 µs, as reads from a
// fast disk are, and two compute. The calls are just long enough for sysmon to
// take the P away; each caller then comes back to find no P free, and queues up
// behind the computation.
//
//gmpscope:case procs=2 go=go1.26.8 want=syscall-retake-storm:warning may=starvation,handoff-latency,global-queue-neglect,convoy
package main

import (
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var callers, work sync.WaitGroup
	var done atomic.Bool
	for range 4 {
		callers.Add(1)
		go caller(&done, &callers)
	}
	for range 2 {
		work.Add(1)
		go compute(&work)
	}
	work.Wait()
	done.Store(true)
	callers.Wait()
	rec.Stop()
}

func caller(done *atomic.Bool, callers *sync.WaitGroup) {
	defer callers.Done()
	for !done.Load() {
		block := syscall.NsecToTimespec(100_000)
		_ = syscall.Nanosleep(&block, nil) // cut short by a signal: no harm
		rec.Work(20)
	}
}

func compute(work *sync.WaitGroup) {
	defer work.Done()
	rec.Work(400_000)
}
