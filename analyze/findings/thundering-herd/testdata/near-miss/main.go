// The same queue as in the trigger, with Signal: each item wakes one consumer.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=wakeup-cost
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	consumers = 100
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
	for range consumers {
		go consume(q)
	}
	time.Sleep(5 * time.Millisecond)
	rec.Start()
	for range items {
		time.Sleep(3 * time.Millisecond)
		q.mu.Lock()
		q.items++
		q.more.Signal()
		q.mu.Unlock()
	}
	time.Sleep(3 * time.Millisecond)
	rec.Stop()
}

func consume(q *queue) {
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
