// Near-miss has the same load as trigger, in pieces that differ less: some need
// half a millisecond at a time, others 2.5 ms.
//
// They wait for one another, but none of them for something that is far longer
// than what it needs itself.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < 3*runtime.GOMAXPROCS(0); i++ {
		wg.Add(2)
		go worker(2500, &wg)
		go worker(500, &wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(units int, wg *sync.WaitGroup) {
	for i := 0; i < 40; i++ {
		rec.Work(units)
		time.Sleep(8 * time.Millisecond)
	}
	wg.Done()
}
