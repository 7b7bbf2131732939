// Hit-counter counts page views by article for a news site. Ten front ends
// report views in bulk, and one mutex guards the counts, for well below a
// microsecond at a time.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	frontEnds = 10
	reports   = 120
	views     = 40 // a report
)

type counter struct {
	mu    sync.Mutex
	views map[uint64]int
	front map[int]int
	hours [24]int
	last  [256]uint64
	next  uint8
}

func main() {
	c := &counter{views: make(map[uint64]int), front: make(map[int]int)}
	waited := make([]time.Duration, frontEnds)
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for id := range frontEnds {
		open.Go(func() { waited[id] = reportViews(c, id) })
	}
	open.Wait()
	total := time.Since(begin)
	rec.Stop()
	var sum time.Duration
	for _, w := range waited {
		sum += w
	}
	fmt.Fprintf(os.Stderr, "proof: %d front ends spent %v of %v each in %d calls of add, %v a call\n", frontEnds,
		(sum / frontEnds).Round(time.Microsecond), total.Round(time.Millisecond), reports*views, sum/(frontEnds*reports*views))
}

func reportViews(c *counter, id int) time.Duration {
	var waited time.Duration
	time.Sleep(time.Duration(id) * 500 * time.Microsecond)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for n := range reports {
		<-ticker.C
		for v := range views {
			article := articleKey("/news/" + strconv.Itoa((n*7+v*id)%300))
			begin := time.Now()
			c.add(article, id)
			waited += time.Since(begin)
		}
	}
	return waited
}

func articleKey(path string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	return h.Sum64()
}

func (c *counter) add(article uint64, frontEnd int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.views[article]++
	c.front[frontEnd]++
	c.hours[time.Now().Hour()]++
	c.last[c.next] = article
	c.next++
}
