// Buoy-reports has the reports of buoys read by a crowd of workers, most of
// whom wait for one. Before, all of them are told when one comes; after, one.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/pairs/buoy-reports/queue"
)

const (
	workers = 700
	reports = 300
	period  = 3 * time.Millisecond
)

type report struct {
	number int
	came   time.Time
}

func main() {
	q := queue.New[report]()
	q.All = os.Getenv("SIDE") != "after"
	took := make([]time.Duration, reports)
	rec.Start()
	var open sync.WaitGroup
	for range workers {
		open.Go(func() { work(q, took) })
	}
	ticker := time.NewTicker(period)
	for n := range reports {
		<-ticker.C
		q.Put(report{n, time.Now()})
	}
	q.End()
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d reports read, p50 %v, p90 %v after they came\n", reports, took[reports/2], took[reports*9/10])
}

func work(q *queue.Queue[report], took []time.Duration) {
	for {
		r, ok := q.Take()
		if !ok {
			return
		}
		rec.Work(30)
		took[r.number] = time.Since(r.came)
	}
}
