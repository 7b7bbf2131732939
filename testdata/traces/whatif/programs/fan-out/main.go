// Fan-out has main start goroutines that each compute for half a millisecond,
// and wait for all of them: with twice the Ps it takes half as long.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 200
	units   = 500
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go worker(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	defer wg.Done()
	rec.Work(units)
}
