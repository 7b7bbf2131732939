// Procs-halved has 24 goroutines come every 4 ms, each with 120 µs of work: two
// Ps do it in time, one is three quarters full. The change is GOMAXPROCS alone.
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for range 30 {
		for range 24 {
			wg.Add(1)
			go request(&wg)
		}
		time.Sleep(4 * time.Millisecond)
	}
	wg.Wait()
	rec.Stop()
}

func request(wg *sync.WaitGroup) {
	defer wg.Done()
	rec.Work(120)
}
