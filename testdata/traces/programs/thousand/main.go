// Thousand creates a thousand goroutines with a little work each, as fast as
// it can.
//
// The trace must show a thousand goroutines of class main.worker, all created
// by main. As main creates faster than the workers work, the local run queue
// of its P overflows, and several times 129 goroutines go to the global queue.
// On one P nothing else can happen to them: none starts before main blocks,
// after the last creation. On several Ps the others take work out of the
// global queue in batches, or steal it: every P runs workers.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(1000)
	for i := 0; i < 1000; i++ {
		go worker(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	rec.Work(20)
	wg.Done()
}
