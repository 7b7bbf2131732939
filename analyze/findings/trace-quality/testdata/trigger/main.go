// Trigger is a program that is killed while it is traced: the last fifth of its
// trace is missing, from the middle of a batch of events on. Two goroutines pass
// work to eight others, all in good order.
//
// The cut must be reported, and nothing else: what could be read is sound.
//
//gmpscope:case procs=2 go=go1.26.8 cut=0.8 want=trace-quality:warning
//gmpscope:case procs=2 go=go1.22.12 cut=0.8 want=trace-quality:warning
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	work := make(chan int, 100)
	var workers, producers sync.WaitGroup
	for i := 0; i < 8; i++ {
		workers.Add(1)
		go worker(work, &workers)
	}
	for i := 0; i < 2; i++ {
		producers.Add(1)
		go producer(work, &producers)
	}
	producers.Wait()
	close(work)
	workers.Wait()
	rec.Stop()
}

func producer(work chan<- int, wg *sync.WaitGroup) {
	for i := 0; i < 1400; i++ {
		work <- 50
		time.Sleep(time.Millisecond)
	}
	wg.Done()
}

func worker(work <-chan int, wg *sync.WaitGroup) {
	for units := range work {
		rec.Work(units)
	}
	wg.Done()
}
