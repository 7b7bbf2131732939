// Single is the smallest program with something to schedule: main creates one
// goroutine and waits for it.
//
// The trace must show one goroutine of class main.worker with exactly one
// start. It goes to runnext of the P that creates it. With one P it starts
// there as soon as main blocks, having waited less than a millisecond or so;
// with more Ps another P, woken by the creation, may steal it out of runnext.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(1)
	go worker(&wg)
	wg.Wait()
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	rec.Work(2000)
	wg.Done()
}
