// Yield-crawler passes pages through a ring of relays, and indexes in the
// background in small steps, after each of which it yields.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	rings  = 2
	relays = 6
)

func main() {
	var stop atomic.Bool
	var passed atomic.Int64
	var wg, indexing sync.WaitGroup
	steps := make([]int, 3)
	waits := make([]time.Duration, 3)
	rec.Start()
	start := time.Now()
	for range rings {
		expandLinks(&wg, &stop, &passed)
	}
	for i := range steps {
		indexing.Go(func() { steps[i], waits[i] = indexShard(&stop) })
	}
	time.Sleep(400 * time.Millisecond)
	stop.Store(true)
	wg.Wait()
	indexing.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: in %v relays passed %d pages; the shards made %v steps of 20 µs, and waited %v after their yields\n", took, passed.Load(), steps, waits)
}

// expandLinks starts a ring of relays with three pages under way.
func expandLinks(wg *sync.WaitGroup, stop *atomic.Bool, passed *atomic.Int64) {
	var ring [relays]chan int
	for i := range ring {
		ring[i] = make(chan int, 4)
	}
	for i := range ring {
		wg.Go(func() { relayPages(ring[i], ring[(i+1)%relays], stop, passed) })
	}
	for page := range 3 {
		ring[page*2] <- page
	}
}

func relayPages(in <-chan int, out chan<- int, stop *atomic.Bool, passed *atomic.Int64) {
	defer close(out)
	for page := range in {
		if stop.Load() {
			return
		}
		rec.Work(25)
		passed.Add(1)
		out <- page
	}
}

func indexShard(stop *atomic.Bool) (steps int, waited time.Duration) {
	for !stop.Load() {
		rec.Work(20)
		steps++
		start := time.Now()
		runtime.Gosched()
		waited += time.Since(start)
	}
	return steps, waited
}
