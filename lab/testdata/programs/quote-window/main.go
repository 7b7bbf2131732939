// Quote-window answers requests for quotes from a book of orders. Its authors
// keep the collector out of the answer itself, which has to be quick.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	orders  = 900_000
	gcRatio = 25
	traders = 4
	session = 1000 * time.Millisecond
)

type order struct {
	price, size int
	next        *order
	owner       *[4]int64
}

type book struct {
	heads []*order
	fills [][]byte
}

func newBook() *book {
	b := &book{heads: make([]*order, 1000)}
	for n := range orders {
		level := n % len(b.heads)
		b.heads[level] = &order{price: level, size: n, next: b.heads[level], owner: new([4]int64)}
	}
	return b
}

// withoutGC runs f while no collection is under way and none begins.
func withoutGC(f func()) {
	debug.SetGCPercent(-1)
	f()
	debug.SetGCPercent(gcRatio)
}

func (b *book) quote(level int) (price int) {
	withoutGC(func() {
		rec.Work(12)
		price = b.heads[level%len(b.heads)].price
	})
	return price
}

// logFills keeps the fills of the last moments, as the exchange reports them.
func (b *book) logFills(end time.Time) {
	for time.Now().Before(end) {
		for range 120 {
			b.fills = append(b.fills, make([]byte, 4096))
		}
		if len(b.fills) > 800 {
			b.fills = nil
		}
		time.Sleep(time.Millisecond)
	}
}

func main() {
	debug.SetGCPercent(gcRatio)
	b := newBook()
	waits := make([][]time.Duration, traders)
	var all sync.WaitGroup
	rec.Start()
	end := time.Now().Add(session)
	all.Go(func() { b.logFills(end) })
	for id := range traders {
		all.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				start := time.Now()
				b.quote(id*31 + n)
				waits[id] = append(waits[id], time.Since(start))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	all.Wait()
	rec.Stop()
	took := slices.Concat(waits...)
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d quotes of 12 µs each took %v of the %v of %d traders; p50 %v, p95 %v, worst %v\n",
		len(took), sum, traders*session, traders, took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
}
