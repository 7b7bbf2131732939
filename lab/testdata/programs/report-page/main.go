// Report-page serves items, and now and then a report on all of them.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type request struct {
	report bool
	came   time.Time
}

func main() {
	var wg sync.WaitGroup
	items := make([]time.Duration, 200)
	reports := make([]time.Duration, 0, 8)
	rec.Start()
	ticker := time.NewTicker(4 * time.Millisecond)
	for i := range items {
		r := request{came: <-ticker.C}
		wg.Go(func() { items[i] = handleItem(r) })
		if i%40 == 10 {
			wg.Go(func() { reports = append(reports, handleReport(request{true, r.came})) })
		}
	}
	wg.Wait()
	rec.Stop()
	slices.Sort(items)
	fmt.Fprintf(os.Stderr, "proof: reports took %v; items of 0.2 ms took p50 %v, p90 %v, max %v\n", reports, items[100], items[180], items[199])
}

func handleItem(r request) time.Duration {
	rec.Work(200)
	return time.Since(r.came)
}

func handleReport(r request) time.Duration {
	if buildReport() == 0 {
		panic("empty report")
	}
	return time.Since(r.came)
}

func buildReport() uint64 {
	sum := uint64(1)
	for section := range 10 {
		sum ^= rec.Work(6000 + section)
	}
	return sum | 1
}
