// Hash-join joins orders with customers in parallel: the rows are dealt to
// partitions by the hash of the customer, and a goroutine joins each.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	queries    = 10
	rows       = 6000
	partitions = 8
)

type order struct {
	customer uint32 // 0 for a sale over the counter
	cents    int
}

func main() {
	queriesOrders := make([][]order, queries)
	rng := rand.New(rand.NewPCG(5, 5))
	for q := range queriesOrders {
		orders := make([]order, rows)
		for i := range orders {
			if rng.IntN(10) < 8 {
				orders[i] = order{0, i}
			} else {
				orders[i] = order{rng.Uint32(), i}
			}
		}
		queriesOrders[q] = orders
	}
	total := 0
	var work, largest time.Duration
	rec.Start()
	start := time.Now()
	for _, orders := range queriesOrders {
		matched, sum, top := join(orders)
		total += matched
		work += sum
		largest += top
	}
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d queries took %v on 2 Ps for %v of work, of which %v in the largest partitions; %d rows matched\n",
		queries, took, work, largest, total)
}

// join returns the number of rows that matched, how long all partitions took,
// and how long the one that took longest.
func join(orders []order) (matched int, work, largest time.Duration) {
	parts := partitionRows(orders)
	counts := make([]int, len(parts))
	took := make([]time.Duration, len(parts))
	var open sync.WaitGroup
	for i, part := range parts {
		open.Go(func() {
			start := time.Now()
			counts[i] = joinPartition(part)
			took[i] = time.Since(start)
		})
	}
	open.Wait()
	for i := range parts {
		matched += counts[i]
		work += took[i]
		largest = max(largest, took[i])
	}
	return matched, work, largest
}

func partitionRows(orders []order) [][]order {
	parts := make([][]order, partitions)
	for _, o := range orders {
		p := o.customer * 2654435761 >> 29
		parts[p] = append(parts[p], o)
	}
	return parts
}

// joinPartition probes with all rows of a partition. It is too large to be
// inlined in life.
//
//go:noinline
func joinPartition(part []order) (matched int) {
	for _, o := range part {
		if probe(o) {
			matched++
		}
	}
	return matched
}

// probe looks for the customer of an order.
//
//go:noinline
func probe(o order) bool {
	return rec.Work(12)%7 != uint64(o.customer)%7
}
