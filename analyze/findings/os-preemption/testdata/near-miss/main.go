// Near-miss has as many Ps as cores, and a goroutine of which one run in ten is far
// longer than the others, because it has more to do.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=starvation,convoy,runnext-monopoly,global-queue-neglect
package main

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 4
	clients = 6
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
		answer <- work()
	}
}

func client(requests chan chan uint64, end time.Time) {
	answer := make(chan uint64)
	for time.Now().Before(end) {
		requests <- answer
		<-answer
	}
}

func work() uint64 {
	if rand.IntN(10) == 0 {
		return rec.Work(8000)
	}
	return rec.Work(300)
}
