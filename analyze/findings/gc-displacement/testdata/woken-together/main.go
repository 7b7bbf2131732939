// Woken-together marks a large heap in cycle after cycle while eight goroutines
// wake up every 2 ms for 30 µs of work. The Ps are nearly idle, and yet the
// goroutines wait: for as long as both Ps run fractional workers, which do not
// look for other work as idle ones do.
//
//gmpscope:case procs=2 go=go1.26.8 want=gc-displacement:warning may=starvation,timer-lateness
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
	for range 8 {
		wg.Add(1)
		go serve(&stop, &wg)
	}
	for range 4 {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	stop.Store(true)
	wg.Wait()
	rec.Stop()
	keep.left = nil
}

func serve(stop *atomic.Bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for !stop.Load() {
		time.Sleep(2 * time.Millisecond)
		rec.Work(30)
	}
}
