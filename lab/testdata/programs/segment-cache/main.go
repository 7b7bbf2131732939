// Segment-cache tells the bidders of an ad exchange to which audience segments
// a user belongs. Most of its memory are the segments; a limit keeps it within
// the container.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	users  = 400_000
	bids   = 500
	period = 1500 * time.Microsecond
)

type segment struct {
	next   *segment
	name   string
	weight [10]float64
}

type segmentCache struct {
	mu   sync.Mutex
	user []*segment
}

func main() {
	cache := loadSegments()
	serve(cache, bids/5)
	free := serve(cache, bids/2)
	capMemory(14 << 20)
	rec.Start()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tight := serve(cache, bids)
	runtime.ReadMemStats(&after)
	rec.Stop()
	debug.SetMemoryLimit(math.MaxInt64)
	fmt.Fprintf(os.Stderr, "proof: %d bids with the limit: p50 %v, p90 %v, p99 %v, in %d GC cycles; without the limit p50 %v, p90 %v, p99 %v\n", bids,
		tight[bids/2], tight[bids*9/10], tight[bids*99/100], after.NumGC-before.NumGC, free[len(free)/2], free[len(free)*9/10], free[len(free)*99/100])
	runtime.KeepAlive(cache)
}

func loadSegments() *segmentCache {
	c := &segmentCache{user: make([]*segment, users)}
	for i := range c.user {
		c.user[i] = &segment{name: "s", next: c.user[max(i-1, 0)]}
	}
	c.user[0].next = c.user[users-1]
	runtime.GC()
	return c
}

// capMemory lets the process have as much memory as it has now, and spare
// bytes more, and no collection before that.
func capMemory(spare uint64) {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(int64(m.Sys - m.HeapReleased + spare))
}

func serve(c *segmentCache, n int) []time.Duration {
	took := make([]time.Duration, n)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var open sync.WaitGroup
	for i := range n {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			price(c.profile(i * 7919 % users))
			took[i] = time.Since(came)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took
}

// profile returns a private copy of the segments around a user.
func (c *segmentCache) profile(user int) []*segment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return copySegments(c.user[user])
}

func copySegments(s *segment) []*segment {
	var own []*segment
	for range 1200 {
		own = append(own, &segment{name: string([]byte(s.name)), weight: s.weight})
		s = s.next
	}
	return own
}

func price(profile []*segment) (sum float64) {
	for _, s := range profile {
		sum += s.weight[0]
	}
	return sum
}
