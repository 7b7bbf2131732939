// Catalog-export serves prices, takes price updates, and now and then exports
// the whole catalog as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const items = 250_000

type item struct {
	SKU   string
	Price int
}

type catalog struct {
	mu    sync.RWMutex
	items []item
	held  time.Duration
}

func (c *catalog) Export(w io.Writer) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	start := time.Now()
	defer func() { c.held += time.Since(start) }()
	return json.NewEncoder(w).Encode(c.items)
}

func (c *catalog) SetPrice(i, price int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[i].Price = price
}

func (c *catalog) Price(i int) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.items[i].Price
}

func main() {
	c := &catalog{}
	for i := range items {
		c.items = append(c.items, item{fmt.Sprintf("SKU-%06d", i), i})
	}
	var waited atomic.Int64
	var done atomic.Bool
	var wg sync.WaitGroup
	rec.Start()
	wg.Go(func() { serveUpdates(c, &done, &waited) })
	for range 4 {
		wg.Go(func() { serveReads(c, &done, &waited) })
	}
	for range 6 {
		time.Sleep(60 * time.Millisecond)
		if err := c.Export(io.Discard); err != nil {
			panic(err)
		}
	}
	done.Store(true)
	wg.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: updates and reads waited %v in sum; exports held the lock for %v\n", time.Duration(waited.Load()), c.held)
}

func serveUpdates(c *catalog, done *atomic.Bool, waited *atomic.Int64) {
	for n := 0; !done.Load(); n++ {
		start := time.Now()
		c.SetPrice(n%items, n)
		waited.Add(int64(time.Since(start)))
		time.Sleep(3 * time.Millisecond)
	}
}

func serveReads(c *catalog, done *atomic.Bool, waited *atomic.Int64) {
	for n := 0; !done.Load(); n++ {
		start := time.Now()
		c.Price(n % items)
		waited.Add(int64(time.Since(start)))
		time.Sleep(2 * time.Millisecond)
	}
}
