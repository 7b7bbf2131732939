// Device-poll hands measurements from a driver to a recorder while requests
// for reports are served. Before, the recorder looked at a flag until a
// measurement was there; after, it receives it from a channel.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

const (
	phase    = 600 * time.Millisecond
	requests = 230
)

type measurement struct {
	taken time.Time
	value float64
}

type device struct {
	ready  atomic.Pointer[measurement]
	stream chan *measurement
}

func main() {
	d := &device{}
	if os.Getenv("SIDE") == "after" {
		d.stream = make(chan *measurement, 1)
	}
	took := make([]time.Duration, requests)
	var ages []time.Duration
	var open sync.WaitGroup
	rec.Start()
	open.Go(func() { d.drive(phase) })
	open.Go(func() { ages = d.record() })
	ticker := time.NewTicker(phase / requests)
	for id := range requests {
		due := <-ticker.C
		open.Go(func() {
			handleReport(id)
			took[id] = time.Since(due)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	slices.Sort(ages)
	fmt.Fprintf(os.Stderr, "proof: %d requests, p50 %v, p99 %v; %d measurements recorded after p50 %v\n", requests,
		took[requests/2], took[requests*99/100], len(ages), ages[len(ages)/2])
}

func (d *device) drive(phase time.Duration) {
	end := time.Now().Add(phase)
	for time.Now().Before(end) {
		time.Sleep(6 * time.Millisecond)
		d.deliver(&measurement{time.Now(), 21.5})
	}
	d.deliver(&measurement{})
}

func (d *device) deliver(m *measurement) {
	if d.stream != nil {
		d.stream <- m
		return
	}
	for !d.ready.CompareAndSwap(nil, m) {
		time.Sleep(50 * time.Microsecond)
	}
}

func (d *device) next() *measurement {
	if d.stream != nil {
		return <-d.stream
	}
	for {
		if m := d.ready.Swap(nil); m != nil {
			return m
		}
	}
}

func (d *device) record() (ages []time.Duration) {
	for {
		m := d.next()
		if m.taken.IsZero() {
			return ages
		}
		ages = append(ages, time.Since(m.taken))
	}
}

func handleReport(id int) {
	sum := sha256.Sum256([]byte{byte(id)})
	for range 26000 {
		sum = sha256.Sum256(sum[:])
	}
}
