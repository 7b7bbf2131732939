// Pingpong-starve has two goroutines play ping-pong over channels on the only
// P while two others wait in the global queue. Needs GOMAXPROCS=1.
//
// Each hop puts the partner into runnext and blocks; the partner starts from
// runnext, inherits the time slice and leaves the tick alone, so that the
// global queue's turn at each 61st tick never comes. The trace must show a
// goroutine of class main.waiter that yields (Running→Runnable,
// "runtime.Gosched", to the global queue) and then waits while ping and pong
// start at least 300 times in a row, all from runnext, with no start of
// another goroutine but the trace's own in between. Only a preemption at the
// end of the slice they share lets the waiters run.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const hops = 5000

func main() {
	rec.Start()
	var wg sync.WaitGroup
	var over atomic.Bool
	wg.Add(4)
	there, back := make(chan int), make(chan int)
	go ping(there, back, &over, &wg)
	go pong(there, back, &wg)
	go waiter(&over, &wg)
	go waiter(&over, &wg)
	wg.Wait()
	rec.Stop()
}

func ping(there chan<- int, back <-chan int, over *atomic.Bool, wg *sync.WaitGroup) {
	for i := 0; i < hops/2; i++ {
		rec.Work(4)
		there <- i
		<-back
	}
	close(there)
	over.Store(true)
	wg.Done()
}

func pong(there <-chan int, back chan<- int, wg *sync.WaitGroup) {
	for i := range there {
		rec.Work(4)
		back <- i
	}
	wg.Done()
}

func waiter(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		runtime.Gosched()
	}
	wg.Done()
}
