// Device-watch keeps a goroutine for each of a thousand devices, which uploads
// the device's readings.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const devices = 1000

type device struct {
	readings atomic.Int64
	uploaded int
	looks    int
}

func (d *device) pending() bool {
	d.looks++
	return d.readings.Load() > 0
}

func (d *device) watch(stop *atomic.Bool) {
	for !stop.Load() {
		if d.pending() {
			d.upload()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (d *device) upload() {
	d.uploaded += int(d.readings.Swap(0))
	rec.Work(50)
}

func main() {
	fleet := make([]*device, devices)
	for i := range fleet {
		fleet[i] = &device{}
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	rec.Start()
	for _, d := range fleet {
		wg.Go(func() { d.watch(&stop) })
	}
	pushReadings(fleet, 30)
	stop.Store(true)
	wg.Wait()
	rec.Stop()
	looks, uploaded := 0, 0
	for _, d := range fleet {
		looks += d.looks
		uploaded += d.uploaded
	}
	fmt.Fprintf(os.Stderr, "proof: %d wake-ups for %d readings\n", looks, uploaded)
}

func pushReadings(fleet []*device, n int) {
	for i := range n {
		fleet[i*37%devices].readings.Add(1)
		time.Sleep(9 * time.Millisecond)
	}
}
