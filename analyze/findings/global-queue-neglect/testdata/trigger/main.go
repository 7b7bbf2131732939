// Trigger gives its only P a stream of small work: 150 goroutines that need 100
// µs and then sleep for 10 ms, which is half as much again as the P can do, so
// that its own queue is never empty. Ten others make system calls that block for
// 2 ms. The P is taken from them meanwhile, and when they return there is none
// for them: they go to the global queue.
//
// There one of them is looked at after each 61 starts from the local queue. They
// stand there for as long as that takes, while later work is done.
//
//gmpscope:case procs=1 go=go1.26.8 want=global-queue-neglect:warning may=starvation,syscall-retake-storm,runnable-burst,timer-lateness,thundering-herd,retake-stall
//gmpscope:case procs=1 go=go1.22.12 want=global-queue-neglect:warning may=starvation,syscall-retake-storm,runnable-burst,timer-lateness,thundering-herd,retake-stall
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
	var over atomic.Bool
	var wg sync.WaitGroup
	for i := 0; i < 150; i++ {
		wg.Add(1)
		go small(&over, &wg)
	}
	for i := 0; i < 10; i++ {
		wg.Add(1)
		go caller(&over, &wg)
	}
	time.Sleep(400 * time.Millisecond)
	over.Store(true)
	wg.Wait()
	rec.Stop()
}

func small(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		rec.Work(100)
		time.Sleep(10 * time.Millisecond)
	}
	wg.Done()
}

func caller(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		block := syscall.NsecToTimespec(2e6)
		_ = syscall.Nanosleep(&block, nil) // cut short by a signal: no harm
		rec.Work(20)
	}
	wg.Done()
}
