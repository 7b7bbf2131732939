// Palette-server tells the colours of pictures. It keeps a catalogue of all
// pictures that it ever saw.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/palette-server/canvas"
)

const (
	clients = 4
	phase   = 600 * time.Millisecond
)

type picture struct {
	title string
	next  *picture
	tags  []*string
}

// readCatalogue makes up some 40 MB.
func readCatalogue() (catalogue map[int]*picture) {
	catalogue = make(map[int]*picture)
	var last *picture
	for n := range 200_000 {
		tag := fmt.Sprint("tag ", n%1000)
		last = &picture{fmt.Sprint("picture ", n), last, []*string{&tag, &tag}}
		catalogue[n] = last
	}
	return catalogue
}

func serveClients(s *canvas.Studio) (served int, gc float64, cycles uint32) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := gcTime()
	begin := time.Now()
	counts := make([]int, clients)
	var open sync.WaitGroup
	for id := range clients {
		open.Go(func() {
			for n := uint32(id); time.Since(begin) < phase; n++ {
				if _, err := s.Palette(n); err == nil {
					counts[id]++
				}
				time.Sleep(200 * time.Microsecond)
			}
		})
	}
	open.Wait()
	for _, n := range counts {
		served += n
	}
	runtime.ReadMemStats(&after)
	return served, gcTime() - cpu, after.NumGC - before.NumGC
}

// gcTime is brought up to date by each GC cycle only.
func gcTime() float64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func main() {
	catalogue := readCatalogue()
	studio := canvas.NewStudio()
	rec.Start()
	served, gc, cycles := serveClients(studio)
	rec.Stop()
	studio.Careful = true
	served2, gc2, cycles2 := serveClients(studio)
	fmt.Fprintf(os.Stderr, "proof: %d palettes in %v, %d GC cycles, %.2f s of CPU for GC; if canvases are put back, untraced: %d palettes, %d GC cycles, %.2f s\n",
		served, phase, cycles, gc, served2, cycles2, gc2)
	runtime.KeepAlive(catalogue)
}
