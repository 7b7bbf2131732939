// Ocr-stage reads scanned receipts in three stages: load, recognise, store.
// Before, one goroutine did each stage; after, two recognise.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	receipts = 220
	arrival  = 2500 * time.Microsecond
)

type receipt struct {
	came  time.Time
	scan  []byte
	total uint64
}

func main() {
	readers := 1
	if os.Getenv("SIDE") == "after" {
		readers = 2
	}
	loaded, recognised := make(chan *receipt, receipts), make(chan *receipt, 4)
	var took []time.Duration
	rec.Start()
	go load(loaded)
	go func() {
		defer close(recognised)
		var reading sync.WaitGroup
		for range readers {
			reading.Go(func() { recogniseAll(loaded, recognised) })
		}
		reading.Wait()
	}()
	books := make(map[uint64]int)
	for r := range recognised {
		books[r.total]++
		took = append(took, time.Since(r.came))
	}
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d receipts, booked after p50 %v, p99 %v\n", receipts, took[receipts/2], took[receipts*99/100])
}

func load(out chan<- *receipt) {
	defer close(out)
	ticker := time.NewTicker(arrival)
	defer ticker.Stop()
	for n := range receipts {
		<-ticker.C
		r := &receipt{came: time.Now(), scan: make([]byte, 40<<10)}
		for i := range r.scan {
			r.scan[i] = byte(i * n)
		}
		out <- r
	}
}

func recogniseAll(in <-chan *receipt, out chan<- *receipt) {
	for r := range in {
		r.recognise()
		out <- r
	}
}

func (r *receipt) recognise() {
	for angle := range 72 {
		h := fnv.New64a()
		h.Write(r.scan)
		r.total += h.Sum64() % uint64(100+angle)
	}
}
