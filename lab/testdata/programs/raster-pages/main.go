// Raster-pages draws labels on the pages of a plotter.
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
	"github.com/gmpscope/gmpscope/lab/testdata/programs/raster-pages/raster"
)

const (
	labels = 250
	period = 4 * time.Millisecond
	room   = 40
	wipe   = 8 * time.Millisecond
	size   = 700 << 10
)

func main() {
	debug.SetGCPercent(40) // there are few other allocations
	rec.Start()
	took := drawAll(draw)
	rec.Stop()
	runtime.GC()
	mended := drawAll(drawAndClose)
	fmt.Fprintf(os.Stderr, "proof: %d labels, p50 %v, p90 %v; if pages are closed, untraced: p50 %v, p90 %v\n",
		labels, took[labels/2], took[labels*9/10], mended[labels/2], mended[labels*9/10])
}

func drawAll(draw func(*raster.Device, int)) []time.Duration {
	device := raster.NewDevice(room, wipe)
	took := make([]time.Duration, labels)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range labels {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			draw(device, n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took
}

func draw(device *raster.Device, label int) { write(device.New(size), label) }

func drawAndClose(device *raster.Device, label int) {
	page := device.New(size)
	defer page.Close()
	write(page, label)
}

func write(page *raster.Page, label int) {
	copy(page.Pixels, fmt.Sprint("label ", label))
	rec.Work(100)
}
