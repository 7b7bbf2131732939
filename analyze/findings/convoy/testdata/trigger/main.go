// Trigger has goroutines that need 100 µs at a time share the Ps with three for each P that
// need 8 ms at a time and then pause for 15.
//
// A short one that becomes runnable while long ones have the Ps waits for the
// rest of their runs, though all of its own work is done in a hundredth of that:
// a convoy.
//
//gmpscope:case procs=1 go=go1.26.8 want=convoy:warning may=starvation,timer-lateness
//gmpscope:case procs=2 go=go1.26.8 want=convoy:warning may=starvation,timer-lateness
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < 3*runtime.GOMAXPROCS(0); i++ {
		wg.Add(1)
		go long(&wg)
	}
	for i := 0; i < 20; i++ {
		wg.Add(1)
		go short(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func long(wg *sync.WaitGroup) {
	for i := 0; i < 20; i++ {
		rec.Work(8000)
		time.Sleep(15 * time.Millisecond)
	}
	wg.Done()
}

func short(wg *sync.WaitGroup) {
	for i := 0; i < 25; i++ {
		rec.Work(100)
		time.Sleep(15 * time.Millisecond)
	}
	wg.Done()
}
