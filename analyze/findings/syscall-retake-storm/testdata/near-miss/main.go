// Syscall-retake-storm/near-miss has the same goroutines, but what they wait
// for costs no thread: they sleep by the runtime's timers, and make a call that
// is over in a microsecond. The calls keep their Ps. Whoever wakes up still
// waits behind the computation, which is another matter.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=starvation,global-queue-neglect,convoy,timer-lateness
package main

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

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
		time.Sleep(100 * time.Microsecond)
		_ = syscall.Getppid()
		rec.Work(20)
	}
}

func compute(work *sync.WaitGroup) {
	defer work.Done()
	rec.Work(500_000)
}
