// Ridge-tiles renders tiles of a relief that it keeps in memory. After the
// change the collector runs more often, so that the program needs less memory.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	ridges = 300000
	tiles  = 300
	period = 3 * time.Millisecond

	rows, columns = 60, 900 // of a tile
)

type ridge struct {
	height int
	lower  *ridge
	name   *string
}

func main() {
	relief := load()
	if os.Getenv("SIDE") == "after" {
		debug.SetGCPercent(6)
	}
	took := make([]time.Duration, tiles)
	rec.Start()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range tiles {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			render(relief, n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	runtime.ReadMemStats(&after)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d tiles, p50 %v, p90 %v, p99 %v, %d GC cycles\n",
		tiles, took[tiles/2], took[tiles*9/10], took[tiles*99/100], after.NumGC-before.NumGC)
}

func load() []*ridge {
	relief := make([]*ridge, ridges)
	for n := range relief {
		name := fmt.Sprint("ridge ", n)
		relief[n] = &ridge{height: n * 31 % 4000, name: &name}
		if n > 0 {
			relief[n].lower = relief[n*7/8]
		}
	}
	return relief
}

func render(relief []*ridge, tile int) (shade int) {
	seen := make([]*ridge, 0, rows*columns)
	for row := range rows {
		r := relief[(tile*997+row*31)%len(relief)]
		for range columns {
			seen = append(seen, r)
			if r = r.lower; r == nil {
				r = relief[len(seen)]
			}
		}
	}
	for _, r := range seen {
		shade += r.height
	}
	return shade
}
