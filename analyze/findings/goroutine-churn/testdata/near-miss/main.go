// The program goroutine-churn/near-miss creates goroutines all the time, some
// 2,000 a second, but gives each half a millisecond of work.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func piece(wg *sync.WaitGroup) {
	rec.Work(500)
	wg.Done()
}

func main() {
	rec.Start()
	for range 500 {
		var wg sync.WaitGroup
		wg.Add(2)
		go piece(&wg)
		go piece(&wg)
		wg.Wait()
	}
	rec.Stop()
}
