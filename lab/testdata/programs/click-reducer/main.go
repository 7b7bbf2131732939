// Click-reducer parses click records in several goroutines, and adds them up per
// campaign in one.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type click struct {
	campaign int
	visitor  uint64
}

type reducer struct {
	in       chan click
	visitors []map[uint64]int // per campaign
	busy     time.Duration
}

func (r *reducer) run() {
	for c := range r.in {
		start := time.Now()
		r.merge(c)
		r.busy += time.Since(start)
	}
}

// merge counts the click, and estimates anew how many visitors are distinct.
func (r *reducer) merge(c click) {
	r.visitors[c.campaign][c.visitor]++
	rec.Work(150)
}

func main() {
	r := &reducer{in: make(chan click), visitors: make([]map[uint64]int, 16)}
	for i := range r.visitors {
		r.visitors[i] = make(map[uint64]int)
	}
	var parsers, reducing sync.WaitGroup
	blocked := make([]time.Duration, 6)
	rec.Start()
	start := time.Now()
	reducing.Go(r.run)
	for id := range blocked {
		parsers.Go(func() { blocked[id] = parseClicks(r.in, id) })
	}
	parsers.Wait()
	close(r.in)
	reducing.Wait()
	took := time.Since(start)
	rec.Stop()
	sum := time.Duration(0)
	for _, d := range blocked {
		sum += d
	}
	fmt.Fprintf(os.Stderr, "proof: of %v the reducer was busy for %v; 6 parsers were blocked for %v in sum\n", took, r.busy, sum)
}

// parseClicks returns for how long it could not hand on what it had parsed.
func parseClicks(out chan<- click, feed int) time.Duration {
	blocked := time.Duration(0)
	for n := range 400 {
		c := parseLine(fmt.Sprintf("%d,%d,/landing?c=%d", feed, n*7%300, n%16), n%16)
		start := time.Now()
		out <- c
		blocked += time.Since(start)
	}
	return blocked
}

func parseLine(line string, campaign int) click {
	rec.Work(10)
	h := fnv.New64a()
	h.Write([]byte(line))
	return click{campaign, h.Sum64()}
}
