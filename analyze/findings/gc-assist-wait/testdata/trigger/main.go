// Trigger keeps a long linked list alive, which only one thread at a time can
// mark, while four goroutines allocate as fast as they can. They get ahead of
// the collector at once, must help it, find nothing to help with, and block
// until the cycle is over: golang/go#22654 and #45894.
//
//gmpscope:case procs=2 go=go1.26.8 want=gc-assist-wait:warning may=gc-displacement,starvation,convoy
//gmpscope:case procs=2 go=go1.23.12 want=gc-assist-wait:warning may=gc-displacement,starvation,convoy
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type node struct {
	next *node
	_    [6]int
}

func main() {
	var list *node
	for range 200_000 { // 11 MB
		list = &node{next: list}
	}
	rec.Start()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go allocator(&wg)
	}
	wg.Wait()
	rec.Stop()
	list.next = nil
}

func allocator(wg *sync.WaitGroup) {
	defer wg.Done()
	var keep [64][]byte
	for i := range 1_500 {
		keep[i%len(keep)] = make([]byte, 40_000)
		rec.Work(20)
	}
}
