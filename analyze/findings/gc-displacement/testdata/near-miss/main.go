// Near-miss runs through more cycles than trigger does, beside a busy program
// too, but little is alive: each is over within some 100 µs.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=starvation,convoy
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
	keep := grow(12)
	rec.Start()
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Add(1)
	go compute(&stop, &wg)
	for range 8 {
		wg.Add(1)
		go serve(&stop, &wg)
	}
	for range 40 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
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
