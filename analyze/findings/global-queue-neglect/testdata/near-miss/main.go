// Near-miss gives its only P small work as trigger does, but half of what the P
// can do: 60 goroutines that need 100 µs and then sleep for 10 ms. Another
// computes for some 30 ms at a time, is preempted, and so gets to the global
// queue.
//
// There it waits for what came meanwhile, but no longer: the P's own queue is
// empty again and again, and then the global one has its turn.
//
//gmpscope:case procs=1 go=go1.26.8 want= may=starvation,convoy,timer-lateness,runnable-burst,thundering-herd
package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var over atomic.Bool
	var wg sync.WaitGroup
	for i := 0; i < 60; i++ {
		wg.Add(1)
		go small(i, &over, &wg)
	}
	wg.Add(1)
	go compute(&over, &wg)
	time.Sleep(400 * time.Millisecond)
	over.Store(true)
	wg.Wait()
	rec.Stop()
}

func small(i int, over *atomic.Bool, wg *sync.WaitGroup) {
	time.Sleep(time.Duration(i) * 10 * time.Millisecond / 60) // not all at once
	for !over.Load() {
		rec.Work(100)
		time.Sleep(10 * time.Millisecond)
	}
	wg.Done()
}

func compute(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		rec.Work(35000)
		time.Sleep(30 * time.Millisecond)
	}
	wg.Done()
}
