// Finch-export renders an atlas of ringed birds, all of which it keeps in
// memory, in a container with a limit.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/finch-export/export"
)

const (
	rings   = 60000
	perRing = 6
	pages   = 240
	onPage  = 250
	limit   = 44 << 20 // what is left of the container's memory
)

func main() {
	r := export.NewRenderer(load())
	debug.SetMemoryLimit(limit)
	rec.Start()
	took, cycles := exportAll(r)
	rec.Stop()
	debug.SetMemoryLimit(math.MaxInt64)
	mended, cycles2 := exportAll(r)
	fmt.Fprintf(os.Stderr, "proof: %d pages in %v with %d GC cycles; without a limit, untraced: %v with %d\n",
		pages, took.Round(time.Millisecond), cycles, mended.Round(time.Millisecond), cycles2)
}

func load() *export.Atlas {
	a := &export.Atlas{ByRing: make(map[string]*export.Sighting)}
	for n := range rings {
		ring := fmt.Sprint("ring ", n)
		for day := range perRing {
			a.ByRing[ring] = &export.Sighting{Ring: ring, Place: &export.Place{Lat: 54 + float64(n)/rings, Lon: 9 + float64(day)/10}, Next: a.ByRing[ring]}
		}
	}
	return a
}

// exportAll renders all pages, two at a time.
func exportAll(r *export.Renderer) (took time.Duration, cycles uint32) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	todo := make(chan int)
	var open sync.WaitGroup
	for range 2 {
		open.Go(func() {
			for page := range todo {
				r.Page(page*onPage%rings, onPage)
			}
		})
	}
	for page := range pages {
		todo <- page
	}
	close(todo)
	open.Wait()
	took = time.Since(begin)
	runtime.ReadMemStats(&after)
	return took, after.NumGC - before.NumGC
}
