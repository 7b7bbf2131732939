// Preemption-thrash/near-miss runs the same batch with as many workers as Ps.
// The workers are stopped at the end of their time slices, too, but nobody
// waits for the Ps, and they go on at once.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	jobs := make(chan int, 12)
	for i := range 12 {
		jobs <- i
	}
	close(jobs)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go worker(jobs, &workers)
	}
	workers.Wait()
	rec.Stop()
}

func worker(jobs <-chan int, workers *sync.WaitGroup) {
	defer workers.Done()
	for range jobs {
		rec.Work(110_000)
	}
}
