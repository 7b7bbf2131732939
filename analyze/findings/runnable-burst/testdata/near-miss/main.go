// The program runnable-burst/near-miss does the work of runnable-burst/trigger,
// but starts no more than eight goroutines at once, four for each P.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	items = 400
	limit = 8
)

func item(wg *sync.WaitGroup) {
	rec.Work(100)
	wg.Done()
}

func main() {
	rec.Start()
	for range 8 {
		for range items / limit {
			var wg sync.WaitGroup
			wg.Add(limit)
			for range limit {
				go item(&wg)
			}
			wg.Wait()
		}
		time.Sleep(10 * time.Millisecond)
	}
	rec.Stop()
}
