// Fan-out-limited has each of 12 requests, which come one after the other, fan
// out into 80 goroutines at once, or, after the change, into as many goroutines
// as there are Ps, which take the pieces from a channel. The work is the same,
// but goroutines do not stand in queues.
package main

import (
	"os"
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	requests = 12
	pieces   = 80
)

func main() {
	limited := os.Getenv("SIDE") == "after"
	rec.Start()
	for range requests {
		if limited {
			few()
		} else {
			many()
		}
	}
	rec.Stop()
}

func many() {
	var wg sync.WaitGroup
	for range pieces {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rec.Work(120)
		}()
	}
	wg.Wait()
}

func few() {
	work := make(chan struct{}, pieces)
	for range pieces {
		work <- struct{}{}
	}
	close(work)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range work {
				rec.Work(120)
			}
		}()
	}
	wg.Wait()
}
