// A batch job calls runtime.Gosched after each piece of about 100 µs, so that
// requests get in between: a courtesy, not a wait.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=yield-spinning
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	jobs   = 2
	pieces = 1000
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(jobs + 1)
	for range jobs {
		go batch(&wg)
	}
	go requests(&wg)
	wg.Wait()
	rec.Stop()
}

func batch(wg *sync.WaitGroup) {
	defer wg.Done()
	for range pieces {
		rec.Work(100)
		runtime.Gosched()
	}
}

func requests(wg *sync.WaitGroup) {
	defer wg.Done()
	for range 20 {
		time.Sleep(4 * time.Millisecond)
		rec.Work(20)
	}
}
