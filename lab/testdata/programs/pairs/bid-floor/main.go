// Bid-floor tells the price floors of placements. The table of floors is
// learned anew from time to time. Before, this was done with the table locked;
// after, a new table is made beside the old one and put in its place.
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
	lookups    = 400
	period     = 2 * time.Millisecond
	learnings  = 25
	placements = 300
)

type floors struct {
	aside bool // whether a new table is made beside the old one
	mu    sync.RWMutex
	table map[int]int
}

func main() {
	f := &floors{aside: os.Getenv("SIDE") == "after", table: make(map[int]int)}
	took := make([]time.Duration, lookups)
	rec.Start()
	var open sync.WaitGroup
	open.Go(func() { learnAll(f) })
	ticker := time.NewTicker(period)
	for n := range lookups {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			f.floor(n % placements)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d lookups, p50 %v, p90 %v, p99 %v\n", lookups, took[lookups/2], took[lookups*9/10], took[lookups*99/100])
}

func (f *floors) floor(placement int) int {
	f.mu.RLock()
	cents := f.table[placement]
	f.mu.RUnlock()
	rec.Work(40)
	return cents
}

func learnAll(f *floors) {
	ticker := time.NewTicker(30 * time.Millisecond)
	defer ticker.Stop()
	for epoch := range learnings {
		<-ticker.C
		f.learn(epoch)
	}
}

// learn makes the table of an epoch.
func (f *floors) learn(epoch int) {
	if f.aside {
		table := learnTable(epoch)
		f.mu.Lock()
		f.table = table
		f.mu.Unlock()
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.table = learnTable(epoch)
}

func learnTable(epoch int) map[int]int {
	table := make(map[int]int, placements)
	for p := range placements {
		table[p] = int(rec.Work(45)%100) + epoch
	}
	return table
}
