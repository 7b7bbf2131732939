// Package queue hands reports to those who wait for one.
package queue

import "sync"

type Queue[T any] struct {
	All   bool // whether all who wait are told of a report
	mu    sync.Mutex
	some  *sync.Cond
	items []T
	ended bool
}

func New[T any]() *Queue[T] {
	q := &Queue[T]{}
	q.some = sync.NewCond(&q.mu)
	return q
}

func (q *Queue[T]) Put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, item)
	if q.All {
		q.some.Broadcast()
	} else {
		q.some.Signal()
	}
}

func (q *Queue[T]) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.some.Broadcast()
}

// Take waits for a report; it returns false at the end.
func (q *Queue[T]) Take() (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		if q.ended {
			return item, false
		}
		q.some.Wait()
	}
	item = q.items[0]
	q.items = q.items[1:]
	return item, true
}
