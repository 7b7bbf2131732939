// Tally-desk serves jobs that need to know how long the others took. Before,
// the percentile was computed once in 500 jobs; after, for each.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/pairs/tally-desk/tally"
)

const phase = 600 * time.Millisecond

// serveJob packs something.
func serveJob(n int) uint32 {
	var data [8 << 10]byte
	for i := range data {
		data[i] = byte(i * n)
	}
	return crc32.ChecksumIEEE(data[:])
}

func main() {
	desk := tally.NewDesk(os.Getenv("SIDE") == "after")
	took := make([][]time.Duration, 8)
	rec.Start()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range took {
		open.Go(func() {
			p95 := make(chan time.Duration, 1)
			for n := id; time.Now().Before(end); n++ {
				begin := time.Now()
				serveJob(n)
				desk.Note(time.Duration(n*7919%10_007)*time.Microsecond, p95)
				took[id] = append(took[id], time.Since(begin))
				time.Sleep(time.Millisecond)
			}
		})
	}
	open.Wait()
	desk.Close()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d jobs, p50 %v, p99 %v\n", len(all), all[len(all)/2].Round(time.Microsecond), all[len(all)*99/100].Round(time.Microsecond))
}
