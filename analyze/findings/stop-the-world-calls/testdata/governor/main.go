// Governor has a pool of four workers with enough to do, and a goroutine that sets GOMAXPROCS
// to 1 and back every few milliseconds.
//
//gmpscope:case procs=2 go=go1.26.8 want=stop-the-world-calls:warning may=starvation,timer-lateness,convoy,os-preemption,work-conservation,late-preemption,preemption-thrash,runnable-burst
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	quit := make(chan struct{})
	go govern(quit)
	var pool sync.WaitGroup
	for range 4 {
		pool.Go(func() {
			for range 1600 {
				rec.Work(100)
			}
		})
	}
	pool.Wait()
	close(quit)
	rec.Stop()
}

func govern(quit chan struct{}) {
	for {
		for procs := range 2 {
			runtime.GOMAXPROCS(1 + procs)
			select {
			case <-quit:
				return
			case <-time.After(time.Duration(10-8*procs) * time.Millisecond):
			}
		}
	}
}
