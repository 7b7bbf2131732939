// Near-miss allocates steadily, through cycle after cycle, but little is alive
// and the allocators do other work between: the background workers keep up.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go allocator(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func allocator(wg *sync.WaitGroup) {
	defer wg.Done()
	var keep [64][]byte
	for i := range 6_000 {
		keep[i%len(keep)] = make([]byte, 4096)
		rec.Work(20)
		if i%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
