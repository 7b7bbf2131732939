// Two goroutines do their halves of the work side by side, and main waits for
// both: one goroutine waits for others nearly all the time, but no P is idle.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	parts = 2
	steps = 150
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(parts)
	for range parts {
		go half(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func half(wg *sync.WaitGroup) {
	defer wg.Done()
	for range steps {
		rec.Work(1000)
	}
}
