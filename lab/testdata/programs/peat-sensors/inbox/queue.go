// Package inbox holds readings until somebody takes them.
package inbox

import (
	"sync"
	"time"
)

type Reading struct {
	Probe    int
	Moisture float64
	Came     time.Time
}

// A Queue is looked into from time to time.
type Queue struct {
	Every time.Duration
	Bell  chan struct{} // rung when something comes: the remedy; nil: none
	mu    sync.Mutex
	items []Reading
	ended bool
}

func (q *Queue) Put(r Reading) {
	q.mu.Lock()
	q.items = append(q.items, r)
	q.mu.Unlock()
	q.ring()
}

func (q *Queue) End() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.ring()
}

func (q *Queue) ring() {
	select {
	case q.Bell <- struct{}{}:
	default:
	}
}

// Take returns all that there is, as soon as there is something, and false at
// the end.
func (q *Queue) Take() ([]Reading, bool) {
	for {
		q.mu.Lock()
		items, ended := q.items, q.ended
		q.items = nil
		q.mu.Unlock()
		if len(items) > 0 || ended {
			return items, len(items) > 0
		}
		q.pause()
	}
}

func (q *Queue) pause() {
	if q.Bell == nil {
		time.Sleep(q.Every)
		return
	}
	<-q.Bell
}
