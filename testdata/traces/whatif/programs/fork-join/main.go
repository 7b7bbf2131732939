// Fork-join goes through phases: main computes alone, then starts goroutines that
// compute, and waits for them. What main does alone does not get faster by more
// Ps, and at the end of each phase a P may have nothing left to do.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	phases  = 20
	alone   = 1000
	workers = 7
	units   = 600
)

func main() {
	rec.Start()
	for range phases {
		rec.Work(alone)
		var wg sync.WaitGroup
		for range workers {
			wg.Add(1)
			go worker(&wg)
		}
		wg.Wait()
	}
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	defer wg.Done()
	rec.Work(units)
}
