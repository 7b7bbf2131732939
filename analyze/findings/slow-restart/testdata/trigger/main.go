// Trigger keeps a long linked list alive, which takes long to mark and gives
// others nothing to help with, while 16 goroutines allocate: all of them block
// until the cycle is over, and stand in one queue when the world restarts. All
// Ps but one are idle then, and are started one by one, each by the one before:
// golang/go#45894. With more Ps than CPUs that takes longer still.
//
//gmpscope:case procs=8 go=go1.26.8 want=slow-restart may=stop-the-world-calls,gc-assist-wait,starvation,work-conservation,convoy
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
	for range 200_000 {
		list = &node{next: list}
	}
	rec.Start()
	var wg sync.WaitGroup
	for range 16 {
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
	for i := range 400 {
		keep[i%len(keep)] = make([]byte, 40_000)
		rec.Work(20)
	}
}
