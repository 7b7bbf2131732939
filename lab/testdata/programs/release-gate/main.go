// Release-gate keeps buyers at a gate until the sale of tickets begins, and
// refreshes the stock every 2 ms.
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

const buyers = 5000

type gate struct {
	mu      sync.Mutex
	open    chan struct{}
	waiting int
	opened  atomic.Int64
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) wait() {
	g.mu.Lock()
	open := g.open
	g.waiting++
	g.mu.Unlock()
	<-open
}

func (g *gate) queue() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// Open lets all in who wait, and closes the gate for the next sale.
func (g *gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened.Store(time.Now().UnixNano())
	close(g.open)
	g.open, g.waiting = make(chan struct{}), 0
}

func main() {
	g := newGate()
	queued := make([]int64, buyers)
	var sales sync.WaitGroup
	for id := range buyers {
		sales.Go(func() {
			for range 3 {
				g.wait()
				queued[id] = max(queued[id], time.Now().UnixNano()-g.opened.Load())
				buyTicket(id)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	var stop atomic.Bool
	var late []time.Duration
	var stock sync.WaitGroup
	rec.Start()
	stock.Go(func() { late = refreshStock(&stop) })
	runSales(g)
	sales.Wait()
	stop.Store(true)
	stock.Wait()
	rec.Stop()
	slices.Sort(late)
	slices.Sort(queued)
	fmt.Fprintf(os.Stderr, "proof: buyers ran up to p50 %v, max %v after the opening; refreshes came late by p50 %v, the three latest by %v\n", time.Duration(queued[buyers/2]), time.Duration(queued[buyers-1]), late[len(late)/2], late[len(late)-3:])
}

func runSales(g *gate) {
	for range 3 {
		time.Sleep(80 * time.Millisecond)
		for g.queue() < buyers {
			time.Sleep(5 * time.Millisecond)
		}
		g.Open()
	}
}

func buyTicket(id int) { rec.Work(20 + id%5) }

func refreshStock(stop *atomic.Bool) (late []time.Duration) {
	for !stop.Load() {
		start := time.Now()
		time.Sleep(2 * time.Millisecond)
		late = append(late, time.Since(start)-2*time.Millisecond)
		rec.Work(30)
	}
	return late
}
