// Thumb-server scales pictures on request, and answers health checks.
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

type row struct {
	next   *row
	pixels []*uint32
}

var cache []*row

func main() {
	for range 3000 {
		cache = append(cache, decodePixels(1, 300))
	}
	debug.SetGCPercent(15)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	checks := make([]time.Duration, 100)
	var stop atomic.Bool
	var thumbs sync.WaitGroup
	var served atomic.Int64
	rec.Start()
	start := time.Now()
	for range 3 {
		thumbs.Go(func() {
			for !stop.Load() {
				handleThumb()
				served.Add(1)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for i := range checks {
		due := time.Now().Add(3 * time.Millisecond)
		time.Sleep(3 * time.Millisecond)
		handleHealth()
		checks[i] = time.Since(due)
	}
	stop.Store(true)
	thumbs.Wait()
	took := time.Since(start)
	rec.Stop()
	runtime.ReadMemStats(&after)
	slices.Sort(checks)
	fmt.Fprintf(os.Stderr, "proof: %d collections in %v, %d thumbs, %d MB allocated; health checks p50 %v, p95 %v\n",
		after.NumGC-before.NumGC-1, took, served.Load(), (after.TotalAlloc-before.TotalAlloc)>>20, checks[50], checks[95])
}

func handleThumb() int {
	n := 0
	for r := decodePixels(100, 300); r != nil; r = r.next {
		n += len(r.pixels)
	}
	return n
}

func decodePixels(rows, width int) (first *row) {
	for range rows {
		first = &row{next: first, pixels: make([]*uint32, width)}
		for x := range first.pixels {
			first.pixels[x] = new(uint32)
		}
	}
	return first
}

func handleHealth() { rec.Work(30) }
