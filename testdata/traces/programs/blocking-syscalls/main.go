// Blocking-syscalls makes a thousand system calls that block: 200 goroutines
// make five each, and each call holds its thread for 10 ms in the kernel
// (nanosleep by system call, not time.Sleep, which holds no thread).
//
// The trace must show at least a thousand Running→Syscall transitions of
// goroutines of class main.caller, with several hundred threads at work: far
// more than Ps. A P whose goroutine sits in such a call while others wait is
// retaken by sysmon (P:Run→Idle with neither P nor goroutine in the event's
// context) and handed off to another thread. That is why it all takes a small
// multiple of 50 ms, and not 1000 × 10 ms / GOMAXPROCS.
package main

import (
	"sync"
	"syscall"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	callers = 200
	calls   = 5
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(callers)
	for i := 0; i < callers; i++ {
		go caller(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func caller(wg *sync.WaitGroup) {
	for i := 0; i < calls; i++ {
		block := syscall.NsecToTimespec(10e6)
		_ = syscall.Nanosleep(&block, nil) // cut short by a signal: no harm
		rec.Work(10)
	}
	wg.Done()
}
