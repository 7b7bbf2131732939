// Profile-cache keeps user profiles in memory behind a RWMutex. A lookup
// copies one pointer under the read lock; a profile that is not there is
// loaded without the lock, and entered with it.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	sessions = 16
	lookups  = 90
	users    = 400
	capacity = 300
)

type profile struct {
	ID    int
	Name  string
	Mail  string
	used  atomic.Int64
	Roles []string
}

type cache struct {
	mu       sync.RWMutex
	profiles map[int]*profile
	clock    atomic.Int64
	misses   atomic.Int64
}

func main() {
	c := &cache{profiles: make(map[int]*profile)}
	took := make([]time.Duration, sessions*lookups)
	rec.Start()
	var open sync.WaitGroup
	for s := range sessions {
		open.Go(func() { browse(c, s, took[s*lookups:][:lookups]) })
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d lookups, %d loads, p50 %v, p99 %v\n", len(took), c.misses.Load(),
		took[len(took)/2], took[len(took)*99/100])
}

func browse(c *cache, session int, took []time.Duration) {
	rng := rand.New(rand.NewPCG(3, uint64(session)))
	for i := range took {
		time.Sleep(time.Duration(4+rng.IntN(6)) * time.Millisecond)
		begin := time.Now()
		p := c.get(min(rng.IntN(users), rng.IntN(users)))
		json.Marshal(p)
		took[i] = time.Since(begin)
	}
}

func (c *cache) get(id int) *profile {
	c.mu.RLock()
	p := c.profiles[id]
	c.mu.RUnlock()
	if p == nil {
		p = loadProfile(id)
		c.misses.Add(1)
		c.put(p)
	}
	p.used.Store(c.clock.Add(1))
	return p
}

// put removes the least recently used of eight profiles if the cache is full.
func (c *cache) put(p *profile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.profiles) >= capacity {
		var oldest *profile
		seen := 0
		for _, other := range c.profiles {
			if oldest == nil || other.used.Load() < oldest.used.Load() {
				oldest = other
			}
			if seen++; seen == 8 {
				break
			}
		}
		delete(c.profiles, oldest.ID)
	}
	c.profiles[p.ID] = p
}

func loadProfile(id int) *profile {
	stored := fmt.Sprintf(`{"ID":%d,"Name":"User %d","Mail":"u%d@example.org","Roles":["reader","editor"]}`, id, id, id)
	p := &profile{}
	if err := json.Unmarshal([]byte(stored), p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return p
}
