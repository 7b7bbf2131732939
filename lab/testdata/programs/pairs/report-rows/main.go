// Report-rows computes the rows of reports while a cashier's requests come in.
// Before, a report began a goroutine for each of its 400 rows; after, four
// goroutines take the rows from a channel.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	reports = 14
	rows    = 400
	sales   = 250
	lines   = 5
)

type report struct {
	totals [rows]uint64
}

func main() {
	bounded := os.Getenv("SIDE") == "after"
	took, reporting := make([]time.Duration, sales), make([]time.Duration, reports)
	rec.Start()
	var open sync.WaitGroup
	open.Go(func() {
		for n := range reports {
			begin := time.Now()
			if bounded {
				(&report{}).computeBounded(4)
			} else {
				(&report{}).computeAll()
			}
			reporting[n] = time.Since(begin)
			time.Sleep(25 * time.Millisecond)
		}
	})
	ticker := time.NewTicker(2 * time.Millisecond)
	for id := range sales {
		due := <-ticker.C
		open.Go(func() {
			handleSale(id)
			took[id] = time.Since(due)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	slices.Sort(reporting)
	fmt.Fprintf(os.Stderr, "proof: %d sales, p50 %v, p95 %v, p99 %v; reports p50 %v\n", sales, took[sales/2],
		took[sales*95/100], took[sales*99/100], reporting[reports/2])
}

func (r *report) computeAll() {
	var open sync.WaitGroup
	for row := range rows {
		open.Go(func() { r.computeRow(row) })
	}
	open.Wait()
}

func (r *report) computeBounded(limit int) {
	next := make(chan int)
	var open sync.WaitGroup
	for range limit {
		open.Go(func() {
			for row := range next {
				r.computeRow(row)
			}
		})
	}
	for row := range rows {
		next <- row
	}
	close(next)
	open.Wait()
}

func (r *report) computeRow(row int) {
	sum := sha256.Sum256([]byte{byte(row), byte(row >> 8)})
	for range 800 {
		sum = sha256.Sum256(sum[:])
		r.totals[row] += binary.LittleEndian.Uint64(sum[:]) % 10000
	}
}

// handleSale checks the lines of a sale at the same time.
func handleSale(id int) {
	var checks sync.WaitGroup
	for line := range lines {
		checks.Go(func() { checkLine(id, line) })
	}
	checks.Wait()
}

func checkLine(sale, line int) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "sale %d, line %d", sale, line))
}
