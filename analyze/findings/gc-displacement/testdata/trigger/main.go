// Trigger keeps 60 MB of small linked objects alive and marks them in cycle
// after cycle, while as many goroutines compute as there are Ps, and others
// wake up for 100 µs of work every few milliseconds. The mark workers take their
// quarter of the Ps from them, and they wait behind it.
//
// Near-miss runs through more cycles, but little is alive: each is over within some
// 100 µs.
//
// Woken-together has nobody compute. Its goroutines wake up every 2 ms for 30 µs of
// work: the Ps are nearly idle, and yet they wait, for as long as both Ps run
// fractional workers, which do not look for other work as idle ones do.
//
//gmpscope:case procs=2 go=go1.26.8 want=gc-displacement:warning may=stop-the-world-calls,starvation,convoy,timer-lateness
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want= may=stop-the-world-calls,starvation,convoy
//gmpscope:case case=woken-together procs=2 go=go1.26.8 want=gc-displacement:warning may=stop-the-world-calls,starvation,timer-lateness
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type tree struct{ left, right *tree }

// grow returns a complete binary tree of 2^depth - 1 nodes of 16 bytes.
func grow(depth int) *tree {
	if depth == 0 {
		return nil
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

// size is what the case makes of it.
type size struct {
	depth     int // of the tree that is alive
	computers int
	work      int // µs of those that wake up
	cycles    int
	pause     time.Duration // after each
}

var sizes = map[string]size{
	"":               {depth: 22, computers: 2, work: 100, cycles: 4},
	"near-miss":      {depth: 12, computers: 1, work: 100, cycles: 40, pause: 5 * time.Millisecond},
	"woken-together": {depth: 22, work: 30, cycles: 4, pause: 20 * time.Millisecond},
}

func main() {
	size := sizes[rec.Case()]
	keep := grow(size.depth)
	rec.Start()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range size.computers {
		wg.Add(1)
		go compute(&stop, &wg)
	}
	for range 8 {
		wg.Add(1)
		go serve(size.work, &stop, &wg)
	}
	for range size.cycles {
		runtime.GC()
		time.Sleep(size.pause)
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

func serve(work int, stop *atomic.Bool, wg *sync.WaitGroup) {
	defer wg.Done()
	for !stop.Load() {
		time.Sleep(2 * time.Millisecond)
		rec.Work(work)
	}
}
