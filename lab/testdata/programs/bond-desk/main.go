// Bond-desk values books of bonds at the end of the day.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/bond-desk/eco"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/bond-desk/pricing"
)

const (
	bonds = 80_000
	batch = 100
)

// valueBook values a book in batches, with four workers.
func valueBook(governed bool) (took time.Duration, lower int64) {
	batches := make(chan int, 16)
	// Full was meant in percent of the batches' places.
	g := &eco.Governor{Load: func() int { return len(batches) }, Full: 80}
	if governed {
		g.Start()
	}
	begin := time.Now()
	var parts [4]float64
	var open sync.WaitGroup
	for id := range parts {
		open.Go(func() {
			for first := range batches {
				for n := first; n < first+batch; n++ {
					parts[id] += pricing.Quote(pricing.Bond{Coupon: float64(n % 7), Years: float64(5 + n%20), Yield: 0.04})
				}
			}
		})
	}
	for first := 0; first < bonds; first += batch {
		batches <- first
	}
	close(batches)
	open.Wait()
	took = time.Since(begin)
	if governed {
		g.Stop()
	}
	return took, g.Lower.Load()
}

func main() {
	rec.Start()
	took, lower := valueBook(true)
	rec.Stop()
	took2, _ := valueBook(false)
	fmt.Fprintf(os.Stderr, "proof: the book of %d bonds took %v, GOMAXPROCS was lowered to 1 %d times with batches waiting; with 2 throughout, untraced, it took %v\n",
		bonds, took.Round(time.Millisecond), lower, took2.Round(time.Millisecond))
}
