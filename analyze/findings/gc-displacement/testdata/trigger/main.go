// Trigger keeps 60 MB of small linked objects alive and marks them in cycle
// after cycle, while as many goroutines compute as there are Ps, and others
// wake up for 100 µs of work every few milliseconds. The mark workers take their
// quarter of the Ps from them, and they wait behind it.
//
//gmpscope:case procs=2 go=go1.26.8 want=gc-displacement:warning may=starvation,convoy,timer-lateness
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

type tree struct{ left, right *tree }

// grow returns a complete binary tree of 2^depth - 1 nodes of 16 bytes.
func grow(depth int) *tree {
	if depth == 0 {
		return nil
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func main() {
	keep := grow(22)
	rec.Start()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go compute(&stop, &wg)
	}
	for range 8 {
		wg.Add(1)
		go serve(&stop, &wg)
	}
	for range 4 {
		runtime.GC()
	}
	stop.Store(true)
	wg.Wait()
	rec.Stop()
	keep.left = nil
}

func compute(stop *atomic.Bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for !stop.Load() {
		rec.Work(1000)
	}
}

func serve(stop *atomic.Bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for !stop.Load() {
		time.Sleep(2 * time.Millisecond)
		rec.Work(100)
	}
}
