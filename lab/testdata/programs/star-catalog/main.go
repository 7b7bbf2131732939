// Star-catalog draws charts from a catalog of stars that fills eighty
// megabytes.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/star-catalog/catalog"
)

const (
	stars  = 500000
	charts = 400
	period = 4 * time.Millisecond
	width  = 1000
)

func main() {
	c := catalog.Load(stars)
	took := make([]time.Duration, charts)
	rec.Start()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range charts {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			chart(c, n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	runtime.ReadMemStats(&after)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d charts from a heap of %d MB, p50 %v, p99 %v, %d GC cycles\n",
		charts, after.HeapAlloc>>20, took[charts/2], took[charts*99/100], after.NumGC-before.NumGC)
}

func chart(c *catalog.Catalog, n int) int { return len(c.Chart(n*2999, width)) }
