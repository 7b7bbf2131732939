// Forever has five goroutines that never block, on fewer Ps, for half a
// second.
//
// The trace must show five goroutines of class main.forever that leave their P
// only by preemption (Running→Runnable, "preempted") and then queue in the
// global queue. Each of them runs; each is preempted and started again many
// times, about every 20 ms of running; their shares of the P time are about
// equal, and none waits Runnable for long without end: about
// 20 ms × (5 / GOMAXPROCS - 1) a time.
package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	var stop atomic.Bool
	wg.Add(5)
	for i := 0; i < 5; i++ {
		go forever(&stop, &wg)
	}
	time.Sleep(500 * time.Millisecond)
	stop.Store(true)
	wg.Wait()
	rec.Stop()
}

func forever(stop *atomic.Bool, wg *sync.WaitGroup) {
	for !stop.Load() {
		rec.Work(10)
	}
	wg.Done()
}
