// Lease-timer renews 4,000 leases every 100 ms, and answers queries.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const leases = 4000

type lease struct {
	id    int
	until time.Time
}

func (l *lease) run(begin time.Time, renewals int) {
	for n := range renewals {
		l.until = begin.Add(time.Duration(n+1) * 100 * time.Millisecond)
		time.Sleep(time.Until(l.until))
		renewLease(l)
	}
}

func renewLease(l *lease) { rec.Work(6 + l.id%5) }

func startLeases(wg *sync.WaitGroup, renewals int) {
	begin := time.Now()
	for id := range leases {
		l := &lease{id: id}
		wg.Go(func() { l.run(begin, renewals) })
	}
}

func answerQuery(came time.Time) time.Duration {
	rec.Work(100)
	return time.Since(came)
}

func main() {
	took := make([]time.Duration, 200)
	var wg sync.WaitGroup
	rec.Start()
	startLeases(&wg, 4)
	ticker := time.NewTicker(2 * time.Millisecond)
	for i := range took {
		came := <-ticker.C
		wg.Go(func() { took[i] = answerQuery(came) })
	}
	wg.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: queries of 0.1 ms took p50 %v, p90 %v, max %v\n", took[100], took[180], took[199])
}
