// Orchard-map draws maps of orchards from an index of all trees, which grew
// over the years; the container did not.
package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/orchard-map/tune"
)

const phase = 700 * time.Millisecond

type tree struct {
	kind *string
	x, y float64
	next *tree
}

type index struct {
	cells map[int]*tree
	trees int
}

func plantIndex() *index {
	i := &index{cells: make(map[int]*tree)}
	for n := range 400_000 {
		kind := fmt.Sprint("kind ", n%300)
		i.cells[n%20_000] = &tree{&kind, float64(n % 631), float64(n % 617), i.cells[n%20_000]}
		i.trees++
	}
	return i
}

// drawTile draws the trees of a cell as SVG.
func (i *index) drawTile(cell int) []byte {
	var tile bytes.Buffer
	for t := i.cells[cell%20_000]; t != nil; t = t.next {
		fmt.Fprintf(&tile, "<circle cx='%g' cy='%g' class='%s'/>", t.x, t.y, *t.kind)
	}
	return bytes.Clone(tile.Bytes())
}

func serveMaps(i *index) (tiles int, p50, p99 time.Duration, gc float64, cycles uint32) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := gcTime()
	took := make([][]time.Duration, 5)
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range took {
		open.Go(func() {
			for n := id; time.Now().Before(end); n++ {
				begin := time.Now()
				i.drawTile(n * 37)
				took[id] = append(took[id], time.Since(begin))
				time.Sleep(time.Millisecond)
			}
		})
	}
	open.Wait()
	runtime.ReadMemStats(&after)
	all := slices.Concat(took...)
	slices.Sort(all)
	return len(all), all[len(all)/2], all[len(all)*99/100], gcTime() - cpu, after.NumGC - before.NumGC
}

// gcTime is brought up to date by each GC cycle only.
func gcTime() float64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func main() {
	i := plantIndex()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	container := int64(m.Sys-m.HeapReleased-m.HeapIdle) + 14<<20 // rec.Start takes 8 MB
	rec.Start()
	tune.ForContainer(container * 10 / 9)
	tiles, p50, p99, gc, cycles := serveMaps(i)
	rec.Stop()
	debug.SetMemoryLimit(math.MaxInt64)
	tiles2, p502, p992, gc2, cycles2 := serveMaps(i)
	fmt.Fprintf(os.Stderr, "proof: %d tiles, p50 %v, p99 %v, %d GC cycles, %.2f s of CPU for GC in %v; without the limit, untraced: %d tiles, p50 %v, p99 %v, %d GC cycles, %.2f s\n",
		tiles, p50, p99, cycles, gc, phase, tiles2, p502, p992, cycles2, gc2)
	runtime.KeepAlive(i)
}
