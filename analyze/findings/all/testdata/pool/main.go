// Pool is a worker pool at some 60 % of its capacity: a producer hands out pieces
// of 200 µs, at the pace of a ticker, to four workers for each P.
//
// All is well: the workers wait for work, not for Ps.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.22.12 want=
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	procs := runtime.GOMAXPROCS(0)
	work := make(chan int, 4*procs)
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < 4*procs; i++ {
		wg.Add(1)
		go worker(work, &wg)
	}
	ticker := time.NewTicker(time.Millisecond)
	for i := 0; i < 400; i++ {
		<-ticker.C
		for j := 0; j < 3*procs; j++ {
			work <- 220
		}
	}
	close(work)
	wg.Wait()
	rec.Stop()
}

func worker(work <-chan int, wg *sync.WaitGroup) {
	for units := range work {
		rec.Work(units)
	}
	wg.Done()
}
