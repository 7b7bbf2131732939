// Package cache keeps computed tides for a while.
package cache

import (
	"runtime"
	"sync"
	"time"
)

type entry struct {
	height float64
	made   time.Time
}

type Table struct {
	mu      sync.Mutex
	entries map[int]entry
	Polite  bool // give way to others in Sweep
	Longest time.Duration
}

func NewTable(polite bool) *Table { return &Table{entries: make(map[int]entry), Polite: polite} }

func (t *Table) Height(port int) (float64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[port]
	return e.height, ok
}

func (t *Table) Store(port int, height float64) {
	t.mu.Lock()
	t.entries[port] = entry{height, time.Now()}
	t.mu.Unlock()
}

// Sweep removes what is old.
func (t *Table) Sweep(age time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, n := time.Now(), 0
	for port, e := range t.entries {
		if now.Sub(e.made) > age {
			delete(t.entries, port)
		}
		if n++; t.Polite && n%100 == 0 {
			runtime.Gosched()
		}
	}
	t.Longest = max(t.Longest, time.Since(now))
}
