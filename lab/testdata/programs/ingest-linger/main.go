// Ingest-linger takes readings from uploaders and stores them in batches; each
// uploader sends its next reading when the last one is acknowledged.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	maxBatch  = 100
	linger    = 20 * time.Millisecond
	uploaders = 6
	readings  = 40
)

type reading struct {
	sensor, value int
	stored        chan struct{}
}

// A batcher collects readings until maxBatch are there, or linger has passed
// since the first, and then stores them at once.
type batcher struct {
	in      chan reading
	batches int
	storing time.Duration
}

func newBatcher() *batcher {
	b := &batcher{in: make(chan reading, maxBatch)}
	go b.run()
	return b
}

// Add returns when the reading is stored.
func (b *batcher) Add(sensor, value int) {
	r := reading{sensor, value, make(chan struct{})}
	b.in <- r
	<-r.stored
}

func (b *batcher) run() {
	var batch []reading
	timer := time.NewTimer(linger)
	timer.Stop()
	for {
		select {
		case r, ok := <-b.in:
			if !ok {
				return
			}
			if batch = append(batch, r); len(batch) == 1 {
				timer.Reset(linger)
			}
			if len(batch) == maxBatch {
				timer.Stop()
				batch = b.store(batch)
			}
		case <-timer.C:
			batch = b.store(batch)
		}
	}
}

// store writes a batch to the series' blocks, and acknowledges it.
func (b *batcher) store(batch []reading) []reading {
	start := time.Now()
	rec.Work(50 + 2*len(batch))
	b.batches++
	b.storing += time.Since(start)
	for _, r := range batch {
		close(r.stored)
	}
	return batch[:0]
}

// upload sends the readings of one sensor.
func upload(b *batcher, sensor int) (adding time.Duration) {
	for n := range readings {
		value := calibrate(sensor, n)
		start := time.Now()
		b.Add(sensor, value)
		adding += time.Since(start)
	}
	return adding
}

func calibrate(sensor, n int) int {
	rec.Work(100)
	return sensor*1000 + n
}

func main() {
	b := newBatcher()
	adding := make([]time.Duration, uploaders)
	var all sync.WaitGroup
	rec.Start()
	start := time.Now()
	for id := range uploaders {
		all.Go(func() { adding[id] = upload(b, id) })
	}
	all.Wait()
	took := time.Since(start)
	rec.Stop()
	var sum time.Duration
	for _, d := range adding {
		sum += d
	}
	fmt.Fprintf(os.Stderr, "proof: %d readings took %v; the uploaders waited %v of %v for acknowledgements; %d batches were stored, which took %v\n",
		uploaders*readings, took, sum, uploaders*took, b.batches, b.storing)
}
