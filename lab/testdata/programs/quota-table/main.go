// Quota-table admits requests by tenant, rebalances the tenants' limits, and
// compresses log segments in the background.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type quotaTable struct {
	mu     sync.Mutex
	limits [4096]uint64
	held   time.Duration
}

func (q *quotaTable) Take(tenant int) {
	q.mu.Lock()
	q.limits[tenant%4096]--
	q.mu.Unlock()
}

func (q *quotaTable) Rebalance() {
	q.mu.Lock()
	defer q.mu.Unlock()
	start := time.Now()
	for round := range uint64(7000) {
		for i := range q.limits {
			q.limits[i] = q.limits[i]*6364136223846793005 + round
		}
	}
	q.held += time.Since(start)
}

func main() {
	q := &quotaTable{}
	var stop atomic.Bool
	var waited [6]time.Duration
	var wg sync.WaitGroup
	rec.Start()
	for i := range waited {
		wg.Go(func() { waited[i] = admit(q, i, &stop) })
	}
	for range 2 {
		wg.Go(func() { compressSegments(&stop) })
	}
	for range 8 {
		time.Sleep(25 * time.Millisecond)
		q.Rebalance()
	}
	stop.Store(true)
	wg.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: admissions waited %v; Rebalance held the mutex for %v\n", waited, q.held)
}

func admit(q *quotaTable, tenant int, stop *atomic.Bool) (waited time.Duration) {
	for !stop.Load() {
		start := time.Now()
		q.Take(tenant)
		waited += time.Since(start)
		time.Sleep(2 * time.Millisecond)
	}
	return waited
}

func compressSegments(stop *atomic.Bool) {
	for !stop.Load() {
		rec.Work(3000)
		time.Sleep(500 * time.Microsecond)
	}
}
