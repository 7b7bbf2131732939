// Near-miss is trigger with asynchronous preemption as it is by default: loops
// without calls compete with short work.
//
// The loops lose the P after their time slice of some 20 ms. That is long for
// those behind them, but it is not late.
//
//gmpscope:case procs=1 go=go1.26.8 want= may=starvation,convoy,timer-lateness,preemption-thrash
//gmpscope:case procs=2 go=go1.26.8 want= may=starvation,convoy,timer-lateness,preemption-thrash
package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

func main() {
	rec.Start()
	var over atomic.Bool
	var loops, others sync.WaitGroup
	for i := 0; i < 3; i++ {
		loops.Add(1)
		go loop(&loops)
	}
	for i := 0; i < 4; i++ {
		others.Add(1)
		go other(&over, &others)
	}
	loops.Wait()
	over.Store(true)
	others.Wait()
	rec.Stop()
}

func loop(wg *sync.WaitGroup) {
	for i := 0; i < 4; i++ {
		rec.Work(60000)
	}
	wg.Done()
}

func other(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		rec.Work(100)
		time.Sleep(3 * time.Millisecond)
	}
	wg.Done()
}
