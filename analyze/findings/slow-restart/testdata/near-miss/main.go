// Near-miss restarts the world 60 times, with work in the queues of both Ps, on a
// machine that has a CPU for each: they are back at once.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=stop-the-world-calls,starvation,convoy,timer-lateness,preemption-thrash
//gmpscope:case procs=2 go=go1.24.9 want= may=stop-the-world-calls,starvation,convoy,timer-lateness,preemption-thrash
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go compute(&stop, &wg)
	}
	var stats runtime.MemStats
	for range 60 {
		time.Sleep(2 * time.Millisecond)
		runtime.ReadMemStats(&stats)
	}
	stop.Store(true)
	wg.Wait()
	rec.Stop()
}

func compute(stop *atomic.Bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for !stop.Load() {
		rec.Work(200)
	}
}
