// Gosched is a storm of yields: eight goroutines yield 200 times each.
//
// The trace must show exactly 1,600 Running→Runnable transitions with reason
// "runtime.Gosched" of goroutines of class main.yielder. Each goes to the tail
// of the global queue, so that with one P the eight take turns: between two
// starts of one of them most of the others start, and no turn is ever skipped
// for long.
package main

import (
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	yielders = 8
	yields   = 200
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(yielders)
	for i := 0; i < yielders; i++ {
		go yielder(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func yielder(wg *sync.WaitGroup) {
	for i := 0; i < yields; i++ {
		rec.Work(2)
		runtime.Gosched()
	}
	wg.Done()
}
