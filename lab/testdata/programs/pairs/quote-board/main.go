// Quote-board keeps the rates of a currency desk. Every 10 ms the rates are
// derived anew from the order books while clients look them up. Before, this
// was done on the board itself, under its lock; after, beside it, and the lock
// is held to swap the result in.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients  = 8
	currency = 300
	phase    = 600 * time.Millisecond
)

type board struct {
	mu    sync.Mutex
	rates []float64
	aside bool
}

func main() {
	b := &board{rates: make([]float64, currency), aside: os.Getenv("SIDE") == "after"}
	took := make([][]time.Duration, clients)
	rec.Start()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	open.Go(func() { b.deriveRates(end) })
	for id := range clients {
		open.Go(func() { took[id] = b.serveClient(id, end) })
	}
	open.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d look-ups, p50 %v, p95 %v, p99 %v\n", len(all), all[len(all)/2],
		all[len(all)*95/100], all[len(all)*99/100])
}

func (b *board) deriveRates(end time.Time) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-ticker.C
		if b.aside {
			fresh := make([]float64, currency)
			fillRates(fresh, n)
			b.mu.Lock()
			b.rates = fresh
			b.mu.Unlock()
		} else {
			b.mu.Lock()
			fillRates(b.rates, n)
			b.mu.Unlock()
		}
	}
}

func fillRates(rates []float64, n int) {
	for i := range rates {
		r := 1.0
		for k := range 1500 {
			r += math.Sin(float64(i*n+k)) / float64(k+1)
		}
		rates[i] = r
	}
}

func (b *board) serveClient(id int, end time.Time) (took []time.Duration) {
	for n := 0; time.Now().Before(end); n++ {
		time.Sleep(time.Duration(1200+150*id) * time.Microsecond)
		begin := time.Now()
		trace.WithRegion(context.Background(), "look-up", func() { b.rate((n + id) % currency) })
		took = append(took, time.Since(begin))
	}
	return took
}

func (b *board) rate(currency int) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rates[currency]
}
