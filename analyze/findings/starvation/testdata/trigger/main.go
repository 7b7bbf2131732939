// Trigger has three goroutines compute without end, and twelve others that need
// 100 µs every 15 ms. The three hold the Ps for a whole time slice of some 20 ms
// each time, and the twelve wait behind them, a hundred times longer than what
// they need, and several times longer than equal sharing would have it.
//
// The twelve starve. It is a convoy as well.
//
//gmpscope:case procs=1 go=go1.26.8 want=starvation:warning may=convoy,timer-lateness,preemption-thrash
//gmpscope:case procs=2 go=go1.26.8 want=starvation:warning may=convoy,timer-lateness,preemption-thrash
//gmpscope:case procs=1 go=go1.22.12 want=starvation:warning may=convoy,timer-lateness,preemption-thrash
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
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go compute(&over, &wg)
	}
	for i := 0; i < 12; i++ {
		wg.Add(1)
		go short(&over, &wg)
	}
	time.Sleep(600 * time.Millisecond)
	over.Store(true)
	wg.Wait()
	rec.Stop()
}

func compute(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		rec.Work(100)
	}
	wg.Done()
}

func short(over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		rec.Work(100)
		time.Sleep(15 * time.Millisecond)
	}
	wg.Done()
}
