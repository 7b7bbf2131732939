// Thousand-by-thousand starts goroutines that each start a thousand, scaled
// down to twenty times a thousand to keep the trace small.
//
// The trace must show 20 goroutines of class main.parent and 20,000 of class
// main.leaf, a thousand created by each parent. A leaf is so short that
// scheduling is all there is. With one global queue every creation and every
// start would take its lock; with local run queues only overflows and batches
// do, once for many starts.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	parents = 20
	leaves  = 1000
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(parents * leaves)
	for i := 0; i < parents; i++ {
		go parent(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func parent(wg *sync.WaitGroup) {
	for i := 0; i < leaves; i++ {
		go leaf(wg)
	}
}

func leaf(wg *sync.WaitGroup) {
	wg.Done()
}
