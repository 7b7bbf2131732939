// The program queue-imbalance/near-miss starts as many short goroutines at a time
// as queue-imbalance/trigger, but the other P is free and steals its half.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	rounds = 80
	pieces = 40
)

func piece(wg *sync.WaitGroup) {
	rec.Work(100)
	wg.Done()
}

func main() {
	rec.Start()
	for range rounds {
		var wg sync.WaitGroup
		wg.Add(pieces)
		for range pieces {
			go piece(&wg)
		}
		wg.Wait()
	}
	rec.Stop()
}
