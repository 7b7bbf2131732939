// Memory-return decodes events into a large index that it keeps in memory, and
// keeps its resident size low.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type node struct {
	left, right *node
	key         int
}

func grow(depth int) *node {
	if depth == 0 {
		return nil
	}
	return &node{grow(depth - 1), grow(depth - 1), depth}
}

func main() {
	index := grow(17)
	took := make([]time.Duration, 150)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var stop atomic.Bool
	var trimmer sync.WaitGroup
	var inside time.Duration
	rec.Start()
	trimmer.Go(func() { inside = trimMemory(&stop) })
	pump(index, took)
	stop.Store(true)
	trimmer.Wait()
	rec.Stop()
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d collections, all but one forced, %v inside; events of 0.3 ms took p50 %v, p99 %v\n",
		after.NumGC-before.NumGC, inside, took[75], took[148])
}

func trimMemory(stop *atomic.Bool) (inside time.Duration) {
	for !stop.Load() {
		start := time.Now()
		debug.FreeOSMemory()
		inside += time.Since(start)
		time.Sleep(8 * time.Millisecond)
	}
	return inside
}

func pump(index *node, took []time.Duration) {
	var events sync.WaitGroup
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for i := range took {
		came := <-ticker.C
		events.Go(func() {
			decodeEvent(index, i)
			took[i] = time.Since(came)
		})
	}
	events.Wait()
}

func decodeEvent(index *node, i int) int {
	rec.Work(300)
	for n := index; n != nil; n = n.left {
		i += n.key
	}
	return i
}
