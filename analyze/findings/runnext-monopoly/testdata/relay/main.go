// Relay is a chain of goroutines each of which works for 50 µs, creates the
// next, and ends, modelled on golang/go#52934. Others wake every few
// milliseconds and want as little.
//
// What is created runs next, within the time slice of its creator; so the others
// wait for as long as the chain is not preempted.
//
//gmpscope:case procs=1 go=go1.26.8 want=runnext-monopoly may=starvation,global-queue-neglect,goroutine-churn
//gmpscope:case procs=1 go=go1.24.9 want=runnext-monopoly:warning may=starvation,global-queue-neglect,goroutine-churn
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const links = 4000

func main() {
	rec.Start()
	over := make(chan bool)
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go other(over, &wg)
	}
	go link(links, over)
	wg.Wait()
	rec.Stop()
}

func link(left int, over chan<- bool) {
	rec.Work(50)
	if left == 0 {
		close(over)
		return
	}
	go link(left-1, over)
}

func other(over <-chan bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for {
		select {
		case <-over:
			return
		case <-time.After(3 * time.Millisecond):
			rec.Work(50)
		}
	}
}
