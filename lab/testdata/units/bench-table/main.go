// Bench-table is a table that compacts itself, whose benchmarks are recorded.
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type table struct {
	mu   sync.Mutex
	rows int
}

func (t *table) put() {
	mark.Work(15)
	t.mu.Lock()
	t.rows++
	t.mu.Unlock()
}

// compact sleeps with the lock held, as if it waited for a disk.
func (t *table) compact() {
	for {
		time.Sleep(2 * time.Millisecond)
		t.mu.Lock()
		time.Sleep(6 * time.Millisecond)
		t.mu.Unlock()
	}
}

func hash(key int) { mark.Work(5 + key%3) }

func main() { new(table).put() }
