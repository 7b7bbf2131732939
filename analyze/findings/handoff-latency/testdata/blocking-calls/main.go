// Handoff-latency/blocking-calls has a hundred goroutines block in the kernel,
// 5 ms at a time, with some 100 µs of work in between, on one P. Each call
// loses the P to another thread, which has to be made at first and woken later,
// with dozens of goroutines waiting.
//
//gmpscope:case procs=1 go=go1.26.8 want=handoff-latency:warning may=starvation,runnable-burst
package main

import (
	"sync"
	"syscall"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var callers sync.WaitGroup
	for range 100 {
		callers.Add(1)
		go caller(&callers)
	}
	callers.Wait()
	rec.Stop()
}

func caller(callers *sync.WaitGroup) {
	defer callers.Done()
	for range 10 {
		block := syscall.NsecToTimespec(5_000_000)
		_ = syscall.Nanosleep(&block, nil) // cut short by a signal: no harm
		rec.Work(100)
	}
}
