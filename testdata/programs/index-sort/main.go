// Index-sort sorts the posting list of a search index when the index is
// closed: each CPU sorts one range of keys, and the ranges lie side by side.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

const (
	postings = 1 << 20
	segments = 4
)

func main() {
	keys := make([]uint64, postings)
	rng := rand.New(rand.NewPCG(7, 7))
	rec.Start()
	var serial, parallel time.Duration
	for range segments {
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		begin := time.Now()
		sortSegment(keys, runtime.GOMAXPROCS(0))
		parallel += time.Since(begin)
	}
	rec.Stop()
	sorted := slices.IsSorted(keys)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	begin := time.Now()
	sortSegment(keys, 1)
	serial = time.Since(begin)
	fmt.Fprintf(os.Stderr, "proof: a segment takes %v, by one goroutine %v; sorted: %v\n",
		(parallel / segments).Round(time.Millisecond), serial.Round(time.Millisecond), sorted)
}

// sortSegment moves keys into as many ranges as there are sorters, and has each
// sorted by one.
func sortSegment(keys []uint64, sorters int) {
	width := ^uint64(0)/uint64(sorters) + 1
	if sorters == 1 {
		width = ^uint64(0)
	}
	ranges := make([][]uint64, sorters)
	for r := range ranges {
		ranges[r] = make([]uint64, 0, len(keys)/sorters+len(keys)/16)
	}
	for _, key := range keys {
		r := min(int(key/width), sorters-1)
		ranges[r] = append(ranges[r], key)
	}
	var sorting sync.WaitGroup
	at := 0
	for _, r := range ranges {
		target := keys[at : at+len(r)]
		at += len(r)
		sorting.Go(func() { sortRange(target, r) })
	}
	sorting.Wait()
}

func sortRange(target, unsorted []uint64) {
	slices.Sort(unsorted)
	copy(target, unsorted)
}
