// A producer adds one item at a time and wakes all the consumers with
// sync.Cond.Broadcast. One of them gets it; the others find nothing, and wait
// again, where Signal would have woken just one.
//
//gmpscope:case procs=2 go=go1.26.8 want=thundering-herd:warning may=wakeup-cost
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	consumers = 250
	items     = 40
)

type queue struct {
	mu    sync.Mutex
	more  sync.Cond
	items int
}

func main() {
	q := &queue{}
	q.more.L = &q.mu
	var wg sync.WaitGroup
	wg.Add(consumers)
	for range consumers {
		go consume(q, &wg)
	}
	time.Sleep(5 * time.Millisecond)
	rec.Start()
	for range items {
		time.Sleep(3 * time.Millisecond)
		q.mu.Lock()
		q.items++
		q.more.Broadcast()
		q.mu.Unlock()
	}
	time.Sleep(3 * time.Millisecond)
	rec.Stop()
}

func consume(q *queue, wg *sync.WaitGroup) {
	defer wg.Done()
	for {
		q.mu.Lock()
		for q.items == 0 {
			q.more.Wait()
		}
		q.items--
		q.mu.Unlock()
		rec.Work(200)
	}
}
