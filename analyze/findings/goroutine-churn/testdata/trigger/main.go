// The program goroutine-churn/trigger starts a goroutine for each of the ten
// small parts of a request, which are 2 µs of work each.
//
//gmpscope:case procs=2 go=go1.26.8 want=goroutine-churn:warning may=p-thrash
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	requests = 900
	parts    = 10
)

func part(wg *sync.WaitGroup) {
	rec.Work(2)
	wg.Done()
}

func main() {
	rec.Start()
	for range requests {
		var wg sync.WaitGroup
		wg.Add(parts)
		for range parts {
			go part(&wg)
		}
		wg.Wait()
		rec.Work(100)
	}
	rec.Stop()
}
