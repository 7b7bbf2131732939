// Seen-window keeps the impressions of the last moments, so that none is paid
// for twice. The impressions come from the collectors in batches, and are kept
// to the end of the window in which they came.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	batches  = 12
	batch    = 12_000
	interval = 50 * time.Millisecond
	window   = 100 * time.Millisecond
	auctions = 300
)

type seenWindow struct {
	mu    sync.Mutex
	start time.Time
	seen  map[uint64]bool
	sum   uint64
}

func main() {
	w := &seenWindow{seen: make(map[uint64]bool)}
	quiet := runAuctions(auctions)
	w.start = time.Now()
	rec.Start()
	var open sync.WaitGroup
	open.Go(func() { collect(w) })
	late := runAuctions(auctions)
	open.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d auctions began late by p50 %v, p90 %v, p99 %v; with no impressions coming p50 %v, p90 %v, p99 %v\n", auctions,
		late[auctions/2], late[auctions*9/10], late[auctions*99/100], quiet[auctions/2], quiet[auctions*9/10], quiet[auctions*99/100])
}

// collect takes a batch of impressions at each interval.
func collect(w *seenWindow) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	paid := 0
	for n := range batches {
		<-ticker.C
		for i := range batch {
			if w.remember(uint64(n*batch + i)) {
				paid++
			}
		}
	}
}

// remember reports whether the impression is new, and keeps it for the window.
func (w *seenWindow) remember(id uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[id] {
		return false
	}
	w.seen[id] = true
	left := window - time.Since(w.start)%window
	time.AfterFunc(left, func() { w.forget(id) })
	return true
}

// forget drops an impression, and enters it in the digest for billing.
func (w *seenWindow) forget(id uint64) {
	digest := rec.Work(1) ^ id
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, id)
	w.sum += digest
}

// runAuctions holds an auction every 2 ms, and returns how late each was.
func runAuctions(n int) []time.Duration {
	late := make([]time.Duration, n)
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(i+1) * 2 * time.Millisecond)
		time.Sleep(time.Until(due))
		late[i] = time.Since(due)
		rec.Work(40)
	}
	slices.Sort(late)
	return late
}
