// Sensor-hub takes batches of readings, four at a time, decodes them, calibrates
// them, and stores them, in three stages with room between them.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	batches   = 90
	batchSize = 64
	room      = 16
)

type batch struct {
	raw    []byte
	values []float64
	came   time.Time
}

func main() {
	received := make(chan *batch, room)
	decoded := make(chan *batch, room)
	calibrated := make(chan *batch, room)
	var stages sync.WaitGroup
	var sum float64
	var slowest time.Duration
	fullest := 0
	rec.Start()
	stages.Go(func() { decodeBatches(received, decoded) })
	stages.Go(func() { calibrateBatches(decoded, calibrated) })
	stages.Go(func() { sum, slowest = storeBatches(calibrated) })
	ticker := time.NewTicker(20 * time.Millisecond)
	for n := range batches {
		if n%4 == 0 {
			<-ticker.C
		}
		received <- &batch{raw: receive(n), came: time.Now()}
		fullest = max(fullest, len(received), len(decoded), len(calibrated))
	}
	close(received)
	stages.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d batches, at most %d of %d places taken, the slowest took %v; sum %.1f\n", batches, fullest, room, slowest, sum)
}

func receive(n int) []byte {
	var raw []byte
	for i := range batchSize {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(n*i))
	}
	return raw
}

func decodeBatches(in <-chan *batch, out chan<- *batch) {
	defer close(out)
	for b := range in {
		for i := 0; i < len(b.raw); i += 2 {
			b.values = append(b.values, float64(binary.LittleEndian.Uint16(b.raw[i:])))
		}
		rec.Work(300)
		out <- b
	}
}

func calibrateBatches(in <-chan *batch, out chan<- *batch) {
	defer close(out)
	for b := range in {
		for i, v := range b.values {
			b.values[i] = v*0.98 - 1.5
		}
		rec.Work(350)
		out <- b
	}
}

// storeBatches returns the sum of all values, and the longest time from when a
// batch came until it was stored.
func storeBatches(in <-chan *batch) (sum float64, slowest time.Duration) {
	for b := range in {
		for _, v := range b.values {
			sum += v
		}
		rec.Work(250)
		slowest = max(slowest, time.Since(b.came))
	}
	return sum, slowest
}
