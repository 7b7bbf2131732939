// Gc has four goroutines allocate so much that the garbage collector runs
// again and again and displaces their work.
//
// The trace must show at least two full GC cycles ("GC concurrent mark phase"
// ranges, each with its two stop-the-world ranges, "GC sweep termination" and
// "GC mark termination"); GC mark workers that take Ps while goroutines of
// class main.allocator wait Runnable; and "GC mark assist" ranges of the
// allocators, some of which have to block in them where four Ps allocate at
// once.
package main

import (
	"runtime/debug"
	"sync"

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

func main() {
	debug.SetGCPercent(50)
	keep := grow(19) // 8 MB for each cycle to mark
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(4)
	for i := 0; i < 4; i++ {
		go allocator(&wg)
	}
	wg.Wait()
	rec.Stop()
	keep.left = nil
}

func allocator(wg *sync.WaitGroup) {
	var trees [8]*tree
	for i := 0; i < 40; i++ {
		trees[i%len(trees)] = grow(13) // 128 kB
	}
	wg.Done()
}
