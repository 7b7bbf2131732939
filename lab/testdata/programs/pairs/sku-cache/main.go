// Sku-cache keeps descriptions of articles. Before, a missing one was loaded
// without the lock, now and then twice; after, it is loaded under the lock.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	pages = 12
	phase = time.Second
	files = 50
)

type article struct {
	SKU   string
	Title string
	Notes []string
}

type cache struct {
	dir      string
	after    bool
	mu       sync.Mutex
	articles map[int]*article
	loads    atomic.Int64
}

func (c *cache) get(sku int) *article {
	c.mu.Lock()
	if c.after {
		defer c.mu.Unlock()
		a := c.articles[sku]
		if a == nil {
			a = c.load(sku)
			c.articles[sku] = a
		}
		return a
	}
	a := c.articles[sku]
	c.mu.Unlock()
	if a == nil {
		a = c.load(sku)
		c.mu.Lock()
		c.articles[sku] = a
		c.mu.Unlock()
	}
	return a
}

func (c *cache) load(sku int) *article {
	c.loads.Add(1)
	file, err := os.Open(filepath.Join(c.dir, fmt.Sprint(sku%files)))
	check(err)
	defer file.Close()
	time.Sleep(3 * time.Millisecond) // the network file system
	r, err := gzip.NewReader(file)
	check(err)
	a := &article{}
	check(json.NewDecoder(r).Decode(a))
	return a
}

func (c *cache) expire(done chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.mu.Lock()
			for sku := range c.articles {
				if sku%2 == 0 {
					delete(c.articles, sku)
				}
			}
			c.mu.Unlock()
		case <-done:
			return
		}
	}
}

func (c *cache) page(id int, end time.Time) (took []time.Duration) {
	for n := 0; time.Now().Before(end); n++ {
		begin := time.Now()
		c.get((n*17 + id*31) % 400)
		took = append(took, time.Since(begin))
		time.Sleep(2 * time.Millisecond)
	}
	return took
}

func main() {
	dir, err := os.MkdirTemp("", "sku")
	check(err)
	defer os.RemoveAll(dir)
	for n := range files {
		file, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
		check(err)
		w := gzip.NewWriter(file)
		check(json.NewEncoder(w).Encode(article{fmt.Sprint(n), "an article", slices.Repeat([]string{"a note"}, 40)}))
		check(w.Close())
		check(file.Close())
	}
	c := &cache{dir: dir, after: os.Getenv("SIDE") == "after", articles: map[int]*article{}}
	done := make(chan struct{})
	took := make([][]time.Duration, pages)
	stop := startTrace()
	go c.expire(done)
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range pages {
		open.Go(func() { took[id] = c.page(id, end) })
	}
	open.Wait()
	close(done)
	stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d articles, %d loads, p50 %v, p90 %v, p99 %v\n", len(all), c.loads.Load(), all[len(all)/2].Round(10*time.Microsecond), all[len(all)*9/10].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
