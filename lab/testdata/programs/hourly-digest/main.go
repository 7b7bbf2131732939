// Hourly-digest sums up what came since the last time, at each tick; between
// ticks a few events come in.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	events   = 200
	period   = 5 * time.Millisecond
	interval = 120 * time.Millisecond
)

type event struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

type digester struct {
	mu      sync.Mutex
	events  []event
	written int
	sizes   []int
}

func main() {
	d := &digester{}
	done := make(chan struct{})
	took := make([]time.Duration, events)
	rec.Start()
	var open sync.WaitGroup
	open.Go(func() { d.run(done) })
	ticker := time.NewTicker(period)
	for n := range events {
		<-ticker.C
		came := time.Now()
		d.add(event{came, fmt.Sprint("login of user ", n)})
		took[n] = time.Since(came)
	}
	close(done)
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d digests of %d events; an event is taken in %v at p50, %v at p99\n", len(d.sizes), d.written, took[events/2], took[events*99/100])
}

func (d *digester) run(done <-chan struct{}) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			d.digest()
		case <-done:
			d.digest()
			return
		}
	}
}

func (d *digester) add(e event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
}

// digest takes the events away under the lock, and packs them without it.
func (d *digester) digest() {
	d.mu.Lock()
	events := d.events
	d.events = nil
	d.mu.Unlock()
	d.sizes = append(d.sizes, pack(events))
	d.written += len(events)
}

func pack(events []event) int {
	text, _ := json.Marshal(events)
	var size counter
	z := gzip.NewWriter(&size)
	for range 20 {
		z.Write(text)
	}
	z.Close()
	return int(size)
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
