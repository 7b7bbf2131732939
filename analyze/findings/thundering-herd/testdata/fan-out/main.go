// A dispatcher hands a small job to each of 64 workers that wait for one, again
// and again. Each worker that wakes up has got a job: a burst of wake-ups, but
// not one in vain.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=wakeup-cost
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 64
	rounds  = 30
)

func main() {
	jobs := make(chan *sync.WaitGroup)
	for range workers {
		go work(jobs)
	}
	time.Sleep(5 * time.Millisecond)
	rec.Start()
	for range rounds {
		time.Sleep(4 * time.Millisecond)
		var wg sync.WaitGroup
		wg.Add(workers)
		for range workers {
			jobs <- &wg
		}
		wg.Wait()
	}
	rec.Stop()
}

func work(jobs chan *sync.WaitGroup) {
	for wg := range jobs {
		rec.Work(3)
		wg.Done()
	}
}
