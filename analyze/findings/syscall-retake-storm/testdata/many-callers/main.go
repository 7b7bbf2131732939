// Syscall-retake-storm/many-callers makes short calls that block from 16
// goroutines at once, on two Ps, without any other work: golang/go#18236 as the
// users met it who put a semaphore around their file I/O. Nearly each call loses
// its P, to sysmon or to another call that comes back, and waits for the next.
//
//gmpscope:case procs=2 go=go1.26.8 want=syscall-retake-storm:warning may=starvation,handoff-latency
//gmpscope:case procs=2 go=go1.24.9 want=syscall-retake-storm:warning may=starvation,handoff-latency
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
	var callers sync.WaitGroup
	var done atomic.Bool
	for range 16 {
		callers.Add(1)
		go caller(&done, &callers)
	}
	time.Sleep(150 * time.Millisecond)
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
