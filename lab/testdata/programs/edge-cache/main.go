// Edge-cache delivers thumbnails of videos. When one has expired, a single
// request fetches it anew from the origin, another process, and the others for
// the same one wait for that fetch rather than ask again.
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
	requests = 400
	period   = 2 * time.Millisecond
	videos   = 40
	lifetime = 250 * time.Millisecond
	origin   = 4 * time.Millisecond
)

type entry struct {
	image   []byte
	expires time.Time
}

type fetch struct {
	done  chan struct{}
	image []byte
}

type cache struct {
	mu      sync.RWMutex
	entries map[int]entry
	running map[int]*fetch
	fetches atomic.Int64
}

func main() {
	c := &cache{entries: make(map[int]entry), running: make(map[int]*fetch)}
	took := make([]time.Duration, requests)
	hits := atomic.Int64{}
	rec.Start()
	ticker := time.NewTicker(period)
	var open sync.WaitGroup
	for n := range requests {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			if c.serve(n * n % videos) {
				hits.Add(1)
			}
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d requests, %d from the cache, %d fetches of %v: p50 %v, p90 %v, at most %v\n",
		requests, hits.Load(), c.fetches.Load(), origin, took[requests/2], took[requests*9/10], took[requests-1])
}

// serve reports whether the image was in the cache.
func (c *cache) serve(video int) (hit bool) {
	image, hit := c.lookup(video)
	if !hit {
		image = c.load(video)
	}
	rec.Work(60 + len(image)%7)
	return hit
}

func (c *cache) lookup(video int) ([]byte, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[video]
	return e.image, ok && time.Now().Before(e.expires)
}

// load fetches an image, or waits for whoever does already.
func (c *cache) load(video int) []byte {
	c.mu.Lock()
	if f := c.running[video]; f != nil {
		c.mu.Unlock()
		<-f.done
		return f.image
	}
	f := &fetch{done: make(chan struct{})}
	c.running[video] = f
	c.mu.Unlock()
	f.image = c.askOrigin(video)
	c.mu.Lock()
	c.entries[video] = entry{f.image, time.Now().Add(lifetime)}
	delete(c.running, video)
	c.mu.Unlock()
	close(f.done)
	return f.image
}

func (c *cache) askOrigin(video int) []byte {
	c.fetches.Add(1)
	time.Sleep(origin)
	return make([]byte, 2000+video)
}
