// Near-miss starts eight goroutines at once, again and again, each of which needs
// a millisecond, and lets the Ps rest in between.
//
// The last of the eight waits for the seven before it, or for the three if there
// are two Ps: several milliseconds, but no longer than equal sharing would let
// it. So nobody starves.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	for round := 0; round < 25; round++ {
		var wg sync.WaitGroup
		for i := 0; i < 8; i++ {
			wg.Add(1)
			go worker(&wg)
		}
		wg.Wait()
		time.Sleep(8 * time.Millisecond)
	}
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	rec.Work(1000)
	wg.Done()
}
