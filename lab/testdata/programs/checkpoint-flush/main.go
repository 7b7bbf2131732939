// Checkpoint-flush writes the dirty pages of a database to its file while
// transactions go on. It copies each page under its latch and writes the copy,
// with pauses, so that the transactions notice nothing.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	pages    = 600
	pageSize = 8 << 10
	txns     = 300
	period   = 2 * time.Millisecond
)

type page struct {
	latch sync.Mutex
	dirty bool
	data  [pageSize]byte
}

type pool struct {
	pages  [pages]page
	waited atomic.Int64
}

func main() {
	file, err := os.CreateTemp("", "table")
	check(err)
	defer os.Remove(file.Name())
	p := new(pool)
	for i := range p.pages {
		p.pages[i].dirty = true
	}
	quiet := runTransactions(p)
	p.waited.Store(0)
	var stopped atomic.Bool
	written := 0
	rec.Start()
	var background sync.WaitGroup
	background.Go(func() {
		for !stopped.Load() {
			written += p.checkpoint(file, &stopped)
		}
	})
	took := runTransactions(p)
	stopped.Store(true)
	background.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d transactions: p50 %v, p90 %v, %v in all at latches, while %d pages were written; without the checkpoint p50 %v, p90 %v\n",
		txns, took[txns/2], took[txns*9/10], time.Duration(p.waited.Load()), written, quiet[txns/2], quiet[txns*9/10])
}

// checkpoint writes the dirty pages.
func (p *pool) checkpoint(file *os.File, stopped *atomic.Bool) (written int) {
	var image [pageSize]byte
	for i := range p.pages {
		pg := &p.pages[i]
		pg.latch.Lock()
		dirty := pg.dirty
		image = pg.data
		pg.dirty = false
		pg.latch.Unlock()
		if dirty {
			_, err := file.WriteAt(image[:], int64(i)*pageSize)
			check(err)
			written++
		}
		if i%16 == 15 {
			time.Sleep(time.Millisecond)
		}
		if stopped.Load() {
			break
		}
	}
	return written
}

func runTransactions(p *pool) []time.Duration {
	took := make([]time.Duration, txns)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var open sync.WaitGroup
	for n := range txns {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			p.update(n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took
}

// update changes three pages.
func (p *pool) update(n int) {
	for k := range 3 {
		pg := &p.pages[(n*31+k*101)%pages]
		start := time.Now()
		pg.latch.Lock()
		p.waited.Add(int64(time.Since(start)))
		pg.data[n%pageSize]++
		pg.dirty = true
		pg.latch.Unlock()
		rec.Work(40)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
