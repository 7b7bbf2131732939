// Package rates makes the board of exchange rates, and keeps it for a while.
package rates

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

type Table [40][40]float64

// A Board makes a table when the last one is too old.
type Board struct {
	Once   bool // only one makes it, and the others wait for that: the remedy
	Made   atomic.Int64
	life   time.Duration
	fetch  func() [40]float64
	mu     sync.Mutex
	table  *Table
	until  time.Time
	making chan struct{}
}

func NewBoard(life time.Duration, fetch func() [40]float64) *Board {
	return &Board{life: life, fetch: fetch}
}

// Get returns a table that is not too old.
func (b *Board) Get() *Table {
	for {
		b.mu.Lock()
		if time.Now().Before(b.until) {
			defer b.mu.Unlock()
			return b.table
		}
		if making := b.making; making != nil {
			b.mu.Unlock()
			<-making
			continue
		}
		if b.Once {
			b.making = make(chan struct{})
		}
		b.mu.Unlock()
		return b.refresh()
	}
}

func (b *Board) refresh() *Table {
	table := compute(b.fetch())
	b.Made.Add(1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.table, b.until = table, time.Now().Add(b.life)
	if b.making != nil {
		close(b.making)
		b.making = nil
	}
	return table
}

// compute makes the cross rates, smoothed.
func compute(base [40]float64) *Table {
	t := &Table{}
	for from := range base {
		for to := range base {
			rate := base[to] / base[from]
			for step := range 500 {
				rate += math.Sin(rate*float64(step)) / 1e6
			}
			t[from][to] = rate
		}
	}
	return t
}
