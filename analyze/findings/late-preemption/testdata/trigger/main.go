// Trigger runs with asynchronous preemption switched off. Two goroutines compute
// for 60 ms at a time, in a loop without calls, which then cannot be
// interrupted; others wake every few milliseconds for a little work.
//
// Asked to yield after 10 ms, the loops keep the P to their end.
//
// Near-miss leaves asynchronous preemption as it is by default. The loops lose the P
// after their time slice of some 20 ms. That is long for those behind them, but it
// is not late.
//
//gmpscope:case procs=1 go=go1.26.8 env=GODEBUG=asyncpreemptoff=1 want=late-preemption:warning may=starvation,convoy
//gmpscope:case procs=2 go=go1.26.8 env=GODEBUG=asyncpreemptoff=1 want=late-preemption:warning may=starvation,convoy
//gmpscope:case case=near-miss procs=1 go=go1.26.8 want= may=starvation,convoy,timer-lateness,preemption-thrash
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want= may=starvation,convoy,timer-lateness,preemption-thrash
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
