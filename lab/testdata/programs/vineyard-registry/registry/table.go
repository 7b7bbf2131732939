// Package registry knows the tanks of a winery.
package registry

import (
	"iter"
	"maps"
	"sync"
)

type Tank struct {
	Litres      int
	Temperature float64
}

// A Table can be read by many at a time.
type Table struct {
	Copied bool // All goes over a copy: the remedy
	mu     sync.RWMutex
	tanks  map[string]Tank
}

func NewTable() *Table { return &Table{tanks: make(map[string]Tank)} }

func (t *Table) Get(name string) Tank {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tanks[name]
}

func (t *Table) Set(name string, tank Tank) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tanks[name] = tank
}

// All goes over all tanks.
func (t *Table) All() iter.Seq2[string, Tank] {
	return func(yield func(string, Tank) bool) {
		if t.Copied {
			t.copy()(yield)
			return
		}
		t.mu.RLock()
		defer t.mu.RUnlock()
		for name, tank := range t.tanks {
			if !yield(name, tank) {
				return
			}
		}
	}
}

func (t *Table) copy() iter.Seq2[string, Tank] {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.All(maps.Clone(t.tanks))
}
