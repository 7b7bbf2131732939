// Package lanes tells those who wait for a lane that something happened there.
package lanes

import (
	"sync"
	"sync/atomic"
)

// A Board holds how many cars have passed each lane.
type Board struct {
	mu      sync.Mutex
	passed  []int
	changed chan struct{} // closed, and made anew, by each change

	Looked, Useful atomic.Int64
}

func NewBoard(lanes int) *Board {
	return &Board{passed: make([]int, lanes), changed: make(chan struct{})}
}

// Publish notes that a car passed.
func (b *Board) Publish(lane int) {
	b.mu.Lock()
	b.passed[lane]++
	close(b.changed)
	b.changed = make(chan struct{})
	b.mu.Unlock()
}

// Await returns when more cars have passed a lane than the caller knows of.
func (b *Board) Await(lane, known int) int {
	for {
		b.mu.Lock()
		passed, changed := b.passed[lane], b.changed
		b.mu.Unlock()
		if passed != known {
			b.Useful.Add(1)
			return passed
		}
		<-changed
		b.Looked.Add(1)
	}
}
