// Package tally sums up sightings by region.
package tally

import (
	"sync"
	"sync/atomic"
	"time"
)

type Totals struct {
	Met    atomic.Int64 // how often somebody else had the lock
	Waited atomic.Int64 // for how many nanoseconds
	mu     sync.Mutex
	counts map[string]int
}

func NewTotals() *Totals { return &Totals{counts: make(map[string]int)} }

func (t *Totals) Add(region string, birds int) {
	if !t.mu.TryLock() {
		begin := time.Now()
		t.mu.Lock()
		t.Met.Add(1)
		t.Waited.Add(int64(time.Since(begin)))
	}
	defer t.mu.Unlock()
	t.counts[region] += birds
}
