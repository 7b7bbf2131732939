// Near-miss is recorded whole, for more than a hundred milliseconds, with few
// events for each millisecond and no GC cycle: two goroutines that wake every
// two milliseconds and work for half of one.
//
// There is nothing to say about such a trace.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.22.12 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go worker(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	for i := 0; i < 100; i++ {
		rec.Work(500)
		time.Sleep(2 * time.Millisecond)
	}
	wg.Done()
}
