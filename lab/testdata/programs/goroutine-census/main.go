// Goroutine-census holds 10,000 connections, answers lookups, and keeps count
// of what its goroutines do.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const connections = 10_000

func main() {
	quit := make(chan struct{})
	for range connections {
		go holdConnection(quit)
	}
	time.Sleep(30 * time.Millisecond)
	var stop atomic.Bool
	var profiles int
	var inside time.Duration
	took := make([]time.Duration, 200)
	var census, lookups sync.WaitGroup
	rec.Start()
	census.Go(func() { profiles, inside = countStacks(&stop) })
	ticker := time.NewTicker(2 * time.Millisecond)
	for i := range took {
		came := <-ticker.C
		lookups.Go(func() {
			answerLookup()
			took[i] = time.Since(came)
		})
	}
	lookups.Wait()
	stop.Store(true)
	census.Wait()
	rec.Stop()
	close(quit)
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d profiles took %v in sum; lookups of 0.2 ms took p50 %v, p90 %v, p99 %v\n",
		profiles, inside, took[100], took[180], took[198])
}

func holdConnection(quit <-chan struct{}) { <-quit }

func countStacks(stop *atomic.Bool) (n int, inside time.Duration) {
	for !stop.Load() {
		start := time.Now()
		if err := pprof.Lookup("goroutine").WriteTo(io.Discard, 1); err != nil {
			panic(err)
		}
		inside += time.Since(start)
		n++
		time.Sleep(20 * time.Millisecond)
	}
	return n, inside
}

func answerLookup() { rec.Work(200) }
