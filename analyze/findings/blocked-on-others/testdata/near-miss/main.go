// Workers wait for jobs that come every 20 ms, one for each: they have nothing to do meanwhile,
// and nobody waits for them.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	jobs := make(chan int, 8)
	rec.Start()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for n := range jobs {
				rec.Work(n)
			}
		})
	}
	for range 15 {
		time.Sleep(20 * time.Millisecond)
		for range 4 {
			jobs <- 200
		}
	}
	close(jobs)
	workers.Wait()
	rec.Stop()
}
