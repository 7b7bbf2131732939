// Device-poll hands measurements from a driver to a recorder, while the reports
// of a page, five at a time, are served. Before, the recorder looked at a flag
// until a measurement was there; after, it receives it from a channel.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	phase   = 600 * time.Millisecond
	visits  = 60
	reports = 5 // a visit
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
	took := make([]time.Duration, visits*reports)
	var ages []time.Duration
	var open sync.WaitGroup
	rec.Start()
	open.Go(func() { d.drive(phase) })
	open.Go(func() { ages = d.record() })
	ticker := time.NewTicker(phase / visits)
	for visit := range visits {
		due := <-ticker.C
		for id := visit * reports; id < (visit+1)*reports; id++ {
			open.Go(func() {
				handleReport(id)
				took[id] = time.Since(due)
			})
		}
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	slices.Sort(ages)
	fmt.Fprintf(os.Stderr, "proof: %d reports, p50 %v, p90 %v, p99 %v; %d measurements recorded after p50 %v\n", len(took),
		took[len(took)/2], took[len(took)*90/100], took[len(took)*99/100], len(ages), ages[len(ages)/2])
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
	for range 25000 {
		sum = sha256.Sum256(sum[:])
	}
}
