// Trigger has many more Ps than the machine has cores: threads share them, and a
// goroutine that runs, as the runtime sees it, often has no CPU.
//
//gmpscope:case procs=8 go=go1.26.8 want=os-preemption:warning may=starvation,convoy,late-preemption,runnext-monopoly,global-queue-neglect,work-conservation,preemption-thrash
//gmpscope:case procs=8 go=go1.23.12 want=os-preemption:warning may=starvation,convoy,late-preemption,runnext-monopoly,global-queue-neglect,work-conservation,preemption-thrash
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 16
	clients = 32
	working = time.Second
)

func main() {
	rec.Start()
	requests := make(chan chan uint64)
	for range workers {
		go worker(requests)
	}
	var done sync.WaitGroup
	end := time.Now().Add(working)
	for range clients {
		done.Add(1)
		go func() {
			defer done.Done()
			client(requests, end)
		}()
	}
	done.Wait()
	rec.Stop()
}

func worker(requests chan chan uint64) {
	for answer := range requests {
		answer <- rec.Work(300)
	}
}

func client(requests chan chan uint64, end time.Time) {
	answer := make(chan uint64)
	for time.Now().Before(end) {
		requests <- answer
		<-answer
	}
}
