// The program queue-imbalance/trigger has one goroutine start 40 short ones at a
// time, while a long computation has the other P to itself: a P steals only
// when it has nothing to do, so that all 40 stay in the queue of the first.
//
//gmpscope:case procs=2 go=go1.26.8 want=queue-imbalance:warning
package main

import (
	"sync"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	rounds = 80
	pieces = 40
)

var stop atomic.Bool

func compute(done chan struct{}) {
	for !stop.Load() {
		rec.Work(1000)
	}
	close(done)
}

func piece(wg *sync.WaitGroup) {
	rec.Work(100)
	wg.Done()
}

func main() {
	done := make(chan struct{})
	rec.Start()
	go compute(done)
	for range rounds {
		var wg sync.WaitGroup
		wg.Add(pieces)
		for range pieces {
			go piece(&wg)
		}
		wg.Wait()
	}
	stop.Store(true)
	<-done
	rec.Stop()
}
